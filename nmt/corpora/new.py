"""Write an experiment on files of your own, config/NAME.yaml, with a remark on each setting; it runs as it is.

The models are those of a paper, at the size of one of the experiments here, and are trained until they no longer
improve on the development text. Other settings can be changed in the file.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from nmt.corpora.extract import TABLE, count_columns, extract
from nmt.corpora.languages import ending_of
from nmt.corpora.new_text import PAPERS, SIZES, SPLIT, command, experiment_text
from nmt.corpora.own import (
    ARCHIVE,
    check_files,
    check_outside,
    check_sides,
    check_uses,
    file_and_member,
    own_files,
    read_corpora,
)
from nmt.corpora.split import split
from nmt.settings.checks import checked, file_pairs, identifier, text, unknown
from nmt.settings.elsewhere import CONFIGS, check_folders, experiments
from nmt.settings.experiment import Experiment, load
from nmt.settings.project import PROJECT
from nmt.settings.sections import Files, Languages, language
from nmt.settings.strict import parse
from nmt.system.errors import UserError
from nmt.system.stop import temporary_folder
from nmt.system.text import read_lines, write_lines

LINES = 1000  # drawn if no number is given
TEXTS = {"train": "training text", "dev": "text on which a training is scored", "test": "test text"}
ASK = "name both languages, such as --languages en de"
EXAMPLES = """\
examples:
  %(prog)s mine --train train.en train.de --dev dev.en dev.de --test test.en test.de
  %(prog)s mine --train pairs.en-de.tsv --split 1000 --paper choi2017 --variants Baseline AttY
