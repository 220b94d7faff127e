"""Alignments: the weights with which a model attends to the source words while it generates a translation.

The step translate writes them as JSON lines, one for each translation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from nmt.corpora.normalization import normalized
from nmt.corpora.pairs import split_words
from nmt.corpora.pieces import SPACE
from nmt.corpora.shortlist import EOS_SYMBOL, UNK, UNK_WORD
from nmt.corpora.subwords import is_divisible
from nmt.settings.sections import NFC
from nmt.system.errors import UserError
from nmt.system.text import read_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from nmt.model.network import Network

BATCH = 20


@dataclass(frozen=True)
class Alignment:
    """A line of the file: the weights alpha_ij (Eq. (6)), a row for each target word, a column for each source word.

    `line` is the number of the source line and `rank` the place among its translations, both from 0. The last word of
    `source` is <eos>, and that of `target` if the translation has ended. `weights` is None if the context is fixed.
    """

    line: int
    rank: int
    source: list[str]
    target: list[str]
    weights: list[list[float]] | None

    def to_json(self) -> str:
        """The line, with four decimals of each weight."""
        weights = self.weights and [[round(weight, 4) for weight in row] for row in self.weights]
        return json.dumps(asdict(self) | {"weights": weights}, ensure_ascii=False)


def read_alignments(path: str, sources: Sequence[str]) -> Iterator[Alignment]:
    """The alignments of the best translations in order, with the words of `sources`.

    The step translate normalizes its text once more, so both are compared in that form. Raises UserError if they do not
    fit or, at the end, if a line of `sources` has no alignment. A line needs none if nothing in it can be seen, or if
    none of its words has symbols.
    """
    sources = [normalized(source, NFC) for source in sources]
    last, left = -1, {line for line, source in enumerate(sources) if any(map(_has_symbols, split_words(source)))}
    for number, text in enumerate(read_lines(path), 1):
        try:
            record = json.loads(text)
            if record.get("rank", 0) != 0:
                continue
            line = int(record["line"])
            if not last < line < len(sources):
                raise ValueError(f"sentence {line + 1} is out of place")
            last = line
            left.discard(line)
            yield _checked(record, sources[line])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise UserError(f"{path}: line {number} is not an alignment of the source ({error})") from None
    if left:
        raise UserError(f"{path}: no alignment of line {min(left) + 1}; translate the whole text again")


def _has_symbols(word: str) -> bool:
    """Whether a word has symbols, of whatever kind: BPE drops some words, and SentencePiece its own sign of a space."""
    return is_divisible(word) and word.strip(SPACE) != ""


def _checked(record: dict[str, Any], sentence: str) -> Alignment:
    """The alignment of a record; ValueError if it is not one of `sentence`."""
    words, weights, target = record["source"], record["weights"], list(map(str, record["target"]))
    # If the decoder cut the source short, the alignment is one of the words that are left.
    source = [*split_words(sentence)[: len(words) - 1], EOS_SYMBOL]
    if any(normalize("NFC", one) not in (word, UNK_WORD) for one, word in zip(words, source, strict=True)):
        raise ValueError("its source words differ")
    if weights is not None:
        weights = [[float(weight) for weight in row] for row in weights]
        if not target or len(weights) != len(target) or any(len(row) != len(source) for row in weights):
            raise ValueError("its words and weights differ in number")
        if not all(0 <= weight <= 1 for row in weights for weight in row):
            raise ValueError("a weight is not between 0 and 1")
    return Alignment(int(record["line"]), 0, source, target, weights)


def alignments(
    model: Network, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> list[NDArray[Any]]:
    """alpha_ij of each pair of ids without EOS: (target words + 1, source words + 1), ends of sentence included."""
    import torch

    from nmt.corpora.padding import by_length, pad

    device = next(model.parameters()).device
    found: dict[int, NDArray[Any]] = {}
    with torch.no_grad():
        for chosen in by_length([max(map(len, pair)) for pair in zip(sources, targets, strict=True)], BATCH):
            memory = model.encode(*pad([sources[pair] for pair in chosen], device))
            words, _ = pad([targets[pair] for pair in chosen], device)
            asked = model.decoder.attending(memory, words)
            for row, pair in enumerate(chosen):
                state, previous = (part.view(*words.shape, -1)[row] for part in asked)
                weights, _ = model.decoder.attention.attend(memory.select(torch.tensor([row])), state, previous)
                assert weights is not None
                found[pair] = weights[: len(targets[pair]) + 1, : len(sources[pair]) + 1].cpu().numpy()
    return [found[pair] for pair in range(len(sources))]


def merge(weights: NDArray[Any], targets: Sequence[int], sources: Sequence[int]) -> NDArray[Any]:
    """The weights between words, (target words, source words), from `weights` (target symbols, source symbols).

    `targets` and `sources` hold for each symbol the number, from 0, of the word that it belongs to. The weight of a
    source word is the sum over its symbols, that of a target word the mean over its symbols.
    """
    return word_means(weights, targets) @ _membership(sources).T


def word_means(values: NDArray[Any], words: Sequence[int]) -> NDArray[Any]:
    """The means (words, columns) of `values` (symbols, columns) over the symbols of each word, as in `merge`."""
    rows = _membership(words)
    return (rows / rows.sum(axis=1, keepdims=True)) @ values


def _membership(words: Sequence[int]) -> NDArray[Any]:
    """Which symbol belongs to which word: ones and zeros (words, symbols)."""
    import numpy as np  # only here: the help of translate must not wait for it

    return np.equal.outer(np.arange(max(words, default=-1) + 1), words).astype(float)


def read_dictionary(path: str, form: str) -> dict[str, str]:
    """Read translations of words, lines "source<TAB>target"; the first line for a source word counts.

    `form` is the Unicode normalization of the text in which the words are looked up. Raises UserError if a line is not
    such a pair.
    """
    dictionary: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        source, _, target = map(str.strip, normalized(line, form).partition("\t"))
        if not (source and target) or "\t" in target:
            raise UserError(f"{path}: line {number} is not a source word, a tab and its translation; correct the line")
        dictionary.setdefault(source, target)
    return dictionary


def replace_unknown(
    ids: Sequence[int], words: Sequence[str], source: Sequence[str], alignment: Tensor, dictionary: Mapping[str, str]
) -> list[str]:
    """`words` with each unknown word replaced by the source word of largest alpha_ij, or by its `dictionary` entry.

    `ids` are the ids of `words`. `alignment` (Ty, Tx) has a column for each word of `source` and a last one for its
    end of sentence, which is never copied.
    """
    places = alignment[:, : len(source)].argmax(dim=1).tolist()
    found = (source[place] for place in places)
    return [
        dictionary.get(aligned, aligned) if number == UNK else word
        for number, word, aligned in zip(ids, words, found, strict=False)
    ]
