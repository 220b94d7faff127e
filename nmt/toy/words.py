"""The words of the demonstration's language: the inflected lexicon, with frequencies that follow Zipf's law.

Ranks are drawn with a fixed seed, so that the language is the same in all corpora. Its long tail consists of names of
people and towns that are composed of syllables.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from nmt.toy import inflection, lexicon
from nmt.toy.inflection import Adjective, Noun, Verb

_T = TypeVar("_T")
Pair = tuple[str, str]

_MANDELBROT = 1.0  # flattens the head of Zipf's law, so that no adjective is a fifth of all adjectives


class Sense(NamedTuple):
    """A sense of an ambiguous noun, with the adjectives and complements that disambiguate it."""

    noun: Noun
    adjectives: Sequence[Adjective]
    complements: Sequence[Pair]


class Words(NamedTuple):
    """The inflected lexicon; each list repeats its words in proportion to their frequency."""

    nouns: dict[str, Sequence[Noun]]
    senses: dict[str, Sequence[Sense]]
    adjectives: Sequence[Adjective]
    instruction_adjectives: Sequence[Adjective]
    transitive: Sequence[Verb]
    passive: Sequence[Verb]
    by_kind: dict[str, Sequence[Verb]]
    intransitive: Sequence[Verb]
    happening: Sequence[Verb]
    reporting: Sequence[Verb]
    instruction_verbs: Sequence[Verb]
    adverbs: Sequence[Pair]
    times: Sequence[Pair]
    months: Sequence[Pair]
    numbers: Sequence[Pair]
    prepositions: Sequence[tuple[str, str, str]]
    countries: Sequence[tuple[str, str, str]]
    first_names: Sequence[tuple[str, int]]
    surnames: Sequence[str]
    towns: Sequence[str]


def _ranked(items: Sequence[_T], exponent: float, slots: int = 4096) -> list[_T]:
    """`items` in a fixed random order, each repeated in proportion to (rank + 1) ** -exponent, and at least once."""
    order = list(items)
    random.Random(f"ranks {len(order)}").shuffle(order)
    weights = [(rank + _MANDELBROT) ** -exponent for rank in range(1, len(order) + 1)]
    scale = slots / sum(weights)
    return [item for item, weight in zip(order, weights, strict=True) for _ in range(max(1, round(weight * scale)))]


def _halves(text: str, separator: str) -> Pair:
    first, _, second = text.partition(separator)
    return first, second


def _adjectives(table: str, before: bool = False) -> list[Adjective]:
    return [inflection.adjective(*entry, before) for entry in inflection.entries(table)]


def _verbs(table: str) -> list[Verb]:
    return [inflection.verb(*entry) for entry in inflection.entries(table)]


def _senses() -> list[Sense]:
    senses = []
    for line in lexicon.AMBIGUOUS.strip().split("\n"):
        english, kind, french, gender, adjectives, complements = line.split("|")
        noun = inflection.noun(english, french.replace("_", " "), int(gender == "f"), kind)
        senses.append(Sense(noun, _adjectives(adjectives), list(inflection.entries(complements))))
    return senses


@functools.cache
def words() -> Words:
    """All words, the same in every corpus."""
    nouns = [
        inflection.noun(english, french, int(gender == "f"), kind)
        for kind, genders in lexicon.NOUNS.items()
        for gender, table in genders.items()
        for english, french in inflection.entries(table)
    ]
    senses = _senses()
    adjectives = _adjectives(lexicon.ADJECTIVES_AFTER) + _adjectives(lexicon.ADJECTIVES_BEFORE, before=True)
    transitive = _verbs(lexicon.TRANSITIVE)
    passive = [verb for verb in transitive if not verb.preposition]
    prepositions = [(english, *_halves(french, "|")) for english, french in inflection.entries(lexicon.PREPOSITIONS)]
    countries = [(english, *_halves(french, "/")) for english, french in inflection.entries(lexicon.COUNTRIES)]
    stems, middles = lexicon.NAME_STEMS.split(), lexicon.NAME_MIDDLES.split()
    endings = lexicon.NAME_ENDINGS.split()
    people = [stem + middle + ending for stem in stems for middle in middles for ending in endings]
    towns = [stem + middle + ending for stem in stems for middle in middles for ending in lexicon.TOWN_ENDINGS.split()]
    return Words(
        nouns={kind: _ranked([noun for noun in nouns if noun.kind == kind], 1.0) for kind in lexicon.NOUNS},
        senses={kind: [sense for sense in senses if sense.noun.kind == kind] for kind in lexicon.NOUNS},
        adjectives=_ranked(adjectives, 1.0),
        instruction_adjectives=_ranked(_adjectives(lexicon.INSTRUCTION_ADJECTIVES), 0.8),
        transitive=_ranked(transitive, 0.9),
        passive=_ranked(passive, 0.9),
        by_kind={kind: _ranked([verb for verb in passive if kind in verb.kinds], 0.9) for kind in "potael"},
        intransitive=_ranked(_verbs(lexicon.INTRANSITIVE), 0.8),
        happening=_ranked(_verbs(lexicon.HAPPENING), 0.8),
        reporting=_ranked(_verbs(lexicon.REPORTING), 1.0),
        instruction_verbs=_ranked(_verbs(lexicon.INSTRUCTION_VERBS), 0.8),
        adverbs=_ranked(list(inflection.entries(lexicon.ADVERBS)), 0.8),
        times=_ranked(list(inflection.entries(lexicon.TIMES)), 0.8),
        months=list(inflection.entries(lexicon.MONTHS)),
        numbers=_ranked(list(inflection.entries(lexicon.NUMBERS)), 1.0),
        prepositions=_ranked(prepositions, 0.8),
        countries=_ranked(countries, 0.8),
        first_names=_ranked(
            [(name, gender) for gender, key in enumerate("mf") for name in lexicon.FIRST_NAMES[key].split()], 0.9
        ),
        surnames=_ranked(people, 1.0, 60000),
        towns=_ranked(towns, 1.1, 40000),
    )


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
    """The phrases of one word, in lower case."""
    return frozenset(phrase.lower() for phrase in phrases if " " not in phrase)
