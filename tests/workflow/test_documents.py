"""The documents keep their promises: commands that run, settings that exist, links that resolve, a short README.

Every Snakemake command that a document prints is planned as it stands there; every printed `python -m nmt STEP` names
a step and options that its help knows; every printed piece of an experiment file is accepted.
"""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from nmt import papers
from nmt.__main__ import main
from nmt.settings.experiment import OF_A_VARIANT, load
from nmt.settings.extends import PAPER, resolve
from tests.corpora.sentences import write_files
from tests.workflow.tree import ROOT, Tree, jobs

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += [*sorted((ROOT / "results").rglob("README.md")), *sorted((ROOT / "docs").glob("*.md"))]
DOCUMENTS = [*PAGES, ROOT / "workflow/Snakefile", *sorted((ROOT / "config").rglob("*.yaml"))]
DOCUMENTS += sorted((ROOT / "profiles").rglob("*.yaml"))
README_WORDS = 900

# A command stands in a block (indented, or in a comment) or between backticks; a backslash continues it.
BLOCK = r"^(?: {4,}|# {3,})"
SNAKEMAKE = re.compile(BLOCK + r"(snakemake (?:[^\\\n]|\\\n#?)*)|`(snakemake\s[^`]*)`", re.MULTILINE)
STEP = re.compile(
    BLOCK + r"(?:.* \| )?\S*(?:python|torchrun)\b.*-m nmt ((?:[^\\\n]|\\\n)*)|`python -m nmt ([^`]*)`", re.MULTILINE
)
MENTIONED = re.compile(r"(?<![\w/-])snakemake (?=[\w-])|-m nmt (?=[\w-])")
END = re.compile(r" #|  +\S| 2>")  # in a block, an explanation, a file or a pipe after the command
SETTING = re.compile(r"^(?:    [a-z_]+:.*\n(?:(?: {4}.*)?\n)*)+|`([a-z_]+: [^`]+)`", re.MULTILINE)
NO_PLAN = {"--conda-create-envs-only", "--lint", "--report", "--unlock"}
PLACEHOLDER = "STEP"


def printed(text: str, pattern: re.Pattern[str]) -> list[list[str]]:
    """The words of each command in `text` that matches `pattern`, without the part that the pattern leaves out."""
    found = []
    for block, inline in pattern.findall(text):
        command = inline or END.split(re.sub(r"\\\n[ #]*", "", block))[0]
        found.append(shlex.split(re.sub(r"\s+#?\s*", " ", command).replace("TARGET", "all")))
    return found


def plannable(text: str) -> list[tuple[str, ...]]:
    """The words after `snakemake` of each command in `text` that makes a plan."""
    commands = [tuple(words[1:]) for words in printed(text, SNAKEMAKE)]
    return [words for words in commands if not NO_PLAN.intersection(words)]


def steps(text: str) -> list[tuple[str, ...]]:
    """The words after `python -m nmt` of each command in `text` that names a step."""
    commands = [tuple(words) for words in printed(text, STEP)]
    return [words for words in commands if words[0] not in (PLACEHOLDER, "--help")]


def pieces(text: str) -> list[str]:
    """The pieces of experiment files in `text`, in blocks or between backticks, as YAML."""
    return [" ".join(found[1].split()) if found[1] else dedent(found[0]) for found in SETTING.finditer(text)]


TEXTS = {str(document.relative_to(ROOT)): document.read_text() for document in DOCUMENTS}


def of_all(find: object) -> list[tuple[str, ...]]:
    """The different commands that `find` finds in the documents."""
    assert callable(find)
    return sorted({words for text in TEXTS.values() for words in find(text)})


