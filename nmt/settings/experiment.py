"""An experiment: its settings, typed and checked, and its model variants.

`load` takes the mapping that the files of an experiment give (`nmt.settings.extends`) and returns an `Experiment`, or
raises `UserError` in one line that names the key and what is expected there. The settings of a variant are `defaults`,
overridden by its prototype, overridden by its own. Standard library only: the workflow loads an experiment at every
start.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from nmt.settings import sections
from nmt.settings.checks import (
    build,
    checked,
    checks,
    choice,
    flag,
    folder,
    identifier,
    optional,
    parts_of,
    path,
    section,
    seed,
    seeds,
    text,
    unknown,
)
from nmt.settings.variant import SETTINGS, Architecture, Optimization, Variant, keys_of
from nmt.system.errors import UserError

PHRASE_BASED = "phrase-based"  # the folder of the phrase-based system's translations, beside those of the variants
# What the steps with Moses call, and what its scripts call in turn.
MOSES_TUNERS = ("mert", "extractor", "evaluator", "pro", "kbmira")
MOSES_TRAINERS = ("extract", "score", "consolidate", "lexical-reordering-score")  # in `bin` beside its scripts
MOSES_PROGRAMS = ("moses", "lmplz", "build_binary", *MOSES_TRAINERS, *MOSES_TUNERS)
# Each aligner, and the programs that are called with it.
SYMAL = "symal"
MOSES_ALIGNERS = {"mgiza": ("mkcls", "snt2cooc", "merge_alignment.py", SYMAL), "fast_align": ("atools",)}
MOSES_SCRIPTS = (
    *("training/train-model.perl", "training/mert-moses.pl", "training/filter-model-given-input.pl"),
    *("training/LexicalTranslationModel.pm", "generic/extract-parallel.perl", "generic/score-parallel.perl"),
)
# The Moses that is built where no installation is named: its folder, the file that a finished build writes, its commit,
# and the longest n-grams of its models.
BUILT = "data/tools/moses"
BUILT_RECORD = f"{BUILT}/built.json"
BUILT_COMMIT, BUILT_ORDER = "34452895f350bf097b21ee514a529a1dc542243c", 7
OF_A_VARIANT = [key for key in SETTINGS if key != "name"]


class Paper(NamedTuple):
    """The paper whose tables and figures are made (a package of `nmt.papers`), and its settings, not checked yet."""

    name: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Experiment:
    """A whole experiment. An optional section is None where it is left out.

    With the `tokenizer` sentencepiece, words are what stands between spaces, and their subwords are its pieces.
    `tokenized` text has spaces between words already. With `files` the corpora are named after their uses, and there is
    neither a registry ("") nor a mirror. `left_out` are the variants that are null, and those that continue them.
    `replicas` are the variants that `seeds` adds, name -> the variant that they are with another seed.
    """

    name: Annotated[str, identifier()]
    languages: sections.Languages
    corpora: sections.Corpora
    variants: dict[str, Variant]
    registry: Annotated[str, path()] = ""
    results: Annotated[str, folder()] = ""
    seed: Annotated[int, seed()] = Optimization.seed
    seeds: Annotated[int | tuple[int, ...], seeds()] = 1
    mirror: Annotated[str | None, optional(text())] = None
    normalize: Annotated[str, choice(*sections.NORMALIZE)] = sections.NFC
    tokenizer: Annotated[str, choice("moses", "sentencepiece")] = "moses"
    tokenized: Annotated[bool, flag()] = False
    files: sections.Files | None = None
    generated: sections.Generated = field(default_factory=sections.Generated)
    shard: sections.Shard = field(default_factory=sections.Shard)
    select: sections.Select = field(default_factory=sections.Select)
    shortlist: sections.Shortlist = field(default_factory=sections.Shortlist)
    translate: sections.Translate = field(default_factory=sections.Translate)
    evaluate: sections.Evaluate = field(default_factory=sections.Evaluate)
    threads: sections.Threads = field(default_factory=sections.Threads)
    phrase_based: sections.PhraseBased | None = None
    bpe: sections.BytePairs | None = None
    sentencepiece: sections.SentencePiece = field(default_factory=sections.SentencePiece)
    paper: Paper | None = None
    left_out: frozenset[str] = frozenset()
    replicas: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_generated(self) -> bool:
        """Whether the project makes up the language and generates its corpora."""
        return self.mirror == "generated"

    @property
    def has_pieces(self) -> bool:
        """Whether the vocabularies are of SentencePiece's pieces."""
        return self.tokenizer == "sentencepiece"

    @property
    def subwords(self) -> sections.BytePairs | sections.SentencePiece | None:
        """How words are cut into subwords; None where the vocabularies are of words."""
        return self.sentencepiece if self.has_pieces else self.bpe

    @property
    def runs_phrase_based(self) -> bool:
        """Whether there is a phrase-based system to run."""
        return self.phrase_based is not None and self.phrase_based.system is not None

    @property
    def monolingual(self) -> tuple[str, ...]:
        """The corpora of which only the language model of the phrase-based system is made."""
        return self.phrase_based.monolingual if self.phrase_based else ()

    @property
    def models(self) -> dict[str, Variant]:
        """The variants without their replicas."""
        return {name: variant for name, variant in self.variants.items() if name not in self.replicas}

    def trainings(self, model: str) -> list[str]:
        """The names of a model's trainings, one for each seed."""
        return [model, *(name for name, first in self.replicas.items() if first == model)]

    @property
    def systems(self) -> dict[str, str]:
        """What is scored, name -> label: the variants and, where it is run, the phrase-based system.

        The label is that of a row or curve: replicas of a variant have the same, because they are one system.
        """
        labels = {name: self.variants[self.replicas.get(name, name)].label for name in self.variants}
        if self.phrase_based is not None and self.runs_phrase_based:
            labels[PHRASE_BASED] = self.phrase_based.label
        return labels


