"""The text of a new experiment on own files: its models, tables and figures, those of a paper."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from nmt.corpora.languages import has_spaces
from nmt.settings.elsewhere import CONFIGS
from nmt.settings.extends import PAPER, read_experiment
from nmt.settings.project import PROJECT, find
from nmt.settings.sections import Languages, Translate
from nmt.settings.variant import Architecture, Optimization, RunTime, Variant


class Paper(NamedTuple):
    """What an experiment takes from a paper.

    `sizes` are the experiments whose sizes models may have, `models` the names of the models there. `chosen` are the
    models that are trained where none is named.
    """

    sizes: dict[str, str]
    models: dict[str, str]
    chosen: tuple[str, ...]


PAPERS = {
    "bahdanau2015": Paper(
        {"demo": "config/demo.yaml", "open": "config/open.yaml", "paper": PAPER},
        {"RNNsearch": "RNNsearch-50", "RNNencdec": "RNNencdec-50"},
        ("RNNsearch",),
    ),
    "choi2017": Paper(
        {
            "demo": "config/choi2017/demo-choi.yaml",
            "open": "config/choi2017/open-en-de.yaml",
            "paper": "config/choi2017/wmt15-ende.yaml",
        },
        {name: name for name in ("Baseline", "AttY", "AttY2D", "C", "CAttY", "CAttY2D")},
        ("Baseline", "AttY"),
    ),
}
SIZES = ("demo", "open", "paper")
LEAST_PATIENCE = 3
# Settings that are not copied: how long a model is trained, its seed, and a precision that is slow on many machines.
APART = ("updates", "cooldown", "patience", "seed", "precision")
DROPOUT, OFTEN = 0.3, 4  # OFTEN: from this many passes over the text
STANDARD = asdict(Architecture()) | asdict(Optimization(1)) | asdict(RunTime())
EXPERIMENT = """\
# {source} to {target}, from your own files, at the size of {like}. Run it by
#   {command}
# What is left out has the value given in {manual}, which explains every setting.

experiment: {name}
languages: {languages}

# Plain text, gz or xz, one sentence per line; the second file translates the first line by line. Further corpora follow
# in the same list, as [a.{source}, a.{target}, b.{source}, b.{target}]. c.tsv:1 is the first column of a table,
# d.zip:e.{source} a file in an archive. What depends on a changed file is made again.{split}
files:
  train: {train}
  development: {dev}
  test: {test}
{vocabulary}

select: {{rule: all}}  # train on every pair{others}
{more}threads: {{train: {train_threads}, translate: {translate_threads}}}

paper:
  name: {paper}
{figures}

defaults:{defaults}

# A model is scored on the development text every `evaluate_every` updates, and the best is kept. After `patience`
# scores without a better one, its training ends; raise `patience` with `updates` where there is a `cooldown`, over
# whose updates the learning rate falls to 0.
variants:
{variants}
"""
SPLIT = """
# Files in {folder} were drawn at random from the training text, by `nmt new --split {lines}`. If that text changes,
# delete this file and repeat the command."""
OTHERS = "; other rules choose those that are most like files.in_domain"
PIECES = """\
# Each side is cut into pieces (words and parts of words) from a vocabulary of this size; no word is unknown.{moses}
tokenizer: sentencepiece
sentencepiece: {{symbols: 8000}}"""
MOSES = """ Or, as in
# the papers, moses."""
TOKENIZED = """\
tokenized: true  # there are spaces between words and punctuation marks already
shortlist: {{size: {words}}}  # how many words of each side the model knows
# bpe: {{symbols: 8000}}  # or cut rare words into subwords, so that few are unknown; `shortlist` is then ignored"""


def command(path: Path) -> str:
    """How the experiment at `path` is run here; outside the project, Snakemake must be told where the workflow is."""
    snakefile = PROJECT / "Snakefile"
    named = [] if Path("Snakefile").resolve() == snakefile else ["-s", str(snakefile)]
    return shlex.join(["snakemake", "--cores", "all", *named, "--configfile", str(path)])