"""


class _Once(argparse.Action):
    """Store the values of an option, which may be given only once: the last would replace the others."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not self.default:
            raise argparse.ArgumentError(self, "given twice; name all its values after one")
        setattr(namespace, self.dest, values)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.register("action", None, _Once)
    parser.add_argument("name", metavar="NAME", help="name of the experiment, its file and its folders")
    for name, what in TEXTS.items():
        parser.add_argument(
            f"--{name}",
            required=name == "train",
            nargs="+",
            metavar="FILE",
            help=f"{what}: source, target, source, target ...; a .tsv holds both",
        )
    parser.add_argument(
        "--split",
        type=int,
        nargs="?",
        const=LINES,
        metavar="LINES",
        help=f"draw this many lines of training text ({LINES} where no number is given) for each of --dev and --test "
        "that is not given: at random, but the same each time; their sentences are removed from the training text",
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
        "--paper",
        choices=PAPERS,
        default="bahdanau2015",
        help="the paper that provides models, tables and figures (default: %(default)s)",
    )
    models = "; ".join(f"{name}: {', '.join(paper.models)}" for name, paper in PAPERS.items())
    chosen = "; ".join(", ".join(paper.chosen) for paper in PAPERS.values())
    parser.add_argument(
        "--variants", nargs="+", metavar="MODEL", help=f"the models to train, of {models} (default: {chosen})"
    )
    parser.add_argument(
        "--size",
        choices=SIZES,
        default="demo",
        help="size of the models, each of which takes minutes on two cores (demo), half an hour (open) or days (paper) "
        "(default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> None:
    if not (PROJECT / "Snakefile").is_file():
        raise UserError(
            "the workflow is not part of the installed package; run `python -m nmt new` in a clone of the project, or "
            "install the clone with pip install --editable"
        )
    checked(arguments.name, identifier(), "NAME")
    path = CONFIGS / f"{arguments.name}.yaml"
    if path.exists() or arguments.name in (known.name for known in experiments()):
        raise UserError(f"NAME: there is an experiment {arguments.name}; choose another name")
    variants = tuple(arguments.variants or PAPERS[arguments.paper].chosen)
    for one in variants:
        if one not in PAPERS[arguments.paper].models:
            raise unknown(one, PAPERS[arguments.paper].models, "--variants", "model")
        if variants.count(one) > 1:
            raise UserError(f"--variants: {one} is there twice; name each model once")
    given = {name: getattr(arguments, name) for name in TEXTS if getattr(arguments, name)}
    drawn = [name for name in TEXTS if name not in given]
    if arguments.split is not None and arguments.split < 1:
        raise UserError(f"--split {arguments.split}: must be 1 or more")
    if drawn and arguments.split is None:
        raise UserError(f"--{drawn[0]}: name the {TEXTS[drawn[0]]}, or let --split {LINES} draw it from --train")
    if arguments.split is not None and not drawn:
        raise UserError("--split: --dev and --test are given, so there is nothing to draw; leave one of them out")
    for name, paths in given.items():
        for file in paths:
            checked(file, text(), f"--{name}")
    check_files(file_and_member(file)[0] for paths in given.values() for file in paths)
    files = {name: [side for file in paths for side in sides_of(file)] for name, paths in given.items()}
    for name, paths in files.items():
        checked(paths, file_pairs(1), f"config: files.{'development' if name == 'dev' else name}")
    sides = [[file for paths in files.values() for file in paths[side::2]] for side in (0, 1)]
    languages = Languages(*map(language, arguments.languages or map(language_of, sides)))
    ends = languages.source, languages.target
    for pair in zip(*sides, strict=True):
        check_sides(pair, languages)
    own, folder = Files(*(tuple(files.get(name, ())) for name in TEXTS)).pairs(), Path("data")
    if drawn:
        folder /= f"{arguments.name}.split"  # no experiment has such a name
        check_unnamed(folder)
        names = {"train": [*own["train"]], **{name: [name] for name in drawn}}
        files |= {use: [f"{folder}/{name}.{end}" for name in names[use] for end in ends] for use in names}
    written = partial(
        experiment_text,
        arguments.name,
        languages,
        files,
        size=arguments.size,
        tokenized=arguments.tokenized,
        paper=arguments.paper,
        variants=variants,
        split_note=SPLIT.format(folder=folder, lines=arguments.split) if drawn else "",
    )
    experiment = load(parse(written(pairs=inf), str(path)))
    check_folders(experiment, [])
    if drawn:
        rest = own["development"] | own["test"]
        lines = dict.fromkeys(drawn, arguments.split)
        counts = split(own["train"], rest, lines, folder, ends, experiment.seed)
        print(f"{folder}: {', '.join(f'{name} {pairs:,} pairs' for name, pairs in counts.items())}")
    pairs, sentence = check_texts(experiment)
    write_lines(path, written(pairs=pairs, sentence=sentence).split("\n")[:-1])
    print(f"{path}: written; run it by\n  {command(path)}")


def check_unnamed(folder: Path) -> None:
    """Raise UserError where a file of an experiment names text in `folder`, as one that was renamed may do."""
    for known in experiments():
        for file in known.files:
            if f"{folder}/" in Path(file).read_text(encoding="utf-8", errors="replace"):
                raise UserError(f"NAME: {file} names text in {folder}, which would be replaced; choose another name")


def sides_of(file: str) -> list[str]:
    """The sides that `file` holds: itself, or the two columns of a table.

    Raises UserError for an archive as a whole, and for a table of more columns.
    """
    sides = [f"{file}:1", f"{file}:2"]
    path, member = file_and_member(file)
    if TABLE.search(file):
        if (columns := count_columns(Path(path), member)) > len(sides):
            raise UserError(f"{file}: has {columns} columns; name the two that hold the text, as in {' '.join(sides)}")
        return sides
    if not member and re.search(f"{ARCHIVE}$", file, re.IGNORECASE):
        extract(file, [Path(file)], [""], [Path(os.devnull)])  # says what it holds
    return [file]


def check_texts(experiment: Experiment) -> tuple[int, int]:
    """Read every text of an experiment once; return how many training pairs it has, and a sentence to show.

    This is the number, from 1, of the first line of the development text whose source is not blank. Raises UserError
    where a step would.
    """
    corpora = read_corpora(experiment)
    own = own_files([archive for corpus in corpora.values() for archive in corpus.archives], "")
    check_outside(experiment, own.values(), "", ())
    check_uses(experiment, corpora, own)
    pairs = {}
    with temporary_folder("new") as folder:
        shown = [folder / "source", folder / "target"]
        for name, corpus in corpora.items():
            files = [Path(own[archive.address]) for archive in corpus.archives]
            sides = shown if name == experiment.corpora.development[0] else [Path(os.devnull)] * len(files)
            pairs[name] = extract(name, files, corpus.members, sides)
        sentence = next((number for number, line in enumerate(read_lines(shown[0]), 1) if line.split()), 1)
    return sum(pairs[name] for name in experiment.corpora.train), sentence


def language_of(files: Sequence[str]) -> str:
    """The language that `files` name at their ends, as in a.en, a.en.gz and a.en-de.tsv:1. Raises UserError."""
    endings: dict[str, str] = {}
    for file in files:
        ending = ending_of(file)
        if len(ending) != 2:
            raise UserError(f"{file}: does not end in a language, as .en does; {ASK}")
        endings.setdefault(ending, file)
    if len(endings) > 1:
        raise UserError(f"{' and '.join(endings.values())}: end in different languages; {ASK}")
    return next(iter(endings))
