"""Inflection of the demonstration's words (plurals, genders, tenses), elision and contraction in French."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nmt.toy import lexicon

_VOWELS = "aeiouàâéèêëîïôùûœAEIOUÀÂÉÈÊÎÔŒ"


class Noun(NamedTuple):
    """English and French (singular, plural); gender is 0 for masculine, 1 for feminine; kind as in `lexicon.NOUNS`."""

    english: tuple[str, str]
    french: tuple[str, str]
    gender: int
    kind: str


class Adjective(NamedTuple):
    """The English form; the French forms, at index 2 * plural + gender; whether it precedes the French noun."""

    english: str
    french: tuple[str, ...]
    before: bool


class Verb(NamedTuple):
    """English (base, third person, past, participle), the French forms, and the kinds of objects that it takes.

    `future` is the stem and a word that follows it; `preposition` ends in a space or is empty; `etre` says whether the
    auxiliary is être.
    """

    english: tuple[str, str, str, str]
    infinitive: str
    present: tuple[str, str]
    future: tuple[str, str]
    participles: tuple[str, ...]
    imperative: str
    preposition: str
    etre: bool
    kinds: str


def entries(table: str) -> Iterator[tuple[str, str]]:
    """The (English, French) entries of a table, with spaces for underscores."""
    for entry in table.split():
        english, _, french = entry.partition("/")
        yield english.replace("_", " "), french.replace("_", " ")


def _english_s(word: str) -> str:
    """The plural of a noun or the third person of a verb, without the particle of a phrasal verb."""
    if re.search("[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search("(s|x|z|ch|sh|o)$", word) else "s")


def _french_plural(word: str) -> str:
    """The plural of a noun or of a masculine adjective."""
    if word[-1] in "sxz":
        return word
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + ("x" if word.endswith(("au", "eu")) and not word.endswith("bleu") else "s")


def _french_feminine(word: str) -> str:
    """The feminine of an adjective or participle."""
    if word.endswith("e"):
        return word
    for ending, feminine in (("eux", "euse"), ("eur", "euse"), ("el", "elle"), ("il", "ile"), ("er", "ère"),
                             ("en", "enne"), ("f", "ve")):  # fmt: skip
        if word.endswith(ending):
            return word.removesuffix(ending) + feminine
    return word + "e"


def noun(english: str, french: str, gender: int, kind: str) -> Noun:
    """A noun from its table entry, `word[:plural]` in both languages."""
    one, _, many = english.partition(":")
    un, _, plusieurs = french.partition(":")
    phrase = " ".join(map(_french_plural, un.split(" ")))
    return Noun((one, many or _english_s(one)), (un, plusieurs or phrase), gender, kind)


def adjective(english: str, french: str, before: bool) -> Adjective:
    """An adjective from its table entry, `masculine[:feminine[:masculine plural]]`."""
    masculine, _, rest = french.partition(":")
    feminine, _, plural = rest.partition(":")
    feminine = feminine or _french_feminine(masculine)
    feminine_plural = feminine if plural == masculine == feminine else _french_plural(feminine)
    return Adjective(english, (masculine, feminine, plural or _french_plural(masculine), feminine_plural), before)


def _participles(masculine: str) -> tuple[str, ...]:
    feminine = "morte" if masculine == "mort" else masculine + "e"
    return (masculine, feminine, masculine if masculine.endswith("s") else masculine + "s", feminine + "s")


def _conjugate(infinitive: str) -> tuple[str, str, str, str, str]:
    """Present singular and plural, future stem, participle, imperative of a French verb."""
    if infinitive in lexicon.IRREGULAR:
        forms = [form.replace("_", " ") for form in lexicon.IRREGULAR[infinitive].split()]
        return forms[0], forms[1], forms[2], forms[3], forms[4] if len(forms) > 4 else ""
    stem = infinitive[:-2]
    if infinitive.endswith("ir"):
        return stem + "it", stem + "issent", infinitive, stem + "i", stem + "issez"
    if infinitive.endswith("re"):
        return stem, stem + "ent", infinitive[:-1], stem + "u", stem + "ez"
    present, future = stem, infinitive
    if match := re.fullmatch("(.*)é([^aeiouéèêî]+)", stem):
        present = f"{match[1]}è{match[2]}"
    elif match := re.fullmatch("(.*)e([^aeiouéèê])", stem):
        present = f"{match[1]}è{match[2]}"
        future = present + "er"
    elif stem.endswith(("oy", "uy")):
        present = stem[:-1] + "i"
        future = present + "er"
    return present + "e", present + "ent", future, stem + "é", stem + "ez"


def verb(english: str, french: str) -> Verb:
    """A verb from its table entry, `base[:past[:participle]]/infinitive[+preposition][*][|kinds]`."""
    french, _, kinds = french.partition("|")
    etre = french.endswith("*")
    infinitive, _, preposition = french.rstrip("*").partition("+")
    base, *past = english.split(":")
    if not past:
        doubled = base + base[-1] if base in ("stop", "admit", "cancel", "control") else base
        past = [re.sub("([^aeiou])yed$", r"\1ied", doubled + ("d" if base.endswith("e") else "ed"))]
    verb_word, _, particle = base.partition(" ")
    third = f"{_english_s(verb_word)} {particle}".rstrip()
    singular, plural, future, participle, imperative = _conjugate(infinitive)
    stem, _, after = future.partition(" ")
    return Verb(
        (base, third, past[0], past[-1]),
        infinitive,
        (singular, plural),
        (stem, f" {after}" if after else ""),
        _participles(participle),
        imperative,
        preposition and preposition + " ",
        etre,
        kinds,
    )


_BEFORE_VOWEL = re.compile(
    rf"\b(?:(le|la|de|que|ne|se|je|lorsque|puisque)|(ce|sa|ma|nouveauX|vieuxX|beauX)) "
    rf"(?=(?!{lexicon.ASPIRATE})[{_VOWELS}hH])|\bsi (?=ils? )"
)
_PARTITIVE = re.compile(r"\bde des? ")  # `de` absorbs a following indefinite article
_CONTRACTION = re.compile(r"\b([Dd]e|[Àà]) (les?) ")
_CONTRACTED = {"de le": "du ", "de les": "des ", "à le": "au ", "à les": "aux "}
_ARTICLE_AN = re.compile(r"\ba (?=[aiAI]|e(?!uro)|E(?!uro)|o(?!ne )|O|u(?!n[is]|rs|se|ti)|hon|heir)")


def _elide(match: re.Match[str]) -> str:
    if match[1]:
        return match[1][:-1] + "'"
    return lexicon.FORM_BEFORE_VOWEL[match[2]] + " " if match[2] else "s'"


def _punctuate(words: str) -> str:
    """Attach commas and full stops to the preceding word; `{` and `}` become opening and closing quotation marks."""
    text = words.replace(" , ,", ",").replace(" ,", ",").replace(" .", ".").replace("{ ", '"').replace(" }", '"')
    first = 1 if text.startswith('"') else 0
    return text[:first] + text[first].upper() + text[first + 1 :]


def write_english(words: str) -> str:
    """A raw English sentence from its words: the article `an`, punctuation, a capital."""
    return _punctuate(_ARTICLE_AN.sub("an ", words)).replace(" :", ":")


def write_french(words: str) -> str:
    """A raw French sentence from its words: elision, forms before a vowel, contractions, punctuation, a capital."""
    words = _PARTITIVE.sub("de ", words)
    words = _BEFORE_VOWEL.sub(_elide, words).replace("X ", " ")
    return _punctuate(_CONTRACTION.sub(lambda match: _CONTRACTED[match[0].strip().lower()], words))


_WORD = re.compile(r"\w[\w-]*'?|[^\w\s]")


def count_words(text: str) -> int:
    """The number of words in a raw sentence; punctuation marks and elided words count, as in tokenized text."""
    return len(_WORD.findall(text))
