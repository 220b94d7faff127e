"""What the workflow asks of an experiment: its checked parts, the code and the options of its steps, what a run says.

Standard library only: the workflow imports this module at every start.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path
from statistics import fmean
from typing import Any, NoReturn

from nmt import commands, papers
from nmt.corpora.kept import keep
from nmt.corpora.languages import bleu_tokenizer, has_spaces
from nmt.corpora.own import (
    check_files,
    check_mirror,
    check_outside,
    check_sentence,
    check_sides,
    check_uses,
    entry_of,
    own_files,
    read_corpora,
)
from nmt.corpora.own import digest as own_digest
from nmt.corpora.registry import Archive, Corpus
from nmt.monitor.forecast import announcement
from nmt.report.artefacts import Artefact, collect, compared
from nmt.settings.checks import PLAIN, is_plain, unknown
from nmt.settings.experiment import BUILT_RECORD, PHRASE_BASED, Experiment, check_moses, load
from nmt.settings.extends import check_layers, resolve
from nmt.settings.ownership import PROVENANCE
from nmt.settings.variant import ATTENTIONS, UNITS, Variant
from nmt.system.claims import check_unclaimed, take_over
from nmt.system.digest import announce as announce_code
from nmt.system.digest import digest
from nmt.system.errors import UserError, warn
from nmt.system.files import MODEL, check_room, nearest_folder
from nmt.system.records import IMMEDIATE
from nmt.system.scheduler import check_slurm
from nmt.system.text import read_json
from nmt.training.metrics import ended_early

EXPERIMENTS = "NMT_EXPERIMENTS"  # tells the jobs of a run the digests of its experiments, by name
LOGGER = logging.getLogger("snakemake.logging")
LONGEST_COMMAND = 128_000  # bytes; Linux accepts 131,072, including what begins each of Snakemake's commands
SELECTED = "train"  # the name of the files of the selected training text
Words = list[str | int | float]


def refuse(reason: object) -> NoReturn:
    """End the run with one line, which Snakemake's loggers show, too."""
    LOGGER.error(f"snakemake: {reason}")
    sys.exit(1)


@contextmanager
def one_line_mistakes() -> Iterator[None]:
    """A user's mistake in the context ends the run with one line."""
    try:
        yield
    except UserError as error:
        refuse(error)
    except OSError as error:
        refuse(f"{error.filename}: {error.strerror}")


def check_start(files: Sequence[str], folder: str, words: Sequence[str]) -> None:
    """UserError where the project's `folder` has an odd name, nothing can be written, or a configuration is mistaken.

    Snakemake has already read its command line `words` and `files`, but is less strict.
    """
    options = [*takewhile(lambda word: word != "--", words)]
    for option, spellings in (("--config", "--config(=.*)?|-[nFkp]*C.*"), ("--configfile", "--configfiles?(=.*)?")):
        if sum(bool(re.fullmatch(spellings, word, re.DOTALL)) for word in options) > 1:
            raise UserError(f"{option}: Snakemake reads only the last of several; give it once, with all its values")
    if not is_plain(folder):
        raise UserError(f"{folder}: expected a path {PLAIN}; move the project elsewhere")
    for written in (".", ".snakemake", "data", "logs", "benchmarks", os.environ.get("TMPDIR", ".")):
        if os.path.isdir(written):
            check_room(Path(written).absolute())
    check_layers(files)


def check_links(experiment: Experiment) -> None:
    """UserError where a folder that the run writes is a link without its target, as when a disk is not mounted."""
    data, results = Path("data") / experiment.name, Path(experiment.results)
    shared = [Path("logs"), Path("benchmarks"), Path(".snakemake")]
    inner = [path for folder in shared for path in folder.glob("*")]
    own = [*data.parents, data, *data.glob("*"), *data.glob("models/*"), *results.parents, results]
    for path in [*shared, *inner, Path("data/tools"), *own]:
        if path.is_symlink() and not path.exists():
            raise UserError(f"{path}: a link that leads nowhere; mount its disk, or remove the link")


def load_experiment(config: dict[str, Any]) -> tuple[Experiment, dict[str, Corpus], dict[str, Artefact]]:
    """The checked experiment, its registry and its artefacts; `config` is resolved in place. Raises UserError."""
    resolved = resolve(config)
    experiment = load(resolved)
    registry = read_corpora(experiment)
    check_corpora(experiment, registry)
    check_selection(experiment)
    check_moses(experiment)
    artefacts = collect(experiment, papers.artefacts(experiment))
    config.clear()
    config.update(resolved)
    return experiment, registry, artefacts


