"""A new experiment on own files: what is written, where the languages are from, and what is refused."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from nmt import papers
from nmt.__main__ import main
from nmt.corpora.languages import ending_of
from nmt.corpora.new_text import DROPOUT, OFTEN, PAPERS, SIZES, command
from nmt.corpora.own import read_corpora
from nmt.settings.extends import read_experiment
from nmt.settings.ownership import record
from nmt.settings.variant import Architecture
from nmt.system.text import read_lines, write_lines
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
    own, theirs = model.optimization, like.variants["RNNsearch-50"]
    assert (model.architecture, replace(own, patience=0, dropout=0)) == (theirs.architecture, theirs.optimization)
    # The best model is kept. With a cooldown, no plateau before it ends the training.
    assert own.patience > 0
    assert own.cooldown == 0 or own.patience * own.evaluate_every >= own.updates
    assert (mine.tokenizer, mine.shortlist.size) == ("sentencepiece", 8000)
    assert (mine.phrase_based, mine.select.rule, mine.results) == (None, "all", "results/mine")
    assert (size == "paper") == (model.architecture == Architecture())
    addresses = [[one.address for one in corpus.archives] for corpus in read_corpora(mine).values()]
    assert addresses == [[f"{name}.de", f"{name}.fi"] for name in ("train", "dev", "test")]


def test_dropout_is_for_text_that_is_read_often() -> None:
    like = read_experiment(["demo"]).variants["RNNsearch-50"].optimization
    most = like.updates * like.batch // OFTEN
    for name, pairs, dropout in (("few", most, DROPOUT), ("many", most + 1, 0)):
        for language in ("de", "fi"):
            write_lines(Path(f"{name}.{language}"), (f"{language} {number}" for number in range(pairs)))
        assert main(["new", name, "--train", f"{name}.de", f"{name}.fi", *FILES[3:]]) == 0
        assert read_experiment([name]).variants["RNNsearch"].optimization.dropout == dropout


def test_every_setting_has_its_remark() -> None:
    """What is not plain from its name; what is left out as a remark can be put in."""
    assert main(["new", "other", *FILES]) == 0
    assert re.search(r"^#.*\ntokenizer:", Path("config/other.yaml").read_text(), re.MULTILINE)
    assert main(["new", "mine", *FILES, "--tokenized"]) == 0
    text = Path("config/mine.yaml").read_text()
    assert "`shortlist` is then ignored" in text
    for key in ("files", "tokenized", "select", "shortlist", "table1", "figure2", "figure3", "variants"):
        assert re.search(rf"^#.*\n(#.*\n)*{key}:|^ *{key}: .*  # \w", text, re.MULTILINE), key
    more = re.sub(r"^( *)# (bpe|RNNencdec)", r"\1\2", text, flags=re.MULTILINE)
    Path("config/mine.yaml").write_text(more)
    experiment = read_experiment(["mine"])
    assert experiment.bpe is not None
    assert experiment.variants["RNNencdec"].architecture.attention == "fixed"


@pytest.mark.parametrize(("source", "said"), [("de", True), ("th", False)])
def test_what_needs_spaces_is_offered_to_languages_that_have_them(source: str, said: bool) -> None:
    for name in Path().glob("*.de"):
        name.rename(name.with_suffix(f".{source}"))
    assert main(["new", "mine", *(word.replace(".de", f".{source}") for word in FILES)]) == 0
    text = Path("config/mine.yaml").read_text()
    assert ("moses" in text, "other rules" in text) == (said, said)


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


def test_an_option_that_is_given_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Its last values alone would be used."""
    with pytest.raises(SystemExit):
        main(["new", "mine", *FILES, "--train", *FILES[1:3]])
    assert "argument --train: given twice; name all its values after one" in capsys.readouterr().err
    assert not Path("config/mine.yaml").exists()


def test_a_name_that_would_nest_its_results_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "choi2017", *FILES]) == 1
    said = "config: results: results/choi2017 holds the folder of the experiment multi30k-choi"
    assert said in capsys.readouterr().err
    assert not Path("config/choi2017.yaml").exists()


