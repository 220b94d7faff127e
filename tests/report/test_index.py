"""The page of all: its files, what a browser shows at a click or a key, and text that must not be taken for HTML."""

from __future__ import annotations

import argparse
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.report.index import CHUNK, sentence_chrf, with_median_seeds
from nmt.report.markup import MADE_UP
from nmt.report.significance import COLUMNS
from nmt.report.summary import Comparison, finding
from tests.chromium import Browser, browser, document

SENTENCES = 2 * CHUNK + 20
ARABIC = "مرحبا بالعالم"
REFERENCE = "l&apos; eau de la maison {} , bleue ."
TARGETS = {
    "fixed": lambda line: "le feu <eos>",
    "looks": lambda line: "l&apos; eau <eos>" if line % 2 else "l&apos; feu <eos>",
}
NASTY = "</script> <b> &lt; x\x00 y\u2028z\x85"  # words as the tokenizer leaves them
BLEU = {"fixed": (12.5, 1.0), "looks": (34.567, 2.0), "baseline": (20.0, 3.0)}  # of each set
WINDOWS = [(400, False), (900, True), (1400, False)]


def source(line: int) -> str:
    return f"the house {line} {NASTY}" if line == 3 else f"the house {line}"


def record(line: int, target: list[str], *, attention: bool) -> dict[str, Any]:
    words = [*source(line).split(" "), "<eos>"]
    words[0] = "UNK"
    weights = [[round(1.0 * (row == column), 4) for column in range(len(words))] for row in range(len(target))]
    return {"line": line, "rank": 0, "source": words, "target": target, "weights": weights if attention else None}


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A command that makes a page of two sets and two models; the second line of the second set has no words."""
    texts = {"source": map(source, range(SENTENCES)), "reference": (REFERENCE.format(n) for n in range(SENTENCES))}
    texts["baseline"] = (f"cette maison {n}" for n in range(SENTENCES))
    for side, lines in texts.items():
        (tmp_path / f"big.{side}").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"small.{side}").write_text(f"{ARABIC}\n\n" if side == "source" else "\n\n")
    for model, target in TARGETS.items():
        records = [record(n, target(n).split(" "), attention=model == "looks") for n in range(SENTENCES)]
        (tmp_path / f"{model}.big").write_text("".join(json.dumps(one) + "\n" for one in records))
        translated = {"source": [*ARABIC.split(" "), "<eos>"], "target": ["feu"], "weights": None}
        (tmp_path / f"{model}.small").write_text(json.dumps({"line": 0, "rank": 0, **translated}) + "\n")
    for system, scores in BLEU.items():
        for (name, lines), bleu in zip((("big", SENTENCES), ("small", 2)), scores, strict=True):
            values = dict.fromkeys(("signature", "detokenized_signature"), "a") | {"bleu": bleu, "sentences": lines}
            values |= dict.fromkeys(("detokenized_bleu", "detokenized_ceiling"), 1.0)
            (tmp_path / f"{system}.{name}.json").write_text(json.dumps({"all": values}))
    row = dict.fromkeys(COLUMNS, "1") | {"part": "all", "system": "RNNsearch-50*", "baseline": "RNNencdec-50"}
    row |= {"difference": "22.07", "p_holm": "0.0010", "sentences": str(SENTENCES)}
    (tmp_path / "significance.csv").write_text(f"{','.join(COLUMNS)}\n{','.join(row.values())}\n")
    for name in ("table1.md", "small/table1.md"):
        (tmp_path / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / name).write_text(f"# Of {name}\n\n| a |\n| :- |\n| 1 |\n\n## More\n")
    for name in ("table1", "figure2"):
        (tmp_path / f"{name}.rst").write_text(f"What {name} is, & more.\n")
    words = ["index", "--experiment", "a<b", "--output", tmp_path / "results/index.html", "--captions"]
    words += [tmp_path / f"{name}.rst" for name in ("table1", "figure2", "table1")]
    words += ["--titles", "Table 1", "Figure 2", "Table 1", "--title", "Ours", "--reference", "Us (2020), *It & all*"]
    words += ["--claim", "This <is> *so*.", "--front", tmp_path / "results/figure2.svg"]
    words += ["--significance", tmp_path / "significance.csv", "--pair", "RNNsearch-50*", "RNNencdec-50"]
    words += ["--scores", *(tmp_path / f"{system}.{name}.json" for name in ("big", "small") for system in BLEU)]
    words += ["--shown", *(tmp_path / "results" / name for name in ("table1.md", "figure2.svg", "small/table1.md"))]
    words += ["--languages", "en", "fr", "--sets", "big", "small", "--labels", "RNNencdec-50", "RNNsearch-50*"]
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
        "big~0.js",
        "big~1.js",
        "big~2.js",
        "small.js",
        "small~0.js",
    }
    line = (folder / "big~1.js").read_text()
    assert line.isascii()
    first = json.loads("[" + line.removeprefix("nmt.chunk(").removesuffix(");\n") + "]")
    assert first[:2] == ["big", 1]
    assert first[2][0] == [None, ["ff000000", "00ff0000", "0000ff00"]]
    assert len(first[2]) == CHUNK
    text = json.loads((folder / "big.js").read_text().removeprefix('nmt.text("big",').removesuffix(");\n"))
    assert text["source"][3] == "the house 3 </script> <b> < x␀ y\u2028z\ufffd"
    assert text["reference"][3] == "l'\beau de la maison 3\b, bleue\b."
    assert [system[3] for system in text["systems"]] == ["le feu", "l'\beau", "cette maison 3"]
    [small] = json.loads("[" + (folder / "small.js").read_text()[:-3].partition(",")[2] + "]")
    assert text["scores"][1][3] == round(sentence_chrf("l'eau", "l'eau de la maison 3, bleue."), 1)
    assert small.pop("scores") == [[0.0, None], [0.0, None], [0.0, 0.0]]
    assert small == {"source": [ARABIC, ""], "reference": ["", ""], "systems": [["feu", None], ["feu", None], ["", ""]]}
    page = (tmp_path / "results/index.html").read_text()
    assert 'src="figure2.svg"' in page
    assert 'href="figure2.pdf"' in page
    assert "What figure2 is, &amp; more." in page
    assert "<h1>Ours: a&lt;b</h1>" in page
    assert "<p>Us (2020), <em>It &amp; all</em>, reproduced: the translations" in page
    assert '<section id="small/table1"><h2>Table 1 of small</h2>' in page
    assert "Of table1.md" not in page
    assert "<h3>More</h3>" in page
    places = [page.index(f'<section class="tab" id="{tab}">') for tab in ("summary", "sentences", "tables", "figures")]
    assert places == sorted(places)
    assert places[2] < page.index('id="small/table1"') < places[3] < page.index('id="figure2"')
    assert not re.search(r'(src|href)="(https?:)?//', page)


def test_the_texts_of_one_set_are_no_chunk_of_another(arguments: list[str], tmp_path: Path) -> None:
    arguments[arguments.index("--sets") + 2] = "big.1"
    assert main(arguments) == 0
    folder = tmp_path / "results/index"
    names = {f"{name}.js" for name in ("big", "big~0", "big~1", "big~2", "big.1", "big.1~0")}
    assert {path.name for path in folder.iterdir()} == names
    assert (folder / "big.1.js").read_text().startswith('nmt.text("big.1",')


@pytest.mark.parametrize("name", ["thesis.tex", "app.js", "folder.js/nmt.js", ".snakemake_timestamp"])
def test_what_else_is_in_the_folder_stays(arguments: list[str], tmp_path: Path, name: str) -> None:
    file = tmp_path / "results/index" / name
    file.parent.mkdir(parents=True)
    file.write_text("years of work")
    assert main(arguments) == 0
    assert (tmp_path / "results/index/big~1.js").is_file()
    assert file.read_text() == "years of work"


def test_scores_of_another_set_leave_the_page_as_it_is(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    before = sorted((tmp_path / "results/index").iterdir())
    arguments[arguments.index("--sets") + 2] = "renamed"
    other_set = list(arguments)
    other_set[other_set.index("--scores") + 4] = str(tmp_path / "fixed.big.json")
    assert main(other_set) == 1
    assert f'fixed.big.json: "sentences" is 120, but 2 in {tmp_path}/small.source; ' in capsys.readouterr().err
    one = json.loads((tmp_path / "looks.big.json").read_text())
    (tmp_path / "looks.big.json").write_text(json.dumps({"all": one["all"] | {"signature": "other"}}))
    assert main(arguments) == 1
    assert f'looks.big.json: "signature" is other, but a in {tmp_path}/fixed.big.json; ' in capsys.readouterr().err
    assert sorted((tmp_path / "results/index").iterdir()) == before


def test_a_file_in_the_place_of_a_script_is_not_replaced(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results/index/big.js"
    file.parent.mkdir(parents=True)
    file.write_text("years of work")
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"nmt index: {file}: exists and is not a script of this page; move it elsewhere\n"
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
    assert "--alignments: 3 files for 2 sets; give 2 for each" in capsys.readouterr().err
    arguments.remove(next(word for word in arguments if word.endswith("small.baseline")))
    assert main(arguments) == 1
    assert "--baseline: 1 files for 2 sets; give 2" in capsys.readouterr().err


def test_text_that_came_tokenized_keeps_its_spaces(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del arguments[arguments.index("--languages") + 2]
    assert main(arguments) == 1
    assert "--languages: give those of source and target, or none" in capsys.readouterr().err
    del arguments[arguments.index("--languages") + 1]
    assert main(arguments) == 0
    assert "&apos; eau de la maison 3 , bleue ." in (tmp_path / "results/index/big.js").read_text()


def test_pieces_are_those_of_the_models_and_of_no_baseline(arguments: list[str], tmp_path: Path) -> None:
    place = arguments.index("--languages")
    arguments[place : place + 3] = ["--pieces", "target"]
    (tmp_path / "big.source").write_text("▁ the cat ▁ 0" + "\n" * SENTENCES)
    for model in TARGETS:
        line = {"line": 0, "rank": 0, "source": ["▁", "the", "<eos>"], "target": ["▁le", "s", "▁chats", "<eos>"]}
        (tmp_path / f"{model}.big").write_text(json.dumps({**line, "weights": None}) + "\n")
    assert main(arguments) == 0
    text = (tmp_path / "results/index/big.js").read_text().removeprefix('nmt.text("big",').removesuffix(");\n")
    shown = json.loads(text)
    assert shown["source"][0] == "▁ the cat ▁ 0"
    assert shown["reference"][0].startswith("l&apos;\beau\bde")
    assert [system[0] for system in shown["systems"]] == ["le\bs chats", "le\bs chats", "cette maison 0"]


def test_without_a_paper_the_head_is_neutral(arguments: list[str], tmp_path: Path) -> None:
    place = arguments.index("--title")
    assert main(arguments[:place] + arguments[place + 6 :]) == 0
    page = (tmp_path / "results/index.html").read_text()
    assert "claim" not in page.partition("<script type")[0]
    assert "<h1>a&lt;b</h1>\n<p>The translations of the test sets" in page
    assert MADE_UP not in page


def test_a_language_that_is_made_up_is_named_first(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "results/table1.md").write_text(f"# One\n\n**{MADE_UP}**\n\n| a |\n| :- |\n| 1 |\n")
    assert main([*arguments, "--generated"]) == 0
    page = (tmp_path / "results/index.html").read_text()
    assert f'<body>\n<p class="note">{MADE_UP}</p>\n<h1>' in page
    assert page.count(MADE_UP) == 1


@pytest.mark.parametrize("option", ["--titles", "--captions"])
def test_every_file_has_a_title_and_a_caption(
    arguments: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments.pop(arguments.index(option) + 1)
    assert main(arguments) == 1
    assert f"{option}: give one for each of the 3 files of --shown" in capsys.readouterr().err


def test_without_a_baseline_there_is_no_system_for_it(arguments: list[str], tmp_path: Path) -> None:
    place = arguments.index("--baseline")
    del arguments[place : place + 4]
    arguments = [word for word in arguments if not word.endswith(("/baseline.big.json", "/baseline.small.json"))]
    assert main(arguments) == 0
    page = (tmp_path / "results/index.html").read_text()
    assert '"systems": ["RNNencdec-50", "RNNsearch-50*"]' in page
    assert "cette maison" not in (tmp_path / "results/index/big.js").read_text()


SAY = """
const asked = (query) => [...document.querySelectorAll(query)].map((one) => one.textContent);
const at_once = () => new Promise((done) => setTimeout(done, 100));
const key = async (name, from = document.body) => {
  from.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
  await at_once();
};
const weight = (one) => one.style.getPropertyValue('--weight');
const weights_of = (query) => [...document.querySelectorAll(query)].map(weight);
const chosen = () => asked('#sentence h2')[0];
const found = {};
"""


# The contrasts of text with what is behind it, as WCAG 2 defines them.
CONTRASTS = """
const levels = (colour) => colour.match(/[0-9.]+/g).map(Number);
const luminance = (colour) => levels(colour).slice(0, 3).map((level) => level / 255)
  .map((level) => level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4)
  .reduce((sum, level, place) => sum + level * [0.2126, 0.7152, 0.0722][place], 0);
