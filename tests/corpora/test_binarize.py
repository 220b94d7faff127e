"""nmt.corpora.binarize: the same pairs, shuffled once; damaged files are refused."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.corpora import binarize as module
from nmt.corpora.binarize import Bitext
from nmt.corpora.pieces import BYTES
from nmt.corpora.shortlist import UNK, Shortlist, count_words, make_shortlist
from nmt.system.errors import UserError
from tests.conftest import SmallDisk

PAIRS = [(f"w{n} " * (n % 5 + 1), f"v{n % 11} v{n}") for n in range(100)]


class Case:
    """A folder with two texts and their shortlists, and the command line of the step."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder, folder / "binarized"
        self.shortlists: list[Shortlist] = []

    def write(self, sources: list[str], targets: list[str], size: int = 1000) -> None:
        for suffix, lines in (("en", sources), ("fr", targets)):
            (self.folder / suffix).write_text("".join(f"{line}\n" for line in lines), newline="\n")
            counter, sentences = count_words(lines)
            self.shortlists.append(make_shortlist(counter, size, sentences))
            self.shortlists[-1].write(self.folder / f"{suffix}.tsv")

    def run(self, seed: int = 1, output: Path | None = None) -> int:
        texts = [str(self.folder / name) for name in ("en", "fr")]
        shortlists = [f"{text}.tsv" for text in texts]
        words = ["--texts", *texts, "--shortlists", *shortlists, "--seed", str(seed)]
        return main(["binarize", *words, "--output", str(output or self.output)])

    def left(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name.endswith((".partial", ".former")))


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def decoded(case: Case) -> list[tuple[str, str]]:
    bitext = Bitext(case.output)
    source, target = case.shortlists
    return [
        (" ".join(source.words(bitext.source(n).tolist())), " ".join(target.words(bitext.target(n).tolist())))
        for n in range(len(bitext))
    ]


