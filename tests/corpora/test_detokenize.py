"""Tokenized text is detokenized."""

from __future__ import annotations

import pytest

from nmt.corpora.detokenize import detokenizer, unescape
from nmt.corpora.normalization import normalized
from nmt.corpora.tokenize import Tokenizer
from tests.corpora.languages import LATIN_GREEK_CYRILLIC, SENTENCES


def test_entities() -> None:
    assert unescape("l &apos; &amp;lt; &#124; &#91;x&#93; &lt;") == "l ' &lt; | [x] <"
    assert detokenizer("fr")("l&apos; homme dit : &quot; oui &quot; .").startswith("l'homme dit")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "He said \"it's the café's fault\", didn't he? [Yes] & no | 100%..."),
        ("fr", "L'été d'Anne, aujourd'hui même, n'est-ce pas (« oui »)."),
        ("en", ""),
        ("en", "The boys’ ball isn’t lost, she said: “It’s in the café’s garden.” We’ll look (again) by 9:45."),
        ("en", "He called it 'dysfunctional,' and paid $5 for the 1997/98 edition of file_name."),
        ("en", "See https://example.org/a/b (and ftp://example.org)."),
        ("sk", "V čase, ked' boly spáchané, neboly trestné."),
        ("fr", "L’été d’Anne : « Qu’y a-t-il aujourd’hui ? » C’est l’« accord » d'1,5 % du 2003/87/CE."),
        ("fr", "Il a payé 250 000 $ à 8:30."),
        ("de", 'Sie sagte »ja«, er sagte „nein“, dann “doch” und "gut".'),
        ("de", "Vor‐ und Nachteile der E‐Mail"),
        ("fi", 'EU:n ”virasto” sanoi: USA:ssa on ”hyvä”, ja lasta", sanoi hän.'),
        ("sv", "Han sade: ”Ja”, och FN:s svar kom."),
        ("it", "L’uomo dell’isola e l'altro."),
        ("ca", "L’home d’aquí col·labora."),
        ("uk", "Обов’язок сім’ї."),
        ("cy", "Mae’r hawl i’r plant."),
        ("mt", "Ta’ dinja b’xejn ma’ xulxin, ’l quddiem."),
        ("af", "Dit is ’n reg van ’n mens."),
        ("ha", "Hakkokin ’yan-adam, da ’yanci."),
        ("gd", "A' cur an cèill 's an dh' aindeoin"),
        ("haw", "‘A’ole e ho’okae ‘ia ke kanaka i ka ‘ike."),
        ("es", "¿Qué? ¡No! (sí)"),
        ("zh", "你好。"),
    ],
)
def test_there_and_back(language: str, text: str) -> None:
    assert detokenizer(language)(Tokenizer(language).line(text)) == text


@pytest.mark.parametrize("language", [one for one in LATIN_GREEK_CYRILLIC if one != "yo"])
def test_a_sentence_of_each_language_comes_back(language: str) -> None:
    """Moses separates Yoruba's tone marks from their letters."""
    text = normalized(SENTENCES[language], "nfc")
    assert detokenizer(language)(Tokenizer(language).line(text)) == text
