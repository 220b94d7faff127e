"""The alignments of Figure 3: which ones are picked, their CSV, and files that hold none."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.papers.bahdanau2015.printed import fingerprint
from nmt.papers.bahdanau2015.sample_alignments import Alignment, disorder, pick
from nmt.report.panels import read_panels

WORDS = "abcdefghijklmnopqrst"
HEADER = "panel,row,column,target_word,source_word,weight\n"


def alignment(line: int, order: list[int], target: list[str] | None = None) -> Alignment:
    """Word i of the translation attends to source word order[i] alone."""
    columns = len(order)
    weights = [[float(column == place) for column in range(columns)] for place in order]
    source = [*WORDS[: columns - 1], "<eos>"]
    return Alignment(line, 0, source, target or source, weights)


def record(made: Alignment) -> dict[str, Any]:
    return {"line": made.line, "source": made.source, "target": made.target, "weights": made.weights}


def test_disorder() -> None:
    assert disorder(alignment(0, [0, 1, 2, 3])) == 0
    assert disorder(alignment(0, [0, 0, 2, 3])) == 0
    assert disorder(alignment(0, [1, 0, 2, 3])) == pytest.approx(2 / 3)
    assert disorder(alignment(0, [2, 1, 0, 3])) == pytest.approx(4 / 3)


def test_auto_takes_the_least_monotone_first() -> None:
    straight = [alignment(line, [0, 1, 2, 3]) for line in range(9)]
    crossed = alignment(9, [2, 1, 0, 3])
    picked = pick([*straight, crossed], None, [], seed=1)
    assert picked["a"].line == 9
    assert len({found.line for found in picked.values()}) == 4


def test_the_chosen_is_not_drawn_again() -> None:
    candidates = [alignment(line, [0, 1]) for line in range(4)]
    for seed in range(20):
        picked = pick(candidates, candidates[2], [], seed)
        assert picked["a"].line == 2
        assert sorted(found.line for found in picked.values()) == [0, 1, 2, 3]
    many = [alignment(line, [0, 1]) for line in range(50)]
    assert pick(many, many[0], [], 1) == pick(many, many[0], [], 1)
    assert pick(many, many[0], [], 1) != pick(many, many[0], [], 2)


def test_the_papers_sentences_have_their_panels() -> None:
    candidates = [alignment(line, [0, 1]) for line in range(6)]
    printed = [alignment(9, [1, 0]), candidates[4], alignment(8, [0, 1])]
    lines = [found.line for found in pick(candidates, None, printed, seed=1).values()]
    assert lines[0] in (0, 1, 2, 3, 5)
    assert lines[1:] == [9, 4, 8]
    assert list(pick([], None, printed, seed=1)) == ["b", "c", "d"]
    chosen = pick(candidates, candidates[4], printed, seed=1)
    assert [chosen[letter].line for letter in "abc"] == [4, 9, 8]
    assert chosen["d"].line in (0, 1, 2, 3, 5)
    two = pick(candidates, None, printed[:2], seed=1)
    assert [two[letter].line for letter in "bc"] == [9, 4]
    assert len({found.line for found in two.values()}) == 4


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Lines of 9, 10, 20, 21 and 10 words; the fifth holds a word beyond the shortlist, the sixth's translation UNK."""
    lengths = [9, 10, 20, 21, 10, 10]
    sources = [" ".join((WORDS * 2)[:length]) for length in lengths]
    sources[4] = sources[4].replace("a", "unknown")
    alignments = []
    for line, text in enumerate(sources):
        words = [*text.split(), "<eos>"]
        target = ["UNK" if line == 5 and word == "a" else word for word in words]
        weights = np.eye(len(words)).tolist()
        alignments.append({"line": line, "source": words, "target": target, "weights": weights})
    (tmp_path / "source").write_text("".join(text + "\n" for text in sources), encoding="utf-8")
    write(tmp_path, alignments)
    shortlist = "<eos>\t1\n<unk>\t1\n" + "".join(f"{word}\t1\n" for word in WORDS)
    (tmp_path / "shortlist").write_text(shortlist, encoding="utf-8")
    return [
        *(
            "bahdanau2015.sample_alignments",
            "--alignments",
            str(tmp_path / "alignments"),
            "--source",
            str(tmp_path / "source"),
        ),
        *("--raw-source", str(tmp_path / "source"), "--set", "my_set"),
        *("--shortlists", str(tmp_path / "shortlist"), str(tmp_path / "shortlist"), "--seed", "1"),
        *("--output", str(tmp_path / "points.csv"), "--settings", '{"model": "any", "chosen": "auto"}'),
    ]


def settings(chosen: Any) -> str:
    return json.dumps({"model": "any", "chosen": chosen})


