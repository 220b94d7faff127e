"""Noun phrases, verbs and adverbials of the demonstration's language, in English and French together.

A phrase is two strings of words separated by single spaces. French articles and pronouns have their full forms (`de le
homme`); `inflection.write_french` elides and contracts them when the sentence is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from nmt.toy.inflection import Verb
from nmt.toy.words import Pair, Sense, words

_T = TypeVar("_T")

PRESENT, PAST, PERFECT, FUTURE, CONDITIONAL = range(5)
TENSES = [PRESENT] * 4 + [PAST] * 5 + [PERFECT] * 2 + [FUTURE] * 2 + [CONDITIONAL]
_ENDINGS = {FUTURE: ("a", "ont"), CONDITIONAL: ("ait", "aient")}
_BE = (("is", "are"), ("was", "were"), ("has been", "have been"), ("will be", "will be"), ("would be", "would be"))
_ETRE = (("est", "sont"), ("a été", "ont été"), ("a été", "ont été"), ("sera", "seront"), ("serait", "seraient"))

_DETERMINERS = (
    # singular: English, French masculine, feminine
    [("the", "le", "la")] * 10
    + [("a", "un", "une")] * 6
    + [("this", "ce", "cette")] * 2
    + [("his", "son", "sa"), ("her", "son", "sa"), ("its", "son", "sa"), ("their", "leur", "leur")]
    + [("our", "notre", "notre"), ("every", "chaque", "chaque"), ("that", "ce", "cette")],
    # plural
    [("the", "les", "les")] * 8
    + [("some", "des", "des")] * 3
    + [("", "les", "les")] * 3
    + [("these", "ces", "ces"), ("several", "plusieurs", "plusieurs"), ("their", "leurs", "leurs")]
    + [("all the", "tous les", "toutes les"), ("most of the", "la plupart de les", "la plupart de les")]
    + [("many", "de nombreux", "de nombreuses"), ("our", "nos", "nos"), ("#", "#", "#"), ("the #", "les #", "les #")],
)


class NounPhrase(NamedTuple):
    """Both sides, whether it is plural (0 or 1), the French gender (0 or 1) and the kind of noun."""

    english: str
    french: str
    plural: int
    gender: int
    kind: str

    @property
    def form(self) -> int:
        """The index of the forms of French adjectives and participles that agree with it."""
        return 2 * self.plural + self.gender


class Phrases:
    """Draws phrases from one stream of random numbers, `draw`, uniform in [0, 1)."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self._words = words()
        self._draw = draw

    # Random choices

    def _pick(self, items: Sequence[_T]) -> _T:
        return items[int(self._draw() * len(items))]

    def _chance(self, probability: float) -> bool:
        return self._draw() < probability

    # Noun phrases

    def _person_name(self) -> NounPhrase:
        surname = self._pick(self._words.surnames)
        kind = self._draw()
        if kind < 0.3:
            title, titre, gender = self._pick([("Mr", "M.", 0), ("Mrs", "Mme", 1)])
            return NounPhrase(f"{title} {surname}", f"{titre} {surname}", 0, gender, "p")
        first, gender = self._pick(self._words.first_names)
        name = first if kind < 0.6 else f"{first} {surname}"
        return NounPhrase(name, name, 0, gender, "p")

    def _proper(self, kind: str) -> NounPhrase:
        if kind == "p":
            return self._person_name()
        if kind == "o":
            first, second = self._pick(self._words.surnames), self._pick(self._words.surnames)
            if self._chance(0.5):
                return NounPhrase(f"{first} & {second}", f"{first} & {second}", 0, 1, "o")
            return NounPhrase(f"the company {first}", f"la société {first}", 0, 1, "o")
        if self._chance(0.5):
            english, french, _ = self._pick(self._words.countries)
            return NounPhrase(english, french, int(french.startswith("les ")), int(french.startswith("la ")), "l")
        town = self._pick(self._words.towns)
        return NounPhrase(town, town, 0, 0, "l")

    def _noun_phrase(self, kinds: str, size: int, proper: bool = True) -> NounPhrase:
        """A noun phrase of one of `kinds`; `size` 0 allows at most an adjective, 1 a complement, 2 a clause, too."""
        kind = self._pick(kinds)
        chance = self._draw()
        if proper and kind in "pol" and chance < (0.12 if kind == "p" else 0.05):
            return self._proper(kind)
        plural = int(kind != "a" and self._chance(0.3))
        senses = self._words.senses[kind]
        if senses and chance > 0.93:
            return self._ambiguous(self._pick(senses), plural, size)
        noun = self._pick(self._words.nouns[kind])
        english, french = noun.english[plural], noun.french[plural]
        before = False
        if self._chance(0.3):
            adjective = self._pick(self._words.adjectives)
            english = f"{adjective.english} {english}"
            before = adjective.before
            form = adjective.french[2 * plural + noun.gender]
            french = f"{form} {french}" if before else f"{french} {form}"
        if size and self._chance(0.55):
            extra = self._modifier(size, NounPhrase("", "", plural, noun.gender, kind))
            english, french = english + extra[0], french + extra[1]
        determiner, masculine, feminine = ("", "le", "la") if kind == "a" else self._determiner(_DETERMINERS[plural])
        article = feminine if noun.gender else masculine
        if before and article == "des":
            article = "de"
        return NounPhrase(f"{determiner} {english}".lstrip(), f"{article} {french}", plural, noun.gender, kind)

    def _determiner(self, choices: Sequence[tuple[str, str, str]]) -> tuple[str, str, str]:
        """English, French masculine, French feminine; `#` in a choice is replaced by a number."""
        determiner = self._pick(choices)
        if "#" not in determiner[0]:
            return determiner
        number, nombre = self._pick(self._words.numbers)
        masculine = determiner[1].replace("#", nombre)
        return determiner[0].replace("#", number), masculine, masculine

    def _ambiguous(self, sense: Sense, plural: int, size: int) -> NounPhrase:
        """A noun with several French translations, and an adjective or a complement that disambiguates it."""
        noun = sense.noun
        english, french = noun.english[plural], noun.french[plural]
        if size and self._chance(0.5):
            complement, complément = self._pick(sense.complements)
            english, french = f"{english} of {complement}", f"{french} de {complément}"
        else:
            adjective = self._pick(sense.adjectives)
            english, french = f"{adjective.english} {english}", f"{french} {adjective.french[2 * plural + noun.gender]}"
        determiner, masculine, feminine = self._pick(_DETERMINERS[plural][:10])
        article = feminine if noun.gender else masculine
        return NounPhrase(f"{determiner} {english}", f"{article} {french}", plural, noun.gender, noun.kind)

    def _modifier(self, size: int, noun: NounPhrase) -> Pair:
        """What follows a noun, after a space: a complement or a place; in `Grammar`, also a clause."""
        if self._chance(0.65):
            phrase = self._noun_phrase("ool" if noun.kind in "pl" else "taoe", 0)
            return f" of {phrase.english}", f" de {phrase.french}"
        english, french = self._place()
        return f" {english}", f" {french}"

    def _place(self) -> Pair:
        chance = self._draw()
        if chance < 0.35:
            english, french, preposition = self._pick(self._words.countries)
            name = french.partition(" ")[2]
            return f"in {english}", f"{preposition if preposition.startswith('à') else 'en'} {name}"
        if chance < 0.6:
            town = self._pick(self._words.towns)
            return f"in {town}", f"à {town}"
        phrase = self._noun_phrase("l", 0, proper=False)
        return f"in {phrase.english}", f"dans {phrase.french}"

    def _adjunct(self) -> Pair:
        """An adverbial of time, place or manner."""
        chance = self._draw()
        if chance < 0.25:
            return self._pick(self._words.times)
        if chance < 0.45:
            year = str(1960 + int(55 * self._draw() ** 0.5))
            if chance < 0.36:
                return f"in {year}", f"en {year}"
            month, mois = self._pick(self._words.months)
            return f"in {month} {year}", f"en {mois} {year}"
        if chance < 0.65:
            return self._place()
        english, french, kinds = self._pick(self._words.prepositions)
        phrase = self._noun_phrase(kinds, 0)
        return f"{english} {phrase.english}", f"{french} {phrase.french}"

    # Verbs

    def _finite(
        self, verb: Verb, subject: NounPhrase, tense: int, clitic: str = "", agreement: int = 0, adverb: bool = True
    ) -> Pair:
        """The conjugated verb, possibly negated or with an adverb.

        `clitic` is the French object pronoun, `agreement` the form (as `NounPhrase.form`) of an object before the verb.
        """
        base, third, past, participle = verb.english
        plural = subject.plural
        negative = self._chance(0.15)
        english_adverb = french_adverb = ""
        if adverb and not negative and self._chance(0.12):
            english_adverb, french_adverb = self._pick(self._words.adverbs)
            english_adverb, french_adverb = english_adverb + " ", " " + french_adverb
        if tense == PRESENT:
            english = f"{english_adverb}{base if plural else third}"
            if negative:
                english = f"{'do' if plural else 'does'} not {base}"
        elif tense == PAST:
            english = f"did not {base}" if negative else f"{english_adverb}{past}"
        elif tense == PERFECT:
            english = f"{'have' if plural else 'has'} {'not ' if negative else english_adverb}{participle}"
        else:
            english = f"{'will' if tense == FUTURE else 'would'} {'not ' if negative else english_adverb}{base}"
        middle = " pas" if negative else french_adverb
        if tense == PRESENT:
            french = verb.present[plural] + middle
        elif tense in _ENDINGS:
            stem, after = verb.future
            french = f"{stem}{_ENDINGS[tense][plural]}{after}{middle}"
        else:
            auxiliary = (("a", "ont"), ("est", "sont"))[verb.etre][plural]
            if verb.etre:
                agreement = subject.form
            french = f"{auxiliary}{middle} {verb.participles[agreement]}"
        return english, f"{'ne ' if negative else ''}{clitic}{french}"

    def _being(self, subject: NounPhrase, tense: int) -> Pair:
        adjective = self._pick(self._words.adjectives)
        while adjective.before:
            adjective = self._pick(self._words.adjectives)
        english, french = _BE[tense][subject.plural], _ETRE[tense][subject.plural]
        if self._chance(0.15):
            word, _, been = english.partition(" ")
            english = f"{word} not {been}".rstrip()
            mot, _, été = french.partition(" ")
            french = f"ne {mot} pas {été}".rstrip()
        return f"{english} {adjective.english}", f"{french} {adjective.french[subject.form]}"

    def _passive(self, subject: NounPhrase, tense: int, length: int) -> Pair:
        verb = self._pick(self._words.by_kind[subject.kind] if subject.kind in "potael" else self._words.passive)
        english = f"{_BE[tense][subject.plural]} {verb.english[3]}"
        french = f"{_ETRE[tense][subject.plural]} {verb.participles[subject.form]}"
        if length < 5 or self._chance(0.3):
            return english, french
        agent = self._noun_phrase("po", 1 if length > 8 else 0)
        return f"{english} by {agent.english}", f"{french} par {agent.french}"
