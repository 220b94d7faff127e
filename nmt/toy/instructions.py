"""The out-of-domain style of the demonstration's language: instructions and catalogue entries with their own nouns."""

from __future__ import annotations

from nmt.toy.phrases import NounPhrase, Phrases
from nmt.toy.words import Pair

_DETERMINERS = (
    [("the", "le", "la")] * 8
    + [("your", "votre", "votre")] * 4
    + [("a", "un", "une")] * 3
    + [("this", "ce", "cette")] * 2,
    [("the", "les", "les")] * 6
    + [("your", "vos", "vos")] * 3
    + [("all the", "tous les", "toutes les"), ("#", "#", "#")],
)
_CONNECTORS = [(", and", ", et"), ("and then", ", puis"), (", or", ", ou"), (", but", ", mais"), (", then", ", puis")]


class Instructions(Phrases):
    """Sentences from manuals and catalogues: imperatives, conditions, materials, prices."""

    def sentence(self, length: int) -> Pair:
        """The words of an (English, French) pair of about `length` English words, before elision and punctuation."""
        english, french = self._entry() if self._chance(0.35) else self._instruction(length)
        while (room := length - 2 - english.count(" ")) >= 4:
            link, lien = self._pick(_CONNECTORS)
            clause, proposition = self._entry() if self._chance(0.25) else self._instruction(room)
            english, french = f"{english} {link} {clause}", f"{french} {lien} {proposition}"
        return english + " .", french + " ."

    def _device(self) -> NounPhrase:
        """A device or garment, possibly with an adjective and its material."""
        plural = int(self._chance(0.25))
        noun = self._pick(self._words.nouns["d"])
        english, french = noun.english[plural], noun.french[plural]
        adjective = self._pick(self._words.instruction_adjectives) if self._chance(0.4) else None
        if adjective:
            french = f"{french} {adjective.french[2 * plural + noun.gender]}"
        if self._chance(0.15):
            material = self._pick(self._words.nouns["s"])
            english, french = f"{material.english[0]} {english}", f"{french} en {material.french[0]}"
        if adjective:
            english = f"{adjective.english} {english}"
        determiner, masculine, feminine = self._determiner(_DETERMINERS[plural])
        article = feminine if noun.gender else masculine
        return NounPhrase(f"{determiner} {english}", f"{article} {french}", plural, noun.gender, "d")

    def _instruction(self, length: int) -> Pair:
        choice = self._draw()
        verb = self._pick(self._words.instruction_verbs)
        thing = self._device()
        if choice < 0.12:
            doit = ("doit", "doivent")[thing.plural]
            participle = verb.participles[thing.form]
            return f"{thing.english} must be {verb.english[3]}", f"{thing.french} {doit} être {participle}"
        english, french = f"{verb.english[0]} {thing.english}", f"{verb.imperative} {thing.french}"
        if choice < 0.25:
            english, french = f"do not {english}", f"ne {verb.imperative} pas {thing.french}"
        if length < 9:
            return english, french
        other, verb = self._device(), self._pick(self._words.instruction_verbs)
        if choice < 0.45:
            return (
                f"{english} before you {verb.english[0]} {other.english}",
                f"{french} avant de {verb.infinitive} {other.french}",
            )
        if choice < 0.6:
            return (
                f"to {verb.english[0]} {other.english} , {english}",
                f"pour {verb.infinitive} {other.french} , {french}",
            )
        if choice < 0.75:
            adjective = self._pick(self._words.instruction_adjectives)
            return (
                f"if {other.english} {('is', 'are')[other.plural]} {adjective.english} , {english}",
                f"si {other.french} {('est', 'sont')[other.plural]} {adjective.french[other.form]} , {french}",
            )
        if choice < 0.9:
            return f"{english} with {other.english}", f"{french} avec {other.french}"
        return f"{english} carefully", f"{french} avec soin"

    def _entry(self) -> Pair:
        choice = self._draw()
        thing = self._device()
        be, être = ("is", "are")[thing.plural], ("est", "sont")[thing.plural]
        number, nombre = self._pick(self._words.numbers)
        if choice < 0.3:
            sizes, tailles = self._pick([("sizes", "tailles"), ("colours", "couleurs"), ("versions", "versions")])
            form = ("disponible", "disponibles")[thing.plural]
            return (
                f"{thing.english} {be} available in {number} {sizes}",
                f"{thing.french} {être} {form} en {nombre} {tailles}",
            )
        if choice < 0.5:
            material = self._pick(self._words.nouns["s"])
            form = ("fait", "faite", "faits", "faites")[thing.form]
            return (
                f"{thing.english} {be} made of {material.english[0]}",
                f"{thing.french} {être} {form} de {material.french[0]}",
            )
        if choice < 0.65:
            adjective = self._pick(self._words.instruction_adjectives)
            return f"{thing.english} {be} {adjective.english}", f"{thing.french} {être} {adjective.french[thing.form]}"
        if choice < 0.85:
            brand = self._proper("o")
            verb = ("livré", "livrée", "livrés", "livrées")[thing.form]
            return (
                f"{thing.english} {be} delivered by {brand.english} in {number} days",
                f"{thing.french} {être} {verb} par {brand.french} en {nombre} jours",
            )
        price = 5 + int(495 * self._draw() ** 3)
        cost = ("costs", "cost")[thing.plural]
        return (
            f"{thing.english} {cost} {price} euros",
            f"{thing.french} {('coûte', 'coûtent')[thing.plural]} {price} euros",
        )
