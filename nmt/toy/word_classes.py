"""Classes of English words of the demonstration's language, as its grammar has them."""

from __future__ import annotations

from collections.abc import Iterable

from nmt.toy.words import words


def word_classes() -> dict[str, frozenset[str]]:
    """Class -> its words in lower case: articles, prepositions, nouns, adjectives, and names of places."""
    known = words()
    places = [form for noun in known.nouns["l"] for form in noun.english]
    places += [country for country, _, _ in known.countries]
    return {
        "article": _single(["a", "an", "the"]),
        "preposition": _single(["of", *(english for english, *_ in known.prepositions)]),
        "noun": _single(form for nouns in known.nouns.values() for noun in nouns for form in noun.english),
        "adjective": _single(adjective.english for adjective in known.adjectives),
        "place": _single([*places, *known.towns]),
    }


def _single(phrases: Iterable[str]) -> frozenset[str]:
    """Those of one word, in lower case."""
    return frozenset(phrase.lower() for phrase in phrases if " " not in phrase)
