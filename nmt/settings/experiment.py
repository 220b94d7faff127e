"""The configuration of an experiment: typed, strict, and resolved into model variants.

`load` takes the merged mapping that Snakemake hands over and returns a `Config`, or raises `UserError` in one
line that names the key and what is expected there. A variant is defaults <- prototype <- its own settings.
Only the standard library is needed, so that the Snakefile can afford to import this module at every start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from nmt.settings.checks import (
    build,
    checked,
    checks,
    choice,
    either,
    flag,
    fraction,
    fractions,
    identifier,
    integer,
    names,
    optional,
    section,
    text,
    unknown,
)
from nmt.settings.variant import Variant
from nmt.system.files import UserError


@dataclass(frozen=True)
class Languages:
    """Language codes, as sacremoses knows them and as files end."""

    source: Annotated[str, text("[a-z]{2,3}", "a language code as en")]
    target: Annotated[str, text("[a-z]{2,3}", "a language code as fr")]


@dataclass(frozen=True)
class Generated:
    """The built-in language, used where `mirror` is `generated`."""

    pairs: Annotated[int, integer(100)] = 120_000


@dataclass(frozen=True)
class Corpora:
    """Names of the registry's corpora, by use; `held_out` are further sets whose sentences are kept from training."""

    train: Annotated[tuple[str, ...], names(1)]
    in_domain: Annotated[tuple[str, ...], names(1)]
    development: Annotated[tuple[str, ...], names(1)]
    test: Annotated[tuple[str, ...], names(1)]
    held_out: Annotated[tuple[str, ...], names()] = ()


@dataclass(frozen=True)
class Shard:
    """Training corpora are worked on in shards of so many pairs."""

    pairs: Annotated[int, integer(1)] = 2_000_000

    def count(self, pairs: int) -> int:
        """In how many shards a corpus of `pairs` pairs is worked on."""
        return max(1, round(pairs / self.pairs))


@dataclass(frozen=True)
class Select:
    """Data selection: by which rule, how many source words (0: all) or which shares of the corpora are kept."""

    words: Annotated[int, integer(0)]
    rule: Annotated[str, choice("ranking", "shares", "random")] = "ranking"
    shares: Annotated[dict[str, float] | None, optional(fractions())] = None
    order: Annotated[int, integer(2)] = 4


@dataclass(frozen=True)
class Shortlist:
    """How many symbols each side knows, UNK among them."""

    size: Annotated[int, integer(2)] = 30_000


@dataclass(frozen=True)
class Translate:
    """Beam search."""

    beam: Annotated[int, integer(1)] = 12
    batch: Annotated[int, integer(1)] = 32
    minimum_length_ratio: Annotated[float, fraction()] = 0.5


@dataclass(frozen=True)
class PhraseBased:
    """The phrase-based system: which one, its training text, its search, and how it is tuned."""

    system: Annotated[str, choice("moses", "thot")] = "moses"
    pairs: Annotated[int, integer(0)] = 0
    monolingual: Annotated[tuple[str, ...], names()] = ()
    order: Annotated[int, integer(1)] = 5
    align_iterations: Annotated[int, integer(1)] = 5
    phrase_length: Annotated[int, integer(1)] = 7
    translations: Annotated[int, integer(1)] = 20
    stack: Annotated[int, integer(1)] = 100
    reordering: Annotated[int, integer(0)] = 6
    tune_sentences: Annotated[int, integer(1)] = 3000
    tune_rounds: Annotated[int, integer(1)] = 10
    n_best: Annotated[int, integer(2)] = 100


@dataclass(frozen=True)
class Moses:
    """The Moses installation, for `phrase_based.system: moses`, and what its decoder says of its version."""

    bin: Annotated[str | None, optional(text())] = None
    version: Annotated[str, text(r"[^\n]*")] = ""


@dataclass(frozen=True)
class Table2:
    """How many training pairs stand for the training set."""

    train_sample: Annotated[int, integer(1)] = 10_000


@dataclass(frozen=True)
class Table3:
    """Translations of long sentences, two models side by side."""

    models: Annotated[tuple[str, ...], names(2)]
    sentences: Annotated[int, integer(1)] = 3
    minimum_words: Annotated[int, integer(1)] = 30