@pytest.mark.parametrize("file", ["a.fi", "a.fi.gz", "newstest-ref.fi.sgm", "a.fi.SGML.xz", "a.fi-de.tsv:1"])
def test_the_language_that_a_file_names(file: str) -> None:
    assert ending_of(file) == "fi"


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
        (["a/b", *FILES], "NAME: expected a name of letters"),
        (["mine", *FILES[:-1], "tset.fi"], "tset.fi: no such file; the nearest is test.fi; correct its name"),
        (["mine", *FILES[:-1], "a\nb.fi"], r"--test: expected text in the locale's characters, "),
        (["mine", *FILES[:-1]], "config: files.test: expected a list of files, source and target"),
        (["mine", *FILES[:-1], "test.txt"], "test.txt: does not end in a language, as .en does; name both languages"),
        (["mine", *FILES[:-1], "test.sv"], "train.fi and test.sv: end in different languages; name both languages"),
        (["mine", *FILES[:-2], "dev.de", "dev.fi"], "dev.de: text of both test and development; leave it out of one"),
        (["mine", *FILES[:-2], "./train.de", "test.fi"], "train.de: text of both test and train; leave it out"),
        (["mine", *FILES[:4], *FILES[1:3], *FILES[6:]], "train.de: text of both development and train; leave it out"),
        (["mine", *FILES[:-1], "short.fi"], "test: 5 lines in test.de but 1 in short.fi; the sides must be aligned"),
        (["mine", *FILES[:-1], "latin.fi"], "latin.fi: line 1 is not UTF-8, as are 5 of 5 lines; find out"),
        (["mine", *FILES[:-1], "cut.fi"], "cut.fi: truncated or damaged"),
        (["mine", *FILES[:-2], "a{b}.de", "test.fi"], "without { } < > \\"),
        (["mine", *FILES[:-2], ".", "test.fi"], ".: a folder; name a file"),
        (
            ["mine", *FILES[:-2], "data/mine/x.de", "test.fi"],
            "data/mine/x.de: in data/mine, which the run itself writes",
        ),
        (
            ["mine", *FILES[:-2], "both.zip"],
            "both.zip: a zip archive; name the file in it, in the registry or as both.zip:",
        ),
        (["mine", *FILES[:-2], "both.tsv"], "both.tsv:1: does not end in a language, as .en does; name both languages"),
        (
            ["mine", *FILES[:-2], "more.tsv"],
            "more.tsv: has 3 columns; name the two that hold the text, as in more.tsv:1",
        ),
        (
            ["mine", *FILES[:-1], "both.zip:b.tar.gz", "--languages", "de", "fi"],
            "both.zip: no member b.tar.gz; the nearest are test.de",
        ),
        (["mine", *FILES[:-1], "http://x/test.fi"], "http://x/test.fi: a URL; fetch the file"),
        (["mine", *FILES[:-2], "old.tsv", "--languages", "de", "fi"], "old.tsv: lines end in carriage returns"),
        (
            ["mine", *FILES[:-2], "both.tsv:3", "both.tsv:4", "--languages", "de", "fi"],
            "both.tsv:3: line 1 has 2 columns",
        ),
        (["mine", *FILES, "--languages", "fi", "de"], "train.de: is in de by its name; give fi first in each pair"),
        (
            ["mine", *FILES[:-2], *FILES[:-3:-1], "--languages", "de", "fi"],
            "test.fi: is in fi by its name; give de first",
        ),
        (["mine", *FILES, "--languages", "de", "de"], "config: languages: de is source and target"),
        (["mine", *FILES[:3], "--languages", "de", "de", "--split", "1"], "config: languages: de is source and target"),
        (["mine", *FILES, "--languages", "German", "fi"], "language: expected a language code"),
        (["mine", *FILES[:-3]], "--test: name the test text, or let --split 1000 draw it from --train"),
        (["mine", *FILES[:3]], "--dev: name the text on which a training is scored, or let --split 1000 draw it"),
        (["mine", *FILES, "--split", "1"], "--split: --dev and --test are given, so there is nothing to draw"),
        (["mine", *FILES[:3], "--split", "0"], "--split 0: must be 1 or more"),
        (["mine", *FILES[:3], "--split", "2"], "--split: too few of the 5 pairs of training text would be left"),
        (["mine", *FILES[:3], "--split"], "--split: too few of the 5 pairs of training text would be left"),
        (["mine", *FILES[:2], "--split", "1"], "config: files.train: expected a list of files, source and target"),
        (["mine", *FILES[:4], "dev.de", "short.fi", "--split", "1"], "dev: 5 lines in dev.de but 1 in short.fi"),
        (["mine", *FILES, "--variants", "AttY"], "--variants: unknown model AttY; the nearest is RNN"),
        (
            ["mine", *FILES, "--variants", "RNNsearch", "RNNencdec", "RNNsearch"],
            "--variants: RNNsearch is there twice; name each model once",
        ),
        (["choi2017", *FILES[:3], "--split", "1"], "results/choi2017 holds the folder of the experiment multi30k-choi"),
    ],
)
def test_a_mistake_is_a_line_and_writes_nothing(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("test.txt", "test.sv", "a{b}.de"):
        Path(name).touch()
    lines = Path("test.fi").read_text().split("\n")
    for name in ("train", "dev", "test"):
        for side in ("de", "fi"):
            Path(f"{name}.{side}").write_text(
                "".join(f"{line}\n" for line in Path(f"{name}.{side}").read_text().split("\n")[:5])
            )
    Path("short.fi").write_text(lines[0])
    Path("latin.fi").write_bytes(b"\xe4\n" * 5)
    Path("cut.fi").write_bytes(gzip.compress(b"a\n" * 5)[:15])
    Path("both.tsv").write_text("a\tb\n" * 5)
    Path("old.tsv").write_text("a\tb\r" * 5)
    Path("more.tsv").write_text("\n1\ta\r\tb\n" + "1\ta\tb\n" * 4, newline="")
    Path("data/mine").mkdir(parents=True)
    shutil.copy("test.de", "data/mine/x.de")
    with zipfile.ZipFile("both.zip", "w") as archive:
        archive.write("test.de")
    before = [*sorted(Path("config").rglob("*")), *sorted(Path("data").rglob("*"))]
    assert main(["new", *words]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [*sorted(Path("config").rglob("*")), *sorted(Path("data").rglob("*"))] == before


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


def test_tables_and_archives() -> None:
    """A table holds both sides, and may name its languages; a file in an archive follows a colon."""
    lines = {
        name: [Path(f"{name}.{side}").read_text().split("\n")[:-1] for side in ("fi", "de")]
        for name in ("train", "dev")
    }
    for name, ending in (("train", "fi-de.tsv.gz"), ("dev", "tsv")):
        text = "".join(f"{source}\t{target}\n" for source, target in zip(*lines[name], strict=True)).encode()
        Path(f"{name}.{ending}").write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.write("dev.tsv", "pairs.fi-de.tsv")
        for side in ("fi", "de"):
            archive.write(f"test.{side}", f"texts/test.{side}")
    tests = ["a.zip:texts/test.fi", "a.zip:texts/test.de"]
    assert main(["new", "mine", "--train", "train.fi-de.tsv.gz", "--dev", "dev.fi", "dev.de", "--test", *tests]) == 0
    experiment = read_experiment(["mine"])
    assert experiment.files is not None
    assert experiment.files.train == ("train.fi-de.tsv.gz:1", "train.fi-de.tsv.gz:2")
    assert (experiment.languages.source, experiment.languages.target) == ("fi", "de")
    corpora = read_corpora(experiment)
    assert corpora["train"].members == (":1", ":2")
    assert [archive.address for archive in corpora["test"].archives] == ["a.zip", "a.zip"]
    assert corpora["test"].members == ("texts/test.fi", "texts/test.de")
    words = ["--train", "train.fi", "train.de", "--dev", "dev.tsv", "--test", *tests]
    assert main(["new", "other", *words, "--languages", "fi", "de"]) == 0
    assert main(["new", "third", "--train", *words[1:3], "--dev", "a.zip:./pairs.fi-de.tsv", "--test", *tests]) == 0


def test_the_sentence_of_the_figures_is_not_blank(capsys: pytest.CaptureFixture[str]) -> None:
    dev = Path("dev.de")
    dev.write_text("\n\u00a0\n" + "\n".join(dev.read_text().split("\n")[2:]))
    assert main(["new", "mine", *FILES, "--paper", "choi2017"]) == 0
    assert "sentence: 3  # the line" in Path("config/mine.yaml").read_text()
    assert capsys.readouterr().err.count("warning: dev: ") <= 1


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("size", SIZES)
def test_the_models_of_a_paper(paper: str, size: str) -> None:
    """Each alone, and all together: with the settings that they have where their size is from, and what can be made."""
    sizes, names, chosen = PAPERS[paper]
    like = read_experiment([sizes[size]])
    assert main(["new", "usual", *FILES, "--paper", paper, "--size", size]) == 0
    assert tuple(read_experiment(["usual"]).variants) == chosen
    for number, variants in enumerate([*([name] for name in names), [*names]]):
        experiment = f"mine{number}"
        words = ["--paper", paper, "--size", size, "--variants", *variants]
        assert main(["new", experiment, *FILES, *words]) == 0
        mine = read_experiment([experiment])
        assert list(mine.variants) == variants
        for name in variants:
            model, theirs = mine.variants[name], like.variants[names[name]]
            assert model.architecture == theirs.architecture
            assert model.run_time == theirs.run_time
            assert model.optimization.patience > 0
            apart = {key: getattr(theirs.optimization, key) for key in ("patience", "precision", "dropout")}
            assert replace(model.optimization, **apart) == theirs.optimization
        assert papers.artefacts(mine)
        assert all({*pair} <= {*variants} for pair in mine.evaluate.compare or ())
        text = Path(f"config/{experiment}.yaml").read_text()
        whole = yaml.safe_load(re.sub(r"^  # (\w+: \{.*\})$", r"  \1", text, flags=re.MULTILINE))
        assert {*whole["variants"]} == {*names}
    compare = [list(pair) for pair in like.evaluate.compare or () if {*pair} <= {*names}]
    assert [*(mine.evaluate.compare or ())] == compare


def test_the_second_paper_compares_its_models() -> None:
    assert main(["new", "mine", *FILES, "--paper", "choi2017", "--variants", "Baseline", "AttY", "AttY2D"]) == 0
    mine = read_experiment(["mine"])
    settings = papers.settings(mine)
    assert [*settings.pairs] == [["AttY", "Baseline"], ["AttY2D", "AttY"]]
    assert (settings.figure2.models, settings.figure3.model) == (("Baseline", "AttY", "AttY2D"), "AttY2D")
    names = {one.name for one in papers.artefacts(mine)}
    assert names == {"table1", "table2", "parameters", "significance", "figure2", "figure3"}


def sets(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """The pairs of each corpus of a split."""
    names = {path.stem for path in folder.glob("*.de")}
    return {
        name: list(zip(read_lines(folder / f"{name}.de"), read_lines(folder / f"{name}.fi"), strict=True))
        for name in names
    }


def test_a_split_is_the_same_again_and_has_no_sentence_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor is one of the development set in the training text with other spaces, or with another translation."""
    pairs = list(zip(read_lines("train.de"), read_lines("train.fi"), strict=True))
    repeated = [*pairs, *((f"  {source} ", "jotain muuta") for source, _ in pairs[:20]), ("", "tyhjä"), ("Leer", " ")]
    for side, language in enumerate(("de", "fi")):
        Path(f"train.{language}").write_text("".join(f"{pair[side]}\n" for pair in repeated), encoding="utf-8")
    for name in ("mine", "again"):
        assert main(["new", name, "--train", "train.de", "train.fi", "--split", "12"]) == 0
    assert "data/mine.split: dev 12 pairs, test 12 pairs, train " in capsys.readouterr().out
    found = sets(Path("data/mine.split"))
    assert found == sets(Path("data/again.split"))
    assert {name: len(found[name]) for name in ("dev", "test")} == {"dev": 12, "test": 12}
    assert {*found["dev"], *found["test"], *found["train"]} <= {*repeated}
    assert all(source.strip() and target.strip() for source, target in found["dev"] + found["test"])
    for one, other in (("dev", "test"), ("dev", "train"), ("test", "train")):
        for side in (0, 1):
            assert {pair[side].strip() for pair in found[one]}.isdisjoint(pair[side].strip() for pair in found[other])
    experiment = read_experiment(["mine"])
    assert experiment.files is not None
    assert experiment.files.test == ("data/mine.split/test.de", "data/mine.split/test.fi")
    text = Path("config/mine.yaml").read_text()
    assert "# Files in data/mine.split were drawn at random from the training text, by `nmt new --split 12`." in text


def test_a_split_that_was_edited_is_not_drawn_again(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["new", "mine", "--train", "train.de", "train.fi", "--split", "12"]
    assert main(words) == 0
    Path("config/mine.yaml").unlink()
    edited = Path("data/mine.split/test.fi")
    edited.write_text(f"korjattu\n{edited.read_text()}")
    assert main(words) == 1
    said = (
        "nmt new: data/mine.split/test.fi: edited since it was drawn; move or remove data/mine.split, and it is drawn"
    )
    assert said in capsys.readouterr().err
    assert edited.read_text().startswith("korjattu\n")
    assert not Path("config/mine.yaml").exists()
    edited.unlink()
    assert main(words) == 0


def test_only_what_is_missing_is_drawn_and_corpora_stay_apart() -> None:
    """The pairs of a given set are left out of the training text, too."""
    given = list(zip(read_lines("dev.de"), read_lines("dev.fi"), strict=True))
    for side, language in enumerate(("de", "fi")):
        lines = [*read_lines(f"train.{language}"), given[0][side], given[1][side]]
        Path(f"more.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    words = ["--train", "train.de", "train.fi", "more.de", "more.fi", "--dev", "dev.de", "dev.fi", "--split", "3"]
    assert main(["new", "mine", *words]) == 0
    found = sets(Path("data/mine.split"))
    assert {name: len(pairs) for name, pairs in found.items()} == {"train": 120, "train-2": 120, "test": 3}
    assert not {*given} & {*found["train-2"], *found["test"]}
    experiment = read_experiment(["mine"])
    assert experiment.files is not None
    assert experiment.files.development == ("dev.de", "dev.fi")
    assert len(experiment.files.train) == 4
    Path("config/mine.yaml").unlink()
    assert main(["new", "mine", *words[:-1], "5"]) == 0
    assert len(sets(Path("data/mine.split"))["test"]) == 5


def test_given_text_that_has_most_of_the_training_text_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("de", "fi"):
        text = read_lines(f"train.{language}")
        Path(f"most.{language}").write_text("".join(f"{line}\n" for line in [*text][:70]), encoding="utf-8")
    given = ["--train", "train.de", "train.fi", "--dev", "most.de", "most.fi"]
    assert main(["new", "mine", *given, "--split", "1"]) == 1
    assert capsys.readouterr().err == (
        "nmt new: most.de, most.fi: 70 of the 123 pairs of training text contain a sentence of this text; remove these "
        "pairs from one of the two\n"
    )


def test_blank_lines_of_given_text_are_no_sentences() -> None:
    for name in ("train", "dev"):
        for language in ("de", "fi"):
            lines = "".join(f"{line}\n\n" for line in read_lines(f"{name}.{language}"))
            Path(f"{name}.spaced.{language}").write_text(lines, encoding="utf-8")
    given = ["--train", "train.spaced.de", "train.spaced.fi", "--dev", "dev.spaced.de", "dev.spaced.fi"]
    assert main(["new", "mine", *given, "--split", "10"]) == 0
    assert len(sets(Path("data/mine.split"))["train"]) > 200


def test_a_split_is_not_drawn_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "mine", "--train", "train.de", "train.fi", "--split", "12"]) == 0
    Path("config/mine.yaml").unlink()
    before = sets(Path("data/mine.split"))
    drawn = [f"data/mine.split/train.{language}" for language in ("de", "fi")]
    assert main(["new", "mine", "--train", *drawn, "--split", "12"]) == 1
    said = "data/mine.split/train.de: lies in data/mine.split, which is replaced as a whole"
    assert said in capsys.readouterr().err
    assert sets(Path("data/mine.split")) == before


def test_a_split_that_another_experiment_names_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    """As after its file has been renamed, whose next run would train on the other text."""
    words = ["new", "mine", "--train", "train.de", "train.fi", "--split", "12"]
    assert main(words) == 0
    former = Path("config/mine.yaml")
    renamed = former.rename("config/renamed.yaml")
    renamed.write_text(renamed.read_text().replace("experiment: mine", "experiment: renamed"))
    assert main(words) == 1
    said = "NAME: config/renamed.yaml names text in data/mine.split, which would be replaced; choose another name\n"
    assert capsys.readouterr().err == f"nmt new: {said}"


def test_a_split_is_drawn_after_a_run_under_a_name_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.yaml").write_text("experiment: run\n")
    record("trial", ["run.yaml"], "results/trial")
    assert main(["new", "mine", "--train", "train.de", "train.fi", "--split", "12"]) == 0
    Path("run.yaml").write_text("files: {train: [data/other.split/train.de, data/other.split/train.fi]}\n")
    assert main(["new", "other", "--train", "train.de", "train.fi", "--split", "12"]) == 1
    assert "NAME: run.yaml names text in data/other.split, which" in capsys.readouterr().err


def test_a_split_of_other_sets_replaces_the_former() -> None:
    assert main(["new", "mine", "--train", "train.de", "train.fi", "--split", "12"]) == 0
    Path("config/mine.yaml").unlink()
    words = ["--train", "train.de", "train.fi", "--test", "dev.de", "dev.fi", "--split", "12"]
    assert main(["new", "mine", *words]) == 0
    assert sets(Path("data/mine.split")).keys() == {"train", "dev"}


def test_a_folder_that_holds_other_files_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data/mine.split").mkdir(parents=True)
    Path("data/mine.split/notes.txt").touch()
    assert main(["new", "mine", *FILES[:3], "--split", "3"]) == 1
    assert "data/mine.split: exists and is not a split of training text, because it holds notes.txt" in (
        capsys.readouterr().err
    )
    assert not Path("config/mine.yaml").exists()
