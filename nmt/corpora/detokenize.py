"""Detokenize text: undo `nmt.corpora.tokenize` as far as possible."""

from __future__ import annotations

from collections.abc import Callable

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


def unescape(text: str) -> str:
    """`text` with the entities of the Moses tokenizer replaced by the characters they stand for."""
    for entity, character in ENTITIES.items():
        text = text.replace(entity, character)
    return text


def detokenizer(language: str) -> Callable[[str], str]:
    """A function that detokenizes and unescapes a sentence of `language`."""
    from sacremoses import MosesDetokenizer  # here, so that text can be unescaped where it is not installed

    moses = MosesDetokenizer(lang=language)

    def detokenize(sentence: str) -> str:
        return str(moses.detokenize(split_words(sentence), unescape=True))

    return detokenize