def check_corpora(experiment: Experiment, registry: Mapping[str, Corpus]) -> None:
    """UserError where a corpus is not in the registry or lacks its source side, or a test set is also trained on.

    A corpus `train` is only for training: elsewhere its files would be those of the selected text.
    """
    corpora, monolingual = experiment.corpora, "phrase_based.monolingual"
    uses = {f"corpora.{use}": chosen for use, chosen in asdict(corpora).items()} | {monolingual: experiment.monolingual}
    for use, chosen in uses.items():
        where = f"config: {use}"
        for corpus in chosen:
            if corpus not in registry:
                raise unknown(corpus, registry, where, f"corpus ({experiment.registry or 'files'})")
            if corpus == SELECTED and use != "corpora.train":
                file = experiment.registry
                remedy = f"give the corpus another name in {file}" if file else "leave it out"
                raise UserError(f"{where}: {corpus} is the name of the selected training text; {remedy}")
            if registry[corpus].is_monolingual and use != monolingual:
                raise UserError(
                    f"{where}: {corpus} is monolingual; only {monolingual} may name one without a source_address"
                )
            if not registry[corpus].is_monolingual:
                check_sides(
                    [entry_of(one.address, member) for one, member in registry[corpus].sides], experiment.languages
                )
    evaluated = {"test": corpora.test, "development": corpora.development, "held-out": corpora.held_out}
    for corpus in experiment.monolingual:
        for use, chosen in evaluated.items():
            if corpus in chosen:
                raise UserError(f"config: {monolingual}: {corpus} is a {use} set; remove it from one of them")
    for corpus in corpora.test:
        if corpus in corpora.train + corpora.in_domain + corpora.development:
            raise UserError(f"config: corpora.test: {corpus} is also used in training; remove it from one of them")


def check_selection(experiment: Experiment) -> None:
    """UserError where text without spaces between words is to be selected by its words."""
    if experiment.tokenized or not experiment.select.scores_pairs:
        return
    for code in (experiment.languages.source, experiment.languages.target):
        if not has_spaces(code):
            raise UserError(
                f"config: select.rule: {experiment.select.rule} compares or counts words, and {code} has no spaces "
                "between them; set it to all"
            )


def find_files(
    experiment: Experiment, registry: Mapping[str, Corpus], names: Iterable[str]
) -> tuple[dict[str, str], dict[str, Archive]]:
    """The files of the corpora `names`: the user's own, address -> path, and the archives to fetch, by their path."""
    files = [archive for name in names for archive in registry[name].archives]
    own = {} if experiment.is_generated else own_files(files, experiment.mirror or "")
    return own, {archive.path: archive for archive in files if archive.address not in own}


def check_inputs(
    experiment: Experiment, registry: Mapping[str, Corpus], own: Mapping[str, str], fetched: Collection[str]
) -> None:
    """UserError where a file is missing, is used for scores and training alike, or lies where the run writes.

    Also where a figure is to show a sentence that the text does not have. `find_files` returns `own` and `fetched`.
    """
    mirror = "" if experiment.is_generated else experiment.mirror or ""
    check_uses(experiment, registry, own)
    check_outside(experiment, own.values(), mirror, fetched)
    check_files(own.values())
    for setting, number, names in papers.shown(experiment):
        check_sentence(setting, number, [registry[name] for name in names], own)
    check_mirror(mirror, [f"data/{experiment.name}/archives/{path}" for path in fetched])
    system = experiment.phrase_based
    if system and system.system == "moses" and not system.bin:
        check_mirror(system.sources or "", [BUILT_RECORD], "phrase_based.sources")