# Field -> the type of its section, and the fields whose section may be null.
SECTIONS = parts_of(Experiment)
OPTIONAL = [one.name for one in fields(Experiment) if one.name in SECTIONS and one.default is None]
REPLACED = ("registry", "corpora", "mirror")  # by `files`
REQUIRED = ("experiment", "languages", "registry", "corpora", "variants")
SCALARS = [key for key in checks(Experiment) if key not in ("name", *REQUIRED)]
KEYS = ["extends", *REQUIRED, *SCALARS, *SECTIONS, "paper", "defaults", "prototypes"]


def load(mapping: Mapping[str, Any]) -> Experiment:
    """The typed experiment; UserError where a key is unknown, missing or out of range."""
    _known(mapping, KEYS, "config")
    replaced = REPLACED if mapping.get("files") is not None else ()
    given = {key: value for key, value in mapping.items() if key not in replaced}
    for key in REQUIRED:
        if given.get(key) is None and key not in replaced:
            raise UserError(f"config: {key} is missing; {_expected(key)}")
    given["name"] = given.pop("experiment")
    scalars = {
        key: checked(given[key], check, f"config: {'experiment' if key == 'name' else key}")
        for key, check in checks(Experiment).items()
        if key in given
    }
    scalars.setdefault("results", f"results/{scalars['name']}")
    typed: dict[str, Any] = {
        key: build(kind, given[key], f"config: {key}")
        for key, kind in SECTIONS.items()
        if key in given and not (key in OPTIONAL and given[key] is None)
    }
    if "files" in typed:
        typed["corpora"] = typed["files"].corpora()
    variants, left_out = _variants(mapping, scalars.get("seed", Experiment.seed))
    variants, replicas = _with_seeds(variants, scalars.get("seeds", Experiment.seeds))
    if "evaluate" in typed and (named := typed["evaluate"].compare) is not None:
        phrases = typed.get("phrase_based")
        no_phrases = "phrase_based" in given and (phrases is None or phrases.system is None)
        gone = left_out | ({PHRASE_BASED} if no_phrases else set())
        compare = tuple(pair for pair in named if gone.isdisjoint(pair))
        typed["evaluate"] = replace(typed["evaluate"], compare=compare)
    paper = _paper(mapping.get("paper"))
    experiment = Experiment(**scalars, **typed, variants=variants, paper=paper, left_out=left_out, replicas=replicas)
    if experiment.subwords:
        experiment = replace(experiment, shortlist=sections.Shortlist(experiment.subwords.symbols))
    _check_variants(experiment)
    _check_uses(experiment)
    return experiment


