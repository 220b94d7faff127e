"""The report of the smoke experiment as a browser shows it, from the file alone."""

from __future__ import annotations

import base64
import html
import json
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest
import yaml

from tests.chromium import browser, document
from tests.workflow.tree import ROOT, SMOKE, Tree

FRONT = ROOT / "nmt/report/captions/workflow.rst"

FIGURES = ["figure1", "figure2", "figure3", "learning_curves", "ratings"]
TABLES = ["table1", "table2", "table3", "significance", "selection", "coverage"]
CATEGORIES = {
    "Corpora": {"ratings", "selection", "coverage"},
    "Figures": {"figure1", "figure2", "figure3", "learning_curves"},
    "Tables": {"table1", "table2", "table3", "significance"},
}
ROWS = ["RNNencdec-30", "RNNsearch-50", "RNNsearch-50*", "Phrase-based (Thot)"]


@pytest.fixture(scope="module")
def report(done: Tree) -> Path:
    """The report as one page."""
    run = done.snakemake("--report", "results/smoke/report.html", configs=SMOKE)
    assert run.returncode == 0, run.stdout
    return done.folder / "results/smoke/report.html"


def held(report: Path) -> dict[str, dict[str, Any]]:
    """What the report says of each result, by the name of its file."""
    return {Path(path).stem: result for path, result in variable(report, "results").items()}


def variable(report: Path, name: str) -> dict[str, Any]:
    """A variable of the report's scripts."""
    script = rf'<script id="{name}">\s*var {name} = (.*?);\s*</script>'
    found = re.search(script, report.read_text(), re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def decoded(address: str) -> bytes:
    return base64.b64decode(address.partition("base64,")[2])


def text(page: str) -> str:
    """What a page says: its text without scripts."""
    return html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)))


def test_every_table_and_figure_has_caption_and_labels(report: Path) -> None:
    results = held(report)
    assert set(results) == {*FIGURES, *TABLES}
    for name, result in results.items():
        assert len(result["caption"]) > 40, name
        assert result["labels"], name
        assert result["mime_type"] == ("text/html" if name in TABLES else "image/svg+xml")
    assert results["table1"]["labels"] == {"table": "Table 1: BLEU", "set": "toy-test"}


def test_every_table_and_figure_is_in_its_category(report: Path) -> None:
    found = {
        category: {Path(path).stem for paths in parts.values() for path in paths}
        for category, parts in variable(report, "categories").items()
    }
    assert found == CATEGORIES


def test_the_front_page_has_the_configuration(report: Path) -> None:
    top = "document.title = document.querySelector('#app .prose').getBoundingClientRect().top;"
    page = document(report, script=top)
    assert float(re.search(r"<title>(.*)</title>", page)[1]) >= 0  # type: ignore[index]
    front = text(page)
    for category in ("Corpora", "Figures", "Tables", "Statistics"):
        assert category in front
    assert re.search(r'experiment\s*:\s*"smoke"', front)
    assert re.search(r"RNNsearch-50star\s*:\s*prototype", front)
    assert re.search(r"words\s*:\s*1500", front)


def test_the_configuration_has_no_line_that_is_too_long_for_the_report() -> None:
    files = [f"{'long/' * 20}{number}.en" for number in range(200)]
    config = {"experiment": "mine", "files": {"train": files, "test": []}, "beam": 12, "pairs": [["a", "b"]]}
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)  # as Snakemake's
    page = environment.from_string(FRONT.read_text()).render(snakemake=SimpleNamespace(config=config), files=[])
    listing = page.partition(".. code-block:: yaml")[2]
    assert yaml.safe_load(listing) == config
    assert max(map(len, listing.splitlines())) < 10_000


@pytest.mark.parametrize(("width", "dark"), [(500, False), (900, True), (1400, False)])
def test_it_opens_on_table_1_and_figure_2(report: Path, width: int, dark: bool) -> None:
    with browser(report.as_uri(), width=width, dark=dark) as page:
        page.until("[...document.querySelectorAll('.front')].every((one) => one.style.height)")
        page.until("document.querySelector('#rulegraph canvas, #rulegraph svg') != null")
        page.rest()
        names = "[...document.querySelector('.front').contentDocument.querySelectorAll('tr td:first-child')]"
        assert page.ask(f"{names}.map((one) => one.textContent)") == ROWS
        places = (
            "[...document.querySelectorAll('.front, div#rulegraph')].map((one) => one.getBoundingClientRect().toJSON())"
        )
        table, figure, rules = page.ask(places)
        inner = "document.querySelector('.front').contentDocument.documentElement"
        assert page.ask(f"{inner}.scrollHeight - {inner}.clientHeight") <= 0
        drawing = "document.querySelectorAll('.front')[1].contentDocument.querySelector('svg')"
        assert page.ask(f"{drawing}.getBoundingClientRect().height") > 200
        assert page.ask(f"{drawing}.querySelectorAll('use').length") > 20
    assert 0 <= table["top"] < 900
    assert table["bottom"] <= figure["top"] < figure["bottom"] <= rules["top"]