@dataclass(frozen=True)
class Figure2:
    """BLEU by length: a curve for every variant but those left out, one for the phrase-based system if wanted."""

    leave_out: Annotated[tuple[str, ...], names()] = ()
    bin_width: Annotated[int, integer(1)] = 10
    phrase_based: Annotated[bool, flag()] = False


@dataclass(frozen=True)
class Figure3:
    """Alignments of one model; `chosen` is the line of panel (a), counted from 1, or auto."""

    model: Annotated[str, identifier()]
    chosen: Annotated[int | str, either("auto", integer(1))] = "auto"


@dataclass(frozen=True)
class Threads:
    """Threads of the steps that use several."""

    train: Annotated[int, integer(1)] = 4
    translate: Annotated[int, integer(1)] = 4
    phrase_based: Annotated[int, integer(1)] = 4


PHRASE_BASED = "phrase-based"  # where the phrase-based system's translations lie, beside those of the variants
SYSTEM_LABELS = {"moses": "Moses", "thot": "Phrase-based (Thot)"}


@dataclass(frozen=True)
class Config:
    """A whole experiment, every variant resolved."""

    experiment: Annotated[str, identifier()]
    results: Annotated[str, text(r"[^\s\n]*[^\s/\n]", "a folder, without a slash at its end")]
    seed: Annotated[int, integer(0)]
    languages: Languages
    mirror: Annotated[str | None, optional(text())]
    registry: Annotated[str, text()]
    corpora: Corpora
    shard: Shard
    select: Select
    shortlist: Shortlist
    translate: Translate
    phrase_based: PhraseBased
    moses: Moses
    table2: Table2
    table3: Table3
    figure2: Figure2
    figure3: Figure3
    threads: Threads
    generated: Generated
    variants: dict[str, Variant]

    @property
    def runs_phrase_based(self) -> bool:
        """Whether there is a phrase-based system to run; without one its row quotes the paper."""
        return self.phrase_based.system == "thot" or self.moses.bin is not None

    @property
    def phrase_based_label(self) -> str:
        """How tables and figures call the phrase-based system."""
        return SYSTEM_LABELS[self.phrase_based.system]


def _resolve(mapping: Mapping[str, Any], seed: int) -> dict[str, Variant]:
    """Every variant: defaults <- prototype <- its own settings."""
    own = [one.name for one in fields(Variant) if one.name != "name"]
    defaults = _known(mapping.get("defaults", {}), own, "config: defaults")
    prototypes = {
        prototype: _known(settings, own, f"config: prototypes.{prototype}")
        for prototype, settings in section(mapping.get("prototypes", {}), "config: prototypes").items()
    }
    variants = {}
    for variant, settings in section(mapping.get("variants", {}), "config: variants").items():
        where = f"config: variants.{variant}"
        given = dict(_known(settings, [*own, "prototype"], where))
        prototype = given.pop("prototype", None)
        if prototype not in prototypes:
            raise unknown(prototype, prototypes, f"{where}.prototype", "prototype")
        merged = {"seed": seed, "label": variant, **defaults, **prototypes[prototype], **given}
        variants[variant] = build(Variant, {"name": variant, **merged}, where)
    if not variants:
        raise UserError("config: variants is empty; name one model or more")
    return variants


def _known(settings: Any, known: Iterable[str], where: str) -> Mapping[str, Any]:
    """The section `settings`, all of whose keys are known."""
    for key in section(settings, where):
        if key not in known:
            raise unknown(key, known, where)
    return settings


_SHAPE = (
    "context",
    "embedding",
    "hidden",
    "alignment",
    "maxout",
    "output_rank",
    "decoder_order",
    "embedding_bias",
)