def check_unchanged(is_job: bool, config: Mapping[str, Any], corpora: Iterable[Corpus], own: Collection[str]) -> None:
    """UserError in a job on a cluster, which reads the experiment again, if it has changed since the run began.

    Snakemake records the settings and the text with which the run began. `own` are the user's own files; a job passes
    over those that its machine does not have.
    """
    settings = json.dumps([config, list(map(repr, corpora))], sort_keys=True)
    found = [hashlib.sha256(settings.encode()).hexdigest()[:16]]
    found += [own_digest(path)[:16] if os.path.exists(path) else "" for path in own]
    name, known = str(config["experiment"]), json.loads(os.environ.get(EXPERIMENTS) or "{}")
    if not is_job:
        os.environ[EXPERIMENTS] = json.dumps(known | {name: found})
        return
    for what, now, before in zip(["config", *own], found, known.get(name, found), strict=False):
        if now and now != before:
            raise UserError(f"{what}: changed since the run began; start the run again")


def show_what_made(results: str, config: dict[str, Any]) -> None:
    """Set `config`, for Snakemake's report, to the settings that made the results, with a warning if they differ."""
    try:
        made = read_json(Path(results) / PROVENANCE)["configuration"]
    except (UserError, OSError, LookupError, TypeError):
        return
    if isinstance(made, dict) and made != json.loads(json.dumps(config)):
        warn(f"{results}: the last complete run had other settings than today's; the report shows those of that run")
        config.clear()
        config.update(made)


def check_models(experiment: Experiment) -> None:
    """UserError where a variant's model is from a training run that was ended early: no table should show it."""
    for name in experiment.variants:
        if ended_early(experiment.name, name):
            raise UserError(
                f"data/{experiment.name}/models/{name}: from a training that --minutes has ended early; remove this "
                "folder, and the training resumes from its checkpoint"
            )


def check_command(rule: str, command: str) -> None:
    """UserError where a job's command is longer than Linux allows."""
    if len(os.fsencode(command)) > LONGEST_COMMAND:
        raise UserError(
            f"{rule}: its command names too many files, in {len(command):,} characters of at most {LONGEST_COMMAND:,}; "
            "join corpora, or name fewer variants, seeds or test sets"
        )


def has_hooks(workflow: Any) -> bool:
    """Whether Snakemake calls `onstart` of this workflow: not as a module of another one, nor with --no-hooks."""
    return workflow.modifier.is_main_snakefile() and "--no-hooks" not in sys.argv


def plain_names(workflow: Any) -> Callable[[str], str]:
    """A function that gives a rule's own name where another workflow renames it, `use rule * from nmt as nmt_*`."""
    before, star, after = workflow.modifier.modify_rulename("*").partition("*")
    return lambda rule: rule.removeprefix(before).removesuffix(after) if star else rule


def check_places(jobs: Iterable[Any]) -> None:
    """UserError where a folder in which jobs write takes no file, or an earlier benchmark cannot be overwritten."""
    benchmarks = [job.benchmark for job in jobs if job.benchmark]
    written = [*benchmarks, *(path for job in jobs for path in (*job.output, *job.log))]
    for folder in sorted(set(map(nearest_folder, written))):
        check_room(folder, size=0)  # a step that fills the disk says so
    for path in benchmarks:
        if os.path.exists(path) and not os.access(path, os.W_OK):
            raise UserError(f"{path}: cannot be written; remove it")


def begin(workflow: Any, experiment: str) -> None:
    """Take steps over from earlier runs, check that jobs can be started and can write, and prepare for any end."""
    jobs = list(workflow.dag.needrun_jobs())
    if not workflow.touch:
        check_places(jobs)
    take_over(experiment, jobs)
    if workflow.local_exec:
        check_unclaimed(experiment, jobs)
    if workflow.remote_execution_settings.immediate_submit:
        os.environ[IMMEDIATE] = "1"
    if workflow.executor_plugin.name == "slurm":
        check_slurm()
    if not workflow.deployment_settings.deployment_method and any(job.rule.name == "moses_build" for job in jobs):
        from nmt.phrase_based.moses.moses_build import check_tools  # here: a dry run does without its packages

        check_tools()
    for job in jobs:
        check_command(job.rule.name, job.shellcmd or "")
        if job.rule.name == "fetch" and not workflow.touch:
            keep(Path(job.output[0]))
    announce_code(map(commands.module, commands.names()))


def on_nothing_to_do(logger: logging.Logger, act: Callable[[], object]) -> None:
    """Call `act` where Snakemake tells its logger that nothing is to be done; it does not call `onstart` then."""

    def look(record: logging.LogRecord) -> bool:
        if str(record.msg).startswith("Nothing to be done"):
            act()
        return True

    logger.addFilter(look)


