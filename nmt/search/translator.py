"""A trained model that translates lines of text: what `nmt.load` returns, and what the step translate runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

from nmt.corpora.detokenize import detokenizer
from nmt.corpora.shortlist import EOS_SYMBOL
from nmt.search.alignments import merge, replace_unknown
from nmt.search.beam import MAXIMUM_LENGTH_RATIO, BeamSettings, Hypothesis, search_all
from nmt.search.text import to_symbols, to_words
from nmt.settings.sections import WIDEST_BEAM, Translate
from nmt.settings.variant import LARGEST_BATCH
from nmt.system.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nmt.trained import TrainedModel


@dataclass(frozen=True)
class Translation:
    """One translation of a line.

    `text` is as users write it. `log_probability`, in nats, is that of `length` symbols (words or subwords), end of
    sentence included; `ended` is False if the search reached its maximum length first.

    `symbols` are those that the model wrote. `source` and `target` are words, or the pieces of a language without
    spaces; `source` ends with <eos>, and so does `target` if it has ended. `weights` (target words, source words) are
    the attention weights between them, None if they were not kept or the context is fixed.
    """

    text: str
    log_probability: float
    length: int
    ended: bool
    symbols: list[str]
    source: list[str]
    target: list[str]
    weights: NDArray[Any] | None


@dataclass(frozen=True)
class Translator:
    """A trained model, and how it reads and writes text.

    Lines are plain text in the languages of the model or, if `tokenized`, words with spaces between them. With a
    `dictionary`, each unknown word of a translation is replaced by the entry for the source word to which the model
    attended most, or by that word itself.
    """

    trained: TrainedModel
    tokenized: bool = False
    dictionary: Mapping[str, str] | None = None

    def translate(
        self,
        lines: Iterable[str],
        *,
        beam: int = Translate.beam,
        batch: int = Translate.batch,
        forbid_unk: bool = False,
        normalize: bool = False,
    ) -> list[str]:
        """The best translation of each of `lines`, "" for an empty one. The options are those of `nmt translate`.

        Raises UserError if `lines` are not strings, or if an option is out of range.
        """
        found = self.search(lines, beam=beam, batch=batch, forbid_unk=forbid_unk, normalize=normalize)
        return [best[0].text if best else "" for best in found]

    def search(
        self,
        lines: Iterable[str],
        *,
        n_best: int = 1,
        beam: int = Translate.beam,
        batch: int = Translate.batch,
        forbid_unk: bool = False,
        normalize: bool = False,
    ) -> list[list[Translation]]:
        """The `n_best` translations of each of `lines`, best first, with their attention weights.

        An empty line has none, and a line for which the search found fewer has fewer. The rest is as for `translate`.
        """
        settings = BeamSettings(beam, forbid_unk, normalize=normalize, n_best=n_best, alignments=True)
        check_search(settings, batch)
        settings, batch = replace(settings, width=int(beam), n_best=int(n_best)), int(batch)  # NumPy's may overflow
        lines = checked_lines(lines)
        found: list[list[Translation]] = [[] for _ in lines]
        for number, translations in self.each(self.words(lines), batch, settings):
            found[number] = translations
        return found

    def words(self, lines: Sequence[str]) -> list[list[str]]:
        """The words of each line."""
        return to_words(lines, self.trained, 0, self.tokenized)

    def each(
        self,
        lines: Sequence[list[str]],
        batch: int,
        settings: BeamSettings,
        name: str = "the lines to translate",
        first: int = 1,
    ) -> Iterator[tuple[int, list[Translation]]]:
        """Yield the index and the translations of each of `lines` (words) that is not empty, long lines first.

        Warnings call `lines` by `name` and count them from `first`.
        """
        symbols = to_symbols(lines, self.trained.source, name, first)
        sources = [self.trained.source.ids(line) for line in symbols]
        for number, hypotheses in search_all(self.trained.model, sources, batch, settings):
            yield number, [self.translation(lines[number], symbols[number], found) for found in hypotheses]

    @cached_property
    def _detokenize(self) -> Callable[[str], str]:
        language = None if self.tokenized else self.trained.tokenizers[1]
        return detokenizer(language) if language else str

    def translation(self, words: list[str], symbols: list[str], found: Hypothesis) -> Translation:
        """`found`, a translation of the line `words`, as text; `symbols` are the line's, all or the first of them."""
        source, target = self.trained.source, self.trained.target
        written = target_symbols = target.words(found.words)
        if self.dictionary is not None and found.alignment is not None:
            target_symbols = replace_unknown(found.words, target_symbols, symbols, found.alignment, self.dictionary)
        line = self._detokenize(" ".join(target.join(target_symbols)))
        if self.trained.has_words(0):
            # A word that cannot be split has no symbol, and the source may have been cut short.
            columns = [place for place, word in enumerate(words) for _ in source.split([word])][: len(symbols)]
            read = words[: columns[-1] + 1]
        else:
            columns, read = list(range(len(symbols))), symbols
        if self.trained.has_words(1):
            rows, translation = target.owners(target_symbols), target.join(target_symbols)
        else:
            rows, translation = list(range(len(target_symbols))), target_symbols
        weights = None
        if found.alignment is not None:
            rows = [*rows, *[len(translation)] * found.ended]
            weights = merge(found.alignment.double().numpy(), rows, [*columns, len(read)])
        return Translation(
            line,
            found.log_probability,
            found.length,
            found.ended,
            written,
            [*read, EOS_SYMBOL],
            [*translation, *[EOS_SYMBOL] * found.ended],
            weights,
        )


def checked_lines(lines: Iterable[str]) -> list[str]:
    """The lines without their newlines, read once. Raises UserError if they are a single string, or not strings."""
    if isinstance(lines, str | bytes):
        raise UserError("lines: expected a list of sentences, not one sentence; put it in brackets")
    try:
        each = iter(lines)
    except TypeError:
        raise UserError(f"lines: expected a list of sentences, not {type(lines).__name__}") from None
    found = list(each)
    for number, line in enumerate(found, 1):
        if not isinstance(line, str):
            raise UserError(f"lines: line {number} is {type(line).__name__}, not a string")
    # Half of a surrogate pair cannot be encoded.
    return [line.removesuffix("\n").encode(errors="replace").decode() for line in found]


def check_search(settings: BeamSettings, batch: int, mark: str = "") -> None:
    """Raise UserError if an option is not a number or is out of range; `mark` is put before the names of options."""
    beam, n_best, ratio = settings.width, settings.n_best, settings.minimum_length_ratio
    for name, number in (("beam", beam), ("batch", batch), ("n-best", n_best)):
        if not isinstance(number, Integral) or isinstance(number, bool):
            raise UserError(f"{mark}{name}: expected a whole number, not {number!r}")
    for name in ("forbid_unk", "fallback", "normalize"):
        if not isinstance(value := getattr(settings, name), bool):
            raise UserError(f"{mark}{name}: expected True or False, not {value!r}")
    for name, number, most in (("beam", beam, WIDEST_BEAM), ("batch", batch, LARGEST_BATCH)):
        if not 1 <= number <= most:
            raise UserError(f"{mark}{name} {number}: must be from 1 to {most}")
    if not 1 <= n_best <= beam:
        raise UserError(f"{mark}n-best {n_best}: must be from 1 to {beam}, the width of {mark}beam")
    if not 0 <= ratio < MAXIMUM_LENGTH_RATIO:
        raise UserError(f"{mark}minimum-length-ratio {ratio}: must be 0 or more and below {MAXIMUM_LENGTH_RATIO}")
