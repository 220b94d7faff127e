"""Experiments other than the paper's: a minimal one, and one of a second paper that nothing else knows of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflow.tree import Tree, jobs

MINE = """\
experiment: mine
languages: {source: en, target: fr}
registry: data/demo.tsv
mirror: generated
generated: {pairs: 300, development: 20, test_bin: 5}
corpora: {train: [news-commentary-v9], development: [newstest2012], test: [newstest2014]}
select: {rule: all}
shortlist: {size: 100}
translate: {beam: 2, batch: 300, fallback: false}
defaults: {embedding: 8, hidden: 12, alignment: 10, maxout: 6, output_rank: null, batch: 8, optimizer: adam}
variants: {small: {updates: 30, evaluate_every: 10, initialization_scale: 0.1, attention_scale: 0.1}}
"""
ROOM = '''\
"""A paper of one table."""

from dataclasses import dataclass

from nmt.report.artefacts import Artefact
from nmt.settings.checks import build

TITLE, REFERENCE = "Second", "Somebody (2020)"
STEPS = {"longest": "the longest translation"}


@dataclass(frozen=True)
class Settings:
    @classmethod
    def build(cls, value, where):
        return build(cls, value, where)


def check(settings, experiment):
    pass


def artefacts(settings, experiment):
    return [Artefact("longest", "Longest", "Tables", "nmt/papers/second2020/longest.rst", ("csv",), "csv")]
'''
STEP = '''\
"""The longest translation of each system."""

from nmt.system.files import read_lines
from nmt.system.tables import write_csv


def add_arguments(parser):
    parser.add_argument("--translations", nargs="+")
    parser.add_argument("--output")


def run(arguments):
    rows = [[path, max(len(line.split()) for line in read_lines(path))] for path in arguments.translations]
    write_csv(arguments.output, ["translation", "words"], rows)
'''
RULE = """\
rule longest:
    input:
        expand("<data>/translations/{variant}/{set}.txt", variant=EXPERIMENT.variants, set=TEST),
    output:
        "<results>/longest.csv",
    log:
        "logs/longest/<experiment>/longest.log",
    params:
        code=code("second2020.longest"),
    shell:
        "python -m nmt second2020.longest --translations {input} --output {output} 2> {log}"
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "mine.yaml").write_text(MINE)
    room = tree.folder / "nmt/papers/second2020"
    files = {
        room / "__init__.py": '"""Somebody (2020)."""\n',
        room / "room.py": ROOM,
        room / "longest.py": STEP,
        room / "longest.rst": "The longest translation of each system.\n",
        tree.folder / "config/second2020.yaml": "{extends: mine.yaml, experiment: second, paper: {name: second2020}}\n",
        tree.folder / "workflow/rules/second2020.smk": RULE,
    }
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tree


def rules(tree: Tree, config: str) -> dict[str, int]:
    """How many jobs of each rule a dry run lists."""
    planned = [rule for rule, _ in jobs(tree.snakemake("--dry-run", configs=[config]))]
    return {rule: planned.count(rule) for rule in planned}


def test_one_variant_needs_no_in_domain_text_no_phrase_based_system_and_no_paper(tree: Tree) -> None:
    stages = {"mirror": 1, "fetch": 3, "extract": 3, "tokenize": 6, "development": 2, "clean": 1, "select": 1}
    stages |= {"shortlist": 2, "binarize": 1, "train": 1, "translate": 1, "index": 1}
    shown = {"selection_table": 1, "coverage": 1, "sheet_selection": 1, "sheet_coverage": 1}
    shown |= {"gather_metrics": 1, "learning_curves": 1}
    assert rules(tree, "mine.yaml") == stages | shown


def test_a_second_paper_is_a_folder_an_experiment_and_a_rule_file(tree: Tree) -> None:
    before = rules(tree, "mine.yaml")
    assert rules(tree, "config/second2020.yaml") == before | {"longest": 1, "sheet_longest": 1}


def test_the_second_papers_artefact_is_made_and_shown(tree: Tree) -> None:
    run = tree.snakemake("--cores", "2", configs=["config/second2020.yaml"])
    assert run.returncode == 0, run.stdout[-4000:]
    rows = (tree.folder / "results/second/longest.csv").read_text().split("\n")
    assert rows[0] == "translation,words"
    assert rows[1].startswith("data/second/translations/small/newstest2014.txt,")
    page = (tree.folder / "results/second/index.html").read_text()
    assert "Somebody (2020)" in page
    assert "Bahdanau" not in page
    assert not list(Path(tree.folder / "results/second").glob("table1*"))