def test_a_click_shows_a_table_and_a_figure(report: Path) -> None:
    look = "[...document.querySelectorAll('nav a')].filter((one) => one.textContent === '%s')[0].click();"
    wait = "await new Promise((done) => setTimeout(done, 300));"
    eye = "document.querySelectorAll('nav td a')[0].click();"
    tables = document(report, script=look % "Tables" + wait + eye)
    for label in ("Table 1", "Table 2", "Table 3"):
        assert label in text(tables)
    assert '<iframe src="data:text/html' in tables
    size = "const image = document.querySelector('#app div.p-3 img'); document.title = image.naturalWidth + ' ' + "
    size += "Math.max(0, image.getBoundingClientRect().right - innerWidth);"
    figures = document(report, script=look % "Figures" + wait + eye + wait + size)
    wide, beyond = map(float, re.search(r"<title>(.*) (.*)</title>", figures).groups())  # type: ignore[union-attr]
    assert wide > 200
    assert beyond == 0


def test_a_table_of_the_report_reads_as_a_table(report: Path, tmp_path: Path) -> None:
    page = tmp_path / "table1.html"
    page.write_bytes(decoded(held(report)["table1"]["data_uri"]))
    cut = "document.title = document.documentElement.scrollWidth - innerWidth;"
    shown = document(page, script=cut)
    assert re.findall(r"<tr>\s*<td[^>]*>([^<]*)</td>", shown) == ROWS
    assert "the paper prints" not in shown
    assert int(re.search(r"<title>(.*)</title>", shown)[1]) <= 0  # type: ignore[index]


def test_run_times_are_drawn(report: Path) -> None:
    drawn = document(report, script="app.setView({content: 'stats'});")
    for place in ("runtimes", "timeline"):
        assert re.search(rf'id="{place}"[^>]*>.*?<(canvas|svg)', drawn, re.DOTALL)
    times = re.search(r'<script id="runtimes">\s*var runtimes_spec = (.*?);\s*</script>', report.read_text(), re.DOTALL)
    assert times is not None
    rules = {value["rule"] for value in json.loads(times[1])["data"]["values"]}
    assert {"train", "translate", "table1", "index"} <= rules


@pytest.mark.parametrize(("more", "warned"), [([], True), (["--report-after-run"], False)])
def test_only_a_report_without_a_run_is_of_earlier_settings(done: Tree, more: list[str], warned: bool) -> None:
    (done.folder / "beam.yaml").write_text("translate: {beam: 4}\n")
    words = ["--dry-run", "--report", "results/smoke/beam.zip", *more]
    said = done.snakemake(*words, configs=[*SMOKE, "beam.yaml"]).stdout
    assert ("the report shows those of that run" in said) == warned


def test_the_archive_holds_the_same(done: Tree, report: Path, tmp_path: Path) -> None:
    run = done.snakemake("--report", "results/smoke/report.zip", configs=SMOKE)
    assert run.returncode == 0, run.stdout
    with zipfile.ZipFile(done.folder / "results/smoke/report.zip") as archive:
        archive.extractall(tmp_path)
    results = held(tmp_path / "report/report.html")
    assert set(results) == set(held(report))
    for result in results.values():
        assert (tmp_path / "report" / result["data_uri"]).stat().st_size > 0
    assert "Statistics" in text(document(tmp_path / "report/report.html"))


def test_the_page_of_all_shows_the_experiment(done: Tree) -> None:
    page = done.folder / "results/smoke/index.html"
    script = """
    for (const button of document.querySelectorAll('.cards button')) button.click();
    document.title = [...document.images].every((one) => one.naturalWidth > 0);
    """
    shown = document(page, "toy-test/2", script)
    assert "<title>true</title>" in shown
    assert "Sentence 2 of toy-test" in shown
    assert shown.count('class="grid"') == 2
    assert shown.count("From a fixed vector") == 1 + 1  # of the model, and in the script
    narrow = document(page, "toy-test/2", "document.title = document.documentElement.scrollWidth;", width=500)
    assert int(re.search(r"<title>(.*)</title>", narrow)[1]) <= 500  # type: ignore[index]