const behind = (one) => {
  const colour = getComputedStyle(one).backgroundColor;
  return levels(colour)[3] === 0 ? behind(one.parentNode) : luminance(colour);
};
const places = ['.note', 'h1', '.tabs a', '.cards .other', '#list .faint', '.cards button', '#sentence .faint'];
found.contrasts = places.map((place) => document.querySelector(place)).map((one) => {
  const [less, more] = [luminance(getComputedStyle(one).color), behind(one)].sort((a, b) => a - b);
  return (more + 0.05) / (less + 0.05);
});
found.ground = behind(document.body);
"""


def ask(page: Path, anchor: str, script: str, **window: Any) -> dict[str, Any]:
    """What `script` puts in `found` as a browser runs it on the page."""
    said = document(page, anchor, f"{SAY}{script}; document.title = JSON.stringify(found);", **window)
    title = re.search(r"<title>(.*?)</title>", said, re.DOTALL)
    assert title is not None
    return dict(json.loads(html.unescape(title[1])))


def test_a_click_shows_translations_and_an_alignment(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    found = ask(
        tmp_path / "results/index.html",
        "",
        """
        found.tabs = [...document.querySelectorAll('.tab')].map((one) => one.hidden);
        location.hash = 'sentences';
        await at_once();
        found.items = asked('#list li').length;
        document.querySelectorAll('#list li')[3].click();
        await at_once();
        found.chosen = chosen();
        found.source = asked('#sentence .source .text')[0];
        found.texts = asked('#sentence .cards p');
        found.names = asked('.cards h3');
        found.other = asked('.cards .other');
        found.missing = [...document.querySelectorAll('.cards .missing')].map((one) => one.title);
        found.grids = asked('.grid').length;
        const word = [...document.querySelectorAll('.cards span')].filter((one) => one.textContent === 'eau')[1];
        word.dispatchEvent(new MouseEvent('mouseover'));
        found.shaded = weights_of('.source span');
        found.told = asked('.source .faint')[0];
        document.querySelector('.cards button').click();
        found.heads = asked('.grid thead th');
        found.rows = asked('.grid tbody th');
        found.cells = weights_of('.grid tbody td');
        const cell = document.querySelectorAll('.grid tbody td')[found.heads.length + 1];
        cell.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
        found.said = asked('#alignments p')[0];
        await key('ArrowRight');
        found.after = [chosen(), asked('.grid').length, location.hash];
        """,
    )
    words = ["the", "house", "3", "</script>", "<b>", "<", "x␀", "y\u2028z\ufffd"]
    assert found["tabs"] == [False, True, True, True]
    assert found["items"] == 25
    assert found["names"] == [
        *("Reference", "RNNencdec-50 (12.50 BLEU)", "RNNsearch-50* (34.57 BLEU)", "Phrase <based> (20.00 BLEU)")
    ]
    assert found["chosen"] == "Sentence 4 of big"
    assert found["source"] == " ".join(words)
    reference, no_alignment = "l'eau de la maison 3, bleue.", "From a fixed vector: it has no alignment."
    chrf = [f"chrF {sentence_chrf(text, reference):.1f}" for text in ("le feu", "l'eau", "cette maison 3")]
    assert found["texts"] == [
        *(reference, "le feu", chrf[0], no_alignment, "l'eau", chrf[1], "cette maison 3", chrf[2])
    ]
    assert found["other"] == ["le", "feu", "cette"]
    assert found["missing"] == ["missing: de la maison 3 , bleue .", "missing: , bleue ."]
    assert found["grids"] == 0
    assert found["told"] == "eau ← house 1.00"
    assert found["shaded"] == ["0.000", "1.000", *["0.000"] * 6]
    assert found["heads"] == [*words, "<eos>"]
    assert found["rows"] == ["l'", "eau", "<eos>"]
    assert found["cells"] == [f"{row == column:d}.000" for row in range(3) for column in range(9)]
    assert found["said"] == "eau ← house: 1.000"
    assert found["after"] == ["Sentence 5 of big", 1, "#big/5"]


def test_words_that_a_model_has_not_read_have_no_weight(arguments: list[str], tmp_path: Path) -> None:
    """The last weight of a row is that of the end of the sentence, wherever the model was cut off."""
    records = (tmp_path / "looks.big").read_text().split("\n")
    row = [0.502, 0.2, 0.298]
    records[4] = json.dumps(json.loads(records[4]) | {"source": ["the", "house", "<eos>"], "weights": [row] * 3})
    (tmp_path / "looks.big").write_text("\n".join(records))
    main(arguments)
    found = ask(
        tmp_path / "results/index.html",
        "big/5",
        """
        const word = document.querySelectorAll('.cards article')[2].querySelector('.text span');
        word.dispatchEvent(new MouseEvent('mouseover'));
        found.told = asked('.source .faint')[0];
        found.shaded = weights_of('.source span');
        """,
    )
    assert found == {"told": "l' ← the 0.50, <eos> 0.30, house 0.20", "shaded": ["0.502", "0.200", "0.000"]}


def test_search_order_and_arrow_keys(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    found = ask(
        tmp_path / "results/index.html",
        f"big/{SENTENCES}",
        """
        const order = async (words, one, other) => {
          at('one').value = one; at('other').value = other;
          at('order').value = [...at('order').options].find((option) => option.text.includes(words)).value;
          at('order').onchange();
          await at_once();
          return asked('#list .faint').filter(Number).slice(0, 3).map(Number);
        };
        found.last = [chosen(), asked('#count')[0]];
        at('search').value = 'MAISON 11'; await at('search').oninput();
        found.reference = asked('#count')[0];
        at('search').value = "L'EAU"; await at('search').oninput();
        found.all = asked('#count')[0];
        at('search').value = 'cette maison 7'; await at('search').oninput();
        found.system = asked('#count')[0];
        await key('ArrowDown', at('search'));
        found.second = chosen();
        await key('ArrowDown');
        await key('ArrowRight', at('search'));
        found.still = chosen();
        await key('ArrowLeft');
        found.first = chosen();
        at('search').value = '';
        found.longest = await order('longest', 0, 1);
        found.differ = await order('differ', 0, 1);
        found.first_of_order = [chosen(), location.hash];
        found.amounts = asked('#list .amounts')[0];
        found.beats = await order('beats', 1, 0);
        found.lowest = await order('lowest', 0, 1);
        found.two = at('one').hidden || !at('other').hidden;
        location.hash = 'small/table1';
        await at_once();
        found.tabs = [...document.querySelectorAll('.tab')].map((one) => one.hidden);
        location.hash = 'small/2';
        await at_once();
        found.small = asked('#sentence .cards p');
        location.hash = 'small/1';
        await at_once();
        const places = ['#sentence .source .text', '#sentence h2'].map((one) => document.querySelector(one));
        found.directions = places.map((one) => getComputedStyle(one).direction);
        """,
    )
    assert found["last"] == [f"Sentence {SENTENCES} of big", f"101 to {SENTENCES} of {SENTENCES}"]
    assert found["reference"] == "1 to 11 of 11"
    assert found["all"] == f"1 to 25 of {SENTENCES}"
    assert found["system"] == "1 to 11 of 11"
    assert (found["first"], found["second"], found["still"]) == ("Sentence 8 of big", *["Sentence 71 of big"] * 2)
    assert found["longest"][0] == 4
    assert found["differ"] == [2, 4, 6]  # "l'eau" has no word of "le feu", "l'feu" has one
    assert found["beats"] == found["differ"]
    assert found["lowest"][0] > 1
    assert not found["two"]
    assert found["tabs"] == [True, True, False, True]
    assert found["small"] == ["", "not translated", "not translated", "", "chrF 0.0"]
    assert found["directions"] == ["rtl", "ltr"]


@pytest.mark.parametrize(("width", "dark"), [(500, False), *WINDOWS[1:]])  # no headless window is smaller
def test_a_window_of_any_width_holds_the_page_and_heads_in_sight(
    arguments: list[str], tmp_path: Path, width: int, dark: bool
) -> None:
    main([*arguments, "--generated"])
    script = """
    found.width = document.documentElement.scrollWidth;
    document.body.style.paddingBottom = '200vh';
    document.querySelector('.cards').style.paddingBottom = '200vh';
    document.querySelector('.cards').scrollIntoView();
    found.source = document.querySelector('.source').getBoundingClientRect().top;
    """
    found = ask(tmp_path / "results/index.html", "big/4", script + CONTRASTS, width=width, dark=dark)
    assert found["width"] <= width
    assert (found["ground"] < 0.1) == dark
    assert len(found["contrasts"]) == 7
    assert min(found["contrasts"]) > 4.5
    assert found["source"] == 0


@pytest.mark.parametrize(("width", "dark"), WINDOWS)
def test_the_first_view_is_a_summary(arguments: list[str], tmp_path: Path, width: int, dark: bool) -> None:
    (tmp_path / "results/figure2.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"/>')
    main(arguments)
    with browser((tmp_path / "results/index.html").as_uri(), width=width, dark=dark) as page:
        assert page.ask("document.documentElement.scrollWidth") <= width
        text = page.ask("at('summary').innerText")
        bottom = page.ask("document.querySelector('.front table').getBoundingClientRect().bottom")
        image = page.ask("[at('summary').querySelector('img')].map((one) => [one.naturalWidth, one.clientHeight])[0]")
        addresses = page.ask("[...document.querySelectorAll('#summary nav a')].map((one) => one.getAttribute('href'))")
    assert "The paper’s claim: This <is> so." in text
    assert "On big, RNNsearch-50* is significantly ahead of RNNencdec-50 (+22.07 BLEU)." in text
    rows = {tuple(line.split("\t")) for line in text.split("\n")}
    assert {("RNNencdec-50", "12.50", "1.00"), ("Phrase <based>", "20.00", "3.00")} <= rows
    assert bottom < 900
    assert image[0] == 640
    assert 100 < image[1] <= 320
    assert addresses == ["#table1", "#figure2", "#small/table1"]


def test_the_finding_is_right_whatever_the_numbers_are() -> None:
    bleu = {"a": 1.0, "b": 22.0}
    assert finding("t", {"a": 1.0}, []) == "a has 1.00 BLEU on t."
    assert finding("t", {"a": 0.0, "b": 0.0}, []) == "On t, all systems have 0.00 BLEU."
    assert finding("t", bleu, []) == "On t, b has the most BLEU, 22.00, and a the least, 1.00."
    ahead, behind = Comparison("a", "b", 1.234, True), Comparison("b", "a", -2.0, True)
    even = [Comparison("a", "c", 0.4, False), Comparison("b", "c", -0.4, False)]
    assert finding("t", bleu, [behind, *even]) == (
        "On t, b is significantly behind a (−2.00 BLEU); "
        "there is no significant difference between a and c (+0.40 BLEU) and between b and c (−0.40)."
    )
    assert finding("t", bleu, [ahead, ahead, ahead]) == (
        "On t, a is significantly ahead of b (+1.23 BLEU), a of b (+1.23) and a of b (+1.23)."
    )


def test_a_table_that_lacks_a_pair_is_one_line(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--pair", "RNNencdec-50", "RNNsearch-50*"]) == 1
    said = "does not compare RNNencdec-50 with RNNsearch-50* on all sentences; make the file again\n"
    assert capsys.readouterr().err.endswith(said)
    table = tmp_path / "significance.csv"
    table.write_text(table.read_text().replace(f",{SENTENCES},", ",60,"))
    assert main(arguments) == 1
    said = f"{table}: of 60 sentences, but the set has {SENTENCES}; name the table of this set\n"
    assert capsys.readouterr().err.endswith(said)
    place = arguments.index("--significance")
    assert main(arguments[:place] + arguments[place + 2 :]) == 1
    assert "--pair: needs --significance" in capsys.readouterr().err
    arguments[arguments.index("--front") + 1] = "figure3.svg"
    assert main(arguments) == 1
    assert "--front: figure3.svg is not among the files of --shown" in capsys.readouterr().err


def test_a_search_shows_a_sentence_that_it_has_found_and_marks_the_words(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    found = ask(
        tmp_path / "results/index.html",
        "big/5",
        """
        const search = async (words) => {
          at('search').value = words;
          await at('search').oninput();
          return [chosen(), location.hash, [...CSS.highlights.get('found')].map(String)];
        };
        found.words = await search('House 7');
        found.odd = await search('</b> (');
        found.none = [at('sentence').textContent, at('sentence').children.length, asked('#count')[0]];
        found.number = await search('120');
        found.all = await search('');
        location.hash = '#big/9';
        await at_once();
        await search('house 11');
        location.hash = '#big/2';
        await at_once();
        found.outside = [chosen(), at('search').value];
        """,
    )
    assert found["words"][:2] == ["Sentence 8 of big", "#big/8"]
    assert found["words"][2][:2] == ["house 7", "house 7"]
    assert found["none"] == ["No sentence of big has “</b> (”.", 0, "none"]
    assert found["odd"][1:] == ["#sentences", []]
    assert found["number"][0] == "Sentence 120 of big"
    assert found["number"][2][0] == "120"
    assert found["all"] == ["Sentence 1 of big", "#big/1", []]
    assert found["outside"] == ["Sentence 2 of big", ""]


def test_each_mark_is_what_the_help_says(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "big.baseline").write_text("maison la cette maison 0 , bleue\n" + "a\n" * (SENTENCES - 1))
    main(arguments)
    script = """
    found.other = asked('.cards article:last-child .other');
    found.moved = asked('.cards article:last-child .moved');
    const gap = document.querySelector('.help .missing');
    found.gap = [getComputedStyle(gap, '::before').content, gap.getBoundingClientRect().width];
    found.help = asked('.help')[0];
    """
    found = ask(tmp_path / "results/index.html", "big/1", script)
    assert found["other"] == ["cette"]
    assert found["moved"] == ["maison"]
    assert found["gap"][0] == '"−2"'
    assert found["gap"][1] > 15
    assert "Marked words are not in the reference." in found["help"]


FOCUS = """[document.activeElement].map((one) => one.id || one.textContent.slice(0, 30))[0]"""


def walk(page: Browser, key: str, most: int = 60) -> list[str]:
    """What has the focus after each press of a key, until the page ends."""
    names: list[str] = []
    for _ in range(most):
        page.press(key)
        name = page.ask(f"document.activeElement === document.body ? '' : {FOCUS}")
        if not name:
            break
        names.append(name)
    return names


@pytest.mark.parametrize(("width", "dark"), WINDOWS)
def test_the_keyboard_alone_reaches_everything(arguments: list[str], tmp_path: Path, width: int, dark: bool) -> None:
    main(arguments)
    with browser(f"{(tmp_path / 'results/index.html').as_uri()}#big/2", width=width, dark=dark) as page:
        page.until("document.querySelector('.cards button') !== null")
        reached = walk(page, "Tab")
        assert reached == [
            *("Summary", "Sentences", "Tables", "Figures", "set", "search", "order", "on", "2the house 1"),
            *("le", "l'", "Alignment", "cette"),
        ]
        # From the list, down and up go to the next sentence and back.
        page.ask("document.querySelector('#list [tabindex=\"0\"]').focus()")
        page.press("ArrowDown", "ArrowDown", "ArrowUp")
        assert page.ask("getComputedStyle(document.activeElement).outlineWidth") == "2px"
        page.until("document.querySelector('#sentence h2').textContent === 'Sentence 3 of big'")
        assert page.ask(FOCUS) == "3the house 2"
        page.press("ArrowRight")
        page.until("document.querySelector('#sentence h2').textContent === 'Sentence 4 of big'")
        # Within a translation, left and right go from word to word, and its end stops them.
        page.press("Tab", "Tab")
        assert page.ask(FOCUS) == "l'"
        page.press("ArrowRight")
        assert page.ask("document.querySelector('.source .faint').textContent") == "eau ← house 1.00"
        assert (
            page.ask("document.querySelectorAll('.source .text span')[1].style.getPropertyValue('--weight')") == "1.000"
        )
        page.press("ArrowRight", "ArrowRight", "ArrowRight")
        assert page.ask("document.querySelector('.source .faint').textContent") == "missing: de la maison 3 , bleue ."
        assert page.ask("document.querySelector('#sentence h2').textContent") == "Sentence 4 of big"
        # The alignment opens at a key, and four keys go through its cells.
        page.press("Tab", "Enter", "Tab", "Tab")
        assert page.ask("document.activeElement.tagName") == "TD"
        page.press(
            "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowLeft"
        )
        assert page.ask("document.querySelector('#alignments .faint').textContent") == "eau ← the: 0.000"
        page.press("ArrowRight")
        assert page.ask("document.querySelector('#alignments .faint').textContent") == "eau ← house: 1.000"
        roles = page.ask("[...document.querySelectorAll('[role]')].map((one) => one.getAttribute('role'))")
    assert {"listbox", "option", "status", "group", "img", "grid"} == set(roles)


@pytest.mark.parametrize(("width", "dark"), WINDOWS)
def test_two_alignments_are_side_by_side_and_fit(arguments: list[str], tmp_path: Path, width: int, dark: bool) -> None:
    words = [f"word{number}" for number in range(60)]
    source = " ".join(words)
    (tmp_path / "big.source").write_text(source + "\n" * SENTENCES)
    weights = [[1 / 61] * 61] * 61
    one = {"line": 0, "rank": 0, "source": [*words, "<eos>"], "target": [*words, "<eos>"], "weights": weights}
    for model in TARGETS:
        (tmp_path / f"{model}.big").write_text(json.dumps(one) + "\n")
    main(arguments)
    with browser(f"{(tmp_path / 'results/index.html').as_uri()}#big/1", width=width, dark=dark) as page:
        page.until("document.querySelectorAll('.cards button').length === 2")
        page.ask("document.querySelectorAll('.cards button').forEach((one) => one.click())")
        places = page.ask(
            "[...document.querySelectorAll('.grid table')].map((one) => one.getBoundingClientRect().toJSON())"
        )
        assert page.ask("document.documentElement.scrollWidth") <= width
        page.ask("document.querySelectorAll('.grid tbody tr')[40].scrollIntoView({block: 'center'})")
        page.rest()
        tops = page.ask(
            "[...document.querySelectorAll('.grid thead th')].map((one) => one.getBoundingClientRect().top)"
        )
        inner = page.ask(
            "[...document.querySelectorAll('.grid, .grid table')].every((one) => one.scrollWidth < one.clientWidth + 2)"
        )
    assert (places[0]["top"] == places[1]["top"]) == (width >= 900)
    assert all(place["right"] <= width for place in places)
    assert tops[0] == 0
    assert inner


def test_a_sentence_of_hundreds_of_words_has_no_heat_map(arguments: list[str], tmp_path: Path) -> None:
    """A browser would draw it for a minute."""
    words = [f"word{number}" for number in range(200)]
    (tmp_path / "big.source").write_text(" ".join(words) + "\n" * SENTENCES)
    one = {
        "line": 0,
        "rank": 0,
        "source": [*words, "<eos>"],
        "target": [*words, "<eos>"],
        "weights": [[1 / 201] * 201] * 201,
    }
    for model in TARGETS:
        (tmp_path / f"{model}.big").write_text(json.dumps(one) + "\n")
    main(arguments)
    with browser(f"{(tmp_path / 'results/index.html').as_uri()}#big/1") as page:
        page.until("document.querySelectorAll('.cards button').length === 2")
        page.ask("document.querySelector('.cards button').click()")
        page.until("document.querySelector('.grid') !== null")
        assert page.ask("document.querySelector('.grid').textContent").startswith("Too many words for a heat map: ")


def test_an_address_that_names_nothing_shows_the_summary(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    shown = "[...document.querySelectorAll('.tab')].find((one) => !one.hidden).id"
    script = f"found.first = {shown}; location.hash = '#big/1.5'; await at_once(); found.second = {shown};"
    found = ask(tmp_path / "results/index.html", "%", script)
    assert found == {"first": "summary", "second": "summary"}


def test_without_its_folder_the_page_says_so(arguments: list[str], tmp_path: Path) -> None:
    main(arguments)
    (tmp_path / "results/index").rename(tmp_path / "elsewhere")
    assert "index/big.js is not beside this page; copy that folder, too" in document(
        tmp_path / "results/index.html", "sentences"
    )


@pytest.mark.parametrize("name", ["page #1", "50%25", "what?", "a:b"])
def test_a_page_of_any_name_finds_its_scripts(arguments: list[str], tmp_path: Path, name: str) -> None:
    main([*arguments, "--output", str(tmp_path / "results" / f"{name}.html")])
    with browser(f"{(tmp_path / 'results' / f'{name}.html').as_uri()}#big/1") as page:
        page.until("document.querySelectorAll('.cards button').length === 1")


def test_of_several_seeds_the_median_is_shown(tmp_path: Path) -> None:
    """By BLEU on the first set; of two, the lower."""
    bleu = {"a1": 30.0, "a2": 10.0, "a3": 20.0, "b1": 7.0, "b2": 5.0, "thot": 1.0}
    for name, value in bleu.items():
        part = dict.fromkeys(("signature", "detokenized_signature"), "s") | {"bleu": value, "sentences": 1}
        part |= dict.fromkeys(("detokenized_bleu", "detokenized_ceiling"), 1.0)
        (tmp_path / name).write_text(json.dumps({"all": part}))
    names = [name for name in bleu if name != "thot"]
    given = argparse.Namespace(
        labels=["A", "A", "A", "B", "B"],
        sets=["one", "two"],
        alignments=[f"{name}.{number}" for number in (1, 2) for name in names],
        scores=[*(str(tmp_path / name) for name in bleu), *(f"{name}.2" for name in bleu)],
    )
    found = with_median_seeds(given)
    assert (found.labels, found.seeds) == (["A", "B"], 3)
    assert found.alignments == ["a3.1", "b2.1", "a3.2", "b2.2"]
    assert found.scores == [*(str(tmp_path / name) for name in ("a3", "b2", "thot")), "a3.2", "b2.2", "thot.2"]
    assert with_median_seeds(argparse.Namespace(labels=["A", "B"], sets=["one"])).labels == ["A", "B"]
