"""Table 1: its columns, the paper's numbers beside ours, and inputs that do not fit."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.papers.choi2017.table1 import COLUMNS, WITH_SEEDS
from nmt.report.markup import MADE_UP

PRINTED = str(Path(__file__).parents[3] / "nmt/papers/choi2017/printed.tsv")


def dump(path: Path, bleu: float | None, signature: str = "tok:none", sentences: int = 1370) -> str:
    score: dict[str, Any] = {"bleu": bleu, "sentences": sentences, "signature": signature}
    score |= {"detokenized_bleu": bleu and bleu + 1, "detokenized_ceiling": 99.5, "detokenized_signature": "tok:13a"}
    path.write_text(json.dumps({"all": score}), encoding="utf-8")
    return str(path)


def table1(folder: Path, beams: tuple[int, ...] = (1, 12), pair: str = "En-Fi") -> list[str]:
    """Test scores 10.004, 11.004, ... for each model and beam width in turn; development scores are 20 higher."""
    numbers = range(2 * len(beams))
    test = [dump(folder / f"test{n}.json", 10.004 + n) for n in numbers]
    development = [dump(folder / f"development{n}.json", 30.004 + n) for n in numbers]
    words = ["choi2017.table1", "--pair", pair, "--labels", "C+AttY2D", "my_own", "--beams", *map(str, beams)]
    words += ["--scores", *test, "--development-scores", *development]
    return [*words, f"--output-csv={folder / 'table1.csv'}", f"--output-md={folder / 'table1.md'}", "--printed"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_for_each_model_and_beam_width(tmp_path: Path) -> None:
    assert main([*table1(tmp_path), PRINTED]) == 0
    found = rows(tmp_path / "table1.csv")
    assert tuple(found[0]) == COLUMNS
    assert [tuple(row.values())[:7] for row in found] == [
        ("En-Fi", "C+AttY2D", "1", "10.00", "30.00", "9.02", "9.63"),
        ("En-Fi", "C+AttY2D", "12", "11.00", "31.00", "10.20", "10.90"),
        ("En-Fi", "my_own", "1", "12.00", "32.00", "", ""),
        ("En-Fi", "my_own", "12", "13.00", "33.00", "", ""),
    ]
    assert list(found[3].values())[7:] == ["14.00", "34.00", "99.50", "99.50", "1370", "1370", "tok:none", "tok:13a"]


def test_the_page(tmp_path: Path) -> None:
    assert main([*table1(tmp_path), PRINTED]) == 0
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    lines = [" ".join(line.split()) for line in page.split("\n") if line.startswith("|")]
    assert lines[0] == "| Model | En-Fi, beam 1 | paper | En-Fi, beam 12 | paper |"
    assert lines[2] == "| C+AttY2D | 10.00 (30.00) | 9.02 (9.63) | 11.00 (31.00) | 10.20 (10.90) |"
    assert lines[3] == r"| my\_own | 12.00 (32.00) | – | 13.00 (33.00) | – |"
    assert lines[4] == "| Model | En-Fi, beam 1 | En-Fi, beam 12 |"
    assert lines[6] == "| C+AttY2D | 11.00 (31.00) | 12.00 (32.00) |"
    assert "1,370 test and 1,370 development sentences: `tok:none`" in page
    assert "There, a perfect translation would score 99.50 (99.50) in En-Fi." in page
    assert "+1.8 by contextualization alone" in page


@pytest.mark.parametrize(("pair", "printed"), [("En-Fi", []), ("En-Fr", [PRINTED])])
def test_the_papers_numbers_are_those_of_its_own_pairs(tmp_path: Path, pair: str, printed: list[str]) -> None:
    assert main([*table1(tmp_path, pair=pair), *printed]) == 0
    assert {row["paper_test"] for row in rows(tmp_path / "table1.csv")} == {""}
    assert "aper" not in (tmp_path / "table1.md").read_text(encoding="utf-8")


def test_the_papers_numbers_are_those_of_its_own_beam_widths(tmp_path: Path) -> None:
    assert main([*table1(tmp_path, beams=(1, 5)), PRINTED]) == 0
    assert [row["paper_test"] for row in rows(tmp_path / "table1.csv")] == ["9.02", "", "", ""]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda words, _: words.remove("my_own"), "2 labels for 4 files of --scores"),
        (lambda _, path: dump(path / "test1.json", 1, "other"), 'test1.json: "signature" is other, but tok:none in '),
        (lambda _, path: dump(path / "development1.json", 1, "other"), 'development1.json: "signature" is other, '),
        (
            lambda _, path: [dump(path / f"development{number}.json", 1, "other") for number in range(4)],
            'development0.json: "signature" is other, but tok:none in ',
        ),
        (lambda _, path: (path / "test1.json").write_text("{}"), "test1.json: no bleu of all in it"),
        (lambda _, path: dump(path / "test1.json", 1, sentences=0), "test1.json: has no score"),
        (lambda _, path: dump(path / "development1.json", None), "development1.json: bleu of all is null"),
        (lambda _, path: (path / "development1.json").unlink(), "development1.json: no such file"),
    ],
)
def test_inputs_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: Any, message: str) -> None:
    words = table1(tmp_path)
    edit(words, tmp_path)
    assert main(words) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "table1.csv").exists()


def test_models_with_the_same_label_are_seeds_of_one(tmp_path: Path) -> None:
    """Two of them: the standard deviation of 10.004 and 12.004 is the root of 2."""
    words = table1(tmp_path)
    words[words.index("my_own")] = "C+AttY2D"
    assert main(words) == 0
    found = rows(tmp_path / "table1.csv")
    assert tuple(found[0]) == WITH_SEEDS
    assert [(row["beam"], row["test"], row["test_sd"], row["development"], row["seeds"]) for row in found] == [
        ("1", "11.00", "1.41", "31.00", "2"),
        ("12", "12.00", "1.41", "32.00", "2"),
    ]
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "| 11.00 ± 1.41 (31.00 ± 1.41) |" in page
    assert "± its standard deviation" in page
    dump(tmp_path / "test2.json", 3, sentences=9)
    assert main(words) == 1


def test_a_made_up_language_is_named_first(tmp_path: Path) -> None:
    assert main([*table1(tmp_path), PRINTED, "--generated"]) == 0
    assert (tmp_path / "table1.md").read_text(encoding="utf-8").split("\n")[2] == f"**{MADE_UP}**"
