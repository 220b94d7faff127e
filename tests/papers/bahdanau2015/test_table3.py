"""Table 3: which sentences it shows, and how."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.papers.bahdanau2015.printed import fingerprint
from nmt.papers.bahdanau2015.table3 import choose
from nmt.report.markup import MADE_UP

LONG = "w " * 29 + "w{}"
TEXTS = [LONG.format(0), "short", LONG.format(2), LONG.format(3) + " | *", "w " * 28 + "w"]


def test_only_long_sentences_are_drawn() -> None:
    assert sorted(choose(TEXTS, [], 30, 9, seed=1)) == [0, 2, 3]
    assert len(choose(TEXTS, [], 30, 2, seed=1)) == 2


def test_the_draw_depends_on_the_seed_alone() -> None:
    texts = [LONG.format(number) for number in range(100)]
    assert choose(texts, [], 30, 5, seed=1) == choose(texts, [], 30, 5, seed=1)
    assert choose(texts, [], 30, 5, seed=1) != choose(texts, [], 30, 5, seed=2)
    assert choose(texts, [], 30, 5, seed=1)[:3] == choose(texts, [], 30, 3, seed=1)


def test_the_papers_sentences_come_first_and_once() -> None:
    assert choose(TEXTS, [2, 1], 30, 4, seed=1)[:2] == [2, 1]
    assert sorted(choose(TEXTS, [2, 1], 30, 9, seed=1)) == [0, 1, 2, 3]


def settings(**changed: int) -> str:
    return json.dumps({"models": ["one", "two"], **changed})


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    for name in ("source", "raw", "reference", "first", "second"):
        (tmp_path / name).write_text("".join(text + "\n" for text in TEXTS), encoding="utf-8")
    (tmp_path / "first").write_text("l&apos; homme | a *\n" * len(TEXTS), encoding="utf-8")
    return [
        *("bahdanau2015.table3", "--source", str(tmp_path / "source"), "--raw-source", str(tmp_path / "raw")),
        *("--reference", str(tmp_path / "reference"), "--set", "my_set", "--seed", "1"),
        *("--translations", str(tmp_path / "first"), str(tmp_path / "second"), "--labels", "one", "two*"),
        *("--language", "fr", "--settings", settings(sentences=2)),
        *("--output-csv", str(tmp_path / "table3.csv"), "--output-md", str(tmp_path / "table3.md")),
    ]


def test_table3_files(arguments: list[str], tmp_path: Path) -> None:
    assert main(arguments) == 0
    with (tmp_path / "table3.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["line", "kind", "source", "reference", "one", "two*"]
    assert len(table) == 2
    assert {row["kind"] for row in table} == {"drawn"}
    assert all(row["source"] == TEXTS[int(row["line"]) - 1] for row in table)
    assert {row["one"] for row in table} == {"l'homme | a *"}
    page = (tmp_path / "table3.md").read_text(encoding="utf-8")
    assert r"| **one** | l'homme \| a \* |" in page
    assert r"of my\_set (drawn)" in page
    assert "the paper" not in page


def test_a_printed_sentence_is_named_as_such(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nmt.papers.bahdanau2015.printed.PRINTED", {"my_set": {"Table 3": ((2, fingerprint("short")),)}}
    )
    assert main(arguments) == 0
    page = (tmp_path / "table3.md").read_text(encoding="utf-8")
    assert r"Line 2 of my\_set (printed in the paper)" in page
    assert "drawn with the seed 1, where they are not printed in the paper." in page


def test_text_that_comes_tokenized_stays_so(arguments: list[str], tmp_path: Path) -> None:
    del arguments[arguments.index("--language") + 1]
    assert main(arguments) == 0
    with (tmp_path / "table3.csv").open(encoding="utf-8", newline="") as file:
        assert {row["one"] for row in csv.DictReader(file)} == {"l&apos; homme | a *"}


def test_fewer_sentences_than_asked_for(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments[arguments.index("--settings") + 1] = settings(sentences=2, minimum_words=1000)
    assert main(arguments) == 0
    assert "0 sentences of 1000 words or more" in capsys.readouterr().err
    assert len((tmp_path / "table3.csv").read_text(encoding="utf-8").split("\n")) == 2


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("--settings", settings(sentences=0), "--settings.sentences: expected a whole number, 1 or more, not 0"),
        ("--settings", "{}", "--settings.models is missing"),
        ("--reference", "missing", "missing: no such file"),
        ("--labels", "source", "--labels: source is a column of the table; choose another"),
    ],
)
def test_bad_input(
    arguments: list[str], capsys: pytest.CaptureFixture[str], name: str, value: str, message: str
) -> None:
    arguments[arguments.index(name) + 1] = value
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_made_up_language_is_named_first(arguments: list[str], tmp_path: Path) -> None:
    assert main([*arguments, "--generated"]) == 0
    assert (tmp_path / "table3.md").read_text(encoding="utf-8").split("\n")[2] == f"**{MADE_UP}**"
