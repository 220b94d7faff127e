"""nmt.evaluation.coverage: what the shortlists know of each corpus's part and of the sets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.select import AUDIT
from tests.conftest import SmallDisk

TRAIN = {"en": "a b\na c\n\na a\n", "fr": "x x\nx\ny z\nz\n"}
SHORTLISTS = {"en": "<eos>\t4\n<unk>\t2\na\t4\nb\t1\n", "fr": "<eos>\t4\n<unk>\t1\nx\t3\nz\t2\n"}
TEST = {"en": "b UNK\n  a\n", "fr": "\n\n"}


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The command line, all of whose files are there."""
    for language in ("en", "fr"):
        (tmp_path / f"train.{language}").write_text(TRAIN[language])
        (tmp_path / f"{language}.tsv").write_text(SHORTLISTS[language])
        (tmp_path / f"test.{language}").write_text(TEST[language])
    audit(tmp_path, first=3, none=0, second=1)
    paths = {
        name: [str(tmp_path / name.replace("*", one)) for one in ("en", "fr")]
        for name in ("*.tsv", "train.*", "test.*")
    }
    words = ["coverage", "--shortlists", *paths["*.tsv"], "--texts", *paths["train.*"]]
    words += ["--audit", str(tmp_path / "audit.csv"), "--names", "test", "--sources", paths["test.*"][0]]
    return [*words, "--targets", paths["test.*"][1], "--output", str(tmp_path / "coverage.csv")]


def audit(folder: Path, **kept: int) -> None:
    rows = [",".join(AUDIT)]
    for corpus, pairs in [*kept.items(), ("total", sum(kept.values()))]:
        rows.append(",".join([corpus, *(str(pairs) if column == "pairs_kept" else "9" for column in AUDIT[1:])]))
    (folder / "audit.csv").write_text("\n".join(rows) + "\n")


def test_every_text_has_a_row_in_each_language(tmp_path: Path, words: list[str]) -> None:
    assert main(words) == 0
    with open(tmp_path / "coverage.csv", newline="") as file:
        rows = [list(row.values()) for row in csv.DictReader(file)]
    # text, language, size, sentences, those without UNK, types, tokens, UNK, percentages
    assert rows == [
        ["first", "en", "3", "3", "2", "3", "4", "1", "75.00", "25.00"],
        ["none", "en", "3", "0", "0", "0", "0", "0", "", ""],
        ["second", "en", "3", "1", "1", "1", "2", "0", "100.00", "0.00"],
        ["total", "en", "3", "4", "3", "3", "6", "1", "83.33", "16.67"],
        ["test", "en", "3", "2", "1", "3", "3", "1", "66.67", "33.33"],
        ["first", "fr", "3", "3", "2", "3", "5", "1", "80.00", "20.00"],
        ["none", "fr", "3", "0", "0", "0", "0", "0", "", ""],
        ["second", "fr", "3", "1", "1", "1", "1", "0", "100.00", "0.00"],
        ["total", "fr", "3", "4", "3", "3", "6", "1", "83.33", "16.67"],
        ["test", "fr", "3", "2", "2", "0", "0", "0", "", ""],
    ]


@pytest.mark.parametrize("count", ["x", "", "-1", "1.5", "inf", "9" * 5000])
def test_a_count_that_is_none_is_one_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], count: str
) -> None:
    file = tmp_path / "audit.csv"
    first, *rest = file.read_text().split("\nfirst,")
    cells = [count if column == "pairs_kept" else "9" for column in AUDIT[1:]]
    file.write_text("\n".join([first, ",".join(["first", *cells]), *rest[0].split("\n")[1:]]))
    assert main(words) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / 'audit.csv'}: pairs_kept: not a whole number of at most 15 digits: " in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("second", [0, 2])
def test_an_audit_of_another_text(
    tmp_path: Path, words: list[str], second: int, capsys: pytest.CaptureFixture[str]
) -> None:
    audit(tmp_path, first=3, second=second)
    assert main(words) == 1
    said = capsys.readouterr().err.strip().split("\n")[-1]
    assert f"train.en: does not have the {3 + second} lines of the audit; run the selection again" in said
    assert not (tmp_path / "coverage.csv").exists()


def test_sets_and_names_go_together(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words.insert(words.index("test") + 1, "another")
    assert main(words) == 1
    assert "--names: 2 names" in capsys.readouterr().err


def test_a_text_is_named_once_and_has_two_sides_of_one_length(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("test", "total", "first"):
        twice = list(words)
        for option in ("--names", "--sources", "--targets"):
            twice.insert(twice.index(option) + 1, twice[twice.index(option) + 1])
        twice[twice.index("--names") + 1] = name
        assert main(twice) == 1
        assert f"--names: {name} has a row already; give each text a name of its own\n" in capsys.readouterr().err
    (tmp_path / "test.fr").write_text("x\n")
    assert main(words) == 1
    assert "test.en has 2 lines, " in capsys.readouterr().err
    assert not (tmp_path / "coverage.csv").exists()


def test_a_full_disk_is_one_line_and_room_mends_it(
    tmp_path: Path, words: list[str], small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    audit(tmp_path, first=4, **{f"corpus-{number}": 0 for number in range(2000)})
    output = small_disk.folder / "coverage.csv"
    words[-1] = str(output)
    small_disk.refuse_then_take(words, output, 16384, capsys)
    assert output.read_text().count("\n") == 1 + 2 * (1 + 2000 + 1 + 1)


def test_more_than_a_tenth_of_unknown_words_is_said(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line for each language. A tenth is not more; nor is a text without words."""
    (tmp_path / "train.en").write_text("a\n" * 4)
    (tmp_path / "train.fr").write_text("x\n" * 4)
    for unknown, said in (("UNK", ""), ("UNK UNK", "in en are unknown to the models: 18 % of test; give them more w")):
        (tmp_path / "test.en").write_text(f"{'b ' * 9}{unknown}\n\n")
        assert main(words) == 0
        found = capsys.readouterr().err
        assert said in found
        assert found.count("warning") == bool(said)
    (tmp_path / "train.en").write_text(TRAIN["en"])
    assert main(words) == 0
    assert "many words in en are unknown to the models: 25 % of first, 17 % of total, 18 % of test; give" in (
        capsys.readouterr().err
    )
