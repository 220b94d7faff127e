"""Turn tokenized text back into running text: the inverse, as far as there is one, of `tokenize`."""

from __future__ import annotations

from collections.abc import Callable

from sacremoses import MosesDetokenizer

from nmt.corpora.pairs import split_words

# What the Moses tokenizer escapes; the ampersand last, so that "&amp;lt;" becomes "&lt;" and not "<".
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
    """`text` with the entities of the Moses tokenizer turned back into the characters they stand for."""
    for entity, character in ENTITIES.items():
        text = text.replace(entity, character)
    return text


def detokenizer(language: str) -> Callable[[str], str]:
    """The function that turns a tokenized, escaped sentence of `language` into running text."""
    moses = MosesDetokenizer(lang=language)

    def detokenize(sentence: str) -> str:
        return str(moses.detokenize(split_words(sentence), unescape=True))

    return detokenize
