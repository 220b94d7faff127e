"""Write the demonstration's corpora as a mirror of the WMT site: archives of the same names, members and formats.

The sentences come from the project's own grammar (`nmt.toy.grammar`). Five training corpora share `--pairs`:
Europarl and UN speak as parliaments do, News Commentary reports news, Common Crawl and Giga are half manuals and
catalogues, with a few per cent of pairs that are no translations, for data selection to reject. Development sets
(newstest2012 and 2013, 300 pairs each) and the test set (newstest2014, 600 pairs) are news; the test set holds 100
sentences in each bin of ten English words from 0 to 60, so that BLEU can be drawn against length. No source sentence
of these sets occurs in training. The same seed and size give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nmt.system.files import UserError, atomic
from nmt.toy.grammar import MAXIMUM_WORDS, Grammar
from nmt.toy.inflection import count_words
from nmt.toy.words import Pair

MINIMUM_PAIRS = 20
DEVELOPMENT_PAIRS = 300
TEST_PAIRS_A_BIN = 100
BIN_WIDTH = 10
_MINIMUM_WORDS = 3
_SHORT = 1.8  # lengths are 3 + 57 u ** 1.8, u uniform: a third of the sentences have more than 30 words
_EPOCH = 1_388_534_400  # 2014-01-01, the time of every member


class Training(NamedTuple):
    """A training corpus: its archive and members, share of the pairs, style, share of manuals, share of noise."""

    name: str
    archive: str
    members: Pair
    share: float
    style: str
    manual: float
    noise: float


TRAINING = (
    Training("europarl-v7", "wmt13/training-parallel-europarl-v7.tgz",
             ("training/europarl-v7.fr-en.en", "training/europarl-v7.fr-en.fr"), 0.25, "speech", 0.0, 0.0),
    Training("commoncrawl", "wmt13/training-parallel-commoncrawl.tgz",
             ("commoncrawl.fr-en.en", "commoncrawl.fr-en.fr"), 0.15, "news", 0.6, 0.08),
    Training("un", "wmt13/training-parallel-un.tgz",
             ("un/undoc.2000.fr-en.en", "un/undoc.2000.fr-en.fr"), 0.2, "speech", 0.0, 0.0),
    Training("news-commentary-v9", "wmt14/training-parallel-nc-v9.tgz",
             ("training/news-commentary-v9.fr-en.en", "training/news-commentary-v9.fr-en.fr"), 0.2, "news", 0.0, 0.0),
    Training("giga-fren", "wmt10/training-giga-fren.tar",
             ("giga-fren.release2.fixed.en.gz", "giga-fren.release2.fixed.fr.gz"), 0.2, "news", 0.5, 0.05),
)  # fmt: skip
# Set, archive, the two members, number in each bin of lengths or None
HELD_OUT = (
    ("newstest2012", "wmt12/test.tgz", ("test/newstest2012-src.en.sgm", "test/newstest2012-src.fr.sgm"), None),
    ("newstest2013", "wmt13/test.tgz", ("test/newstest2013-src.en.sgm", "test/newstest2013-src.fr.sgm"), None),
    (
        "newstest2014",
        "wmt14/test-full.tgz",
        ("test-full/newstest2014-fren-src.en.sgm", "test-full/newstest2014-fren-ref.fr.sgm"),
        TEST_PAIRS_A_BIN,
    ),
)


class Corpora:
    """Sentence pairs of every corpus of one mirror; held-out sets must be drawn before the training corpora."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._held_out: set[str] = set()

    def development(self, name: str) -> list[Pair]:
        """`DEVELOPMENT_PAIRS` news pairs, with the lengths of the training corpora."""
        grammar = Grammar(f"{self._seed} {name}")
        pairs: list[Pair] = []
        while len(pairs) < DEVELOPMENT_PAIRS:
            self._hold_out(grammar.sentence("news", _length(grammar, _SHORT)), pairs)
        return pairs

    def test(self, name: str, pairs_a_bin: int) -> list[Pair]:
        """`pairs_a_bin` news pairs of each bin of English lengths [0, 10), [10, 20) ... [50, 60], shuffled."""
        grammar = Grammar(f"{self._seed} {name}")
        bins: list[list[Pair]] = [[] for _ in range(MAXIMUM_WORDS // BIN_WIDTH)]
        while any(len(pairs) < pairs_a_bin for pairs in bins):
            pair = grammar.sentence("news", _length(grammar, 1.0))
            pairs = bins[min(count_words(pair[0]) // BIN_WIDTH, len(bins) - 1)]
            if len(pairs) < pairs_a_bin:
                self._hold_out(pair, pairs)
        together = [pair for pairs in bins for pair in pairs]
        grammar.random.shuffle(together)
        return together

    def _hold_out(self, pair: Pair, pairs: list[Pair]) -> None:
        if pair[0] not in self._held_out:
            self._held_out.add(pair[0])
            pairs.append(pair)

    def training(self, corpus: Training, number: int) -> list[Pair]:
        """`number` pairs of a training corpus, its noise among them."""
        grammar = Grammar(f"{self._seed} {corpus.name}")
        random = grammar.random.random
        pairs: list[Pair] = []
        while len(pairs) < number:
            style = "manual" if random() < corpus.manual else corpus.style
            english, french = grammar.sentence(style, _length(grammar, _SHORT))
            if english in self._held_out:
                continue
            if random() < corpus.noise:
                french = _noise(english, french, pairs, random())
            pairs.append((english, french))
        return pairs


def _length(grammar: Grammar, exponent: float) -> int:
    return _MINIMUM_WORDS + int((MAXIMUM_WORDS - _MINIMUM_WORDS) * grammar.random.random() ** exponent)


def _noise(english: str, french: str, pairs: list[Pair], kind: float) -> str:
    """A wrong translation, as crawled corpora have: of an earlier sentence, cut off, or the source itself."""
    if kind < 0.6 and pairs:
        return pairs[int(kind / 0.6 * len(pairs))][1]
    if kind < 0.8:
        return french[: len(french) // 2].rpartition(" ")[0] or french
    return english


def _lines(sentences: Iterable[str]) -> bytes:
    return "".join(f"{sentence}\n" for sentence in sentences).encode()


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=6, mtime=_EPOCH)


def _tar(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(data), _EPOCH, 0o644
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _sgml(name: str, language: str, reference: bool, sentences: Iterable[str]) -> bytes:
    """A set in NIST's format: one document, one paragraph, a <seg> for each sentence."""
    kind = "refset" if reference else "srcset"
    target = f' trglang="{language}"' if reference else ""
    lines = [f'<{kind} setid="{name}" srclang="any"{target}>', f'<doc sysid="ref" docid="{name}" origlang="en">', "<p>"]
    for number, sentence in enumerate(sentences, 1):
        text = sentence.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
        lines.append(f'<seg id="{number}">{text}</seg>')
    return _lines([*lines, "</p>", "</doc>", f"</{kind}>"])


def shares(pairs: int) -> list[int]:
    """How many of `pairs` each corpus of `TRAINING` gets; the last takes what rounding leaves."""
    numbers = [int(pairs * corpus.share) for corpus in TRAINING[:-1]]
    return [*numbers, pairs - sum(numbers)]


def write_mirror(output: Path, seed: int, pairs: int) -> None:
    """Write every archive of the demonstration under `output`, each whole or not at all."""
    if pairs < MINIMUM_PAIRS:
        raise UserError(f"--pairs is {pairs}: the five training corpora need at least {MINIMUM_PAIRS}; raise it")
    corpora = Corpora(seed)
    for name, archive, members, pairs_a_bin in HELD_OUT:
        drawn = corpora.test(name, pairs_a_bin) if pairs_a_bin else corpora.development(name)
        files = {
            member: _sgml(name, language, "-ref." in member, (pair[side] for pair in drawn))
            for side, (language, member) in enumerate(zip(("en", "fr"), members, strict=True))
        }
        _write(output / archive, files)
    for corpus, number in zip(TRAINING, shares(pairs), strict=True):
        drawn = corpora.training(corpus, number)
        _write(
            output / corpus.archive,
            {member: _lines(p[side] for p in drawn) for side, member in enumerate(corpus.members)},
        )


def _write(path: Path, files: dict[str, bytes]) -> None:
    """Write an archive: members in .gz are compressed one by one, a .tgz as a whole."""
    packed = _tar({name: _gzip(data) if name.endswith(".gz") else data for name, data in files.items()})
    with atomic(path) as partial:
        partial.write_bytes(_gzip(packed) if path.suffix == ".tgz" else packed)
    print(f"mirror: wrote {path}", flush=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, required=True, help="folder to write, the root of the mirror")
    parser.add_argument("--seed", type=int, required=True, help="which sentences are said")
    parser.add_argument("--pairs", type=int, required=True, help="training pairs in all")


def run(arguments: argparse.Namespace) -> None:
    write_mirror(arguments.output, arguments.seed, arguments.pairs)
