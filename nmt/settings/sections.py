"""The sections of an experiment: the one place where the defaults of its settings are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated

from nmt.settings.checks import (
    Section,
    checked,
    choice,
    file_pairs,
    flag,
    fraction,
    fractions,
    integer,
    matching,
    names,
    optional,
    pairs,
    path,
    text,
)
from nmt.settings.variant import LARGEST_BATCH, PRECISIONS
from nmt.system.errors import UserError

WIDEST_BEAM = 1000
LARGEST_VOCABULARY = 10_000_000
MOST_PAIRS = 10**9  # of the built-in language
MOST_THREADS = 1024  # a process that starts far too many threads ends without a message

NFC = "nfc"  # Unicode's normal form C, to which text is normalized
NORMALIZE = (NFC, "none")
LANGUAGE = "[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*"


def language(code: str) -> str:
    """The type of an option that is a language code. Raises UserError."""
    return str(checked(code, matching(LANGUAGE, "a language code as en"), "language"))


@dataclass(frozen=True)
class Languages:
    """Two language codes, as files end: en, eng or en-GB. Raises UserError where they are the same."""

    source: Annotated[str, matching(LANGUAGE, "a language code as en")]
    target: Annotated[str, matching(LANGUAGE, "a language code as fr")]

    def __post_init__(self) -> None:
        if self.source == self.target:
            raise UserError(
                f"config: languages: {self.source} is source and target, and files are named by their language; "
                "give one of them another code"
            )


@dataclass(frozen=True)
class Generated(Section):
    """The built-in language, used where `mirror` is `generated`: the sizes of its corpora.

    `test_bin` is the number of test sentences in each of six bins of lengths.
    """

    pairs: Annotated[int, integer(100, MOST_PAIRS)] = 120_000
    development: Annotated[int, integer(1, MOST_PAIRS)] = 300
    test_bin: Annotated[int, integer(1, MOST_PAIRS)] = 100


@dataclass(frozen=True)
class Corpora:
    """Names of the registry's corpora, by use; `held_out` are further sets whose sentences are kept from training."""

    train: Annotated[tuple[str, ...], names(1)]
    development: Annotated[tuple[str, ...], names(1)]
    test: Annotated[tuple[str, ...], names(1)]
    in_domain: Annotated[tuple[str, ...], names()] = ()
    held_out: Annotated[tuple[str, ...], names()] = ()