def experiment_text(
    name: str,
    languages: Languages,
    files: dict[str, list[str]],
    *,
    size: str,
    tokenized: bool,
    paper: str,
    variants: Sequence[str],
    split_note: str = "",
    pairs: float,
    sentence: int = 1,
) -> str:
    """The experiment in YAML; models that are not among `variants` appear as comments.

    The dropout follows from the number of training `pairs`. `sentence` is the line of the development text to show.
    """
    file, names = PAPERS[paper].sizes[size], PAPERS[paper].models
    like = read_experiment([file])
    models = {one: with_dropout(like.variants[name], pairs) for one, name in names.items()}
    chosen = [settings_of(models[one]) for one in variants]
    shared = {key: value for key, value in chosen[0].items() if all(one[key] == value for one in chosen)}
    defaults = {key: value for key, value in shared.items() if value != STANDARD[key]}
    listed = [f"  {one}: {flow(of_its_own(models[one], defaults))}" for one in variants]
    listed += [f"  # {one}: {flow(of_its_own(models[one], defaults))}" for one in models if one not in variants]
    compare = [[one, other] for one, other in like.evaluate.compare or () if {one, other} <= {*variants}]
    search = {key: value for key, value in asdict(like.translate).items() if value != getattr(Translate, key)}
    search.pop("precision", None)  # the fast one is slow on many machines
    measured = {"train_sample": like.evaluate.train_sample} | ({"compare": compare} if compare else {})
    spaced = has_spaces(languages.source) and has_spaces(languages.target)
    sections = {"translate": search, "evaluate": measured}
    return EXPERIMENT.format(
        name=flow(name),
        languages=flow(asdict(languages)),
        command=command(CONFIGS / f"{name}.yaml"),
        manual=find("config/manual.yaml"),
        like=file,
        source=languages.source,
        target=languages.target,
        split=split_note,
        **{use: flow(paths) for use, paths in files.items()},
        others=OTHERS if tokenized or spaced else "",
        vocabulary=(
            TOKENIZED.format(words=like.shortlist.size) if tokenized else PIECES.format(moses=MOSES if spaced else "")
        ),
        more="".join(f"{key}: {flow(section)}\n" for key, section in sections.items() if section),
        train_threads=like.threads.train,
        translate_threads=like.threads.translate,
        paper=paper,
        figures="\n".join(f"  {line}" for line in FIGURES[paper](list(variants), compare, sentence)),
        defaults="".join(f"\n  {key}: {flow(value)}" for key, value in defaults.items()) or " {}",
        variants="\n".join(listed),
    )


def figures_of_bahdanau2015(variants: list[str], compare: list[list[str]], sentence: int) -> list[str]:
    """The settings of the paper's tables and figures, a line each."""
    lines = ["table1: {}  # BLEU", "figure2: {}  # BLEU by the length of the sentences"]
    if "RNNsearch" in variants:
        lines.append("figure3: {model: RNNsearch}  # which source words the model attends to")
    return lines


def figures_of_choi2017(variants: list[str], compare: list[list[str]], sentence: int) -> list[str]:
    """As `figures_of_bahdanau2015`; Figure 4 is left out, because it needs words of some classes in the language."""
    lines = ["table1: {}  # BLEU of greedy and of beam search", "parameters: {}  # how many each model has"]
    lines += [f"sentence: {sentence}  # the line of the development text that the figures show"]
    if compare:
        lines += [
            f"pairs: {flow(compare)}  # models, each with its baseline",
            "table2: {sentences: 100}  # how long the models of the pairs take for this many sentences",
        ]
    lines.append(f"figure2: {flow({'models': variants})}  # which source words the models attend to")
    if fine := next((one for one in variants if one.endswith("2D")), ""):
        lines.append(f"figure3: {{model: {fine}}}  # and single dimensions of the context")
    return lines


FIGURES = {"bahdanau2015": figures_of_bahdanau2015, "choi2017": figures_of_choi2017}


def flow(value: Any) -> str:
    """A value in YAML, on one line."""
    return yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, width=float("inf"), sort_keys=False
    ).split("\n")[0]


def settings_of(model: Variant) -> dict[str, Any]:
    """The settings of `model`, except those in `APART`."""
    own = asdict(model.architecture) | asdict(model.optimization) | asdict(model.run_time)
    return {key: value for key, value in own.items() if key not in APART}


def with_dropout(model: Variant, pairs: float) -> Variant:
    """The model, with dropout where training reads each pair often; docs/own-text.md has the measurements."""
    passes = model.optimization.updates * model.optimization.batch / pairs
    return replace(model, optimization=replace(model.optimization, dropout=DROPOUT)) if passes >= OFTEN else model


def of_its_own(model: Variant, defaults: dict[str, Any]) -> dict[str, Any]:
    """The settings of `model` that differ from `defaults`, what it is called, and how long it is trained."""
    below = STANDARD | defaults
    label = {"label": model.label} if model.label != model.name else {}
    own = {key: value for key, value in settings_of(model).items() if value != below[key]}
    return label | own | duration(model.optimization)


def duration(optimization: Optimization) -> dict[str, int]:
    """How long a model is trained: with a cooldown to the last update, without one until it no longer improves."""
    evaluations = math.ceil(optimization.updates / optimization.evaluate_every)
    plateau = max(LEAST_PATIENCE, evaluations // 5)
    cooldown = {"cooldown": optimization.cooldown} if optimization.cooldown else {}
    patience = optimization.patience or (evaluations if cooldown else plateau)
    return {"updates": optimization.updates, **cooldown, "patience": patience}