def warn_of_unrecorded(workflow: Any, experiment: Experiment, plain_name: Callable[[str], str] = str) -> None:
    """Warn of models that are used although Snakemake does not know how they were trained."""
    trainings = {job for job in workflow.dag.jobs if plain_name(job.rule.name) == "train"}
    trainings -= {*workflow.dag.needrun_jobs()}
    unrecorded = sorted(job.wildcards.variant for job in trainings if not workflow.persistence.has_metadata(job))
    models = [f"data/{experiment.name}/models/{variant}" for variant in unrecorded]
    if folders := list(filter(os.path.isdir, models)):
        warn(
            f"{', '.join(folders)}: .snakemake does not record how this was trained, so changes of settings since then "
            "go unnoticed; remove the folder to make the model again"
        )


def announce_work(workflow: Any, experiment: Experiment, archives: Mapping[str, Archive]) -> None:
    """Say what a run downloads and how long it trains; warn of what Moses or Snakemake does not know."""
    jobs = list(workflow.dag.needrun_jobs())
    if any(job.rule.name == "tokenize" for job in jobs) and not (experiment.tokenized or experiment.has_pieces):
        from nmt.corpora.tokenize import NO_ABBREVIATIONS, has_abbreviations  # here: a dry run does without sacremoses

        for language in (experiment.languages.source, experiment.languages.target):
            if not has_abbreviations(language):
                print(f"{language}: {NO_ABBREVIATIONS}", file=sys.stderr, flush=True)
    warn_of_unrecorded(workflow, experiment)
    fetched = [archives[job.wildcards.archive] for job in jobs if job.rule.name == "fetch"]
    variants = [job.wildcards.variant for job in jobs if job.rule.name == "train"]
    if said := announcement(experiment, fetched, variants):
        print(said, file=sys.stderr, flush=True)


def end(workflow: Any, experiment: Experiment) -> None:
    """After a run for everything, say where the results are and how to use them; --touch has made none."""
    if not workflow.touch and any(job.rule.name == "all" for job in workflow.dag.jobs):
        with one_line_mistakes():
            LOGGER.info("\n".join(last_lines(experiment)), extra={"ending": True})  # which the logger nmt shows, too


def last_lines(experiment: Experiment) -> list[str]:
    """What a complete run prints: BLEU, the page, the models, and the command that translates.

    The command names the best model on the first test set, or the first one if no BLEU is known.
    """
    [first, *_], models = experiment.corpora.test, f"data/{experiment.name}/models"
    files = {one: Path(f"data/{experiment.name}/evaluation/{one}/{first}.json") for one in experiment.systems}
    scores = {system: float(read_json(file)["all"]["bleu"]) for system, file in files.items() if file.is_file()}
    there = [name for name in experiment.variants if Path(models, name, MODEL).is_file()]
    best = max(there, key=lambda name: scores.get(name, 0.0), default=None)
    of_label: dict[str, list[float]] = {}  # for a model with several seeds, their mean
    for system, score in scores.items():
        of_label.setdefault(experiment.systems[system], []).append(score)
    said = ", ".join(f"{label} {fmean(found):.1f}" for label, found in of_label.items())
    tokenized = " --tokenized" if experiment.tokenized else ""
    lines = [f"BLEU on {first}: {said}."] if scores else []
    lines.append(f"The page with all results: {experiment.results}/index.html")
    if best:  # or the data have been deleted
        lines.append(f"The models: {models}" if len(there) > 1 else f"The model: {models}/{best}")
        lines.append(f"To translate: python -m nmt translate --model {models}/{best}{tokenized} < FILE")
    return lines


def code(step: str, variants: Iterable[Variant] | None = None) -> str:
    """The digest of a step's code: a change in what it computes reruns it, a change in its wording does not.

    For a step that runs the models `variants`, only what they need counts, of attentions, units and scores.
    """
    module = commands.module(step)
    if variants is None:
        return digest([module])
    chosen = list(variants)
    models = [one.architecture for one in chosen]
    own = {found for one in models for found in (ATTENTIONS[one.attention][0], UNITS[one.unit][0])}
    others = {found for found, _ in (*ATTENTIONS.values(), *UNITS.values())} - own
    if all(one.optimization.stop_on == "nll" for one in chosen):
        others.add("nmt.training.greedy")
    if all(one.optimization.dropout == 0 for one in chosen):
        others.add("nmt.training.dropout")
    if all(one.contextualization is None for one in models):
        others.add("nmt.model.contextualization")
    return digest([module, *own], others)


