"""Write an experiment on files of your own, config/NAME.yaml, with a remark on each setting; it runs as it is.

One model with attention is trained, of the size of one of the experiments that are here. Other settings are changed in
the file.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from nmt.corpora.extract import TABLE, extract
from nmt.corpora.own import ARCHIVE, check_files, check_outside, check_tests, file_and_member, own_files, read_corpora
from nmt.settings.checks import checked, identifier, text
from nmt.settings.elsewhere import CONFIGS, check_folders, experiments
from nmt.settings.experiment import Experiment, load
from nmt.settings.extends import PAPER, read_experiment
from nmt.settings.project import PROJECT, find
from nmt.settings.sections import Languages, language
from nmt.settings.strict import parse
from nmt.settings.variant import Architecture, Optimization, RunTime, Variant
from nmt.system.files import UserError, write_lines

SIZES = {"demo": "config/demo.yaml", "open": "config/open.yaml", "paper": PAPER}
LIKE = "RNNsearch-50"  # the model of these experiments whose size is taken
MODEL = "RNNsearch"
TEXTS = {"train": "training text", "dev": "text on which a training is scored", "test": "test text"}
PAIR = re.compile(r"\b([a-z]{2})-([a-z]{2})\.tsv(?:\.[gx]z)?:([12])$")  # a table that names its languages
ASK = "name both languages, such as --languages en de"
EXAMPLES = """\
example:
  %(prog)s mine --train train.en train.de --dev dev.en dev.de --test test.en test.de
"""
EXPERIMENT = """\
# {source} to {target}, from your own files, at the size of {like}. Run it by
#   {command}
# What is left out has the value given in {manual}, which explains every setting.

experiment: {name}
languages: {languages}

# Plain text, gz or xz, one sentence per line; the second file translates the first line by line. Further corpora follow
# in the same list, as [a.{source}, a.{target}, b.{source}, b.{target}]. c.tsv:1 is the first column of a table,
# d.zip:e.{source} a file in an archive. What depends on a changed file is made again.
files:
  train: {train}
  development: {dev}
  test: {test}
{vocabulary}

select: {{rule: all}}  # train on every pair; other rules choose those that are most like files.in_domain
evaluate: {{train_sample: {sample}}}
threads: {{train: {train_threads}, translate: {translate_threads}}}

paper:
  name: bahdanau2015
  table1: {{}}  # BLEU
  figure2: {{}}  # BLEU by the length of the sentences
  figure3: {{model: {model}}}  # which source words the model attends to

defaults:{defaults}

variants:
  {model}: {{{length}}}
  # RNNencdec: {{attention: fixed, {length}}}  # a model without attention, to compare
