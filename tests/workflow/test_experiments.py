"""Experiments other than the paper's: a minimal one, and one of a second paper that nothing else knows of."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from nmt.corpora.lock import read_lock
from nmt.corpora.registry import COLUMNS
from tests.workflow.tree import Tree, jobs

MINE = """\
experiment: mine
languages: {source: en, target: fr}
registry: data/demo.tsv
mirror: generated
generated: {pairs: 300, development: 20, test_bin: 5}
corpora: {train: [toy-news], development: [toy-dev-1], test: [toy-test]}
select: {rule: all}
shortlist: {size: 100}
translate: {beam: 2, batch: 300, fallback: false}
defaults: {embedding: 8, hidden: 12, alignment: 10, maxout: 6, output_rank: null, batch: 8, optimizer: adam}
variants: {small: {updates: 30, evaluate_every: 10, initialization_scale: 0.1, attention_scale: 0.1}}
"""
# A folder of results in which the shell and Snakemake could read much.
RESULTS = """results/it's "mine" $(touch PWNED) `touch PWNED`; touch PWNED & (a|b) [c] *?#~!"""
SECOND = f"""\
extends: mine.yaml
experiment: second
results: {json.dumps(RESULTS)}
paper: {{name: second2020}}
"""
CHOI = """\
extends: mine.yaml
experiment: choi
defaults: {unit: lstm, decoder_order: printed}
evaluate: {compare: [[AttY2D, AttY]]}
paper: {name: choi2017, pairs: [[AttY2D, AttY]], table1: {}, table2: {}, parameters: {}}
variants: {small: null, AttY: {updates: 30}, AttY2D: {updates: 30, seed: 2}}
"""
ODD = "it's a $(touch PWNED) & (text)"  # a folder, a file and a registry
PAPER = '''\
"""A paper of one table."""

from dataclasses import dataclass

from nmt.report.artefacts import Artefact

TITLE, REFERENCE, CLAIM = "Second", "Somebody (2020)", "It is long."
STEPS = {"longest": "the longest translation"}


@dataclass(frozen=True)
class Settings:
    """It has none."""


def without(settings, left_out):
    return settings


def check(settings, experiment):
    pass


def artefacts(settings, experiment):
    return [Artefact("longest", "Longest", "Tables", "nmt/papers/second2020/longest.rst", ("csv",), "csv")]
'''
STEP = '''\
"""The longest translation of each system."""

from nmt.system.text import read_lines
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
        "python -m nmt second2020.longest --translations {input:q} --output {output:q} 2> {log:q}"
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "mine.yaml").write_text(MINE)
    package = tree.folder / "nmt/papers/second2020"
    files = {
        package / "__init__.py": '"""Somebody (2020)."""\n',
        package / "paper.py": PAPER,
        package / "longest.py": STEP,
        package / "longest.rst": "The longest translation of each system.\n",
        tree.folder / "config/second2020.yaml": SECOND,
        tree.folder / "config/choi.yaml": CHOI,
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
    stages = {"generate": 1, "fetch": 3, "extract": 3, "tokenize": 6, "development": 2, "clean": 1, "select": 1}
    stages |= {"shortlist": 2, "binarize": 1, "train": 1, "translate": 1, "evaluate": 1, "index": 1}
    shown = {"selection_table": 1, "coverage": 1, "sheet_selection": 1, "sheet_coverage": 1}
    shown |= {"gather_metrics": 1, "learning_curves": 1}
    assert rules(tree, "mine.yaml") == stages | shown


@pytest.mark.parametrize(("joint", "codes"), [("false", 2), ("true", 1)])
def test_subwords_are_two_stages_before_the_vocabularies(tree: Tree, joint: str, codes: int) -> None:
    words = rules(tree, "mine.yaml")
    text = f"extends: mine.yaml\nexperiment: subwords\nbpe: {{symbols: 100, joint: {joint}}}\n"
    (tree.folder / "subwords.yaml").write_text(text)
    assert rules(tree, "subwords.yaml") == words | {"learn_bpe": codes, "segment": 2}


def test_translations_have_the_precision_of_the_experiment(tree: Tree) -> None:
    (tree.folder / "low.yaml").write_text("extends: mine.yaml\nexperiment: low\ntranslate: {precision: bf16}\n")
    planned = tree.snakemake("--dry-run", "--printshellcmds", configs=["low.yaml"]).stdout
    commands = [line for line in planned.splitlines() if "nmt translate" in line]
    assert commands
    assert all("--precision bf16" in command for command in commands)


def test_models_are_run_on_the_device_of_their_variants(tree: Tree) -> None:
    text = "extends: mine.yaml\nexperiment: cpu\ndefaults: {device: cpu}\n"
    text += "paper: {name: bahdanau2015, table2: {}}\n"
    (tree.folder / "cpu.yaml").write_text(text)
    planned = tree.snakemake("--dry-run", "--printshellcmds", configs=["cpu.yaml"]).stdout
    for step in ("nll", "translate"):
        commands = [line for line in planned.splitlines() if f"nmt {step} " in line]
        assert commands
        assert all("--device cpu" in command for command in commands)


def test_a_second_paper_is_a_folder_an_experiment_and_a_rule_file(tree: Tree) -> None:
    before = rules(tree, "mine.yaml")
    assert rules(tree, "config/second2020.yaml") == before | {"longest": 1, "sheet_longest": 1}


def test_the_tables_of_fine_grained_attention(tree: Tree) -> None:
    """Each model translates the test and the development set at two beam widths."""
    common = {rule: jobs for rule, jobs in rules(tree, "mine.yaml").items() if rule not in ("train", "translate")}
    models = {"train": 2, "translate": 8, "evaluate": 8}
    of_paper = dict.fromkeys(("table1", "table2", "translation_times", "parameters", "significance"), 1)
    pages = {f"sheet_{table}": 1 for table in ("table1", "table2", "parameters", "significance")}
    # The references of the development set are also wanted as running text.
    assert rules(tree, "config/choi.yaml") == common | {"development": 3} | models | of_paper | pages


@pytest.mark.long
def test_the_second_papers_artefact_is_made_and_shown(tree: Tree) -> None:
    run = tree.snakemake("--cores", "2", configs=["config/second2020.yaml"])
    assert run.returncode == 0, run.stdout[-4000:]
    results = tree.folder / RESULTS
    rows = (results / "longest.csv").read_text().split("\n")
    assert rows[0] == "translation,words"
    assert rows[1].startswith("data/second/translations/small/toy-test.txt,")
    page = (results / "index.html").read_text()
    assert "Somebody (2020)" in page
    assert "Bahdanau" not in page
    assert not list(results.glob("table1*"))
    assert not list(tree.folder.rglob("PWNED"))


def test_the_shell_reads_no_name_of_a_registry_or_an_archive(tree: Tree) -> None:
    """The sources are the user's own files, the targets published archives that the mirror has."""
    names = ("toy-news", "toy-dev-1", "toy-test")
    sources, targets = ([f"{ODD}/{name}-{side} {ODD}.txt" for name in names] for side in ("source", "target"))
    rows = [
        {
            "name": name,
            "role": "train",
            "pairs": "2",
            "source_address": source,
            "target_address": f"https://host/{quote(target)}",
        }
        for name, source, target in zip(names, sources, targets, strict=True)
    ]
    lines = [COLUMNS, *([one.get(column, "") for column in COLUMNS] for one in rows)]
    (tree.folder / f"{ODD}.tsv").write_text("".join("\t".join(line) + "\n" for line in lines))
    (tree.folder / ODD / ODD).mkdir(parents=True)
    for file in (*sources, *targets):
        (tree.folder / ODD / file).write_text(f"{file.removeprefix(ODD)[1:].split()[0]}\nb\n")
    odd = {"experiment": "odd", "extends": "mine.yaml", "registry": f"{ODD}.tsv", "mirror": ODD}
    (tree.folder / "odd.yaml").write_text(json.dumps(odd))
    extracted = "data/odd/extracted/toy-news.fr"
    run = tree.snakemake(extracted, "verify", "--cores", "2", "--configfile", "odd.yaml", configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    assert (tree.folder / extracted).read_text() == "toy-news-target\nb\n"
    assert set(read_lock(tree.folder / f"{ODD}.lock.tsv")) == {targets[0]}
    assert not list(tree.folder.rglob("PWNED"))
