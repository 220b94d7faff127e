"""The page of all: its files, what a click shows in a browser, and what of a text it must not take for HTML."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.report.index import CHUNK
from tests.chromium import document

SENTENCES = 2 * CHUNK + 20
NASTY = "</script> <b> &lt; x\x00 y\u2028z\x85"  # words as the tokenizer leaves them


def source(line: int) -> str:
    return f"the house {line} {NASTY}" if line == 3 else f"the house {line}"


def record(line: int, target: list[str], *, attention: bool) -> dict[str, Any]:
    words = [*source(line).split(" "), "<eos>"]
    words[0] = "UNK"
    weights = [[round(1.0 * (row == column), 4) for column in range(len(words))] for row in range(len(target))]
    return {"line": line, "rank": 0, "source": words, "target": target, "weights": weights if attention else None}


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A command that makes a page of two sets and two models; the second set is one sentence that is not translated."""
    texts = {"source": map(source, range(SENTENCES)), "reference": (f"la maison {n}" for n in range(SENTENCES))}
    texts["baseline"] = (f"cette maison {n}" for n in range(SENTENCES))
    for side, lines in texts.items():
        (tmp_path / f"big.{side}").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"small.{side}").write_text("\n")
    for model in ("fixed", "looks"):
        records = [record(n, ["la", "&apos;", "<eos>"], attention=model == "looks") for n in range(SENTENCES)]
        (tmp_path / f"{model}.big").write_text("".join(json.dumps(one) + "\n" for one in records))
        (tmp_path / f"{model}.small").write_text("")
    for name in ("table1.md", "small/table1.md"):
        (tmp_path / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / name).write_text(f"# Of {name}\n\n| a |\n| :- |\n| 1 |\n")
    for name in ("table1", "figure2"):
        (tmp_path / f"{name}.rst").write_text(f"What {name} is, & more.\n")
    words = ["index", "--experiment", "a<b", "--output", tmp_path / "results/index.html", "--captions"]
    words += [tmp_path / f"{name}.rst" for name in ("table1", "figure2", "table1")]
    words += ["--titles", "Table 1", "Figure 2", "Table 1", "--title", "Ours", "--reference", "Us (2020), *It & all*"]
    words += ["--shown", *(tmp_path / "results" / name for name in ("table1.md", "figure2.svg", "small/table1.md"))]
    words += ["--sets", "big", "small", "--labels", "RNNencdec-50", "RNNsearch-50*"]
    for option, side in (("--sources", "source"), ("--references", "reference")):
        words += [option, *(tmp_path / f"{name}.{side}" for name in ("big", "small"))]
    words += ["--baseline", "Phrase <based>", *(tmp_path / f"{name}.baseline" for name in ("big", "small"))]
    words += [
        "--alignments",
        *(tmp_path / f"{model}.{name}" for name in ("big", "small") for model in ("fixed", "looks")),
    ]
    return list(map(str, words))


def test_alignments_are_cut_into_scripts(arguments: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "results/index"
    folder.mkdir()
    (folder / "old.7.js").write_text('nmt.chunk("old",7,[]);\n')  # of an earlier, larger set
    assert main(arguments) == 0
    assert {path.name for path in folder.iterdir()} == {
        "big.js",
        "big.0.js",
        "big.1.js",
        "big.2.js",
        "small.js",
        "small.0.js",
    }
    line = (folder / "big.1.js").read_text()
    assert line.isascii()
    first = json.loads("[" + line.removeprefix("nmt.chunk(").removesuffix(");\n") + "]")
    assert first[:2] == ["big", 1]
    assert first[2][0] == [[["la", "'", "<eos>"], None], [["la", "'", "<eos>"], "ff000000" + "00ff0000" + "0000ff00"]]
    assert len(first[2]) == CHUNK
    text = json.loads((folder / "big.js").read_text().removeprefix('nmt.text("big",').removesuffix(");\n"))
    assert text["source"][3] == "the house 3 </script> <b> < x␀ y\u2028z\ufffd"
    page = (tmp_path / "results/index.html").read_text()
    assert 'src="figure2.svg"' in page
    assert 'href="figure2.pdf"' in page
    assert "What figure2 is, &amp; more." in page
    assert "<h1>Ours: a&lt;b</h1>" in page
    assert "of Us (2020), <em>It &amp; all</em>, reproduced" in " ".join(page.split())
    assert '<section id="small/table1"><h2>Table 1 of small</h2>' in page
    assert not re.search(r'(src|href)="(https?:)?//', page)


@pytest.mark.parametrize("name", ["thesis.tex", "app.js", "folder.js/nmt.js"])
def test_a_folder_of_something_else_is_not_emptied(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = tmp_path / "results/index" / name
    file.parent.mkdir(parents=True)
    file.write_text("years of work")
    assert main(arguments) == 1
    said = f"exists and is not a folder of this page's scripts, for it holds {name.split('/')[0]}; name another folder"
    assert capsys.readouterr().err == f"nmt index: {tmp_path / 'results/index'}: {said}\n"
    assert file.read_text() == "years of work"
    arguments[arguments.index("--output") + 1] = str(tmp_path / "results/page")
    assert main(arguments) == 1
    assert "page does not end in .html; name a file that does" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda one: one | {"source": ["a", "house", "0", "<eos>"]}, "its source words differ"),
        (lambda one: one | {"weights": [[1.0]]}, "differ in number"),
        (lambda one: one | {"line": 1000}, "sentence 1001 is out of place"),
        (lambda one: {}, "line 1 is not an alignment"),
    ],
)
def test_alignments_of_another_text_are_one_line(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Any, line: str
) -> None:
    (tmp_path / "looks.big").write_text(json.dumps(change(record(0, ["la"], attention=True))) + "\n")
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_a_file_too_few_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments[:-1]) == 1
    assert "--alignments: 3 files for 2 sets and 2 models; give 4" in capsys.readouterr().err
    arguments.remove(next(word for word in arguments if word.endswith("small.baseline")))
    assert main(arguments) == 1
    assert "--baseline: 1 files for 2 sets; give 2" in capsys.readouterr().err


