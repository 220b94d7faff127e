"""Tables 1 and 2: their columns, the paper's numbers beside ours, escaping, and inputs that do not fit."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.papers.bahdanau2015.printed import read_paper
from nmt.report.markup import escape_latex, escape_markdown, markdown_table, span
from nmt.system.files import UserError
from nmt.system.tables import read_csv, write_csv

PAPER = str(Path(__file__).parents[3] / "data" / "paper.tsv")
LABELS = ["RNNencdec-30", "RNNsearch-50*", "my_own & 100%"]


def score(bleu: float | None, sentences: int, signature: str = "tok:none") -> dict[str, Any]:
    part = {"bleu": bleu, "sentences": sentences, "signature": signature}
    return part | {"detokenized_bleu": bleu, "detokenized_signature": "tok:13a"}


def dump(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def table1(tmp_path: Path) -> list[str]:
    scores = [
        dump(tmp_path / f"{number}.json", {"all": score(bleu, 3003), "no_unk": score(known, 50 * bool(known))})
        for number, (bleu, known) in enumerate([(10.006, 20.0), (0.0, None), (99.994, 100.0)])
    ]
    outputs = [f"--output-{kind}={tmp_path / f'table1.{kind}'}" for kind in ("csv", "md", "tex")]
    return ["table1", "--scores", *scores, "--labels", *LABELS, "--paper", PAPER, *outputs]


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


def test_table1_says_how_the_phrase_based_system_was_made(table1: list[str], tmp_path: Path) -> None:
    tuning = {"system": "Thot 3.5.3", "sentences": 1500, "bleu": [10.0, 12.345], "kept": 1}
    options = ["--phrase-based", LABELS[2], "--tuning", dump(tmp_path / "tuning.json", tuning), "--order", "3"]
    assert main([*table1, *options, "--monolingual", "news-crawl"]) == 0
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "trained on all selected pairs, with a 3-gram language model of the selected text and news-crawl," in page
    assert "tuned on 1,500 sentences of the development set (10.00 BLEU on them before, 12.35 with the weights" in page
    assert "was not run: the row quotes the paper." in page
    labels = ["Moses" if label == LABELS[2] else label for label in LABELS]
    words = [*table1[: table1.index("--labels") + 1], *labels, *table1[table1.index("--paper") :]]
    assert main([*words, "--phrase-based", "Moses", *options[2:], "--pairs", "1000"]) == 0
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "trained on 1,000 of the selected pairs" in page
    assert "99.99 (33.30)" in page
    assert "quotes" not in page
    dump(tmp_path / "tuning.json", {})
    assert main([*table1, *options]) == 1


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda words, _: words.remove("RNNsearch-50*"), "2 labels for 3 files"),
        (lambda words, _: words.__setitem__(words.index("RNNsearch-50*"), "RNNencdec-30"), "given twice"),
        (lambda _, path: dump(path / "1.json", {"all": {}}), "1.json: no bleu of all"),
        (lambda _, path: dump(path / "1.json", [1]), "1.json: no bleu of all"),
        (
            lambda _, path: dump(path / "1.json", {"all": score(1.0, 1, "other"), "no_unk": score(1.0, 1)}),
            "made in different ways",
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


@pytest.fixture
def table2(tmp_path: Path) -> list[str]:
    summary = {"updates": 1234, "epochs": 0.034, "hours": 0.0312, "device": "cpu_x", "precision": "float32"}
    summary |= {"parameters": 80438981, "seed": 7, "settings_digest": "ab12", "variant": "any"}
    files = dump(tmp_path / "summary.json", summary)
    nll = [dump(tmp_path / f"{name}.json", {"nll": 1.005 + n, "sentences": 9 + n}) for n, name in enumerate("td")]
    return [
        *("table2", "--labels", "RNNsearch-50", "new", "--paper", PAPER, "--summaries", files, files),
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
        ("epochs", "0.03"),
        ("paper_epochs", "2.2"),
        ("hours", "0.031"),
        ("paper_hours", "111"),
    ]
    assert list(first)[7:] == [
        *("device", "paper_device", "train_nll", "paper_train_nll", "development_nll", "paper_development_nll"),
        *("precision", "parameters", "seed", "settings_digest"),
    ]
    assert (first["paper_train_nll"], first["development_nll"], first["seed"]) == ("40.7", "2.00", "7")
    assert [value for name, value in second.items() if name.startswith("paper_")] == [""] * 6
    page = (tmp_path / "table2.md").read_text(encoding="utf-8")
    assert r"cpu\_x (Quadro K-6000)" in page
    assert "1,234 (288,000)" in page
    assert "80,438,981" in page


def test_table2_names_the_missing_key(table2: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump(tmp_path / "summary.json", {"updates": 1})
    assert main(table2) == 1
    assert "summary.json: no epochs in it" in capsys.readouterr().err


def test_the_papers_numbers() -> None:
    paper = read_paper(PAPER)
    assert list(paper) == [*("RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*", "Moses")]
    assert [row["all"] for row in paper.values()] == [13.93, 21.50, 17.82, 26.75, 28.45, 33.30]
    assert [row["no_unk"] for row in paper.values()] == [24.19, 31.44, 26.71, 34.16, 36.15, 35.63]
    assert paper["RNNsearch-30"]["updates"] == 471000
    assert paper["Moses"]["updates"] is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("label\t", "name\t", "the first line must name"),
        ("13.93\t", "", "line 2 has 8 columns"),
        ("13.93", "many", "line 2 is not a row of numbers"),
        ("RNNsearch-30", "RNNencdec-30", "line 3 repeats"),
    ],
)
def test_a_broken_paper_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = Path(PAPER).read_text(encoding="utf-8")
    (tmp_path / "paper.tsv").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_paper(str(tmp_path / "paper.tsv"))


def test_escaping() -> None:
    assert escape_markdown("a|b *c* _d_ <e>\u2028`f`") == r"a\|b \*c\* \_d\_ \<e\> \`f\`"
    assert escape_latex("{a}_^~\\&$#%*[") == (
        r"\{a\}\_\textasciicircum{}\textasciitilde{}\textbackslash{}\&\$\#\%\textsuperscript{*}{[}"
    )
    assert markdown_table(["x", "y"], [["a", "1"]]) == [
        "| x    |    y |",
        "| :--- | ---: |",
        "| a    |    1 |",
    ]
    assert span([3, 3]) == "3"
    assert span([5000, 3, 4]) == "3 to 5,000"


def test_csv_keeps_every_word(tmp_path: Path) -> None:
    words = ['"', ",", "null", "NA", "\u2028", "\x85", "$"]
    path = str(tmp_path / "words.csv")
    write_csv(path, ["word", "n"], [[word, 1] for word in words])
    assert read_csv(path, ["word", "n"]) == [[word, "1"] for word in words]
    with pytest.raises(UserError, match="columns must be"):
        read_csv(path, ["word"])
    (tmp_path / "words.csv").write_text("word,n\na\n", encoding="utf-8")
    with pytest.raises(UserError, match="row 2 has 1 cells"):
        read_csv(path, ["word", "n"])
