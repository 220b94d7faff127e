"""Put source words in the place of unknown words, as the alignment says which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from nmt.corpora.shortlist import UNK
from nmt.system.files import UserError, read_lines


def read_dictionary(path: str) -> dict[str, str]:
    """Translations of words, "source<TAB>target" a line; where a word stands twice, the first line counts."""
    dictionary: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        source, _, target = line.partition("\t")
        if not (source and target) or "\t" in target:
            raise UserError(f"{path}: line {number} is not a source word, a tab and its translation; mend the line")
        dictionary.setdefault(source, target)
    return dictionary


def replace_unknown(
    ids: Sequence[int], words: Sequence[str], source: Sequence[str], alignment: Tensor, dictionary: Mapping[str, str]
) -> list[str]:
    """`words`, each that is UNK replaced by the source word of largest alpha_ij, or by what `dictionary` says for it.

    `ids` are those of `words`; alignment (Ty, Tx) has a column for each word of `source` and one for its end, which
    is no word and is passed over.
    """
    places = alignment[:, : len(source)].argmax(dim=1).tolist()
    found = (source[place] for place in places)
    return [
        dictionary.get(aligned, aligned) if number == UNK else word
        for number, word, aligned in zip(ids, words, found, strict=False)
    ]