def _expected(key: str) -> str:
    if key == "experiment":
        return "give every experiment a name of its own, for its folders"
    return f"expected {checks(Experiment)[key].expected}" if key in checks(Experiment) else "expected a section"


def _paper(value: Any) -> Paper | None:
    if value is None:
        return None
    settings = dict(section(value, "config: paper"))
    if "name" not in settings:
        raise UserError("config: paper.name is missing; name the paper whose tables and figures are made")
    return Paper(checked(settings.pop("name"), identifier(), "config: paper.name"), settings)


def _variants(mapping: Mapping[str, Any], seed: int) -> tuple[dict[str, Variant], frozenset[str]]:
    """The variants, and the names of those that are left out: they are null, or continue one that is left out.

    A variant's own settings override its prototype's, and those override the defaults.
    """
    defaults = _known(mapping.get("defaults", {}), OF_A_VARIANT, "config: defaults")
    prototypes = {
        prototype: _known(settings, OF_A_VARIANT, f"config: prototypes.{prototype}")
        for prototype, settings in section(mapping.get("prototypes", {}), "config: prototypes").items()
    }
    variants, left_out = {}, set()
    for name, settings in section(mapping["variants"], "config: variants").items():
        if settings is None:
            left_out.add(name)
            continue
        where = f"config: variants.{name}"
        own = dict(_known(settings, [*OF_A_VARIANT, "prototype"], where))
        prototype = own.pop("prototype", None)
        if prototype is not None and prototype not in list(prototypes):
            raise unknown(prototype, prototypes, f"{where}.prototype", "prototype")
        merged = {"seed": seed, **defaults, **prototypes.get(prototype, {}), **own}
        variants[name] = Variant.build({"name": name, **merged}, where)
    while gone := [name for name, variant in variants.items() if variant.continues in left_out]:
        left_out.update(gone)
        variants = {name: variant for name, variant in variants.items() if name not in left_out}
    if not variants:
        raise UserError("config: variants is empty; name one model or more")
    return variants, frozenset(left_out)


def _with_seeds(variants: dict[str, Variant], seeds: int | Sequence[int]) -> tuple[dict[str, Variant], dict[str, str]]:
    """Each variant with every seed, and the replicas, name -> the variant that they are with another seed.

    The variant itself has the first seed. A number of seeds counts on from the variant's own.
    """

    def seeds_of(variant: Variant) -> list[int]:
        first = variant.optimization.seed
        return [*range(first, first + seeds)] if isinstance(seeds, int) else [*seeds]

    def named(name: str, place: int) -> str:
        return f"{name}-seed{seeds_of(variants[name])[place]}" if name in variants else name

    whole: dict[str, Variant] = {}
    replicas = {}
    for name, variant in variants.items():
        first, *others = seeds_of(variant)
        whole[name] = replace(variant, optimization=replace(variant.optimization, seed=first))
        for place, other in enumerate(others, 1):
            one = named(name, place)
            if one in variants:
                raise UserError(f"config: seeds: {one} is the name of a variant already; rename that one")
            replicas[one] = name
            whole[one] = replace(
                variant,
                name=checked(one, identifier(), f"config: variants.{name}: its name with a seed"),
                label=checked(f"{variant.label}, seed {other}", text(), f"config: variants.{name}.label, with a seed"),
                continues=variant.continues and named(variant.continues, place),
                optimization=replace(variant.optimization, seed=checked(other, seed(), "config: seeds, counted up")),
            )
    return whole, replicas