def test_without_a_paper_the_head_is_neutral(arguments: list[str], tmp_path: Path) -> None:
    place = arguments.index("--title")
    assert main(arguments[:place] + arguments[place + 4 :]) == 0
    page = (tmp_path / "results/index.html").read_text()
    assert "<h1>a&lt;b</h1>\n<p>The tables and figures of the experiment, and below them" in page


@pytest.mark.parametrize("option", ["--titles", "--captions"])
def test_every_file_has_a_title_and_a_caption(
    arguments: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments.pop(arguments.index(option) + 1)
    assert main(arguments) == 1
    assert f"{option}: give one for each of the 3 files of --shown" in capsys.readouterr().err


def test_without_a_baseline_there_is_no_line_for_it(arguments: list[str], tmp_path: Path) -> None:
    place = arguments.index("--baseline")
    assert main(arguments[:place] + arguments[place + 4 :]) == 0
    page = document(tmp_path / "results/index.html", "big/4")
    assert "la maison 3" in shown(page)
    assert "cette maison" not in page


def shown(page: str) -> str:
    """The text of the page's panel for one sentence."""
    panel = page[page.index('<div id="sentence">') : page.index('<script type="application/json"')]
    return html.unescape(re.sub(r"<[^>]*>", "|", panel))


def test_a_click_shows_the_alignments(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    page = tmp_path / "results/index.html"
    said = document(page, script="document.querySelectorAll('#list button')[3].click();")
    assert "Sentence 4 of big" in shown(said)
    assert "the house 3 </script> <b> < x␀" in shown(said)
    assert "Phrase <based>||cette maison 3|" in shown(said)
    assert "From a fixed vector" in shown(said)
    assert said.count("--weight: ") == 3 * (len(source(3).split(" ")) + 1)
    assert said.count("--weight: 1.000") == 3
    assert said.count("<li><button") == 25
    assert f"1 to 25 of {SENTENCES}" in said
    assert "<b>" not in said[said.index('id="sentences"') : said.index('<script type="application/json"')]


def test_a_link_a_search_and_another_set(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    page = tmp_path / "results/index.html"
    last = document(page, f"big/{SENTENCES}")
    assert f"Sentence {SENTENCES} of big" in shown(last)
    assert f"101 to {SENTENCES} of {SENTENCES}" in last
    search = "const box = document.getElementById('search'); box.value = 'MAISON 11'; box.oninput();"
    assert "1 to 11 of 11" in document(page, script=search)
    small = document(page, "small/1")
    assert "Sentence 1 of small" in shown(small)
    assert shown(small).count("not translated") == 2


def test_an_address_that_names_no_sentence_shows_the_first(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    note = "document.title = document.querySelector('#sentence h3').textContent; location.hash = '#big/1.5';"
    said = document(tmp_path / "results/index.html", "%", note)
    assert "<title>Sentence 1 of big</title>" in said
    assert "Sentence 1 of big" in shown(said)


def test_without_its_folder_the_page_says_so(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    (tmp_path / "results/index").rename(tmp_path / "elsewhere")
    assert "index/big.js is not beside this page; copy that folder, too" in document(tmp_path / "results/index.html")
