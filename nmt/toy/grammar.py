"""The demonstration's language: English sentences and their French translations, made by one synchronous grammar.

Three styles: `news` reports, `speech` as in a parliament (news with first persons), and `manual` (see there). The seed
of a corpus decides which sentences are said; words and their ranks (`vocabulary`) are the same in all corpora.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from nmt.toy.inflection import Verb, write_english, write_french
from nmt.toy.instructions import Manual
from nmt.toy.phrases import PAST, PRESENT, TENSES, NounPhrase, Phrases
from nmt.toy.words import Pair

MAXIMUM_WORDS = 60
_MARGIN = 4  # for the few words that a tokenizer divides once more, as `c'est`

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
    ("I believe that", "je crois que"),
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


class Grammar(Phrases):
    """Draws sentence pairs of any style from one stream of random numbers, which `seed` starts."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        super().__init__(self.random.random)
        self._manual = Manual(self._draw)
        self._topic: NounPhrase | None = None

    def sentence(self, style: str, length: int) -> Pair:
        """A raw (English, French) pair in `style`, of about `length` English words, punctuation counted.

        The last clause may run a few words past `length`; a pair of which a side would pass `MAXIMUM_WORDS` is drawn
        again, shorter.
        """
        while True:
            pair = self._manual.sentence(length) if style == "manual" else self._report(length, style == "speech")
            if max(side.count(" ") for side in pair) < MAXIMUM_WORDS - _MARGIN:
                return write_english(pair[0]), write_french(pair[1])
            length -= 4

    # Clauses inside noun phrases

    def _modifier(self, size: int, plural: int, gender: int, kind: str) -> Pair:
        if size < 2 or self._chance(0.35):
            return super()._modifier(size, plural, gender, kind)
        return self._relative(plural, gender, kind)

    def _relative(self, plural: int, gender: int, kind: str) -> Pair:
        tense = self._pick(TENSES)
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

    # Verb phrases

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
            intransitive = self._words.intransitive if subject.kind == "p" else self._words.happening
            return self._finite(self._pick(intransitive), subject, tense)
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
        verb, thing = self._verb_and_object(length)
        english, french = self._finite(verb, subject, tense)
        return f"{english} {thing.english}", f"{french} {verb.preposition}{thing.french}"

    def _modal(self, subject: NounPhrase, length: int) -> Pair:
        modal = self._pick(_MODALS)
        verb, thing = self._verb_and_object(length)
        return (
            f"{modal[subject.plural]} {verb.english[0]} {thing.english}",
            f"{modal[2 + subject.plural]} {verb.infinitive} {verb.preposition}{thing.french}",
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
        clitic = "les" if thing.plural else ("le", "la")[thing.gender]
        repeated, répété = self._finite(
            second, subject, tense, f"{clitic} ", 2 * thing.plural + thing.gender, adverb=False
        )
        link, lien = self._pick([("and", "et"), ("and", "et"), ("but", "mais")])
        return f"{english} {thing.english} {link} {repeated} {pronoun}", f"{french} {thing.french} {lien} {répété}"

    # Clauses and sentences

    def _subject(self, size: int) -> NounPhrase:
        return self._noun_phrase("pppppooootaael", size)

    def _pronoun(self, topic: NounPhrase) -> NounPhrase:
        """The pronoun for the last subject; its French gender is that of the noun it stands for."""
        if topic.plural:
            return topic._replace(english="they", french=("ils", "elles")[topic.gender])
        english = ("he", "she")[topic.gender] if topic.kind == "p" else "it"
        return topic._replace(english=english, french=("il", "elle")[topic.gender])

    def _clause(self, length: int, tenses: Sequence[int] = TENSES) -> Pair:
        """A subject and its predicate in one of `tenses`, about `length` words."""
        chance = self._draw()
        if chance < 0.05 and length >= 5:
            return self._existence()
        if self._topic and chance < 0.35:
            subject = self._pronoun(self._topic)
        elif length < 6:
            name = self._person_name()
            subject = self._pick([name, self._pronoun(name), self._subject(0)])
        else:
            subject = self._subject(0 if length < 9 else 1 if length < 13 else 2)
        self._topic = subject
        english, french = self._predicate(subject, self._pick(tenses), length - 1 - subject.english.count(" "))
        return f"{subject.english} {english}", f"{subject.french} {french}"

    def _existence(self) -> Pair:
        kind = self._pick("ptoe")
        noun = self._pick(self._words.nouns[kind])
        place, lieu = self._place()
        many, beaucoup = self._pick(
            [("many", "il y a beaucoup de"), ("no", "il n'y a pas de"), ("too many", "il y a trop de")]
        )
        return f"there are {many} {noun.english[1]} {place}", f"{beaucoup} {noun.french[1]} {lieu}"

    def _opening(self, length: int) -> Pair:
        """A clause in the first person."""
        if length < 10 or self._chance(0.5):
            english, french = self._pick(_SPEAKERS)
            verb, thing = self._verb_and_object(length)
            return (
                f"{english} {verb.english[0]} {thing.english}",
                f"{french} {verb.infinitive} {verb.preposition}{thing.french}",
            )
        english, french = self._pick(_OPINIONS)
        clause, proposition = self._clause(length - 4)
        return f"{english} {clause}", f"{french} {proposition}"

    def _report(self, length: int, speech: bool) -> Pair:
        """Clauses joined by conjunctions, with adverbials, until `length` words are reached."""
        self._topic = None
        english = french = link = ""
        if speech and self._chance(0.08):
            english, french = "Mr President , ", "Monsieur le Président , "
        elif length > 10 and self._chance(0.2):
            if self._chance(0.2):
                source = self._noun_phrase("po", 0)
                english, french = f"according to {source.english} , ", f"selon {source.french} , "
            else:
                english, french = (f"{side} , " for side in self._adjunct())
        while True:
            room = length - 1 - english.count(" ")
            size = min(room, 6 + int(9 * self._draw()))
            if link == "if":
                clause, proposition = self._clause(size, [PRESENT])
            else:
                clause, proposition = self._opening(size) if speech and self._chance(0.4) else self._clause(size)
            english, french = english + clause, french + proposition
            room = length - 2 - english.count(" ")
            if room >= 3 and (room < 6 or self._chance(0.3)):
                adjunct, complément = self._adjunct()
                english, french = f"{english} {adjunct}", f"{french} {complément}"
                room = length - 2 - english.count(" ")
            if room < 5:
                return english + " .", french + " ."
            link, lien = self._pick(_CONNECTORS)
            english, french = f"{english} {link} ", f"{french} {lien} "
