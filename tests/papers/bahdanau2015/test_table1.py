"""Table 1: its columns, the paper's numbers beside ours, escaping, and inputs that do not fit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.report.markup import MADE_UP

PRINTED = str(Path(__file__).parents[3] / "nmt/papers/bahdanau2015/printed.tsv")
LABELS = ["RNNencdec-30", "RNNsearch-50*", "my_own & 100%"]


def score(bleu: float | None, sentences: int, signature: str = "tok:none") -> dict[str, Any]:
    part = {"bleu": bleu, "sentences": sentences, "signature": signature}
    return part | {"detokenized_bleu": bleu, "detokenized_ceiling": 99.5, "detokenized_signature": "tok:13a"}


def dump(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


@pytest.fixture
def table1(tmp_path: Path) -> list[str]:
    scores = [
        dump(tmp_path / f"{number}.json", {"all": score(bleu, 3003), "no_unk": score(known, 50 * bool(known))})
        for number, (bleu, known) in enumerate([(10.006, 20.0), (0.0, None), (99.994, 100.0)])
    ]
    outputs = [f"--output-{kind}={tmp_path / f'table1.{kind}'}" for kind in ("csv", "md", "tex")]
    return ["bahdanau2015.table1", "--scores", *scores, "--labels", *LABELS, "--printed", PRINTED, *outputs]


def test_table1_csv(table1: list[str], tmp_path: Path) -> None:
    assert main(table1) == 0
    lines = (tmp_path / "table1.csv").read_text(encoding="utf-8").split("\n")
    assert lines == [
        "model,all,no_unk,paper_all,paper_no_unk,sentences_all,sentences_no_unk,signature",
        "RNNencdec-30,10.01,20.00,13.93,24.19,3003,50,tok:none",
        "RNNsearch-50*,0.00,,28.45,36.15,3003,0,tok:none",
        "my_own & 100%,99.99,100.00,,,3003,50,tok:none",
        "Moses,,,33.30,35.63,,,",
        "",
    ]


def test_systems_with_the_same_label_are_seeds_of_one(table1: list[str], tmp_path: Path) -> None:
    """10.006 and 13.006 have the mean 11.506 and the standard deviation 3 / root of 2."""
    dump(tmp_path / "1.json", {"all": score(13.006, 3003), "no_unk": score(20.0, 50), "note": "by hand"})
    table1[table1.index("RNNsearch-50*")] = "RNNencdec-30"
    assert main(table1) == 0
    lines = (tmp_path / "table1.csv").read_text(encoding="utf-8").split("\n")
    assert lines[0].endswith("signature,all_sd,no_unk_sd,seeds")
    assert lines[1] == "RNNencdec-30,11.51,20.00,13.93,24.19,3003,50,tok:none,2.12,0.00,2"
    assert lines[2] == "my_own & 100%,99.99,100.00,,,3003,50,tok:none,,,1"
    assert lines[3] == "Moses,,,33.30,35.63,,,,,,"
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "| 11.51 ± 2.12 (13.93) |" in page
    assert "± its standard deviation" in page
    assert r"11.51 $\pm$ 2.12" in (tmp_path / "table1.tex").read_text(encoding="utf-8")
    dump(tmp_path / "1.json", {"all": score(13.006, 3002), "no_unk": score(20.0, 50)})
    assert main(table1) == 1


def test_table1_pages(table1: list[str], tmp_path: Path) -> None:
    assert main(table1) == 0
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "10.01 (13.93)" in page
    assert "– (36.15)" in page
    assert r"| my\_own \& 100% |" in page
    assert "3,003 sentences" in page
    assert "0 to 50 sentences without" in page
    tex = (tmp_path / "table1.tex").read_text(encoding="utf-8")
    assert r"my\_own \& 100\% & 99.99 & -- & 100.00 & -- \\" in tex
    body = [line for line in tex.split("\n") if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body[1:]} == {4}


def test_table1_says_how_the_phrase_based_system_was_made(
    table1: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tuning = {"system": "Thot 3.5.3", "sentences": 1500, "bleu": [10.0, 12.345], "kept": 1}
    options = ["--phrase-based", LABELS[2], "--tuning", dump(tmp_path / "tuning.json", tuning), "--settings"]
    assert main([*table1, *options, '{"order": 3, "monolingual": ["un", "news-crawl"]}']) == 0
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert (
        "trained on all selected pairs, with a 3-gram language model of the selected text, un and news-crawl," in page
    )
    assert "tuned on 1,500 sentences of the development set (10.00 BLEU on them before, 12.35 with the weights" in page
    assert "was not run: the row quotes the paper." in page
    labels = ["Moses" if label == LABELS[2] else label for label in LABELS]
    words = [*table1[: table1.index("--labels") + 1], *labels, *table1[table1.index("--printed") :]]
    found: tuple[dict[str, int], ...] = ({}, {"pairs": 1000}, {"pairs": 900})
    for drawn, said in zip(found, [*["1,000 of the selected pairs"] * 2, "all selected pairs"], strict=True):
        dump(tmp_path / "tuning.json", tuning | drawn)
        assert main([*words, "--phrase-based", "Moses", *options[2:], '{"pairs": 1000}']) == 0
        page = (tmp_path / "table1.md").read_text(encoding="utf-8")
        assert f"trained on {said}" in page
    assert "99.99 (33.30)" in page
    assert "quotes" not in page
    for odd in ({}, tuning | {"bleu": [1.0, 1e308]}, tuning | {"pairs": None}):
        dump(tmp_path / "tuning.json", odd)
        assert main([*table1, *options, '{"pairs": 9}']) == 1
        assert "tuning.json: does not say how the system was tuned" in capsys.readouterr().err
    assert main([*table1, *options[:2]]) == 1
    assert "--tuning is missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda words, _: words.remove("RNNsearch-50*"), "2 labels for 3 files"),
        (lambda _, path: dump(path / "1.json", {"all": {}}), "1.json: no bleu of all"),
        (lambda _, path: dump(path / "1.json", [1]), "1.json: no bleu of all"),
        (lambda _, path: dump(path / "1.json", {"all": {"bleu": "x"}}), "1.json: no bleu of all"),
        (
            lambda _, path: dump(path / "1.json", {"all": {"bleu": 1000}}),
            "1.json: no bleu of all in it, a number from 0 to 100, or null; make it again",
        ),
        (
            lambda _, path: dump(path / "1.json", {"all": score(1.0, 3003, "other"), "no_unk": score(1.0, 1)}),
            '1.json: "signature" is other, but tok:none in ',
        ),
        (
            lambda _, path: dump(path / "1.json", {"all": score(1.0, 7), "no_unk": score(1.0, 1)}),
            "0.json; name scores of one set, or make all again",
        ),
        (lambda _, path: (path / "1.json").write_text("{", encoding="utf-8"), "1.json: not JSON"),
        (lambda _, path: (path / "1.json").unlink(), "1.json: no such file"),
    ],
)
def test_table1_bad_input(
    table1: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: Any, message: str
) -> None:
    edit(table1, tmp_path)
    assert main(table1) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "table1.csv").exists()


def without_printed(words: list[str]) -> list[str]:
    place = words.index("--printed")
    return [*words[: place + 1], *words[place + 2 :]]


def test_table1_without_the_papers_numbers(table1: list[str], tmp_path: Path) -> None:
    assert main(without_printed(table1)) == 0
    assert (tmp_path / "table1.csv").read_text(encoding="utf-8").split("\n") == [
        "model,all,no_unk,sentences_all,sentences_no_unk,signature",
        "RNNencdec-30,10.01,20.00,3003,50,tok:none",
        "RNNsearch-50*,0.00,,3003,0,tok:none",
        "my_own & 100%,99.99,100.00,3003,50,tok:none",
        "",
    ]
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert not re.search("In brackets|paper|Moses", page)
    tex = (tmp_path / "table1.tex").read_text(encoding="utf-8")
    assert tex.startswith("\\begin{tabular}{lrr}\n\\hline\nModel & All & No UNK \\\\\n")
    assert "RNNsearch-50\\textsuperscript{*} & 0.00 & -- \\\\" in tex


def test_table1_of_scores_of_all_sentences_alone(table1: list[str], tmp_path: Path) -> None:
    for number, bleu in enumerate((10.006, 0.0, 99.994)):
        dump(tmp_path / f"{number}.json", {"all": score(bleu, 3003)})
    assert main(table1) == 0
    lines = (tmp_path / "table1.csv").read_text(encoding="utf-8").split("\n")
    assert lines[:2] == ["model,all,paper_all,sentences_all,signature", "RNNencdec-30,10.01,13.93,3003,tok:none"]
    assert lines[4] == "Moses,,33.30,,"
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "No UNK" not in page
    assert "All is corpus BLEU" in page
    tex = (tmp_path / "table1.tex").read_text(encoding="utf-8")
    assert tex.startswith(
        "\\begin{tabular}{lrr}\n\\hline\n & \\multicolumn{2}{c}{All} \\\\\nModel & ours & paper \\\\\n"
    )


def test_table1_of_different_parts(table1: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump(tmp_path / "1.json", {"all": score(1.0, 3003)})
    assert main(table1) == 1
    assert "only some of them have a score without unknown words" in capsys.readouterr().err


def test_a_made_up_language_is_named_first(table1: list[str], tmp_path: Path) -> None:
    assert main([*table1, "--generated"]) == 0
    assert (tmp_path / "table1.md").read_text(encoding="utf-8").split("\n")[2] == f"**{MADE_UP}**"
    first = (tmp_path / "table1.tex").read_text(encoding="utf-8").split("\n")[2]
    assert first == r"\multicolumn{5}{l}{The language of this experiment is made up.} \\"
    assert MADE_UP.startswith("The language of this experiment is made up: ")