def begin_own_text(tree: Tree) -> None:
    """Write the files that docs/own-text.md is about, and run its commands `new`."""
    write_files(tree.folder, "de", "fi")
    for words in steps(TEXTS["docs/own-text.md"]):
        if words[0] == "new":
            tree.nmt(*words)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A tree with the folders and files that the documents name as examples."""
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "FOLDER").mkdir()
    (tree.folder / "REPO").symlink_to(tree.folder)
    begin_own_text(tree)
    return tree


def test_commands_are_found_in_every_form() -> None:
    text = "    snakemake -n all    # x\n#   snakemake -j 1 -- \\\n#     y\n`snakemake --lint`, `snakemake -j 2 z`."
    text += "\n    snakemake -j 3 2>&1 | python -m nmt status demo"
    assert plannable(text) == [("-n", "all"), ("-j", "1", "--", "y"), ("-j", "2", "z"), ("-j", "3")]
    assert steps(text) == [("status", "demo")]
    text = "    python -m nmt score --model DIR a b\n    torchrun -m nmt train ...\n"
    text += "`python -m nmt status demo`, `python -m nmt STEP`"
    assert steps(text) == [("score", "--model", "DIR", "a", "b"), ("train", "..."), ("status", "demo")]


@pytest.mark.parametrize("name", TEXTS)
def test_no_printed_command_is_overlooked(name: str) -> None:
    found = printed(TEXTS[name], SNAKEMAKE) + printed(TEXTS[name], STEP)
    assert len(found) == len(MENTIONED.findall(TEXTS[name]))


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "CONTRIBUTING.md", "results/open/README.md"),
        *("docs/own-text.md", "docs/experiments.md", "docs/how-it-works.md"),
        *(
            "docs/clusters.md",
            "docs/demonstration.md",
            "workflow/Snakefile",
            "profiles/slurm/profile.yaml",
            "config/open.yaml",
        ),
        *(f"config/bahdanau2015/{name}.yaml" for name in ("wmt14", "open-third", "open-hansard")),
    ],
)
def test_these_documents_print_commands_that_are_planned(name: str) -> None:
    assert plannable(TEXTS[name])


@pytest.mark.parametrize("words", of_all(plannable), ids=" ".join)
def test_a_printed_command_is_planned(words: tuple[str, ...], tree: Tree, conda: Path) -> None:
    assert jobs(tree.snakemake("--dry-run", *words, configs=[], path=str(conda / "bin")))


@pytest.mark.parametrize("words", of_all(steps), ids=" ".join)
def test_a_printed_step_knows_its_options(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Options are spelled out as the help has them, so that no abbreviation passes."""
    step, *rest = words
    with pytest.raises(SystemExit) as stop:
        main([step, "--help"])
    assert stop.value.code == 0
    known = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", capsys.readouterr().out))
    assert {word for word in rest if word.startswith("--")} <= known


GUIDES = [str(page.relative_to(ROOT)) for page in PAGES if page.name != "CHANGELOG.md"]  # which has old names, too


