"""Select the training pairs most like in-domain text by bilingual cross-entropy difference (Axelrod et al., 2011).

A pair (s, t) scores [H_in(s) - H_out(s)] + [H_in(t) - H_out(t)], where H is the cross-entropy per word, in bits,
under an n-gram model of that language: "in" is estimated on in-domain text, "out" on as many words drawn at random
from the text to select from. Low is good. As in Moore and Lewis (2010), whom they follow, both models of a language
share one vocabulary, the words seen twice or more in the in-domain text; every other word is one unknown word.

Before the ranking, pairs with an empty side, pairs of which a side is a line of the held-out sets, and repetitions
of an earlier pair are left out. The ranking decides only what is kept: the order of the text stays.
Text is handled as bytes: nothing here depends on what the characters are.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from math import log2
from pathlib import Path

import kenlm
import numpy as np
from numpy.typing import NDArray

from nmt.corpora.pairs import align
from nmt.corpora.shortlist import csv_lines
from nmt.files import UserError, atomic, warn, write_lines
from nmt.progress import Progress

Pair = tuple[bytes, bytes]
Files = tuple[Path, Path]

PAIRS_A_CHUNK = 5_000
MEMORY = "1G"  # for lmplz to sort in; beyond it uses the disk
UNKNOWN = b"<unknown>"
BITS = log2(10)  # KenLM's logarithms are decimal


class State(IntEnum):
    """What becomes of a pair before the ranking."""

    CLEAN = 0
    EMPTY = 1
    HELD_OUT = 2
    DUPLICATE = 3


@dataclass(frozen=True)
class Text:
    """What one reading of the corpora leaves in memory: a few numbers a pair, pairs numbered through all corpora."""

    names: list[str]
    corpora: list[Files]
    sizes: list[int]  # pairs of each corpus
    chunks: list[tuple[int, int, int, int]]  # corpus, byte offsets of source and target, number of pairs
    words: NDArray[np.int32]  # source words, shape (pairs,)
    states: NDArray[np.uint8]  # State, shape (pairs,)

    def corpus(self, number: int) -> slice:
        """The pairs of corpus `number`."""
        first = sum(self.sizes[:number])
        return slice(first, first + self.sizes[number])

    def pairs(self) -> Iterator[Pair]:
        """All pairs of all corpora in order."""
        for files in self.corpora:
            yield from read_byte_pairs(files)


def read_byte_pairs(files: Files) -> Iterator[Pair]:
    """The pairs of two aligned files; UserError where one is missing or the sides are unequal."""
    return align(_byte_lines(files[0]), _byte_lines(files[1]), *files)


def _byte_lines(path: Path, offset: int = 0) -> Iterator[bytes]:
    """The lines of a file from a byte offset, split on newline alone."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            for line in file:
                yield line.removesuffix(b"\n")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None


def _count_words(line: bytes) -> int:
    return len(line.split())


# ---- cleaning


def survey(names: list[str], corpora: list[Files], held_out: list[Files]) -> Text:
    """Read all corpora once: count words and find the pairs that are empty, held out or repeated."""
    held = [{line for files in held_out for line in _byte_lines(files[side]) if line.strip()} for side in range(2)]
    words, hashes, states = array("i"), array("Q"), bytearray()
    sizes: list[int] = []
    chunks: list[tuple[int, int, int, int]] = []
    for corpus, files in enumerate(corpora):
        offsets, size = [0, 0], 0
        start = (0, 0)
        with Progress(f"select: reading {names[corpus]}", None, "pairs") as progress:
            for source, target in read_byte_pairs(files):
                source_words, target_words = _count_words(source), _count_words(target)
                if not source_words or not target_words:
                    states.append(State.EMPTY)
                elif source in held[0] or target in held[1]:
                    states.append(State.HELD_OUT)
                else:
                    states.append(State.CLEAN)
                words.append(source_words)
                digest = hashlib.blake2b(source + b"\n" + target, digest_size=8).digest()
                hashes.append(int.from_bytes(digest, "little"))
                size += 1
                offsets[0] += len(source) + 1
                offsets[1] += len(target) + 1
                if size % PAIRS_A_CHUNK == 0:
                    chunks.append((corpus, *start, PAIRS_A_CHUNK))
                    start = (offsets[0], offsets[1])
                    progress.update(PAIRS_A_CHUNK)
            if size % PAIRS_A_CHUNK:
                chunks.append((corpus, *start, size % PAIRS_A_CHUNK))
                progress.update(size % PAIRS_A_CHUNK)
        sizes.append(size)
    states_array = np.frombuffer(states, dtype=np.uint8).copy()
    _mark_duplicates(states_array, np.frombuffer(hashes, dtype=np.uint64))
    return Text(names, corpora, sizes, chunks, np.frombuffer(words, dtype=np.int32), states_array)


