"""Classes of source words, such as articles, in which Figure 4 looks for dimensions that specialize."""

from __future__ import annotations

from nmt.papers.choi2017.settings import GENERATED
from nmt.system.files import UserError, read_lines
from nmt.toy.words import word_classes


def read_word_classes(path: str) -> dict[str, frozenset[str]]:
    """Class -> its words, in lower case, of a file with a line for each: its name, a tab and words between spaces."""
    if path == GENERATED:
        return word_classes()
    found: dict[str, frozenset[str]] = {}
    for number, line in enumerate(read_lines(path), 1):
        name, _, words = line.partition("\t")
        if not name or not words.split():
            raise UserError(f"{path}: line {number} is not a class, a tab and its words; mend the line")
        if name in found:
            raise UserError(f"{path}: line {number}: the class {name} is there already; join the two lines")
        found[name] = frozenset(word.lower() for word in words.split())
    if not found:
        raise UserError(f"{path}: no classes in it; give a line for each")
    return found
