"""A new experiment on own files: what is written, where the languages are from, and what is refused."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from nmt.__main__ import main
from nmt.corpora.new import command
from nmt.corpora.own import read_corpora
from nmt.settings.extends import read_experiment
from nmt.settings.variant import Architecture
from nmt.system.files import read_lines
from tests.corpora.sentences import write_files

ROOT = Path(__file__).parents[2]
FILES = ["--train", "train.de", "train.fi", "--dev", "dev.de", "dev.fi", "--test", "test.de", "test.fi"]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files of a user, outside the project."""
    write_files(tmp_path, "de", "fi")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("size", ["demo", "open", "paper"])
def test_the_model_has_the_size_of_an_experiment(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "mine", *FILES, "--size", size]) == 0
    command = f"snakemake --cores all -s {shlex.quote(str(ROOT / 'Snakefile'))} --configfile config/mine.yaml"
    assert command in capsys.readouterr().out
    assert command in Path("config/mine.yaml").read_text()
    mine = read_experiment(["mine"])
    like = read_experiment([] if size == "paper" else [size])
    [model] = mine.variants.values()
    assert (model.architecture, model.optimization) == (
        like.variants["RNNsearch-50"].architecture,
        like.variants["RNNsearch-50"].optimization,
    )
    assert mine.shortlist == like.shortlist
    assert (mine.phrase_based, mine.select.rule, mine.results) == (None, "all", "results/mine")
    assert (size == "paper") == (model.architecture == Architecture())
    addresses = [[one.address for one in corpus.archives] for corpus in read_corpora(mine).values()]
    assert addresses == [[f"{name}.de", f"{name}.fi"] for name in ("train", "dev", "test")]


def test_every_setting_has_its_remark() -> None:
    """What is not plain from its name; what is left out as a remark can be put in."""
    assert main(["new", "mine", *FILES]) == 0
    text = Path("config/mine.yaml").read_text()
    for key in ("files", "tokenized", "select", "shortlist", "table1", "figure2", "figure3"):
        assert re.search(rf"^#.*\n(#.*\n)*{key}:|^ *{key}: .*  # \w", text, re.MULTILINE), key
    more = re.sub(r"^( *)# (bpe|RNNencdec)", r"\1\2", text, flags=re.MULTILINE)
    Path("config/mine.yaml").write_text(more)
    experiment = read_experiment(["mine"])
    assert experiment.bpe is not None
    assert experiment.variants["RNNencdec"].architecture.attention == "fixed"


def test_odd_names_are_quoted() -> None:
    """no is a language and, in YAML, false; a name of digits is no number."""
    for language, other in (("de", "no"), ("fi", "sv")):
        Path(f"train.{language}").rename(f"a, b [c] #{other}: é.{other}.xz")
    first, second = "a, b [c] #no: é.no.xz", "a, b [c] #sv: é.sv.xz"
    for name in (first, second):
        for other in ("dev", "test"):
            shutil.copy(name, f"{other} {name}")
    words = [
        (f"--{use}", f"{name}{first}", f"{name}{second}")
        for use, name in (("train", ""), ("dev", "dev "), ("test", "test "))
    ]
    assert main(["new", "123", *(word for three in words for word in three)]) == 0
    experiment = read_experiment(["config/123.yaml"])
    assert (experiment.name, experiment.languages.source, experiment.languages.target) == ("123", "no", "sv")
    assert read_corpora(experiment)["test"].archives[0].address == f"test {first}"


def test_languages_and_tokenized_text_may_be_said() -> None:
    assert main(["new", "mine", *FILES, "--languages", "deu", "fi", "--tokenized"]) == 0
    mapping = yaml.safe_load("\n".join(read_lines("config/mine.yaml")))
    assert mapping["languages"] == {"source": "deu", "target": "fi"}
    assert mapping["tokenized"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo", *FILES], "there is an experiment demo; choose another name"),
        (["wmt14", *FILES], "there is an experiment wmt14; choose another name"),
        (["a/b", *FILES], "config: experiment: expected a name of letters"),
        (["mine", *FILES[:-1], "tset.fi"], "tset.fi: no such file; the nearest is test.fi; correct its name"),
        (["mine", *FILES[:-1]], "config: files.test: expected a list of files, source and target"),
        (["mine", *FILES[:-1], "test.txt"], "test.txt: does not end in a language, as .en does; name both languages"),
        (["mine", *FILES[:-1], "test.sv"], "train.fi and test.sv: end in different languages; name both languages"),
        (["mine", *FILES, "--languages", "de", "de"], "config: languages: de is source and target"),
        (["mine", *FILES, "--languages", "German", "fi"], "config: languages.source: expected a language code"),
    ],
)
def test_a_mistake_is_a_line_and_writes_nothing(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("test.txt", "test.sv"):
        Path(name).touch()
    before = sorted(Path("config").rglob("*"))
    assert main(["new", *words]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert sorted(Path("config").rglob("*")) == before


def test_in_the_project_the_command_names_no_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert command(Path("config/mine.yaml")) == "snakemake --cores all --configfile config/mine.yaml"


def test_a_package_without_the_workflow_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("nmt.corpora.new.PROJECT", tmp_path)
    assert main(["new", "mine", *FILES]) == 1
    said = capsys.readouterr().err
    assert said.startswith("nmt new: the workflow is not part of the installed package; ")
    assert said.count("\n") == 1
