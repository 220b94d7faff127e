"""Replace unknown words in a translation by the source words that they are aligned with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nmt.corpora.shortlist import UNK
from nmt.system.files import UserError, read_lines

if TYPE_CHECKING:
    from torch import Tensor


def read_dictionary(path: str) -> dict[str, str]:
    """Read translations of words, one "source<TAB>target" a line; the first line of a source word counts.

    Raises UserError where a line has another form.
    """
    dictionary: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        source, _, target = line.partition("\t")
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