def codes(experiment: Experiment) -> dict[str, str]:
    """The digests of the code that decides an experiment's numbers: of each model's training, search and scores."""
    trained = {f"train {name}": code("train", [variant]) for name, variant in experiment.variants.items()}
    return trained | {"translate": code("translate", experiment.variants.values()), "evaluate": code("evaluate")}


def step_of(experiment: Experiment, artefact: str) -> str:
    """The step that makes a table or figure: the paper's, or else the one that every experiment has."""
    paper = experiment.paper
    return f"{paper.name}.{artefact}" if paper and artefact in papers.paper(paper.name).STEPS else artefact


def train_priority(experiment: Experiment, variant: str) -> int:
    """Trainings that continue each other start first, because together they take longest."""
    before = experiment.variants[variant].continues
    return 3 if before or any(one.continues == variant for one in experiment.variants.values()) else 2


def sample_options(experiment: Experiment, variant: str, text: str) -> Words:
    """The options of `nll` that draw a sample of the pairs that a variant trains on; none for `development`."""
    if text == "development":
        return []
    longest = experiment.variants[variant].optimization.maximum_length
    return ["--maximum-length", longest, "--sample", experiment.evaluate.train_sample, "--seed", experiment.seed]


def search_options(experiment: Experiment, ending: str) -> Words:
    """The options that decide what a search finds; the translation's `ending`, as .beam1, names another beam."""
    chosen = experiment.translate
    beam = int(ending.removeprefix(".beam") or chosen.beam)
    fallback = [] if chosen.fallback else ["--no-fallback"]
    ratio = chosen.minimum_length_ratio
    return ["--beam", beam, "--minimum-length-ratio", ratio, *fallback, "--precision", chosen.precision]


def speed_options(experiment: Experiment, variant: str) -> Words:
    """The options that say where and how fast a search runs."""
    return ["--batch", experiment.translate.batch, "--device", experiment.variants[variant].run_time.device]


def bleu_options(experiment: Experiment) -> Words:
    """The options of the steps that score running text; none where the text is tokenized."""
    return ["--bleu-tokenizer", bleu_tokenizer(experiment.languages.target)] if experiment.has_pieces else []


def sacrebleu_version() -> str | None:
    """The version of sacreBLEU, which is part of a signature; None where only the jobs' own environment has it."""
    with suppress(PackageNotFoundError):
        return version("sacrebleu")
    return None


def compared_options(experiment: Experiment) -> list[str]:
    """The options of `significance` that name the compared systems by their labels."""
    labels, (_, fold) = experiment.systems, compared(experiment)
    return pair_options(experiment) + [word for one, other in fold for word in ("--folded", labels[one], labels[other])]


def pair_options(experiment: Experiment) -> list[str]:
    """Those of `compared_options` that are not folded; `index` has the same ones."""
    labels, (pairs, _) = experiment.systems, compared(experiment)
    return [word for one, other in pairs for word in ("--pair", labels[one], labels[other])]


def models_options(experiment: Experiment) -> list[str]:
    """The options of `gather_metrics`: label and folder of every training, and the folder of the one it continues."""
    labels, options = experiment.systems, []
    for name, variant in experiment.variants.items():
        folders = [f"data/{experiment.name}/models/{one}" for one in (name, variant.continues) if one]
        options += ["--model", labels[name], *folders]
    return options


def figure_options(experiment: Experiment, artefact: Artefact) -> list[str]:
    """The options of a figure with a line for each system; none of another."""
    if not artefact.has_systems:
        return []
    labels = experiment.systems
    options = ["--systems", *dict.fromkeys(labels.values())]
    for variant in experiment.models.values():
        if artefact.name == "learning_curves" and variant.continues:
            options += ["--continues", variant.label, labels[variant.continues]]
    if artefact.name == "figure2" and experiment.has_pieces and not has_spaces(experiment.languages.source):
        options += ["--unit", "pieces"]
    return options


def translations(systems: Iterable[str], of: str, ending: str) -> list[str]:
    """The translations of a set whose names end so; the phrase-based system has one translation for all purposes."""
    return [f"<data>/translations/{one}/{of}{'' if one == PHRASE_BASED else ending}.txt" for one in systems]
