"""The second paper's experiments on archives that are laid out and named as on the WMT site, tiny inside."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from nmt.corpora.binarize import Bitext
from tests.workflow.test_data import PAIRS, SEGMENTS, pack, sgml, text
from tests.workflow.tree import Tree, jobs

EUROPARL, TITLES = "training/europarl-v8.fi-en", "wiki/fi-en/titles.fi-en"
AGAIN = b"\nOnce more."  # the last line of every training corpus, on both sides
VARIANTS = {"Baseline", "AttY", "AttY2D", "C", "CAttY", "CAttY2D"}
NAMES = {"ende": ["europarl-v7", "commoncrawl", "news-commentary-v10"], "enfi": ["europarl-v8", "wiki-titles"]}


def sides(seed: str, style: str, language: str, pairs: int = PAIRS) -> dict[str, bytes]:
    """The text of a corpus; the built-in language stands for `language`."""
    found = text(seed, style, pairs)
    return {"en": found["en"], language: found["fr"]}


TINY = """\
extends: config/choi2017/wmt15-{pair}.yaml
experiment: tiny-{pair}
seeds: {seeds}
results: results/tiny-{pair}
bpe: {{symbols: 300}}
translate: {{beam: {beam}, batch: 300}}
threads: {{train: 1, translate: 1}}
defaults:
  {{embedding: 6, hidden: 6, alignment: 7, maxout: 5, initialization_scale: 0.1, updates: 8, evaluate_every: 4,
   batch: 8, learning_rate: 0.01, patience: 0}}
variants: {variants}
evaluate: {{compare: {compared}}}
paper:
  printed: false
  pairs: {compared}
  table2: {{sentences: 2}}
  figure2: {{models: {shown}}}
  figure3: {{model: {fine}}}
  figure4: {{model: {fine}, permutations: 9}}
"""


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out as the WMT site."""
    folder = tmp_path_factory.mktemp("site")
    for archive, prefix, language, style in (
        ("wmt13/training-parallel-europarl-v7.tgz", "training/europarl-v7.de-en", "de", "speech"),
        ("wmt13/training-parallel-commoncrawl.tgz", "commoncrawl.de-en", "de", "manual"),
        ("wmt15/training-parallel-nc-v10.tgz", "news-commentary-v10.de-en", "de", "news"),
        ("wmt17/translation-task/training-parallel-ep-v8.tgz", EUROPARL, "fi", "speech"),
    ):
        members = {f"{prefix}.{side}": lines + AGAIN for side, lines in sides(prefix, style, language).items()}
        pack(folder / archive, members)
    english, finnish = ((lines + AGAIN).decode().split("\n") for lines in sides(TITLES, "news", "fi").values())
    titles = "".join(f"{second} ||| {first}\n" for first, second in zip(english, finnish, strict=True))
    pack(folder / "wmt15/wiki-titles.tgz", {TITLES: titles.encode() + b"Helsinki\n"})

    def news(name: str, language: str, target: str) -> dict[str, bytes]:
        """The members of a set; target sides lie in files named `target`."""
        lines = sides(name, "news", language, SEGMENTS)
        return {
            f"{name}-src.en.sgm": sgml("srcset", lines["en"]),
            f"{name}-{target}.{language}.sgm": sgml("refset", lines[language]),
        }

    pack(folder / "wmt13/test.tgz", news("test/newstest2013", "de", "src"))
    pack(folder / "wmt15/dev-v2.tgz", news("dev/newsdev2015-enfi", "fi", "ref"))
    pairs = [news(f"test/newstest2015-en{language}", language, "ref") for language in ("de", "fi")]
    pack(folder / "wmt15/test.tgz", pairs[0] | pairs[1])
    return folder


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("tree"))


def config(pair: str) -> str:
    return f"config/choi2017/wmt15-{pair}.yaml"


@pytest.mark.parametrize("pair", NAMES)
def test_every_job_is_known_from_the_download_on(tree: Tree, pair: str) -> None:
    run = tree.snakemake("--dry-run", "--printshellcmds", configs=[config(pair)])
    assert "--translations-greedy data/" in run.stdout
    searches = [line for line in run.stdout.split("\n") if "nmt translate " in line]
    assert searches
    assert all("--no-fallback" in line for line in searches)
    planned = jobs(run)
    rules = [rule for rule, _ in planned]
    corpora = len(NAMES[pair]) + 2
    assert (rules.count("fetch"), rules.count("extract"), rules.count("select")) == (corpora, corpora, 1)
    assert {"tokenize", "clean", "shortlist", "binarize", "index"} <= set(rules)
    assert not {"lmplz", "train_lm", "score_pairs"} & set(rules)
    for step in ("train", "translate"):
        assert {variant for rule, variant in planned if rule == step} == VARIANTS
    assert {"table1", "table2", "parameters", "figure2", "figure3", "figure4", "significance"} <= set(rules)


