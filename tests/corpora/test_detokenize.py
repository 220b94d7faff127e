"""Tokenized text is detokenized."""

from __future__ import annotations

import pytest

from nmt.corpora.detokenize import detokenizer, unescape
from nmt.corpora.tokenize import Tokenizer


def test_entities() -> None:
    assert unescape("l &apos; &amp;lt; &#124; &#91;x&#93; &lt;") == "l ' &lt; | [x] <"
    assert detokenizer("fr")("l&apos; homme dit : &quot; oui &quot; .").startswith("l'homme dit")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "He said \"it's the café's fault\", didn't he? [Yes] & no | 100%..."),
        ("fr", "L'été d'Anne, aujourd'hui même, n'est-ce pas (« oui »)."),
        ("en", ""),
    ],
)
def test_there_and_back(language: str, text: str) -> None:
    assert detokenizer(language)(Tokenizer(language).line(text)) == text