@dataclass(frozen=True)
class Files:
    """The experiment's own files, by use: source, target and, for further corpora, source and target again."""

    train: Annotated[tuple[str, ...], file_pairs(1)]
    development: Annotated[tuple[str, ...], file_pairs(1)]
    test: Annotated[tuple[str, ...], file_pairs(1)]
    in_domain: Annotated[tuple[str, ...], file_pairs()] = ()
    held_out: Annotated[tuple[str, ...], file_pairs()] = ()

    def pairs(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Use -> name of a corpus -> its two files: the training corpora are train, train-2 and so on.

        The development set is dev, because the workflow joins all of them to `development`.
        """
        found = {}
        for use, files in asdict(self).items():
            name = "dev" if use == "development" else use
            pairs = zip(files[::2], files[1::2], strict=True)
            found[use] = {name if number == 1 else f"{name}-{number}": pair for number, pair in enumerate(pairs, 1)}
        return found

    def corpora(self) -> Corpora:
        """The names of the corpora, by use."""
        return Corpora(**{use: tuple(pairs) for use, pairs in self.pairs().items()})


@dataclass(frozen=True)
class Shard:
    """Training corpora are processed in shards of about this many pairs."""

    pairs: Annotated[int, integer(1)] = 2_000_000

    def count(self, pairs: int) -> int:
        """The number of shards in which a corpus of `pairs` pairs is processed."""
        return max(1, round(pairs / self.pairs))


@dataclass(frozen=True)
class Select(Section):
    """Data selection: its rule, and how many source words (0: all) or which shares of the corpora are kept.

    With `drop_duplicates` a pair that occurs more than once is kept once. `order` is that of the language models that
    score the pairs.
    """

    rule: Annotated[str, choice("ranking", "shares", "random", "all")] = "ranking"
    words: Annotated[int, integer(0)] = 0
    shares: Annotated[dict[str, float] | None, optional(fractions())] = None
    drop_duplicates: Annotated[bool, flag()] = True
    order: Annotated[int, integer(2, 6)] = 4

    def to_json(self, *keys: str) -> str:
        """As in any section, but settings that have no effect get their defaults, and shares of 1 are left out."""
        used = {"ranking": "words", "random": "words", "shares": "shares"}.get(self.rule)
        unused = {key: getattr(Select, key) for key in ("words", "shares") if key != used}
        shares = self.shares and {name: share for name, share in self.shares.items() if share < 1}
        return Section.to_json(replace(self, **{"shares": shares} | unused), *keys)

    @property
    def scores_pairs(self) -> bool:
        """Whether the pairs are scored by language models; `all` needs none."""
        return self.rule != "all"


@dataclass(frozen=True)
class Shortlist(Section):
    """How many symbols each side knows, the unknown word among them."""

    size: Annotated[int, integer(2, LARGEST_VOCABULARY)] = 30_000


@dataclass(frozen=True)
class BytePairs(Section):
    """Subwords by byte pair encoding: how many symbols each side has in all; with `joint` one code for both sides."""

    symbols: Annotated[int, integer(2, LARGEST_VOCABULARY)] = 30_000
    joint: Annotated[bool, flag()] = False


@dataclass(frozen=True)
class SentencePiece(Section):
    """Subwords by SentencePiece: how many symbols each side has in all; with `joint` the same for both sides.

    They are learned from at most `sentences` lines of each side, drawn at random.
    """

    symbols: Annotated[int, integer(300, LARGEST_VOCABULARY)] = 8000
    joint: Annotated[bool, flag()] = False
    sentences: Annotated[int, integer(1)] = 1_000_000


@dataclass(frozen=True)
class Translate(Section):
    """Beam search. With `fallback`, it is repeated where no translation has ended; without, unfinished ones compete.

    `precision` is that of matrix products.
    """

    beam: Annotated[int, integer(1, WIDEST_BEAM)] = 12
    batch: Annotated[int, integer(1, LARGEST_BATCH)] = 32
    minimum_length_ratio: Annotated[float, fraction()] = 0.5
    fallback: Annotated[bool, flag()] = True
    precision: Annotated[str, choice(*PRECISIONS)] = "float32"


@dataclass(frozen=True)
class Evaluate(Section):
    """What is measured: with `no_unk` also sentences without unknown words, decoded with the unknown word forbidden.

    The likelihood of `train_sample` of the pairs that a model trains on stands for that of all of them. `compare` are
    the systems whose differences in BLEU are tested, each with its baseline; null: those that the attention suggests.
    """

    no_unk: Annotated[bool, flag()] = False
    train_sample: Annotated[int, integer(1)] = 10_000
    compare: Annotated[tuple[tuple[str, str], ...] | None, optional(pairs())] = None


SYSTEM_LABELS = {"moses": "Moses", "thot": "Phrase-based (Thot)"}


@dataclass(frozen=True)
class PhraseBased(Section):
    """The phrase-based system: which one, its training text, its search, and how it is tuned.

    Without a system, none is run. Moses is built from its sources unless `bin` names the folder of its programs;
    `sources` is a folder or mirror with the sources, `version` the version that the decoder must report ("" for any).
    """

    system: Annotated[str | None, optional(choice(*SYSTEM_LABELS))] = "thot"
    bin: Annotated[str | None, optional(path())] = None
    sources: Annotated[str | None, optional(text())] = None
    version: Annotated[str, text(0)] = ""
    pairs: Annotated[int, integer(0)] = 0
    monolingual: Annotated[tuple[str, ...], names()] = ()
    order: Annotated[int, integer(1, 100)] = 5
    align_iterations: Annotated[int, integer(1, 10_000)] = 5
    phrase_length: Annotated[int, integer(1, 1000)] = 7
    translations: Annotated[int, integer(1, 100_000)] = 20
    stack: Annotated[int, integer(1, 100_000)] = 100
    distortion_limit: Annotated[int, integer(0, 1000)] = 6
    tune_sentences: Annotated[int, integer(1)] = 3000
    tune_rounds: Annotated[int, integer(1, 10_000)] = 10
    n_best: Annotated[int, integer(2, 100_000)] = 100

    @property
    def label(self) -> str:
        """The name of the system in tables and figures."""
        return SYSTEM_LABELS[self.system] if self.system else ""


@dataclass(frozen=True)
class Threads:
    """Threads of the steps that use several."""

    train: Annotated[int, integer(1, MOST_THREADS)] = 4
    translate: Annotated[int, integer(1, MOST_THREADS)] = 4
    phrase_based: Annotated[int, integer(1, MOST_THREADS)] = 4
