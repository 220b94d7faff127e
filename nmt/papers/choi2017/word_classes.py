"""Read the classes of words of Figure 4 from a file. The workflow reads it at every start."""

from __future__ import annotations

from nmt.corpora.detokenize import unescape
from nmt.corpora.normalization import normalized
from nmt.settings.sections import NFC
from nmt.system.errors import UserError
from nmt.system.files import check_regular
from nmt.system.text import read_lines

ALIGNMENT = "alignment"  # the name, beside those of the classes, for the source symbols that the aligner attends to


def read_word_classes(path: str | None = None, form: str = NFC) -> dict[str, frozenset[str]]:
    """Class -> its words, in lower case, of a file with a line for each: its name, a tab and words between spaces.

    Without a file, the classes are those of the built-in language. `form` is the Unicode normalization of the text.
    The words may have the escapes of the Moses tokenizer. Raises UserError where there is no such file, or where it has
    another form.
    """
    if path is None:
        from nmt.toy.words import word_classes  # here: most runs have a file

        return word_classes()
    check_regular(path)
    found: dict[str, frozenset[str]] = {}
    for count, line in enumerate(read_lines(path), 1):
        name, _, words = normalized(line, form).partition("\t")
        if not name or not words.split():
            raise UserError(f"{path}: line {count} is not a class, a tab and its words; correct the line")
        if name == ALIGNMENT:
            raise UserError(f"{path}: line {count}: {ALIGNMENT} is the name of the aligner's row; rename the class")
        if name in found:
            raise UserError(f"{path}: line {count}: the class {name} is there already; join the two lines")
        found[name] = frozenset(unescape(word).lower() for word in words.split())
    if not found:
        raise UserError(f"{path}: no classes in it; give a line for each")
    return found