def _known(settings: Any, known: Iterable[str], where: str) -> Mapping[str, Any]:
    """The section `settings`, all of whose keys are known."""
    for key in section(settings, where):
        if key not in known:
            raise unknown(key, known, where)
    return settings


def _check_variants(experiment: Experiment) -> None:
    """Labels differ; a variant that continues another has the same layers, and the chain has a beginning."""
    variants = experiment.variants
    if PHRASE_BASED in variants:
        raise UserError(f"config: variants.{PHRASE_BASED}: the name of the phrase-based system; choose another")
    labels = dict.fromkeys(sections.SYSTEM_LABELS.values(), "the phrase-based system")
    for variant in variants.values():
        if labels.setdefault(variant.label, variant.name) != variant.name:
            where = f"config: variants.{variant.name}.label"
            raise UserError(f"{where}: {variant.label} is taken by {labels[variant.label]}; choose another")
        if variant.continues is None:
            continue
        where = f"config: variants.{variant.name}.continues"
        if variant.continues not in variants:
            raise unknown(variant.continues, variants, where, "variant")
        before = variants[variant.continues]
        for key in keys_of(Architecture):
            if getattr(before.architecture.layers, key) != getattr(variant.architecture.layers, key):
                raise UserError(f"{where}: {before.name} has another {key}; both models must have the same layers")
        seen = [variant.name]
        step: Variant | None = variant
        while step is not None and step.continues is not None:
            seen.append(step.continues)
            if seen[-1] in seen[:-1]:
                raise UserError(f"{where}: a circle, {' -> '.join(seen)}; one of them must not continue another")
            step = variants.get(step.continues)


def _check_uses(experiment: Experiment) -> None:
    """Compared systems and the text for selection are there; no settings contradict each other."""
    for key, other in (("bpe", experiment.bpe), ("tokenized", experiment.tokenized)):
        if experiment.has_pieces and other:
            raise UserError(
                f"config: {key}: sentencepiece reads running text and makes its own pieces; leave one of them out"
            )
    select, corpora = experiment.select, experiment.corpora
    if select.scores_pairs and not corpora.in_domain:
        raise UserError(
            f"config: corpora.in_domain is empty, and select.rule {select.rule} compares with in-domain text; "
            "name some, or set select.rule to all"
        )
    if select.rule == "shares" and not select.shares:
        raise UserError("config: select.shares: expected the share of one corpus or more, for select.rule shares")
    for corpus in select.shares or ():
        if corpus not in corpora.train:
            raise unknown(corpus, corpora.train, "config: select.shares", "training corpus")
    systems = [name for name in experiment.systems if name not in experiment.replicas]
    for name in (name for pair in experiment.evaluate.compare or () for name in pair):
        if name not in systems:
            raise unknown(name, systems, "config: evaluate.compare", "system")
    system = experiment.phrase_based
    if system is not None and system.system is None and system.bin:
        raise UserError("config: phrase_based.bin: names Moses, which is not run; set phrase_based.system to moses")
    if system is not None and system.system == "moses":
        if experiment.has_pieces:
            raise UserError("config: phrase_based.system: moses reads its own tokens, not pieces; choose thot")
        if system.pairs:
            raise UserError("config: phrase_based.pairs: Moses is trained on all selected pairs; leave it 0")
        if system.order < 2:
            raise UserError(f"config: phrase_based.order: expected 2 or more with Moses, not {system.order}")
        if not system.bin and system.order > BUILT_ORDER:
            raise UserError(
                f"config: phrase_based.order: Moses is built for up to {BUILT_ORDER}; choose that, or name a bin"
            )