def _mark_duplicates(states: NDArray[np.uint8], hashes: NDArray[np.uint64]) -> None:
    """Among clean pairs mark every one whose hash an earlier clean pair has."""
    clean = np.flatnonzero(states == State.CLEAN)
    order = clean[np.argsort(hashes[clean], kind="stable")]
    ordered = hashes[order]
    states[order[1:][ordered[1:] == ordered[:-1]]] = State.DUPLICATE


# ---- scores


def vocabulary(lines: Iterable[bytes]) -> frozenset[bytes]:
    """The words seen twice or more; control characters that KenLM would split at make a word unknown."""
    counter: Counter[bytes] = Counter()
    for line in lines:
        counter.update(line.split())
    special = {b"<s>", b"</s>", b"<unk>", UNKNOWN}
    return frozenset(word for word, count in counter.items() if count > 1 and word not in special and b"\0" not in word)


def _mask(line: bytes, known: frozenset[bytes]) -> tuple[bytes, int]:
    """The line with its unknown words replaced, and its number of words."""
    words = line.split()
    return b" ".join([word if word in known else UNKNOWN for word in words]), len(words)


def estimate(lmplz: Path, order: int, lines: Iterable[bytes], known: frozenset[bytes], arpa: Path) -> None:
    """Estimate an interpolated modified Kneser-Ney model of `lines` with KenLM and write it to `arpa`."""
    text = arpa.with_suffix(".txt")
    with open(text, "wb") as file:
        for line in lines:
            file.write(_mask(line, known)[0] + b"\n")
    command: list[str | Path] = [lmplz, "--order", str(order), "--memory", MEMORY, "--discount_fallback"]
    command += ["--temp_prefix", f"{arpa.parent}{os.sep}", "--text", text, "--arpa", arpa]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise UserError(f"{lmplz}: cannot be run ({error.strerror}); make it with `python -m nmt lmplz`") from None
    if done.returncode:
        output = [line for line in done.stdout.decode(errors="replace").split("\n") if line.strip()]
        print(*output[-10:], sep="\n", file=sys.stderr)
        reason = output[-1].strip() if output else f"exit code {done.returncode}"
        raise UserError(f"{lmplz}: no {arpa.stem} model could be estimated: {reason}")
    text.unlink()


@dataclass(frozen=True)
class Models:
    """For each side its vocabulary, in-domain and general model."""

    known: list[frozenset[bytes]]
    inside: list[kenlm.Model]
    outside: list[kenlm.Model]

    def score(self, pair: Pair) -> float:
        """The cross-entropy differences of both sides, added (the module's formula); low is good."""
        score = 0.0
        for side in range(2):
            line, words = _mask(pair[side], self.known[side])
            # the end of the sentence is a word too
            score -= (self.inside[side].score(line) - self.outside[side].score(line)) * BITS / (words + 1)
        return score


def train_models(lmplz: Path, order: int, in_domain: list[Pair], sample: list[Pair], folder: Path) -> Models:
    """The four models, from the pairs of the in-domain text and of the general sample; files go to `folder`."""
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    models = Models([], [], [])
    for side, language in enumerate(("source", "target")):
        known = vocabulary(pair[side] for pair in in_domain)
        models.known.append(known)
        for kind, pairs, loaded in (("in-domain", in_domain, models.inside), ("general", sample, models.outside)):
            print(f"select: estimating the {kind} model of the {language}", file=sys.stderr, flush=True)
            arpa = folder / f"{kind}-{language}.arpa"
            estimate(lmplz, order, (pair[side] for pair in pairs), known, arpa)
            loaded.append(kenlm.Model(str(arpa), config))
            arpa.unlink()
    return models