"""

PIECES = """\
# Either side is cut into so many pieces, words and parts of words; no word is unknown. Or, as in the papers, moses.
tokenizer: sentencepiece
sentencepiece: {symbols: 8000}"""
TOKENIZED = """\
tokenized: true  # there are spaces between words and punctuation marks already
shortlist: {{size: {words}}}  # how many words of each side the model knows
# bpe: {{symbols: 8000}}  # or cut rare words into subwords, so that few are unknown; `shortlist` then says nothing"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("name", metavar="NAME", help="of the experiment, its file and its folders")
    for name, what in TEXTS.items():
        parser.add_argument(
            f"--{name}",
            required=True,
            nargs="+",
            metavar="FILE",
            help=f"{what}: source, target, source, target ...; a .tsv holds both",
        )
    parser.add_argument(
        "--languages",
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="language codes (default: the endings of the files, as in a.en and a.de.xz)",
    )
    parser.add_argument(
        "--tokenized", action="store_true", help="the text is tokenized already, with spaces between words"
    )
    parser.add_argument(
        "--size",
        choices=SIZES,
        default="demo",
        help="of the model: minutes on two cores (demo), half an hour (open) or days (paper) (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> None:
    if not (PROJECT / "Snakefile").is_file():
        raise UserError(
            "the workflow is not part of the installed package; give `python -m nmt new` in a clone of the project, or "
            "install the clone by pip install --editable"
        )
    checked(arguments.name, identifier(), "NAME")
    path = CONFIGS / f"{arguments.name}.yaml"
    if path.exists() or arguments.name in (known.name for known in experiments()):
        raise UserError(f"NAME: there is an experiment {arguments.name}; choose another name")
    for name in TEXTS:
        for file in getattr(arguments, name):
            checked(file, text(), f"--{name}")
    check_files(file_and_member(file)[0] for name in TEXTS for file in getattr(arguments, name))
    files = {name: [side for file in getattr(arguments, name) for side in sides_of(file)] for name in TEXTS}
    sides = [[file for paths in files.values() for file in paths[side::2]] for side in (0, 1)]
    languages = Languages(*map(language, arguments.languages or map(language_of, sides)))
    written = experiment_text(arguments.name, languages, files, size=arguments.size, tokenized=arguments.tokenized)
    experiment = load(parse(written, str(path)))
    check_folders(experiment, [])
    check_texts(experiment)
    write_lines(path, written.split("\n")[:-1])
    print(f"{path}: written; run it by\n  {command(path)}")


def command(path: Path) -> str:
    """How the experiment at `path` is run here; outside the project, Snakemake must be told where the workflow is."""
    snakefile = PROJECT / "Snakefile"
    named = [] if Path("Snakefile").resolve() == snakefile else ["-s", str(snakefile)]
    return shlex.join(["snakemake", "--cores", "all", *named, "--configfile", str(path)])


def sides_of(file: str) -> list[str]:
    """The sides that `file` holds: itself, or the columns of a table. Raises UserError for an archive as a whole."""
    if TABLE.search(file):
        return [f"{file}:1", f"{file}:2"]
    if re.search(f"{ARCHIVE}$", file, re.IGNORECASE):
        extract(file, [Path(file)], [""], [Path(os.devnull)])  # says what it holds
    return [file]


def check_texts(experiment: Experiment) -> None:
    """Read every text of an experiment once. Raises UserError where a step of the workflow would."""
    corpora = read_corpora(experiment)
    own = own_files([archive for corpus in corpora.values() for archive in corpus.archives], "")
    check_outside(experiment, own.values(), "", ())
    check_tests(experiment, corpora, own)
    for name, corpus in corpora.items():
        files = [Path(own[archive.address]) for archive in corpus.archives]
        extract(name, files, corpus.members, [Path(os.devnull)] * len(files))


def language_of(files: Sequence[str]) -> str:
    """The language that `files` name at their ends, as in a.en, a.en.gz and a.en-de.tsv:1. Raises UserError."""
    endings: dict[str, str] = {}
    for file in files:
        both = PAIR.search(file)
        ending = both[int(both[3])] if both else Path(re.sub(r"\.[gx]z$", "", file)).suffix[1:]
        if len(ending) != 2:
            raise UserError(f"{file}: does not end in a language, as .en does; {ASK}")
        endings.setdefault(ending, file)
    if len(endings) > 1:
        raise UserError(f"{' and '.join(endings.values())}: end in different languages; {ASK}")
    return next(iter(endings))


def experiment_text(name: str, languages: Languages, files: dict[str, list[str]], *, size: str, tokenized: bool) -> str:
    """The experiment in YAML."""
    like = read_experiment([SIZES[size]])
    model = like.variants[LIKE]
    return EXPERIMENT.format(
        name=flow(name),
        languages=flow(asdict(languages)),
        command=command(CONFIGS / f"{name}.yaml"),
        manual=find("config/manual.yaml"),
        like=SIZES[size],
        source=languages.source,
        target=languages.target,
        **{use: flow(paths) for use, paths in files.items()},
        vocabulary=TOKENIZED.format(words=like.shortlist.size) if tokenized else PIECES,
        sample=like.evaluate.train_sample,
        train_threads=like.threads.train,
        translate_threads=like.threads.translate,
        model=MODEL,
        defaults="".join(f"\n  {key}: {flow(value)}" for key, value in of_its_own(model).items()) or " {}",
        length=length_of(model.optimization),
    )


def length_of(optimization: Optimization) -> str:
    """How long a model is trained."""
    cooldown = f", cooldown: {optimization.cooldown}" if optimization.cooldown else ""
    return f"updates: {optimization.updates}{cooldown}"


def flow(value: Any) -> str:
    """A value in YAML, on one line."""
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=float("inf")).split("\n")[0]


def of_its_own(model: Variant) -> dict[str, Any]:
    """The settings of `model` that are not the defaults, but for how long it is trained and its seed."""
    standard = asdict(Architecture()) | asdict(Optimization(model.optimization.updates)) | asdict(RunTime())
    own = asdict(model.architecture) | asdict(model.optimization) | asdict(model.run_time)
    return {key: value for key, value in own.items() if value != standard[key] and key not in ("seed", "cooldown")}