def moses_files(folder: str) -> list[str]:
    """The programs and scripts that decide what the installation `folder` makes."""
    programs = [*MOSES_PROGRAMS, *MOSES_ALIGNERS, *(name for names in MOSES_ALIGNERS.values() for name in names)]
    paths = [f"{folder}/{name}" for name in programs] + [f"{folder}/../scripts/{name}" for name in MOSES_SCRIPTS]
    paths += [f"{_called_folder(folder)}/{name}" for name in (*MOSES_TRAINERS, SYMAL)]
    return list({os.path.realpath(path): path for path in paths if os.path.isfile(path)}.values())


def _called_folder(folder: str) -> str:
    """Where the scripts of the installation `folder` look for MOSES_TRAINERS, and for SYMAL with mgiza."""
    return os.path.join(os.path.dirname(os.path.realpath(f"{folder}/../scripts")), "bin")


MISREAD = re.compile(r"\.gz|[^\w/.+-]")  # what a script, a shell or moses.ini does not take literally


def check_moses(experiment: Experiment) -> None:
    """UserError where Moses is to be run and the folder that is named lacks what its steps call."""
    system = experiment.phrase_based
    if system is None or system.system != "moses":
        return
    folder = system.bin
    places = [os.getcwd(), f"data/{experiment.name}/phrase_based", folder or BUILT]
    places += moses_files(folder) if folder else []
    for place in [*places, *map(os.path.realpath, places)]:  # its steps follow links
        if odd := sorted(set(MISREAD.findall(place))):
            raise UserError(
                "config: phrase_based.system: Moses's scripts do not understand "
                f"{' '.join(map(repr, odd))} in the name of a folder, as in {place}; rename it"
            )
    if folder is None:
        return
    where, programs, scripts = "config: phrase_based.bin", Path(folder), Path(folder) / ".." / "scripts"
    whole = f"name a whole installation of Moses {system.version or BUILT_COMMIT}, or leave bin out to have it built"
    if missing := [name for name in MOSES_PROGRAMS if not (programs / name).is_file()]:
        raise UserError(f"{where}: no program {', '.join(missing)} in {folder}; {whole}")
    aligner = next((name for name in MOSES_ALIGNERS if (programs / name).is_file()), None)
    if aligner is None:
        raise UserError(f"{where}: neither {' nor '.join(MOSES_ALIGNERS)} in {folder}; {whole}")
    if missing := [name for name in MOSES_ALIGNERS[aligner] if not (programs / name).is_file()]:
        raise UserError(f"{where}: {aligner} is in {folder}, but not {', '.join(missing)}; {whole}")
    if missing := [name for name in MOSES_SCRIPTS if not (scripts / name).is_file()]:
        raise UserError(f"{where}: no {', '.join(missing)} in `scripts` beside {folder}; {whole}")
    called, trainers = Path(_called_folder(folder)), [*MOSES_TRAINERS, *([SYMAL] if aligner == "mgiza" else [])]
    if missing := [name for name in trainers if not (called / name).is_file()]:
        raise UserError(f"{where}: the scripts beside {folder} call {', '.join(missing)} in {called}; {whole}")
    needed = [programs / name for name in (*MOSES_PROGRAMS, aligner, *MOSES_ALIGNERS[aligner])]
    needed += [] if called.samefile(programs) else [called / name for name in trainers]
    if closed := [str(path) for path in needed if not os.access(path, os.X_OK)]:
        raise UserError(f"{where}: cannot be executed; run chmod +x {shlex.join(closed)}")
    if closed := [path for path in moses_files(folder) if not os.access(path, os.R_OK)]:
        raise UserError(f"{where}: cannot be read; run chmod +r {shlex.join(closed)}")
    if shutil.which("perl") is None:
        raise UserError("config: phrase_based.system: Moses's scripts need perl, which is not on the PATH; install it")