def test_all_pairs_are_aligned_and_shuffled(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAIRS_PER_CHUNK", 7)
    monkeypatch.setattr(module, "PAIRS_PER_BUCKET", 30)
    case.write([source for source, _ in PAIRS], [target for _, target in PAIRS])
    assert case.run() == 0
    order = np.random.default_rng(1).permutation(len(PAIRS))
    assert decoded(case) == [(" ".join(PAIRS[n][0].split()), PAIRS[n][1]) for n in order]
    bitext = Bitext(case.output)
    assert bitext.source_lengths.tolist() == [len(bitext.source(n)) for n in range(len(bitext))]
    assert bitext.target_lengths.tolist() == [2] * 100
    meta = json.loads((case.output / "meta.json").read_text())
    assert meta["pairs"] == 100
    assert meta["words"] == {"source": 300, "target": 200}
    assert meta["dtype"] == "<u2"
    assert meta["symbols"] == {"source": 102, "target": 102}
    assert sorted(path.name for path in case.output.iterdir()) == [
        "meta.json",
        "source.ids",
        "source.offsets.npy",
        "target.ids",
        "target.offsets.npy",
    ]
    assert case.left() == []


def test_the_seed_decides_the_bytes(case: Case, tmp_path: Path) -> None:
    case.write([source for source, _ in PAIRS], [target for _, target in PAIRS])
    outputs = [tmp_path / name for name in "abc"]
    for seed, output in zip((1, 1, 2), outputs, strict=True):
        assert case.run(seed, output) == 0
    first, same, other = ((output / "source.ids").read_bytes() for output in outputs)
    assert first == same
    assert first != other
    assert Counter(np.frombuffer(first, "<u2").tolist()) == Counter(np.frombuffer(other, "<u2").tolist())


@pytest.mark.parametrize("symbols", [["lo@@", "w", "er"], [*sorted(BYTES), "\u2581lo", "w"]], ids=["bpe", "pieces"])
def test_whole_words_beside_a_shortlist_of_subwords(
    case: Case, symbols: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    segmented = " ".join(symbols)
    case.write([segmented] * 5, [segmented] * 5)
    assert case.run() == 0
    (case.folder / "fr").write_text("lower low\n" * 5)
    assert case.run(output=case.folder / "other") == 1
    assert "fr: holds whole words, but its shortlist holds subwords; segment the text" in capsys.readouterr().err
    assert not (case.folder / "other").exists()


def test_the_size_of_buckets_changes_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    case.write(["", *(source for source, _ in PAIRS)], ["x", *(target for _, target in PAIRS)])
    outputs = []
    for pairs in (1000, 100, 33, 1):
        monkeypatch.setattr(module, "PAIRS_PER_BUCKET", pairs)
        outputs.append(case.folder / f"parts of {pairs}")
        assert case.run(output=outputs[-1]) == 0
    for path in outputs[0].iterdir():
        assert len({(output / path.name).read_bytes() for output in outputs}) == 1


def test_a_full_disk_is_one_line_and_no_binarized_text(
    case: Case, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write([source * 200 for source, _ in PAIRS], [target for _, target in PAIRS])
    output = small_disk.folder / "binarized"
    for size in [4_000, 100_000, *[130_000] * small_disk.mounted]:  # the last has room for the buckets
        small_disk.limit(size)
        assert case.run(output=output) == 1
        said = capsys.readouterr().err.strip().split("\n")
        assert "no space left" in said[-1]
        assert "Traceback" not in "".join(said)
        assert list(small_disk.folder.iterdir()) == []
    small_disk.free()
    assert case.run(output=output) == 0
    assert len(Bitext(output)) == len(PAIRS)


def test_a_link_is_kept_and_a_foreign_folder_too(case: Case) -> None:
    case.write(["a"], ["b"])
    (case.folder / "kept").mkdir()
    case.output.symlink_to("kept")
    foreign = case.folder / ".binarized.former"
    foreign.mkdir()
    for _ in range(2):
        assert case.run() == 0
    assert case.output.is_symlink()
    assert foreign.exists()
    assert len(Bitext(case.folder / "kept")) == 1


def test_words_beyond_the_shortlist_are_unknown(case: Case) -> None:
    case.write(["a a a b"], ["c c d d"], size=2)
    assert case.run() == 0
    assert Bitext(case.output).source(0).tolist() == [2, 2, 2, UNK]
    assert Bitext(case.output).target(0).tolist() == [2, 2, UNK, UNK]


def test_large_shortlists_take_four_bytes(case: Case) -> None:
    words = " ".join(f"w{n}" for n in range(65_600))
    case.write([words], ["v"], size=70_000)
    assert case.run() == 0
    assert (case.output / "source.ids").stat().st_size == 4 * 65_600
    assert decoded(case) == [(words, "v")]


def test_a_very_long_line_and_odd_characters(case: Case) -> None:
    long = " ".join(["long"] * 100_000)
    case.write([long, "a\u2028b c\x0cd \x85"], ["x", "\x00 y"])
    assert case.run() == 0
    assert sorted(decoded(case)) == sorted([(long, "x"), ("a\u2028b c\x0cd \x85", "\x00 y")])


def test_pairs_with_an_empty_side_are_dropped_and_counted(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.write(["a", "", "b", " "], ["x", "y", "", "z"])
    assert case.run() == 0
    assert decoded(case) == [("a", "x")]
    assert json.loads((case.output / "meta.json").read_text())["dropped"] == 3
    assert "3 pairs with an empty side" in capsys.readouterr().err


def test_nothing_left_is_an_error(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.write(["a", ""], ["", "y"])
    assert case.run() == 1
    assert "no pair with words on both sides" in capsys.readouterr().err
    assert not case.output.exists()
    assert case.left() == []


def test_unequal_sides_are_an_error_with_both_counts(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.write(["a", "b", "c"], ["x"])
    assert case.run() == 1
    assert re.search(r"/en has 3 lines, .*/fr has 1;", capsys.readouterr().err)
    assert not case.output.exists()


def test_a_failure_keeps_the_previous_folder(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    case.write(["a", "b"], ["x", "y"])
    assert case.run() == 0
    before = {path.name: path.read_bytes() for path in case.output.iterdir()}

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "meta.json")

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_json", full)
        assert case.run(seed=5) == 1
    assert {path.name: path.read_bytes() for path in case.output.iterdir()} == before
    assert case.left() == []
    assert case.run(seed=5) == 0
    assert json.loads((case.output / "meta.json").read_text())["seed"] == 5
    assert case.left() == []


def test_a_folder_of_something_else_is_not_replaced(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.write(["a"], ["x"])
    case.output.mkdir()
    (case.output / "thesis.tex").write_text("years of work")
    (case.output / "meta.json").write_text("{}")
    assert case.run() == 1
    assert "exists and is not a binarized text" in capsys.readouterr().err
    assert (case.output / "thesis.tex").exists()


@pytest.mark.parametrize("name", ["source.ids", "target.ids", "source.offsets.npy", "target.offsets.npy", "meta.json"])
@pytest.mark.parametrize("damage", ["truncate", "remove", "empty"])
def test_damaged_files_are_refused(case: Case, name: str, damage: str) -> None:
    case.write(["a b", "b"], ["x", "y"])
    assert case.run() == 0
    path = case.output / name
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-2] if damage == "truncate" else b"")
    with pytest.raises(UserError, match=name.replace(".", r"\.")):
        Bitext(case.output)


@pytest.mark.parametrize("name", ["source.ids", "target.ids", "source.offsets.npy", "target.offsets.npy"])
def test_a_flipped_bit_is_noticed(case: Case, name: str) -> None:
    """An id that is out of range, and also one that is not."""
    case.write(["a b", "b"], ["x", "y"])
    assert case.run() == 0
    whole = (case.output / name).read_bytes()
    for bit in (0, 4, 15, *np.random.default_rng(3).integers(8 * len(whole), size=8).tolist()):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        (case.output / name).write_bytes(damaged)
        with pytest.raises(UserError, match=f"{name}: damaged or replaced, .*; binarize again"):
            Bitext(case.output)


@pytest.mark.parametrize("key", ["pairs", "words", "dtype", "shortlists", "digests"])
def test_odd_values_in_the_description_are_one_line(case: Case, key: str) -> None:
    case.write(["a b", "b"], ["x", "y"])
    assert case.run() == 0
    path = case.output / "meta.json"
    whole = json.loads(path.read_text())
    for odd in (None, True, 0, -1, 3, 10**30, 1.5, float("inf"), float("nan"), "", "<f8", [], ["a"], {}, {"source": 1}):
        path.write_text(json.dumps(whole | {key: odd}))
        with pytest.raises(UserError) as told:
            Bitext(case.output)
        assert "\n" not in str(told.value)


def test_a_text_knows_its_shortlists(case: Case) -> None:
    case.write(["a b", "b"], ["x", "y"])
    assert case.run() == 0
    bitext, (source, target) = Bitext(case.output), case.shortlists
    bitext.require([source, target], ["en", "fr"])
    with pytest.raises(UserError, match=r"^fr: not the shortlist of the target side of"):
        bitext.require([source, source], ["en", "fr"])
    meta = json.loads((case.output / "meta.json").read_text())
    words = "\n".join(["<eos>", "<unk>", "b", "a"]).encode()
    assert meta["shortlists"]["source"] == hashlib.sha256(words).hexdigest()


def test_offsets_that_disagree_are_refused(case: Case) -> None:
    case.write(["a b", "b"], ["x", "y"])
    assert case.run() == 0
    np.save(case.output / "source.offsets.npy", np.array([0, 3, 3]))
    with pytest.raises(UserError, match="does not agree"):
        Bitext(case.output)


def test_both_passes_see_the_same_words(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """A carriage return at the end of a line and a byte order mark are no words."""
    case.write(["one", "two", "three"], ["un", "deux", "trois"])
    (case.folder / "en").write_bytes(b"\xef\xbb\xbf\r\ntwo\r\n\r\n")
    assert case.run() == 0
    assert decoded(case) == [("two", "deux")]
    assert "2 pairs with an empty side were dropped" in capsys.readouterr().err


def test_a_pipe_cannot_be_read_twice(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.write(["one"], ["un"])
    (case.folder / "fr").unlink()
    os.mkfifo(case.folder / "fr")
    assert case.run() == 1
    said = "fr: a named pipe, which might block forever; name a file or /dev/stdin\n"
    assert capsys.readouterr().err.endswith(said)