def _check_variants(variants: Mapping[str, Variant]) -> None:
    """Labels differ; what a variant continues exists, has the same layers and leads to a fresh start."""
    labels = dict.fromkeys(SYSTEM_LABELS.values(), "the phrase-based system")
    if PHRASE_BASED in variants:
        raise UserError(f"config: variants.{PHRASE_BASED}: the name of the phrase-based system; give it another one")
    for variant in variants.values():
        if labels.setdefault(variant.label, variant.name) != variant.name:
            raise UserError(
                f"config: variants.{variant.name}.label: {variant.label} is taken by {labels[variant.label]}"
            )
        if variant.continues is None:
            continue
        where = f"config: variants.{variant.name}.continues"
        if variant.continues not in variants:
            raise unknown(variant.continues, variants, where, "variant")
        before = variants[variant.continues]
        for key in _SHAPE:
            if getattr(before, key) != getattr(variant, key):
                raise UserError(f"{where}: {before.name} has another {key}; both must be the same to go on from it")
        seen = [variant.name]
        step: Variant | None = variant
        while step is not None and step.continues is not None:
            seen.append(step.continues)
            if seen[-1] in seen[:-1]:
                raise UserError(f"{where}: a circle, {' -> '.join(seen)}; one of them must start afresh")
            step = variants.get(step.continues)


def _check_uses(config: Config) -> None:
    """Tables and figures name variants that exist, data selection corpora that are trained on; Moses no sample."""
    uses = [("table3.models", one) for one in config.table3.models]
    uses += [("figure2.leave_out", one) for one in config.figure2.leave_out]
    uses.append(("figure3.model", config.figure3.model))
    for where, one in uses:
        if one not in config.variants:
            raise unknown(one, config.variants, f"config: {where}", "variant")
    if len(config.table3.models) != 2:
        raise UserError("config: table3.models: expected two variants")
    if config.select.rule == "shares" and not config.select.shares:
        raise UserError("config: select.shares: expected the share of one corpus or more, for select.rule: shares")
    for corpus in config.select.shares or ():
        if corpus not in config.corpora.train:
            raise unknown(corpus, config.corpora.train, "config: select.shares", "training corpus")
    if config.phrase_based.system == "moses" and config.phrase_based.pairs:
        raise UserError("config: phrase_based.pairs: Moses is trained on all selected pairs; leave it 0")
    if config.variants[config.figure3.model].context == "fixed":
        raise UserError(
            f"config: figure3.model: {config.figure3.model} has no alignments; name a variant with attention"
        )


def load(mapping: Mapping[str, Any]) -> Config:
    """The typed configuration; UserError where a key is unknown, missing or out of range."""
    types = get_type_hints(Config)
    every = [*types, "defaults", "prototypes"]
    for key in section(mapping, "config"):
        if key not in every:
            raise unknown(key, every, "config")
    given: dict[str, Any] = {}
    for key, check in checks(Config).items():
        if key not in mapping:
            raise UserError(f"config: {key} is missing; expected {check.expected}")
        given[key] = checked(mapping[key], check, f"config: {key}")
    for key, kind in types.items():
        if isinstance(kind, type) and is_dataclass(kind):
            given[key] = build(kind, mapping.get(key, {}), f"config: {key}")
    config = Config(**given, variants=_resolve(mapping, given["seed"]))
    _check_variants(config.variants)
    _check_uses(config)
    return config


def check_moses(config: Config) -> None:
    """UserError where Moses is to be run and the named folder does not hold it."""
    folder = config.moses.bin
    if config.phrase_based.system == "moses" and folder is not None and not (Path(folder) / "moses").is_file():
        raise UserError(f"config: moses.bin: no program moses in {folder}; name the folder of Moses's programs")


def check_corpora(config: Config, known: Iterable[str]) -> None:
    """UserError where a named corpus is not in the registry, or a test set is also trained on."""
    known = list(known)
    for use, chosen in asdict(config.corpora).items():
        for corpus in chosen:
            if corpus not in known:
                raise unknown(corpus, known, f"config: corpora.{use}", f"corpus ({config.registry})")
    corpora = config.corpora
    evaluated = {"test": corpora.test, "development": corpora.development, "held-out": corpora.held_out}
    for corpus in config.phrase_based.monolingual:
        where = "config: phrase_based.monolingual"
        if corpus not in known:
            raise unknown(corpus, known, where, f"corpus ({config.registry})")
        for use, chosen in evaluated.items():
            if corpus in chosen:
                raise UserError(f"{where}: {corpus} is a {use} set; take it out of one of them")
    for corpus in config.corpora.test:
        if corpus in config.corpora.train + config.corpora.in_domain + config.corpora.development:
            raise UserError(f"config: corpora.test: {corpus} is also used in training; take it out of one of them")
