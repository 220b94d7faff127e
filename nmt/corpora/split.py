"""Draw development and test text from training text, at random with a seed; no sentence is in two of the sets.

A sentence is a line of either side, whatever its white space. Training pairs that share a sentence with the other sets
are left out.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from nmt.corpora.extract import extract
from nmt.corpora.own import file_and_member
from nmt.system.checksums import recorded, sha256
from nmt.system.errors import UserError
from nmt.system.files import atomic_folder, check_outside
from nmt.system.text import read_json, read_lines, write_json, write_lines

RECORD = "split.json"  # from which files a split was drawn, and how
LEAST = 0.5  # of the training pairs must be left
Pair = tuple[str, str]  # two entries of `files`, source and target
Keys = tuple["array[int]", "array[int]"]  # a number for each sentence of both sides


def split(
    train: Mapping[str, Pair],
    given: Mapping[str, Pair],
    lines: Mapping[str, int],
    folder: Path,
    languages: Sequence[str],
    seed: int,
) -> dict[str, int]:
    """Write the training corpora and the drawn sets to `folder`, CORPUS.LANGUAGE; return how many pairs each has.

    `lines` says how many pairs are drawn for each set, `given` are the sets that are not drawn. Raises UserError if a
    file is invalid, or if less than half of the training text would be left.
    """
    files = {entry: file_and_member(entry)[0] for pair in (*train.values(), *given.values()) for entry in pair}
    check_outside(folder, files.values())
    former = _unchanged(folder)
    names = [f"{name}.{language}" for name in (*train, *lines) for language in languages]
    with atomic_folder(folder, "a split of training text", recorded(RECORD, [*former, *names])) as partial:
        texts = {name: _extracted(name, pair, partial, languages) for name, pair in train.items()}
        keys = [_keys(paths) for paths in texts.values()]
        seen: tuple[set[int], set[int]] = (set(), set())
        for name, pair in given.items():
            paths = _extracted(name, pair, partial, languages)
            for side, known in zip(_keys(paths), seen, strict=True):
                known.update(side)
                known.discard(0)
            for path in paths:
                path.unlink()
        pairs = sum(len(sources) for sources, _ in keys)
        new = sum(sum(_new(own, seen)) for own in keys)
        if new < LEAST * pairs:
            entries = ", ".join(entry for pair in given.values() for entry in pair)
            raise UserError(
                f"{entries}: {pairs - new:,} of the {pairs:,} pairs of training text contain a sentence of this "
                "text; remove these pairs from one of the two"
            )
        places = _drawn(keys, seen, sum(lines.values()), seed)
        counts, first = {}, 0
        for name, count in lines.items():
            chosen = set(places[first : first + count])
            for number, language in enumerate(languages):
                write_lines(partial / f"{name}.{language}", _lines(texts, chosen, number))
            counts[name], first = len(chosen), first + count
        for (name, paths), own in zip(texts.items(), keys, strict=True):
            left = _new(own, seen)
            for path in paths:
                kept = (line for line, keep in zip(read_lines(path), left, strict=True) if keep)
                counts[name] = write_lines(path, kept)
        if len(places) < sum(lines.values()) or sum(counts[name] for name in train) < LEAST * pairs:
            raise UserError(
                f"--split: too few of the {pairs:,} pairs of training text would be left; draw fewer lines, or name "
                "files for --dev and --test"
            )
        sources = {entry: sha256(file) for entry, file in files.items()}
        digests = {name: sha256(partial / name) for name in names}
        write_json(partial / RECORD, {"seed": seed, "lines": counts, "drawn_from": sources, "digests": digests})
    return counts


def _unchanged(folder: Path) -> list[str]:
    """The files of an earlier split. UserError where one was edited, because a new split would replace it."""
    digests: dict[str, str] = {}
    with suppress(UserError, OSError, LookupError, TypeError, ValueError):
        digests = dict(read_json(folder / RECORD)["digests"])
    for name, digest in digests.items():
        path = folder / name
        if path.is_file() and sha256(path) != digest:
            raise UserError(f"{path}: edited since it was drawn; move or remove {folder}, and it is drawn again")
    return list(digests)


def _extracted(name: str, pair: Pair, folder: Path, languages: Sequence[str]) -> list[Path]:
    """The two sides of a corpus as plain text in `folder`."""
    files, members = zip(*map(file_and_member, pair), strict=True)
    paths = [folder / f"{name}.{language}" for language in languages]
    extract(name, list(map(Path, files)), members, paths)
    return paths


def _keys(paths: Sequence[Path]) -> Keys:
    """A number for each line of both sides, 0 for an empty one; two lines of the same words have the same."""
    source, target = (array("Q", map(_key, read_lines(path))) for path in paths)
    return source, target


def _key(line: str) -> int:
    words = " ".join(line.split())
    return int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "big") if words else 0


def _new(keys: Keys, seen: tuple[set[int], set[int]]) -> list[bool]:
    """Whether each pair has no sentence of those `seen`."""
    return [source not in seen[0] and target not in seen[1] for source, target in zip(*keys, strict=True)]


def _drawn(keys: Sequence[Keys], seen: tuple[set[int], set[int]], count: int, seed: int) -> list[tuple[int, int]]:
    """The places, corpus and line, of `count` pairs with new sentences on both sides, which join those `seen`."""
    places = [(corpus, line) for corpus, (sources, _) in enumerate(keys) for line in range(len(sources))]
    random.Random(seed).shuffle(places)
    found: list[tuple[int, int]] = []
    for corpus, line in places:
        if len(found) == count:
            break
        source, target = (side[line] for side in keys[corpus])
        if source and target and source not in seen[0] and target not in seen[1]:
            found.append((corpus, line))
            seen[0].add(source)
            seen[1].add(target)
    return found


def _lines(texts: Mapping[str, Sequence[Path]], places: set[tuple[int, int]], side: int) -> Iterator[str]:
    """The lines of one side at `places`, in the order of the text."""
    for corpus, paths in enumerate(texts.values()):
        yield from (line for number, line in enumerate(read_lines(paths[side])) if (corpus, number) in places)
