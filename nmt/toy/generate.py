"""Write the demonstration's corpora: archives in the formats of the WMT site, in a folder that serves as a mirror.

A grammar of the project (`nmt.toy.grammar`) generates the sentences. Five training corpora share the training pairs:
toy-parliament and toy-assembly are speech, toy-news is news, and about half of toy-web and toy-manuals is from manuals
and catalogues, with a few percent of wrong translations for data selection to reject. The development sets
(toy-dev-1 and toy-dev-2) and the test set (toy-test) are news; the test set has as many sentences in each bin of ten
English words from 0 to 60, so that BLEU can be plotted against length. No source sentence of these sets occurs in
training. The same seed and sizes give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from nmt.settings.sections import Generated
from nmt.system.files import atomic
from nmt.system.options import OutputFolder
from nmt.toy.grammar import MAXIMUM_WORDS, Grammar
from nmt.toy.inflection import count_words
from nmt.toy.words import Pair

BIN_WIDTH = 10
_MINIMUM_WORDS = 3
_SHORT = 1.8  # lengths are 3 + 57 u ** 1.8 for uniform u: a third of the sentences have more than 30 words
_EPOCH = 1_388_534_400  # 2014-01-01, the modification time of every member


class Training(NamedTuple):
    """A training corpus: archive, members, share of the pairs, style, share of instructions, share of noise."""

    name: str
    archive: str
    members: Pair
    share: float
    style: str
    instructions: float
    noise: float


TRAINING = (
    Training("toy-parliament", "parliament.tgz", ("parliament/debates.en", "parliament/debates.fr"),
             0.25, "speech", 0.0, 0.0),
    Training("toy-web", "web.tgz", ("web.en", "web.fr"), 0.15, "news", 0.6, 0.08),
    Training("toy-assembly", "assembly.tgz", ("assembly/debates.en", "assembly/debates.fr"), 0.2, "speech", 0.0, 0.0),
    Training("toy-news", "news.tgz", ("news/articles.en", "news/articles.fr"), 0.2, "news", 0.0, 0.0),
    Training("toy-manuals", "manuals.tar", ("manuals.en.gz", "manuals.fr.gz"), 0.2, "news", 0.5, 0.05),
)  # fmt: skip
HELD_OUT = (
    ("toy-dev-1", "dev-1.tgz", ("dev/dev-1-src.en.sgm", "dev/dev-1-src.fr.sgm")),
    ("toy-dev-2", "dev-2.tgz", ("dev/dev-2-src.en.sgm", "dev/dev-2-src.fr.sgm")),
)  # set, archive, source and target member
TEST = ("toy-test", "test.tgz", ("test/test-src.en.sgm", "test/test-ref.fr.sgm"))

# The word that, together with the seed, draws the sentences of a set. It is the set's first name, because another word
# would give other sentences.
DRAWN_BY = {
    "toy-parliament": "europarl-v7",
    "toy-web": "commoncrawl",
    "toy-assembly": "un",
    "toy-news": "news-commentary-v9",
    "toy-manuals": "giga-fren",
    "toy-dev-1": "newstest2012",
    "toy-dev-2": "newstest2013",
    "toy-test": "newstest2014",
}


class Corpora:
    """The sentence pairs of the corpora. Held-out sets must be generated before training corpora."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._held_out: set[str] = set()

    def _grammar(self, name: str) -> Grammar:
        return Grammar(f"{self._seed} {DRAWN_BY[name]}")

    def development(self, name: str, number: int) -> list[Pair]:
        """`number` pairs of news, with lengths like those of the training corpora."""
        grammar = self._grammar(name)
        pairs: list[Pair] = []
        while len(pairs) < number:
            self._hold_out(grammar.sentence("news", _length(grammar, _SHORT)), pairs)
        return pairs

    def test(self, name: str, pairs_per_bin: int) -> list[Pair]:
        """`pairs_per_bin` pairs of news in each bin of English lengths [0, 10), [10, 20) ... [50, 60], shuffled."""
        grammar = self._grammar(name)
        bins: list[list[Pair]] = [[] for _ in range(MAXIMUM_WORDS // BIN_WIDTH)]
        while any(len(pairs) < pairs_per_bin for pairs in bins):
            pair = grammar.sentence("news", _length(grammar, 1.0))
            pairs = bins[min(count_words(pair[0]) // BIN_WIDTH, len(bins) - 1)]
            if len(pairs) < pairs_per_bin:
                self._hold_out(pair, pairs)
        together = [pair for pairs in bins for pair in pairs]
        grammar.random.shuffle(together)
        return together

    def _hold_out(self, pair: Pair, pairs: list[Pair]) -> None:
        if pair[0] not in self._held_out:
            self._held_out.add(pair[0])
            pairs.append(pair)

    def training(self, corpus: Training, number: int) -> list[Pair]:
        """`number` pairs of a training corpus, including its noise."""
        grammar = self._grammar(corpus.name)
        random = grammar.random.random
        pairs: list[Pair] = []
        while len(pairs) < number:
            style = "instructions" if random() < corpus.instructions else corpus.style
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
    """A wrong translation, as in crawled corpora: that of an earlier sentence, a truncated one or the source itself."""
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
    """A set in NIST's format: one document of one paragraph, with a <seg> for each sentence."""
    kind = "refset" if reference else "srcset"
    target = f' trglang="{language}"' if reference else ""
    lines = [f'<{kind} setid="{name}" srclang="any"{target}>', f'<doc sysid="ref" docid="{name}" origlang="en">', "<p>"]
    for number, sentence in enumerate(sentences, 1):
        text = escape(sentence, {'"': "&quot;"})
        lines.append(f'<seg id="{number}">{text}</seg>')
    return _lines([*lines, "</p>", "</doc>", f"</{kind}>"])


def shares(pairs: int) -> list[int]:
    """The number of pairs of each corpus of `TRAINING`; the last one gets the remainder."""
    numbers = [int(pairs * corpus.share) for corpus in TRAINING[:-1]]
    return [*numbers, pairs - sum(numbers)]


def write_archives(output: Path, seed: int, sizes: Generated) -> None:
    """Write every archive of the demonstration below `output`, each atomically."""
    corpora = Corpora(seed)
    sets = [(*place, corpora.development(place[0], sizes.development)) for place in HELD_OUT]
    sets.append((*TEST, corpora.test(TEST[0], sizes.test_bin)))
    for name, archive, members, drawn in sets:
        files = {
            member: _sgml(name, language, "-ref." in member, (pair[side] for pair in drawn))
            for side, (language, member) in enumerate(zip(("en", "fr"), members, strict=True))
        }
        _write(output / archive, files)
    for corpus, number in zip(TRAINING, shares(sizes.pairs), strict=True):
        drawn = corpora.training(corpus, number)
        files = {member: _lines(pair[side] for pair in drawn) for side, member in enumerate(corpus.members)}
        _write(output / corpus.archive, files)


def _write(path: Path, files: dict[str, bytes]) -> None:
    """Write an archive: its members are compressed one by one if they end in .gz, the whole if it is a .tgz."""
    packed = _tar({name: _gzip(data) if name.endswith(".gz") else data for name, data in files.items()})
    with atomic(path) as partial:
        partial.write_bytes(_gzip(packed) if path.suffix == ".tgz" else packed)
    print(f"generate: wrote {path}", file=sys.stderr, flush=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    Generated.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="seed of the sentences")
    parser.add_argument("--output", type=OutputFolder, required=True, help="folder that serves as mirror")


def run(arguments: argparse.Namespace) -> None:
    write_archives(arguments.output, arguments.seed, arguments.settings)
