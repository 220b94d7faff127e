"""The demonstration's language: English sentences and their French translations, made by one synchronous grammar.

Every method that makes a phrase returns both sides at once, as strings of words separated by single spaces, in which
articles and pronouns are whole (`de le homme`); `inflection.write_french` elides, contracts and punctuates them. The
seed of a corpus decides which sentences are said; words and their ranks (`vocabulary`) are the same in all corpora.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from nmt.corpora.inflection import Verb, write_english, write_french
from nmt.corpora.vocabulary import Pair, words

MAXIMUM_WORDS = 60

PRESENT, PAST, PERFECT, FUTURE, CONDITIONAL = range(5)
_TENSES = [PRESENT] * 4 + [PAST] * 5 + [PERFECT] * 2 + [FUTURE] * 2 + [CONDITIONAL]
_ENDINGS = {FUTURE: ("a", "ont"), CONDITIONAL: ("ait", "aient")}
_BE = (("is", "are"), ("was", "were"), ("has been", "have been"), ("will be", "will be"), ("would be", "would be"))
_ETRE = (("est", "sont"), ("a été", "ont été"), ("a été", "ont été"), ("sera", "seront"), ("serait", "seraient"))

# English singular and plural, French singular and plural; an infinitive follows.
_MODALS = [
    ("can", "can", "peut", "peuvent"),
    ("must", "must", "doit", "doivent"),
    ("wants to", "want to", "veut", "veulent"),
    ("should", "should", "devrait", "devraient"),
    ("refuses to", "refuse to", "refuse de", "refusent de"),
    ("is trying to", "are trying to", "essaie de", "essaient de"),
    ("decided to", "decided to", "a décidé de", "ont décidé de"),
    ("began to", "began to", "a commencé à", "ont commencé à"),
    ("is going to", "are going to", "va", "vont"),
]
_SPEAKERS = [
    ("we must", "nous devons"),
    ("we want to", "nous voulons"),
    ("I would like to", "je voudrais"),
    ("we can", "nous pouvons"),
    ("I cannot", "je ne peux pas"),
    ("we should not", "nous ne devrions pas"),
    ("it is important to", "il est important de"),
    ("it is time to", "il est temps de"),
]
_OPINIONS = [
    ("I think that", "je pense que"),
    ("we believe that", "nous croyons que"),
    ("I hope that", "je espère que"),
    ("it is clear that", "il est clair que"),
    ("we know that", "nous savons que"),
    ("I would like to say that", "je voudrais dire que"),
    ("Mr President , I believe that", "Monsieur le Président , je crois que"),
]
_CONNECTORS = [
    (", and", "et"),
    (", but", ", mais"),
    ("because", "parce que"),
    ("while", "tandis que"),
    ("when", "lorsque"),
    (", so", ", donc"),
    ("if", "si"),
    (", whereas", ", alors que"),
    ("since", "puisque"),
    (", which is why", ", et c'est pourquoi"),
    (", and therefore", ", et par conséquent"),
]
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
    + [("many", "de nombreux", "de nombreuses"), ("our", "nos", "nos"), ("#", "#", "#"), ("#", "les #", "les #")],
)
_MANUAL_DETERMINERS = (
    [("the", "le", "la")] * 8 + [("your", "votre", "votre")] * 4 + [("a", "un", "une")] * 3 + [("this", "ce", "cette")] * 2,
    [("the", "les", "les")] * 6 + [("your", "vos", "vos")] * 3 + [("all the", "tous les", "toutes les"), ("#", "#", "#")],
)
_CLITICS = (("le", "la"), ("les", "les"))


class NounPhrase(NamedTuple):
    """Both sides, whether plural (0 or 1), French gender (0 or 1) and kind of noun."""

    english: str
    french: str
    plural: int
    gender: int
    kind: str


class Grammar:
    """Draws sentence pairs in one of the styles `news`, `speech` and `manual`, from one stream of random numbers."""

    def __init__(self, seed: str) -> None:
        self._words = words()
        self._draw = random.Random(seed).random

    def sentence(self, style: str, length: int) -> Pair:
        """A raw (English, French) pair of about `length` English words, punctuation counted; neither side over 60.

        The last clause may run a few words past `length`; a pair that would pass the limit is drawn again, shorter.
        """
        compose = self._manual_sentence if style == "manual" else self._news_sentence
        while True:
            english, french = compose(length, style == "speech")
            english, french = write_english(english), write_french(french)
            if count_words(english) <= MAXIMUM_WORDS and count_words(french) <= MAXIMUM_WORDS:
                return english, french
            length -= 4

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

    def _noun_phrase(self, kinds: str, size: int, relative: bool = True) -> NounPhrase:
        """A noun phrase of one of `kinds`; `size` 0 has at most an adjective, 1 also a complement, 2 a relative clause."""
        kind = self._pick(kinds)
        chance = self._draw()
        if kind in "pol" and chance < (0.12 if kind == "p" else 0.05):
            return self._proper(kind)
        plural = int(kind != "a" and self._chance(0.3))
        senses = self._words.senses[kind]
        if senses and chance > 0.93:
            return self._ambiguous(self._pick(senses), plural, size)
        noun = self._pick(self._words.nouns[kind])
        english, french = noun.english[plural], noun.french[plural]
        form = 2 * plural + noun.gender
        before = False
        if self._chance(0.3):
            adjective = self._pick(self._words.adjectives)
            english = f"{adjective.english} {english}"
            before = adjective.before
            french = f"{adjective.french[form]} {french}" if before else f"{french} {adjective.french[form]}"
        if size and (chance := self._draw()) < 0.55:
            extra = self._modifier(size if relative else 1, chance, plural, noun.gender, kind)
            english, french = english + extra[0], french + extra[1]
        determiner, masculine, feminine = ("", "le", "la") if kind == "a" else self._pick(_DETERMINERS[plural])
        article = feminine if noun.gender else masculine
        if "#" in determiner:
            number, nombre = self._pick(self._words.numbers)
            determiner, article = number, article.replace("#", nombre)
            if article != nombre:
                determiner = f"the {number}"
        if before and article == "des":
            article = "de"
        return NounPhrase(f"{determiner} {english}".lstrip(), f"{article} {french}", plural, noun.gender, kind)

    def _ambiguous(self, sense: Sense, plural: int, size: int) -> NounPhrase:
        """A noun of several French readings, with the adjective or the complement that decides between them."""
        noun = sense.noun
        english, french = noun.english[plural], noun.french[plural]
        if size and self._chance(0.5):
            complement, complément = self._pick(sense.complements)
            english, french = f"{english} of {complement}", f"{french} de {complément}"
        else:
            adjective = self._pick(sense.adjectives)
            english, french = f"{adjective.english} {english}", f"{french} {adjective.french[2 * plural + noun.gender]}"
        determiner, masculine, feminine = self._pick(_DETERMINERS[plural][:10])
        return NounPhrase(
            f"{determiner} {english}", f"{feminine if noun.gender else masculine} {french}", plural, noun.gender, noun.kind
        )

    def _modifier(self, size: int, chance: float, plural: int, gender: int, kind: str) -> Pair:
        """What follows a noun, each side with a space before it: a complement, a place or a relative clause."""
        if size == 1 or chance < 0.3:
            if kind in "pl" or chance < 0.2:
                phrase = self._noun_phrase("ool" if kind in "pl" else "taoe", 0)
                return f" of {phrase.english}", f" de {phrase.french}"
            english, french = self._place()
            return f" {english}", f" {french}"
        return self._relative(plural, gender, kind)

    def _relative(self, plural: int, gender: int, kind: str) -> Pair:
        tense = self._pick(_TENSES)
        choice = self._draw()
        if choice < 0.4 and kind in "po":
            who = "who" if kind == "p" else "which"
            english, french = self._predicate(NounPhrase("", "", plural, gender, kind), tense, 8)
            return f" {who} {english}", f" qui {french}"
        if kind == "l" and choice < 0.7:
            subject = self._subject(0)
            english, french = self._predicate(subject, tense, 6)
            return f" where {subject.english} {english}", f" où {subject.french} {french}"
        verb = self._pick(self._words.by_kind[kind])
        if choice < 0.75:
            subject = self._subject(0)
            agreement = 2 * plural + gender
            english, french = self._finite(verb, subject, tense, agreement=agreement)
            that = "whom" if kind == "p" else "that"
            return f" {that} {subject.english} {english}", f" que {subject.french} {french}"
        agent = self._noun_phrase("po", 0)
        participle = verb.participles[2 * plural + gender]
        return f" {verb.english[3]} by {agent.english}", f" {participle} par {agent.french}"

    def _place(self) -> Pair:
        chance = self._draw()
        if chance < 0.35:
            english, french, preposition = self._pick(self._words.countries)
            name = french.partition(" ")[2]
            if preposition.startswith("à"):
                return f"in {english}", f"{preposition} {name}"
            return f"in {english}", f"en {name}"
        if chance < 0.6:
            town = self._pick(self._words.towns)
            return f"in {town}", f"à {town}"
        phrase = self._noun_phrase("l", 0)
        return f"in {phrase.english}", f"dans {phrase.french}"

    def _adjunct(self) -> Pair:
        """When, where or how: an adverbial of either side."""
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

    # Verb phrases

    def _finite(
        self, verb: Verb, subject: NounPhrase, tense: int, clitic: str = "", agreement: int = 0, adverb: bool = True
    ) -> Pair:
        """The conjugated verb, perhaps negated or with an adverb.

        `clitic` is the French object pronoun; `agreement` (2 * plural + gender) that of the object when it precedes.
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
                agreement = 2 * plural + subject.gender
            french = f"{auxiliary}{middle} {verb.participles[agreement]}"
        return english, f"{'ne ' if negative else ''}{clitic}{french}"

    def _predicate(self, subject: NounPhrase, tense: int, length: int) -> Pair:
        """A verb with its complements, about `length` words, that agrees with `subject`."""
        choice = self._draw()
        if length <= 2:
            return self._finite(
                self._pick(self._words.intransitive if subject.kind == "p" else self._words.happening), subject, tense
            )
        if subject.kind not in "po":
            if choice < 0.3:
                return self._finite(self._pick(self._words.happening), subject, tense)
            return self._passive(subject, tense, length) if choice < 0.7 else self._being(subject, tense)
        if choice < 0.1:
            return self._finite(self._pick(self._words.intransitive), subject, tense) if subject.kind == "p" else (
                self._being(subject, tense)
            )
        if choice < 0.2:
            return self._being(subject, tense)
        if choice < 0.28:
            return self._passive(subject, tense, length)
        if choice < 0.42 and length >= 5:
            return self._modal(subject, length)
        if choice < 0.55 and length >= 8:
            verb = self._pick(self._words.reporting)
            english, french = self._finite(verb, subject, self._pick([PRESENT, PAST, PAST]), adverb=False)
            clause, proposition = self._clause(length - 4)
            if self._chance(0.08):
                return f"{english} : {{ {clause} }}", f"{french} : {{ {proposition} }}"
            return f"{english} that {clause}", f"{french} que {proposition}"
        if choice < 0.65 and length >= 7:
            return self._two_verbs(subject, tense)
        verb = self._pick(self._words.transitive)
        english, french = self._finite(verb, subject, tense)
        thing = self._noun_phrase(verb.kinds, 0 if length < 6 else 1 if length < 10 else 2)
        return f"{english} {thing.english}", f"{french} {verb.preposition}{thing.french}"

    def _being(self, subject: NounPhrase, tense: int) -> Pair:
        adjective = self._pick(self._words.adjectives)
        while adjective.before:
            adjective = self._pick(self._words.adjectives)
        english, french = _BE[tense][subject.plural], _ETRE[tense][subject.plural]
        form = adjective.french[2 * subject.plural + subject.gender]
        if self._chance(0.15):
            head, _, rest = french.partition(" ")
            word, _, been = english.partition(" ")
            return f"{word} not {been} {adjective.english}".replace("  ", " "), f"ne {head} pas {rest} {form}".replace(
                "  ", " "
            )
        return f"{english} {adjective.english}", f"{french} {form}"

    def _passive(self, subject: NounPhrase, tense: int, length: int) -> Pair:
        verb = self._pick(self._words.by_kind[subject.kind] if subject.kind in "potael" else self._words.passive)
        participle = verb.participles[2 * subject.plural + subject.gender]
        english = f"{_BE[tense][subject.plural]} {verb.english[3]}"
        french = f"{_ETRE[tense][subject.plural]} {participle}"
        if length < 5 or self._chance(0.3):
            return english, french
        agent = self._noun_phrase("po", 1 if length > 8 else 0)
        return f"{english} by {agent.english}", f"{french} par {agent.french}"

    def _modal(self, subject: NounPhrase, length: int) -> Pair:
        modal = self._pick(_MODALS)
        verb, object_phrase = self._verb_and_object(length)
        return (
            f"{modal[subject.plural]} {verb.english[0]} {object_phrase.english}",
            f"{modal[2 + subject.plural]} {verb.infinitive} {verb.preposition}{object_phrase.french}",
        )

    def _verb_and_object(self, length: int) -> tuple[Verb, NounPhrase]:
        verb = self._pick(self._words.transitive)
        return verb, self._noun_phrase(verb.kinds, 0 if length < 7 else 1 if length < 10 else 2)

    def _two_verbs(self, subject: NounPhrase, tense: int) -> Pair:
        """Two verbs, the second with a pronoun for the first's object, before the French verb and agreeing with it."""
        first = self._pick(self._words.passive)
        english, french = self._finite(first, subject, tense, adverb=False)
        thing = self._noun_phrase(first.kinds, 0)
        second = self._pick(self._words.by_kind[thing.kind])
        pronoun = "them" if thing.plural else ("him", "her")[thing.gender] if thing.kind == "p" else "it"
        clitic = _CLITICS[thing.plural][thing.gender] if not thing.plural else "les"
        repeated, répété = self._finite(
            second, subject, tense, f"{clitic} ", 2 * thing.plural + thing.gender, adverb=False
        )
        link, lien = self._pick([("and", "et"), ("and", "et"), ("but", "mais")])
        return f"{english} {thing.english} {link} {repeated} {pronoun}", f"{french} {thing.french} {lien} {répété}"

    # Clauses and sentences

    def _subject(self, size: int) -> NounPhrase:
        return self._noun_phrase("pppppooootaael" if size < 3 else "ppoota", min(size, 2))