def draw(text: Text, words: int, seed: int) -> list[Pair]:
    """Clean pairs drawn with the seed, without repetition, until they hold `words` source words."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(text.states == State.CLEAN))
    count = int(np.searchsorted(np.cumsum(text.words[order], dtype=np.int64), words)) + 1
    drawn = np.zeros(len(text.states), dtype=bool)
    drawn[order[:count]] = True
    return [pair for pair, chosen in zip(text.pairs(), drawn, strict=True) if chosen]


# Set before the workers are forked, so that they share the models' memory instead of loading each its own.
_forked: tuple[Text, Models] | None = None


def _score_chunk(number: int) -> NDArray[np.float32]:
    """The scores of the pairs of one chunk; run by a worker."""
    assert _forked is not None
    text, models = _forked
    corpus, source_offset, target_offset, count = text.chunks[number]
    source, target = text.corpora[corpus]
    pairs = zip(_byte_lines(source, source_offset), _byte_lines(target, target_offset), strict=False)
    return np.fromiter((models.score(pair) for pair in islice(pairs, count)), np.float32, count)


def score_all(text: Text, models: Models, processes: int) -> NDArray[np.float32]:
    """The score of every pair, shape (pairs,)."""
    global _forked
    scores: list[NDArray[np.float32]] = []
    _forked = text, models
    try:
        with (
            ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool,
            Progress("select: scoring", len(text.states), "pairs") as progress,
        ):
            for chunk in pool.map(_score_chunk, range(len(text.chunks))):
                scores.append(chunk)
                progress.update(len(chunk))
    except BrokenProcessPool:
        raise UserError("a scoring process was killed, for want of memory perhaps; use fewer --threads") from None
    finally:
        _forked = None
    return np.concatenate(scores)


# ---- the choice


def keep_best(
    scores: NDArray[np.float32], words: NDArray[np.int32], clean: NDArray[np.bool_], budget: int
) -> NDArray[np.bool_]:
    """Which pairs to keep: the clean ones of lowest score, equal scores in the text's order, within `budget` words.

    All arguments and the result have shape (pairs,); words are those of the source.
    """
    ranked = np.flatnonzero(clean)
    ranked = ranked[np.argsort(scores[ranked], kind="stable")]
    count = np.searchsorted(np.cumsum(words[ranked], dtype=np.int64), budget, side="right")
    kept = np.zeros(len(clean), dtype=bool)
    kept[ranked[:count]] = True
    return kept


def audit(text: Text, scores: NDArray[np.float32] | None, kept: NDArray[np.bool_]) -> list[tuple[object, ...]]:
    """The rows of the audit table, header first, one row a corpus, the total last.

    `words` are source words; `mean_score` is over all clean pairs, kept or not, and empty without a ranking.
    """
    rows: list[tuple[object, ...]] = [
        (
            *("corpus", "pairs", "words", "duplicates", "held_out", "empty"),
            *("pairs_kept", "words_kept", "mean_score"),
        )
    ]
    parts = [(name, text.corpus(number)) for number, name in enumerate(text.names)]
    for name, part in [*parts, ("total", slice(None))]:
        states, words, chosen = text.states[part], text.words[part], kept[part]
        clean = states == State.CLEAN
        counts = [int(np.sum(states == state)) for state in (State.DUPLICATE, State.HELD_OUT, State.EMPTY)]
        mean = "" if scores is None or not clean.any() else f"{scores[part][clean].mean(dtype=np.float64):.4f}"
        row = (len(states), int(words.sum(dtype=np.int64)), *counts, int(chosen.sum()))
        rows.append((name, *row, int(words[chosen].sum(dtype=np.int64)), mean))
    return rows


def write_kept(text: Text, kept: NDArray[np.bool_], outputs: Files) -> None:
    """Write both sides of the kept pairs in the text's order."""
    with (
        atomic(outputs[0]) as source_name,
        atomic(outputs[1]) as target_name,
        open(source_name, "wb") as source_file,
        open(target_name, "wb") as target_file,
    ):
        for (source, target), keep in zip(text.pairs(), kept, strict=True):
            if keep:
                source_file.write(source + b"\n")
                target_file.write(target + b"\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt select`."""
    parser.add_argument("--lmplz", type=Path, required=True, help="KenLM's program that estimates models")
    parser.add_argument("--names", nargs="+", required=True, help="of the corpora, in order")
    parser.add_argument("--sources", nargs="+", type=Path, required=True, help="tokenized, one file a corpus")
    parser.add_argument("--targets", nargs="+", type=Path, required=True)
    parser.add_argument("--in-domain-sources", nargs="*", type=Path, default=[])
    parser.add_argument("--in-domain-targets", nargs="*", type=Path, default=[])
    parser.add_argument("--held-out-sources", nargs="*", type=Path, default=[], help="development and test sets")
    parser.add_argument("--held-out-targets", nargs="*", type=Path, default=[])
    parser.add_argument("--words", type=int, required=True, help="source words to keep; 0 keeps all that is clean")
    parser.add_argument("--order", type=int, default=4, help="of the language models")
    parser.add_argument("--seed", type=int, required=True, help="of the sample for the general models")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--outputs", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--audit", type=Path, required=True, help="CSV: what each corpus gave")