def test_a_missing_file_of_word_classes_is_a_line(tree: Tree) -> None:
    (tree.folder / "missing.yaml").write_text("paper: {figure4: {words: nmt/papers/choi2017/word_clases.tsv}}\n")
    run = tree.snakemake("--dry-run", configs=[config("ende"), "missing.yaml"])
    assert run.returncode == 1
    assert "word_clases.tsv: no such file; the nearest is word_classes.tsv; correct its name" in run.stdout


def test_a_mistake_in_the_word_classes_is_a_line_before_anything_runs(tree: Tree) -> None:
    with tree.rewritten("nmt/papers/choi2017/word_classes.tsv", "preposition in on\n"):
        run = tree.snakemake("--dry-run", configs=[config("ende")])
    assert run.returncode == 1
    assert "word_classes.tsv: line 1 is not a class, a tab and its words; correct the line" in run.stdout


@pytest.mark.parametrize(
    ("pair", "compared"),
    [
        pytest.param("ende", [["CAttY2D", "AttY"]], marks=pytest.mark.long),  # a hundred jobs
        pytest.param("enfi", [["AttY2D", "AttY"], ["CAttY2D", "CAttY"]], marks=pytest.mark.slow),
    ],
)
def test_the_whole_experiment_runs_at_toy_size(tree: Tree, mirror: Path, pair: str, compared: list[list[str]]) -> None:
    trained = VARIANTS if pair == "enfi" else {*compared[0]}
    settings: dict[str, Any] = dict.fromkeys(VARIANTS - trained)
    settings |= {name: {"contextualization": 4} for name in trained if name.startswith("C")}
    beams = {1, len(compared)}
    chosen = {"variants": settings, "compared": compared, "shown": sorted(trained), "fine": compared[0][0]}
    chosen |= {"beam": max(beams), "seeds": 1 if pair == "enfi" else 2}
    text = {key: json.dumps(value) for key, value in chosen.items()}
    (tree.folder / "tiny.yaml").write_text(TINY.format(pair=pair, **text))
    run = tree.snakemake("--cores", "2", "--config", f"mirror={mirror}", configs=["tiny.yaml"])
    assert run.returncode == 0, run.stdout[-8000:]
    results = tree.folder / f"results/tiny-{pair}"
    assert {path.name for path in results.glob("*.png")} >= {f"figure{number}.png" for number in (2, 3, 4)}
    with (results / "table1.csv").open() as file:
        scores = list(csv.DictReader(file))
    assert {row["model"] for row in scores} == {name.replace("CA", "C+A") for name in trained}
    assert {int(row["beam"]) for row in scores} == beams
    with (results / "significance.csv").open() as file:
        tested = [(row["part"], row["system"], row["baseline"]) for row in csv.DictReader(file)]
    named = [tuple(name.replace("CA", "C+A") for name in two) for two in compared]
    assert tested == [(part, *two) for part in ("all", "greedy")[: len(beams)] for two in named]
    figure3 = (results / "figure3.csv").read_text().split("\n")
    assert figure3[1].startswith("0,")
    again = tree.snakemake("--dry-run", "--config", f"mirror={mirror}", configs=["tiny.yaml"])
    assert jobs(again) == []
    classes = tree.folder / "nmt/papers/choi2017/word_classes.tsv"
    written = os.stat(classes).st_mtime
    with tree.rewritten("nmt/papers/choi2017/word_classes.tsv", "preposition\tin on\n"):
        os.utime(classes, (written - 9999, written - 9999))
        again = tree.snakemake("--dry-run", "--config", f"mirror={mirror}", configs=["tiny.yaml"])
    assert {"specialized_dimensions", "dimension_weights", "figure4"} <= {rule for rule, _ in jobs(again)}


@pytest.mark.parametrize("pair", NAMES)
def test_every_data_stage_runs_to_the_encoded_corpora(tree: Tree, mirror: Path, pair: str) -> None:
    settings = ["--config", f"mirror={mirror}", "--configfile", config(pair), "--cores", "2", "--"]
    run = tree.snakemake(*settings, f"data/wmt15-{pair}/binarized/meta.json", configs=[])
    assert run.returncode == 0, run.stdout[-8000:]
    data = tree.folder / f"data/wmt15-{pair}"
    # An empty pair and two of the test set are left out of each corpus; the pair that all of them have is not.
    assert len(Bitext(data / "binarized")) == (PAIRS + 1 - 3) * len(NAMES[pair])
    for name in [*NAMES[pair], "newstest2015"]:
        for language, line in (("en", "It's 5 < 6 & 7."), (pair[2:], "C'est 5 < 6 & 7.")):
            assert line in (data / f"extracted/{name}.{language}").read_text().split("\n")


def test_a_title_without_translation_is_said_and_dropped(tree: Tree, mirror: Path) -> None:
    said = (tree.folder / "logs/extract/wmt15-enfi/wiki-titles.log").read_text()
    assert f"{TITLES}:2: 1 of {PAIRS + 2} lines, first {PAIRS + 2}, do not hold two sides" in said
    audit = (tree.folder / "data/wmt15-enfi/selected/audit.csv").read_text().split("\n")
    assert [row.split(",")[6] for row in audit if row.startswith("wiki-titles")] == ["2"]