@pytest.mark.parametrize("piece", sorted({piece for name in GUIDES for piece in pieces(TEXTS[name])}))
def test_a_printed_setting_is_accepted(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the paper's experiment; a setting of a variant stands in `defaults`."""
    monkeypatch.chdir(ROOT)
    settings = yaml.safe_load(piece)
    if settings.keys() <= set(OF_A_VARIANT):
        settings = {"defaults": settings}
    papers.settings(load(resolve({"extends": PAPER, "experiment": "any", **settings})))


def test_settings_are_found_in_both_forms() -> None:
    text = "x `loss: mean` y\n\n    select: {rule: all}\n\n    corpora:\n      test: [a]\n\nz\n    snakemake -n all\n"
    assert pieces(text) == ["loss: mean", "select: {rule: all}\n\ncorpora:\n  test: [a]\n\n"]
    assert len([piece for name in GUIDES for piece in pieces(TEXTS[name])]) > 20


def test_the_steps_for_users_are_all_shown() -> None:
    shown = {words[0] for words in of_all(steps)}
    assert {"translate", "score", "align", "serve", "status", "tensorboard", "export"} <= shown


def test_the_readme_is_one_screen() -> None:
    assert len(TEXTS["README.md"].split()) <= README_WORDS


def test_the_readme_states_the_claim_before_the_archives() -> None:
    text = TEXTS["README.md"]
    assert text.index("## The claim") < text.index("results/multi30k/figure2.png") < text.index("6.6 GB")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_the_readme_links_every_page() -> None:
    linked = set(re.findall(r"\]\(([^)#\s]+)", TEXTS["README.md"]))
    assert {str(page.relative_to(ROOT)) for page in PAGES} - {"README.md"} <= linked


SHOWN = re.compile(r"^\| (\S+)[^|]*\| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)
FIRST, SECOND = TEXTS["README.md"].split("## The second paper")


def rows(path: str) -> list[dict[str, str]]:
    with open(ROOT / "results" / path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("run", ["open", "open-large"])
def test_table_1_of_an_account_is_that_of_the_run(run: str) -> None:
    """The scores of the pages on the runs are what the `table1.csv` of the run says."""
    scores = {row["model"]: (row["all"], row["no_unk"]) for row in rows(f"{run}/table1.csv")}
    shown = SHOWN.findall(TEXTS[f"results/{run}/README.md"])
    assert len(shown) == len(scores)
    for model, *numbers in shown:
        label = next(label for label in scores if label.lower().split(" ")[0] == model.lower())
        assert [f"{float(score):.2f}" for score in scores[label]] == numbers


def of_run(path: str) -> dict[str, str]:
    """The BLEU of each model, with its deviation over seeds, as `table1.csv` has them and documents show them.

    The second paper's table has BLEU with several beams; documents show it with 12.
    """
    shown = {}
    for row in rows(path):
        column = "test" if "beam" in row else "all"
        if row.get("beam", "12") == "12":
            deviation = row.get(f"{column}_sd")
            shown[row["model"]] = f"{float(row[column]):.2f}" + (f" ± {float(deviation):.2f}" if deviation else "")
    return shown


def test_the_readmes_table_is_that_of_its_two_runs() -> None:
    one, seeds = of_run("multi30k/table1.csv"), of_run("multi30k-en-fr/table1.csv")
    names = {"RNNsearch with dropout": "RNNsearch, dropout", "Thot": "Phrase-based (Thot)"}
    table = FIRST.split("| the paper, on newstest2014 |")[1].split("\n\n")[0]
    shown = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n")[2:]]
    found = {names.get(name, name): cells for name, *cells in shown}
    assert set(found) == set(one) | set(seeds)
    for name, (single, many, *_) in found.items():
        assert (single, many) == (one.get(name, ""), seeds.get(name, ""))


MULTI30K = ("", "test_2017_flickr/", "test_2017_mscoco/")
OPEN = ("", "heldout-mixed-test/")


@pytest.mark.parametrize(
    ("run", "places"),
    [
        ("multi30k", MULTI30K),
        ("multi30k-en-fr", MULTI30K),
        ("multi30k-en-de", MULTI30K),
        ("multi30k-words-en-fr", MULTI30K),
        ("multi30k-words-en-de", MULTI30K),
        ("choi2017/multi30k-en-de", MULTI30K),
    ],
)
def test_the_table_of_an_account_is_that_of_the_run(run: str, places: tuple[str, ...]) -> None:
    sets = [of_run(f"{run}/{place}table1.csv") for place in places]
    for name in sets[0]:
        row = " | ".join([name, *(scores[name] for scores in sets)])
        assert f"| {row} |" in TEXTS[f"results/{run}/README.md"]


@pytest.mark.parametrize(
    ("run", "path"),
    [
        ("open", "bench/witness.csv"),
        ("multi30k-words-en-fr", "bench/witness-multi30k.csv"),
        ("open", "open/bpe-newstest2014.csv"),
        ("open", "open/bpe-heldout-law-test.csv"),
    ],
)
def test_the_comparisons_of_the_account_are_those_of_the_run(run: str, path: str) -> None:
    text = TEXTS[f"results/{run}/README.md"]
    for row in rows(path):
        difference, lower, upper, bleu, other = (
            float(row[name]) for name in ("difference", "lower", "upper", "bleu", "baseline_bleu")
        )
        assert f"| {difference:+.2f} | {lower:+.2f} to {upper:+.2f} | {bleu:.2f} | {other:.2f} |" in text


def test_the_account_of_open_text_has_its_scores_and_no_others() -> None:
    news, held_out = (of_run(f"choi2017/open-en-de/{place}table1.csv") for place in OPEN)
    expected = [(name, news[name], held_out[name]) for name in news]
    assert SHOWN.findall(TEXTS["results/choi2017/open-en-de/README.md"]) == expected


def test_the_readme_has_the_second_papers_scores() -> None:
    one, seeds = (of_run(f"choi2017/{run}/table1.csv") for run in ("open-en-de", "multi30k-en-de"))
    shown = re.findall(r"^\| (\S+) \| ([^|]+) \| ([\d.]+) \|$", SECOND, re.M)
    assert shown == [(name, score, one[name]) for name, score in seeds.items()]