def write(folder: Path, records: list[Any]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "alignments").write_text(text, encoding="utf-8")


def shapes(path: Path) -> dict[str, tuple[int, int]]:
    return {panel.letter: panel.weights.shape for panel in read_panels(str(path))}


def test_only_sentences_of_10_to_20_known_words(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    assert sorted(shapes(tmp_path / "points.csv").values()) == [(11, 11), (21, 21)]
    assert "2 sentences of 10 to 20 words have no unknown word" in capsys.readouterr().err


def test_any_line_may_be_chosen(arguments: list[str], tmp_path: Path) -> None:
    arguments[-1] = settings(4)
    assert main(arguments) == 0
    found = shapes(tmp_path / "points.csv")
    assert found["a"] == (22, 22)
    assert sorted(found) == ["a", "b", "c"]
    with (tmp_path / "points.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert ",".join(rows[0]) + "\n" == HEADER
    assert rows[1] == ["a", "0", "0", "a", "a", "1.000000"]
    assert rows[22] == ["a", "0", "21", "a", "<eos>", "0.000000"]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The paper prints lines 4, which is too long, 6, whose translation holds UNK, and 2."""
    lines = (tmp_path / "source").read_text(encoding="utf-8").split("\n")
    sentences = tuple((line, fingerprint(lines[line - 1])) for line in (4, 6, 2))
    monkeypatch.setattr("nmt.papers.bahdanau2015.printed.PRINTED", {"my_set": {"Figure 3": sentences}})


def test_the_papers_sentences_are_shown_as_they_are(arguments: list[str], tmp_path: Path, printed: None) -> None:
    assert main(arguments) == 0
    assert shapes(tmp_path / "points.csv") == {"a": (21, 21), "b": (22, 22), "c": (11, 11), "d": (11, 11)}
    targets = {panel.letter: panel.target for panel in read_panels(str(tmp_path / "points.csv"))}
    assert "UNK" in targets["c"]


def test_a_set_with_other_text_has_drawn_panels(
    arguments: list[str], tmp_path: Path, printed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "raw").write_text("other\n" * 6, encoding="utf-8")
    arguments[arguments.index("--raw-source") + 1] = str(tmp_path / "raw")
    assert main(arguments) == 0
    assert sorted(shapes(tmp_path / "points.csv")) == ["a", "b"]
    assert "line 4 of my_set is not the paper's sentence; Figure 3 leaves it out" in capsys.readouterr().err


def test_a_sentence_of_the_paper_without_words(
    arguments: list[str], tmp_path: Path, printed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments[arguments.index("--source") + 1] = str(tmp_path / "blank")
    (tmp_path / "blank").write_text("\n" * 6, encoding="utf-8")
    write(tmp_path, [])
    assert main(arguments) == 1
    assert "line 4 has no words; tokenize the set again" in capsys.readouterr().err


def test_a_file_that_was_cut_at_a_line(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (tmp_path / "alignments").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "alignments").write_text("".join(lines[:-1]), encoding="utf-8")
    assert main(arguments) == 1
    assert "no alignment of line 6; translate the whole text again" in capsys.readouterr().err
    assert not (tmp_path / "points.csv").exists()


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (7, "chosen: 7 is not a line of the source; give a number from 1 to 6, or auto"),
        *((bad, "--settings.chosen: expected auto or a whole number, 1 or more") for bad in (0, -1, "first", 1.5, "")),
    ],
)
def test_a_line_that_is_not_there(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], chosen: Any, message: str
) -> None:
    arguments[-1] = settings(chosen)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "points.csv").exists()


def test_a_chosen_line_without_words(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments[-1] = settings(7)
    with (tmp_path / "source").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert main(arguments) == 1
    assert "line 7 has no words; choose another line, or auto" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"line": 99}, "sentence 100 is out of place"),
        ({"line": "x"}, "line 1 is not an alignment"),
        ({"weights": None}, "take an RNNsearch variant"),
        ({"weights": [[1.0]]}, "its words and weights differ in number"),
        ({"source": ["other"] * 9 + ["<eos>"]}, "its source words differ"),
        ({"source": ["a"] * 30}, "line 1 is not an alignment"),
    ],
)
def test_broken_alignments(
    arguments: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    message: str,
) -> None:
    write(tmp_path, [record(alignment(0, list(range(10)))) | change])
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "points.csv").exists()


@pytest.mark.parametrize("text", ["{\n", "[]\n", "\n", "{}\n"])
def test_lines_that_are_no_alignments(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "alignments").write_text(text, encoding="utf-8")
    assert main(arguments) == 1
    assert "line 1 is not an alignment" in capsys.readouterr().err
