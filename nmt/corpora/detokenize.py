"""Detokenize text: undo `nmt.corpora.tokenize` as far as possible.

The tokenizer separates punctuation, quotation marks and apostrophes, and does not record where a space was. Whether a
word is joined to its neighbours is decided here from the word, its neighbours and the quotations that are open. These
rules extend those of Moses's detokenizer, which joins neither typographic apostrophes nor slashes: in its output, a
perfect translation of French law scores 76 BLEU.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from nmt.corpora.languages import known_as
from nmt.corpora.pairs import split_words

# The escapes of the Moses tokenizer; the ampersand comes last, so that "&amp;lt;" becomes "&lt;" and not "<".
ENTITIES = {
    "&apos;": "'",
    "&quot;": '"',
    "&lt;": "<",
    "&gt;": ">",
    "&#124;": "|",
    "&#91;": "[",
    "&#93;": "]",
    "&amp;": "&",
}

APOSTROPHES = "'’ʼ´"
OPENING = "([{¿¡"
CLOSING = ",.?!:;\\%}])…"
SPACED_IN_FRENCH = "?!:;%\\"
ENGLISH_ENDINGS = ("s", "t", "d", "m", "re", "ve", "ll")
# Languages that also quote »so« or »so», where the direction of a guillemet does not tell whether it opens a quotation.
REVERSED_GUILLEMETS = ("cs", "da", "de", "fi", "hr", "hu", "sk", "sl", "sv")
# Words that lose their last vowel to the next word, as in "d'1,5" and "l’« accord »".
ELIDING = ("ca", "fr", "it", "oc")
ELIDED = frozenset(["c", "d", "j", "jusqu", "l", "lorsqu", "m", "n", "puisqu", "qu", "quelqu", "quoiqu", "s", "t"])
# Where Moses keeps an apostrophe within a word, and so separates only quotation marks.
TYPED_APART = ("en", "fr", "it")
OKINA = ("haw", "mi", "sm", "to")  # Polynesian languages, where "‘" is a consonant
SUSPENDED = ("en", "og", "och", "oder", "und")  # German "Vor‐ und Nachteile"
# Words that end, and words that begin with an apostrophe: Maltese "ta’", Slovak "ked'" typed for "keď", Afrikaans "’n".
END_WITH_APOSTROPHE = {"gd": "a|dh", "mt": ".*a", "sk": ".*[dtl]"}
BEGIN_WITH_APOSTROPHE = {"af": "[nkt]", "gd": "s", "ha": "y.*", "mt": "i?l", "nl": "[nst]"}


def unescape(text: str) -> str:
    """`text` with the entities of the Moses tokenizer replaced by the characters they stand for."""
    for entity, character in ENTITIES.items():
        text = text.replace(entity, character)
    return text


def detokenizer(language: str) -> Callable[[str], str]:
    """A function that detokenizes and unescapes a sentence of `language`."""

    def detokenize(sentence: str) -> str:
        words = split_words(unescape(sentence.replace(" @-@ ", "-")))
        return "".join(
            word if joined else f" {word}" for word, joined in zip(words, joins(words, language), strict=True)
        ).removeprefix(" ")

    return detokenize


def joins(words: Sequence[str], language: str) -> list[bool]:
    """For each word of a sentence, not escaped, whether no space separates it from the word before it."""
    language = known_as(language)
    opened: set[str] = set()  # the kinds of quotation that the words so far have opened and not closed
    joined, glued = [], False
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        after = words[index + 1] if index + 1 < len(words) else ""
        left, right = _sides(before, word, after, glued, opened, language)
        joined.append(index > 0 and (glued or left))
        glued = right
    return joined


def _sides(before: str, word: str, after: str, glued: bool, opened: set[str], language: str) -> tuple[bool, bool]:
    """Whether `word` is joined to `before`, and whether to `after`; `glued` if `before` joins itself to `word`."""
    french = language == "fr"
    follows, leads = before[-1:].isalnum(), after[:1].isalnum()
    inside = follows and leads
    match word:
        case '"' | "``" | "''" | "“" | "”" | "„" | "‟":
            opens = _opens(before, word, after, opened)
            return not opens, opens
        case "«" | "»" | "‹" | "›":
            opens = _toggles("«", opened) if language in REVERSED_GUILLEMETS else word in "«‹"
            return not opens and not french, opens and not french
        case "‘":
            if language not in OKINA:
                opened.add("'")
            return False, True
        case "'" | "’" | "ʼ" | "´":
            return _apostrophe(before, word, after, glued, opened, language)
        case ":" if before[-1:].isdigit() and after[:1].isdigit():
            return True, True
        case ":" if inside and language in ("fi", "sv"):
            return True, (before.isupper() or before.isdigit()) and after.islower() and len(after) <= 4  # EU:n
        case "·" if language == "el":  # a semicolon
            return True, False
        case "/" if "/" in (before, after):  # https://
            return before in (":", "/"), after == "/" or leads
        case "/" | "_" | "·":
            return inside, inside
        case "‐" | "‑":
            return follows, inside and after not in SUSPENDED
    if word[0] in APOSTROPHES and word[1:2].isalpha():  # an English ending, such as "'s"
        return follows, False
    if word[-1] in APOSTROPHES and word[0].isalnum():  # an elided word, such as "l'"
        return False, leads or after[:1] in ("«", "“")
    if word[0] in OPENING:
        return False, True
    if all(character in CLOSING for character in word):
        return not (french and word in SPACED_IN_FRENCH), False
    if all(unicodedata.category(character) == "Sc" for character in word):
        return False, leads and (after[0].isdigit() or not before[-1:].isdigit())
    if unicodedata.combining(word[0]):
        return inside, inside
    if before.isascii() or word.isascii() or language == "ko":
        return False, False
    from sacremoses.util import is_cjk  # here, so that text can be unescaped where it is not installed

    return is_cjk(before[-1]) and is_cjk(word[0]), False


def _opens(before: str, word: str, after: str, opened: set[str]) -> bool:
    """Whether a double quotation mark opens a quotation; Finnish and Swedish close with the mark that opens."""
    if before and before[0] not in OPENING and all(character in CLOSING for character in after):
        opened.discard('"')
        return False
    if word == "„" or not before or before[0] in OPENING:
        opened.add('"')
        return True
    return _toggles('"', opened)


def _toggles(kind: str, opened: set[str]) -> bool:
    """Open a quotation of `kind`, or close it and return False."""
    opened ^= {kind}
    return kind in opened


def _apostrophe(before: str, word: str, after: str, glued: bool, opened: set[str], language: str) -> tuple[bool, bool]:
    """The sides of an apostrophe, which may also open or close a quotation."""
    begins, ends = BEGIN_WITH_APOSTROPHE.get(language), END_WITH_APOSTROPHE.get(language)
    if begins and re.fullmatch(begins, after, re.IGNORECASE):
        return False, True
    if ends and re.fullmatch(ends, before, re.IGNORECASE):
        return True, False
    if language in ELIDING and before.lower() in ELIDED and after and not glued:
        return True, True
    follows, leads = before[-1:].isalnum(), after[:1].isalnum()
    if leads and not follows and "'" not in opened:
        opened.add("'")
        return False, True
    if glued or not (follows and leads):
        opened.discard("'")
        return True, False
    if "'" in opened and (word == "'" or after not in ENGLISH_ENDINGS):
        opened.discard("'")
        return True, False
    if language == "en" and before[-1] in "sS" and (word == "'" or len(after) > 2):  # the boys' books
        return True, False
    if word == "'" and language in TYPED_APART:
        opened.add("'")
        return False, True
    return True, True