def _files(arguments: argparse.Namespace, prefix: str) -> list[Files]:
    """The file pairs of the flags --PREFIXsources and --PREFIXtargets."""
    sources, targets = (getattr(arguments, f"{prefix}{side}") for side in ("sources", "targets"))
    if len(sources) != len(targets):
        flag = prefix.replace("_", "-")
        raise UserError(f"--{flag}sources names {len(sources)} files, --{flag}targets {len(targets)}; name pairs")
    return list(zip(sources, targets, strict=True))


def _rank(arguments: argparse.Namespace, text: Text, in_domain_files: list[Files]) -> NDArray[np.float32]:
    """Estimate the models and score every pair, shape (pairs,)."""
    pairs = (pair for files in in_domain_files for pair in read_byte_pairs(files))
    in_domain = [pair for pair in pairs if pair[0].strip() and pair[1].strip()]
    if not in_domain:
        names = ", ".join(str(path) for files in in_domain_files for path in files) or "--in-domain-sources"
        raise UserError(f"{names}: no in-domain text to select by; give some, or keep everything with 0 words")
    sample = draw(text, sum(_count_words(source) for source, _ in in_domain), arguments.seed)
    arguments.outputs[0].parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.outputs[0].parent, prefix=".select.") as folder:
        models = train_models(arguments.lmplz, arguments.order, in_domain, sample, Path(folder))
    return score_all(text, models, max(1, arguments.threads))


def run(arguments: argparse.Namespace) -> None:
    """Clean, rank and cut the training text."""
    corpora, in_domain = _files(arguments, ""), _files(arguments, "in_domain_")
    if len(arguments.names) != len(corpora):
        raise UserError(f"--names gives {len(arguments.names)} names for {len(corpora)} corpora; give one each")
    if not 2 <= arguments.order <= 6:
        raise UserError(f"selection order {arguments.order}: n-gram models have an order from 2 to 6")
    if arguments.words < 0 or arguments.seed < 0:
        raise UserError(f"selection words {arguments.words}, seed {arguments.seed}: neither may be negative")
    text = survey(arguments.names, corpora, _files(arguments, "held_out_"))
    clean = text.states == State.CLEAN
    available = int(text.words[clean].sum(dtype=np.int64))
    if not available:
        raise UserError(f"{', '.join(arguments.names)}: no clean pair, all are empty or held out; check the corpora")
    scores = None
    kept = clean
    if 0 < arguments.words < available:
        scores = _rank(arguments, text, in_domain)
        kept = keep_best(scores, text.words, clean, arguments.words)
        if not kept.any():
            raise UserError(f"selection words {arguments.words}: fewer than the best pair has; allow more")
    else:
        warn(f"selection words {arguments.words}: all {available} words of the clean text are kept, unranked")
    write_kept(text, kept, (arguments.outputs[0], arguments.outputs[1]))
    write_lines(arguments.audit, csv_lines(audit(text, scores, kept)))
