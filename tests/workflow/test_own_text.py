"""Own text: docs/own-text.md from its first command to its last, in four languages; and changes and mistakes in it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil

import pytest

from nmt.evaluation.coverage import COLUMNS
from nmt.system.checksums import sha256
from nmt.system.tables import read_csv
from tests.corpora.sentences import write_files
from tests.workflow.test_documents import TEXTS, begin_own_text, plannable, steps
from tests.workflow.tree import Tree, jobs

PAGE = TEXTS["docs/own-text.md"]
SMALL = """\
sentencepiece: {symbols: 330}
translate: {beam: 2, fallback: false}
defaults: {embedding: 8, hidden: 12, alignment: 10, maxout: 6, batch: 8, evaluate_every: 10}
variants: {RNNsearch: {updates: 20, cooldown: 0}}
"""  # what keeps the test short
EAST = """\
sentencepiece: {joint: true}
variants: {RNNsearch: {updates: 150, cooldown: 0, optimizer: adam, learning_rate: 0.01, evaluate_every: 150}}
phrase_based: {system: thot, order: 2, align_iterations: 2, tune_sentences: 5, tune_rounds: 1, n_best: 5, stack: 5}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A tree in which the page's commands have been run."""
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "small.yaml").write_text(SMALL)
    begin_own_text(tree)
    [words] = plannable(PAGE)
    run = tree.snakemake(*words, "small.yaml", configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    (tree.folder / "said.txt").write_text(run.stdout)
    return tree


def planned(tree: Tree) -> set[str]:
    """The rules that the page's command would run now."""
    [words] = plannable(PAGE)
    return {rule for rule, _ in jobs(tree.snakemake("--dry-run", *words, "small.yaml", configs=[]))}


def test_the_page_leads_to_results(tree: Tree) -> None:
    """Every file of results that the page names is there, and its last command translates."""
    results = tree.folder / "results/mine"
    named = {word for word in ("index.html", "table1.md", "figure2.pdf", "figure3.pdf") if word in PAGE}
    assert len(named) == 4
    assert all((results / name).stat().st_size for name in named)
    [translate] = [words for words in steps(PAGE) if words[0] == "translate"]
    assert (tree.folder / translate[translate.index("--model") + 1] / "model.safetensors").exists()
    coverage = read_csv(results / "coverage.csv", COLUMNS)
    assert {row[1] for row in coverage} == {"de", "fi"}
    assert planned(tree) == set()
    said = (tree.folder / "said.txt").read_text()
    ends = "The page with all results: results/mine/index.html\nThe model: data/mine/models/RNNsearch\nTo translate: "
    assert re.search(
        rf"^BLEU on test: RNNsearch \d+\.\d\.\n{ends}python -m nmt {' '.join(translate[:3])} < FILE$", said, re.M
    )


def test_a_page_without_its_folder_is_made_again(tree: Tree) -> None:
    index = tree.folder / "results/mine/index"
    index.rename(tree.folder / "index")
    assert planned(tree) == {"index"}
    (tree.folder / "index").rename(index)


def test_a_run_for_less_than_everything_ends_as_it_did(tree: Tree) -> None:
    [words] = plannable(PAGE)
    run = tree.snakemake("results/mine/table1.csv", "--force", *words, "small.yaml", configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    assert "To translate:" not in run.stdout
    assert ".snakemake does not record" not in run.stdout


def test_a_model_without_a_record_is_named(tree: Tree) -> None:
    """Snakemake takes it as it is, whatever its settings were."""
    shutil.copytree(tree.folder / "data/mine", tree.folder / "data/copied")
    overlay = "extends: config/mine.yaml\nexperiment: copied\nresults: results/copied\nseed: 77\n"
    (tree.folder / "copied.yaml").write_text(overlay)
    words = ["--cores", "2", "--configfile", "copied.yaml", "small.yaml", "--", "results/copied/table1.csv"]
    run = tree.snakemake(*words, configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    said = "data/copied/models/RNNsearch: .snakemake does not record how this was trained"
    assert said in run.stdout
    (tree.folder / "copied.yaml").write_text(f"{overlay}defaults: {{clip_norm: 0.5}}\n")
    run = tree.snakemake(*words, configs=[])
    assert "Nothing to be done" in run.stdout
    assert said in run.stdout


def test_a_split_is_followed_as_any_own_text(tree: Tree) -> None:
    words = ["--dry-run", "--printshellcmds", "--configfile", "config/other.yaml", "small.yaml"]
    said = tree.snakemake(*words, configs=[]).stdout
    steps = [shlex.split(line) for line in said.split("\n") if " nmt extract " in line]
    read = set()
    for words in steps:
        files, digests = (words[words.index(option) + 1 :][:2] for option in ("--archives", "--digests"))
        assert digests == [sha256(tree.folder / file) for file in files]
        read.update(files)
    assert read == {f"data/other.split/{name}.{side}" for name in ("train", "dev", "test") for side in ("de", "fi")}


def test_a_file_that_is_moved_or_copied_reruns_nothing(tree: Tree) -> None:
    """What is read is the same; the other way round, another file of the same name is another text."""
    assert planned(tree) == set()
    (tree.folder / "moved").mkdir()
    (tree.folder / "train.de").rename(tree.folder / "moved/one.de")
    shutil.copy(tree.folder / "train.fi", tree.folder / "moved/two.fi")
    with (
        tree.edited("config/mine.yaml", "train.de", "moved/one.de"),
        tree.edited("config/mine.yaml", "train.fi", "moved/two.fi"),
    ):
        assert planned(tree) == set()
        (tree.folder / "moved/two.fi").write_text((tree.folder / "train.fi").read_text().replace("a", "o"))
        assert {"extract", "train", "index"} <= planned(tree)
    (tree.folder / "moved/one.de").rename(tree.folder / "train.de")


def test_exchanged_languages_are_extracted_again(tree: Tree) -> None:
    """The same files are the inputs, and the same files are the outputs."""
    text = (tree.folder / "config/mine.yaml").read_text()
    for name in ("train", "dev", "test"):
        for side, place in (("de", "one"), ("fi", "two")):  # endings that name no language
            shutil.copy(tree.folder / f"{name}.{side}", tree.folder / f"{name}.{place}")
            text = text.replace(f"{name}.{side}", f"{name}.{place}")
    with tree.rewritten("config/mine.yaml", text):
        assert planned(tree) == set()
    exchanged = re.sub(r"^languages: .*$", "languages: {source: fi, target: de}", text, flags=re.MULTILINE)
    assert exchanged != text
    with tree.rewritten("config/mine.yaml", exchanged):
        assert {"extract", "binarize", "train", "index"} <= planned(tree)


def test_a_changed_file_is_noticed_and_a_touched_one_is_not(tree: Tree) -> None:
    """By its bytes, also if it is older and of the same length; and there is no lock to refuse it."""
    file = tree.folder / "train.de"
    text, before = file.read_text(), file.stat()
    os.utime(file)
    assert planned(tree) == set()
    file.write_text(text.replace("ist", "war"))
    assert {"extract", "train", "index"} <= planned(tree)
    file.write_text(text.replace("ist", "sei"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns - 10**12))
    assert {"extract", "train", "index"} <= planned(tree)
    [words] = plannable(PAGE)
    run = tree.snakemake("data/mine/selected/train.de", *words, "small.yaml", configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    assert "sei" in (tree.folder / "data/mine/selected/train.de").read_text()
    assert not list(tree.folder.glob("data/*.lock.tsv"))


def test_exchanged_addresses_and_reordered_corpora_are_read_again(tree: Tree) -> None:
    (tree.folder / "mirror").mkdir()
    for side in ("de", "fi"):
        (tree.folder / f"more.{side}").write_text(f"ja {side}\n")

    def write(sides: str) -> None:
        """The registry; `sides` are those of train."""
        lines = ["name\tsource_address\ttarget_address\tsha256\n"]
        for name, ends in (("train", sides), ("dev", "de fi"), ("more", "de fi"), ("test", "de fi")):
            files = [f"{name}.in-{end}" for end in ends.split()]
            copies = [
                shutil.copy(tree.folder / f"{name}.{end}", tree.folder / f"mirror/{file}")
                for file, end in zip(files, ends.split(), strict=True)
            ]
            lines.append("\t".join([name, *(f"http://h.example/{file}" for file in files)]))
            lines.append(f"\t{','.join(map(sha256, copies))}\n")
        (tree.folder / "mine.tsv").write_text("".join(lines))

    overlay = "extends: config/mine.yaml\nexperiment: fetched\nresults: results/fetched\nfiles: null\n"
    overlay += "registry: mine.tsv\nmirror: mirror\ncorpora: {train: [train], development: [dev, more], test: [test]}\n"
    (tree.folder / "fetched.yaml").write_text(overlay)
    targets = [f"data/fetched/extracted/{name}.{side}" for name in ("train", "development") for side in ("de", "fi")]
    words = ["--cores", "2", "--configfile", "fetched.yaml", "--", *targets]

    def again() -> list[str]:
        return [rule for rule, _ in jobs(tree.snakemake("--dry-run", *words, configs=[]))]

    write("de fi")
    run = tree.snakemake(*words, configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    assert again() == []
    said = tree.snakemake("--dry-run", "--printshellcmds", "--forceall", *words, configs=[]).stdout
    assert len(re.findall(r" --digests '' '' ", said)) == 3  # none is the user's own file
    write("fi de")
    assert "extract" in again()
    write("de fi")
    with tree.edited("fetched.yaml", "[dev, more]", "[more, dev]"):
        assert again() == ["development", "development"]


def test_files_lie_anywhere(tree: Tree) -> None:
    """Under a path from the root, in a folder beside the project, and in it."""
    elsewhere = tree.folder.parent / "my texts"
    elsewhere.mkdir()
    for name in ("train.de", "train.fi", "dev.de", "dev.fi"):
        shutil.copy(tree.folder / name, elsewhere)
    files = {"train": str(elsewhere), "development": "../my texts", "test": "."}
    names = {"train": "train", "development": "dev", "test": "test"}
    listed = {use: [f"{folder}/{names[use]}.{side}" for side in ("de", "fi")] for use, folder in files.items()}
    overlay = {"extends": "config/mine.yaml", "experiment": "elsewhere", "files": listed}
    (tree.folder / "elsewhere.yaml").write_text(json.dumps(overlay))
    words = ["--dry-run", "--printshellcmds", "--configfile", "elsewhere.yaml", "small.yaml"]
    said = tree.snakemake(*words, configs=[]).stdout
    steps = [shlex.split(line) for line in said.split("\n") if " nmt extract " in line]
    read = {tuple(words[words.index("--archives") + 1 :][:2]) for words in steps}
    assert read == {tuple(map(os.path.normpath, pair)) for pair in listed.values()}, said[-3000:]


def test_the_files_of_a_registry_are_read_in_place(tree: Tree) -> None:
    """Three columns are enough; nothing is fetched."""
    rows = [("name", "source_address", "target_address")]
    rows += [(name, f"{name}.de", f"{name}.fi") for name in ("train", "dev", "test")]
    (tree.folder / "own.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    overlay = "extends: config/mine.yaml\nexperiment: listed\nfiles: null\nregistry: own.tsv\nmirror: FOLDER\n"
    overlay += "corpora: {train: [train], development: [dev], test: [test]}\n"
    (tree.folder / "listed.yaml").write_text(overlay.replace("FOLDER", str(tree.folder)))
    rules = [rule for rule, _ in jobs(tree.snakemake("--dry-run", configs=["listed.yaml"]))]
    assert (rules.count("fetch"), rules.count("extract")) == (0, 3)


@pytest.mark.long
def test_arabic_and_chinese_without_spaces(tree: Tree) -> None:
    """From text to page by pieces, with Thot; BLEU has the tokenizer of Chinese, and pieces are shown for words."""
    write_files(tree.folder, "ar", "zh")
    for name in ("train", "dev", "test"):
        path = tree.folder / f"{name}.zh"
        path.write_text(path.read_text(encoding="utf-8").replace(" ", ""), encoding="utf-8")
    files = [f"{name}.{language}" for name in ("train", "dev", "test") for language in ("ar", "zh")]
    tree.nmt("new", "east", "--train", *files[:2], "--dev", *files[2:4], "--test", *files[4:])
    (tree.folder / "more.yaml").write_text(EAST)
    configs = ["config/east.yaml", "small.yaml", "more.yaml"]
    run = tree.snakemake("--cores", "2", "--configfile", *configs, configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    assert "ar: Moses" not in run.stdout
    table = read_csv(tree.folder / "results/east/table1.csv", ("model", "all", "sentences_all", "signature"))
    assert [row[0] for row in table] == ["RNNsearch", "Phrase-based (Thot)"]
    assert all("tok:zh|" in row[3] for row in table)
    coverage = read_csv(tree.folder / "results/east/coverage.csv", COLUMNS)
    assert {row[COLUMNS.index("unk_tokens")] for row in coverage} == {"0"}
    with open(tree.folder / "data/east/translations/RNNsearch/test.alignments.jsonl", encoding="utf-8") as file:
        first = json.loads(file.readline())
    reference = (tree.folder / "data/east/segmented/test.zh").read_text(encoding="utf-8")
    assert first["source"] == [*(tree.folder / "test.ar").read_text(encoding="utf-8").split("\n")[0].split(), "<eos>"]
    assert first["target"][0].startswith("▁")
    assert reference.replace(" ", "").replace("▁", "") == (tree.folder / "test.zh").read_text(encoding="utf-8")
    assert (tree.folder / "results/east/index.html").stat().st_size


def said(tree: Tree, *words: str, configs: list[str]) -> str:
    """The one line that a dry run that fails says."""
    run = tree.snakemake("--dry-run", *words, configs=configs)
    assert run.returncode != 0
    [line] = [line for line in run.stdout.split("\n") if line.startswith("snakemake: ")]
    assert "Traceback" not in run.stdout
    return line.removeprefix("snakemake: ")


def test_mistakes_end_the_dry_run_with_a_line(tree: Tree) -> None:
    overlay = "extends: config/mine.yaml\nexperiment: wrong\n"
    wrong = tree.folder / "wrong.yaml"
    wrong.write_text(f"{overlay}files: {{train: [trian.de, train.fi]}}\n")
    assert said(tree, configs=["wrong.yaml"]).startswith("trian.de: no such file; the nearest is train.de; correct")
    wrong.write_text(f"{overlay}files: {{train: [data/wrong/train.de, train.fi]}}\n")
    assert "data/wrong/train.de: in data/wrong, which the run itself writes" in said(tree, configs=["wrong.yaml"])
    wrong.write_text(f"{overlay}files: {{development: [test.de, test.fi]}}\n")
    assert "test.de: text of both test and development" in said(tree, configs=["wrong.yaml"])
    wrong.write_text(f"{overlay}files: {{train: [train.fi, train.de]}}\n")
    assert said(tree, configs=["wrong.yaml"]).startswith("train.fi: is in fi by its name; give de first in each pair")
    wrong.write_text(f"{overlay}variants: {{RNNsearhc: null}}\n")
    assert "config: variants.RNNsearhc: null leaves out" in said(tree, configs=["wrong.yaml"])
    wrong.write_text(overlay)
    both = "config/mine.yaml and wrong.yaml: each sets experiment; run one after the other, or let one extend the other"
    assert said(tree, configs=["config/mine.yaml", "wrong.yaml"]) == both
    wrong.write_text(f"{overlay}results: results/mine\n")
    assert "results/mine is the folder of the experiment mine" in said(tree, configs=["wrong.yaml"])
    wrong.write_text("extends: config/mine.yaml\nexperiment: mine\n")
    assert said(tree, configs=["wrong.yaml"]).startswith("wrong.yaml: experiment mine is also that of config/mine.yaml")
    wrong.write_text("extends: config/open.yaml\nexperiment: wrong\nmirror: ~/no/such\n")
    assert said(tree, configs=["wrong.yaml"]).startswith("mirror: ~/no/such: no such folder")
    wanted = said(tree, "results/mine/table1.csv", configs=[])
    assert wanted.endswith("give --configfile config/mine.yaml")
