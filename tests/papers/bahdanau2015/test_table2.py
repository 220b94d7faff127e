"""Table 2: its columns, the paper's numbers beside ours, and inputs that do not fit."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.report.markup import MADE_UP

PRINTED = str(Path(__file__).parents[3] / "nmt/papers/bahdanau2015/printed.tsv")


def dump(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def table2(tmp_path: Path) -> list[str]:
    summary = {
        "updates": 1234,
        "pairs_seen": 98720,
        "passes": 16.4533,
        "hours": 0.0312,
        "device": "cpu_x",
        "precision": "float32",
    }
    summary |= {"parameters": 80438981, "seed": 7, "settings_digest": "ab12", "variant": "any"}
    other = {**summary, "pairs_seen": 24680, "passes": None}  # of a model that continues an exported one
    files = dump(tmp_path / "summary.json", summary), dump(tmp_path / "other.json", other)
    nll = [
        dump(tmp_path / f"{name}.json", {"nll": 1.005 + n, "sentences": 10, "pairs": pairs})
        for n, (name, pairs) in enumerate({"t": 8000, "d": 10}.items())
    ]
    return [
        *("bahdanau2015.table2", "--labels", "RNNsearch-50", "new", "--printed", PRINTED, "--summaries", *files),
        *("--train-nll", nll[0], nll[0], "--development-nll", nll[1], nll[1]),
        *(f"--output-{kind}={tmp_path / f'table2.{kind}'}" for kind in ("csv", "md")),
    ]


def test_table2(table2: list[str], tmp_path: Path) -> None:
    assert main(table2) == 0
    first, second = rows(tmp_path / "table2.csv")
    assert list(first.items())[:7] == [
        ("model", "RNNsearch-50"),
        ("updates", "1234"),
        ("paper_updates", "288000"),
        ("epochs", "12.34"),
        ("paper_epochs", "2.2"),
        ("hours", "0.031"),
        ("paper_hours", "111"),
    ]
    assert list(first)[7:] == [
        *("device", "paper_device", "train_nll", "paper_train_nll", "development_nll", "paper_development_nll"),
        *("passes", "precision", "parameters", "seed", "settings_digest"),
    ]
    assert (first["passes"], second["epochs"], second["passes"]) == ("16.45", "3.08", "")
    assert (first["paper_train_nll"], first["development_nll"], first["seed"]) == ("40.7", "2.00", "7")
    assert [value for name, value in second.items() if name.startswith("paper_")] == [""] * 6
    page = (tmp_path / "table2.md").read_text(encoding="utf-8")
    assert r"cpu\_x (Quadro K-6000)" in page
    assert "1,234 (288,000)" in page
    assert "| 1.9 min (111 h) |" in " ".join(page.split())
    assert "made up" not in page
    assert "80,438,981" in page
    [made] = [line for line in page.split("\n") if line.startswith("| RNNsearch-50 ") and "ab12" in line]
    assert "| 16.45 |" in " ".join(made.split())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"hours": None}, '"hours": expected a number, 0 or more, not None'),
        ({"hours": "x"}, "\"hours\": expected a number, 0 or more, not 'x'"),
        ({"updates": [1]}, '"updates": expected a whole number, 0 or more, not [1]'),
        ({"parameters": "many"}, "\"parameters\": expected a whole number, 1 or more, not 'many'"),
    ],
)
def test_table2_names_what_is_missing_or_of_another_type(
    table2: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, object], said: str
) -> None:
    summary = json.loads((tmp_path / "summary.json").read_text())
    dump(tmp_path / "summary.json", {**summary, **changed})
    assert main(table2) == 1
    assert f"summary.json: {said}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--train-nll", "d.json", 'd.json: "pairs" is 10, but 8000 in {}/t.json; name scores of one set'),
        ("--development-nll", "t.json", 't.json: "pairs" is 8000, but 10 in {}/d.json; name scores of one set'),
    ],
)
def test_likelihoods_of_one_column_are_of_one_text(
    table2: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, name: str, said: str
) -> None:
    table2[table2.index(option) + 2] = str(tmp_path / name)
    assert main(table2) == 1
    assert said.format(tmp_path) in capsys.readouterr().err


def test_the_two_likelihoods_are_not_exchanged(
    table2: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train, development = (table2.index(option) for option in ("--train-nll", "--development-nll"))
    table2[train], table2[development] = table2[development], table2[train]
    assert main(table2) == 1
    assert "t.json: of a sample of the pairs; name the NLL of the whole development set\n" in capsys.readouterr().err


def test_table2_without_the_papers_numbers(table2: list[str], tmp_path: Path) -> None:
    place = table2.index("--printed")
    assert main([*table2[: place + 1], *table2[place + 2 :]]) == 0
    first, _ = rows(tmp_path / "table2.csv")
    assert list(first) == [
        *("model", "updates", "epochs", "hours", "device", "train_nll", "development_nll"),
        *("passes", "precision", "parameters", "seed", "settings_digest"),
    ]
    page = (tmp_path / "table2.md").read_text(encoding="utf-8")
    assert "paper" not in page
    assert "288,000" not in page


def test_a_made_up_language_is_named_first(table2: list[str], tmp_path: Path) -> None:
    assert main([*table2, "--generated"]) == 0
    assert (tmp_path / "table2.md").read_text(encoding="utf-8").split("\n")[2] == f"**{MADE_UP}**"
