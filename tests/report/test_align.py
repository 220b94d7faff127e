"""The step align: the weights of the equations, in a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from nmt.__main__ import main
from nmt.report.panels import read_panels
from nmt.search import text
from tests.model.models import save_trained, tiny_model

SOURCES = ["s2 s3 strange", "s4", "", "s5 s6 s7 s8 s9"]
TARGETS = ["t2 t3", "", "t4 other", "t5 t6 t7"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_trained(tmp_path / "model", tiny_model(dtype=torch.float32))
    write(tmp_path / "source.txt", *SOURCES)
    write(tmp_path / "target.txt", *TARGETS)
    return tmp_path


def write(path: Path, *lines: str) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def step(folder: Path, *more: str) -> int:
    texts = [str(folder / f"{side}.txt") for side in ("source", "target")]
    return main(["align", "--model", str(folder / "model"), "--device", "cpu", *texts, *more])


def test_table_and_picture(folder: Path) -> None:
    """Every pair under its line; the picture is the one that Figure 3 would be of the same table."""
    table, picture, again = folder / "table.csv", folder / "picture.svg", folder / "again.svg"
    assert step(folder, "--tokenized", "--table", str(table), "--figure", str(picture)) == 0
    panels = read_panels(str(table))
    assert [panel.letter for panel in panels] == ["1", "2", "3", "4"]
    for panel, source, target in zip(panels, SOURCES, TARGETS, strict=True):
        assert (panel.source, panel.target) == ([*source.split(), "<eos>"], [*target.split(), "<eos>"])
        np.testing.assert_allclose(panel.weights.sum(axis=1), 1, atol=1e-5)
    assert main(["bahdanau2015.figure3", "--points", str(table), "--outputs", str(again)]) == 0
    assert picture.read_bytes() == again.read_bytes()


def test_one_pair_of_running_text_fills_the_picture(folder: Path) -> None:
    write(folder / "source.txt", "Don't (s2)!")
    write(folder / "target.txt", "L'été.")
    assert step(folder, "--figure", str(folder / "one.png"), "--table", str(folder / "one.csv")) == 0
    (panel,) = read_panels(str(folder / "one.csv"))
    assert panel.source == ["Don", "&apos;t", "(", "s2", ")", "!", "<eos>"]
    assert panel.target == ["L&apos;", "été", ".", "<eos>"]
    width, height = (int.from_bytes((folder / "one.png").read_bytes()[place : place + 4]) for place in (16, 20))
    assert 0.9 < width / height < 1.1


def test_a_long_line_is_cut(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(text, "LONGEST", 3)
    write(folder / "source.txt", "s2 " * 1000)
    write(folder / "target.txt", "t2 t3")
    assert step(folder, "--tokenized", "--table", str(folder / "one.csv")) == 0
    assert "source.txt: line 1 has 1000 words; only the first 3 are used" in capsys.readouterr().err
    (panel,) = read_panels(str(folder / "one.csv"))
    assert panel.source == ["s2", "s2", "s2", "<eos>"]


def test_odd_characters_are_drawn_as_such_and_kept_in_the_table(folder: Path, recwarn: pytest.WarningsRecorder) -> None:
    """XML may not hold most of them, and no font has a glyph."""
    words = ["s2\ufffe", "\x00", "\x1b[31m", "\ufffe", "$x"]
    write(folder / "source.txt", " ".join(words))
    write(folder / "target.txt", "t2")
    picture, table = folder / "odd.svg", folder / "odd.csv"
    assert step(folder, "--tokenized", "--figure", str(picture), "--table", str(table)) == 0
    assert [*recwarn] == []
    ElementTree.parse(picture)
    assert "<!-- s2\ufffd -->" in picture.read_text(encoding="utf-8")
    (panel,) = read_panels(str(table))
    assert panel.source == [*words, "<eos>"]


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_a_full_disk_while_a_picture_is_drawn_is_one_line(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The partial file is a link to a device that refuses every byte, as a full disk does."""
    output = folder / f"out.{kind}"
    (folder / "partial").symlink_to("/dev/full")
    monkeypatch.setattr("nmt.system.files.partial_name", lambda final: folder / "partial")
    assert step(folder, "--figure", str(output)) == 1
    said = f"nmt align: {output}: no space left; free some and repeat\n"
    assert capsys.readouterr().err == said
    assert not list(folder.glob("out.*"))


def test_alignments_of_the_search_again(folder: Path) -> None:
    """What the model attended to when it found a translation is what it attends to when given that translation."""
    write(folder / "source.txt", *(source for source in SOURCES if source))
    flags = ["--source", str(folder / "source.txt"), "--output", str(folder / "target.txt"), "--tokenized"]
    flags += ["--alignments", str(folder / "alignments.jsonl"), "--device", "cpu", "--beam", "3"]
    assert main(["translate", "--model", str(folder / "model"), *flags]) == 0
    assert step(folder, "--tokenized", "--table", str(folder / "table.csv")) == 0
    flags = ["--source", str(folder / "source.txt"), "--seed", "1"]
    flags += ["--raw-source", str(folder / "source.txt"), "--set", "mine"]
    flags += ["--settings", '{"model": "any", "chosen": 3}']
    flags += ["--shortlists", str(folder / "model/source.tsv"), str(folder / "model/target.tsv")]
    points = ["--alignments", str(folder / "alignments.jsonl"), "--output", str(folder / "points.csv")]
    assert main(["bahdanau2015.sample_alignments", *flags, *points]) == 0
    (chosen,), panels = read_panels(str(folder / "points.csv")), read_panels(str(folder / "table.csv"))
    assert panels[2].source == chosen.source
    rows = len(chosen.weights)
    assert panels[2].target[:rows] == chosen.target
    np.testing.assert_allclose(panels[2].weights[:rows], chosen.weights, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "spoil", "named"),
    [
        ([], None, "neither --figure nor --table"),
        (["--figure", "{folder}/out.gif"], None, "out.gif: does not end in .pdf, .svg, .png"),
        (["--table", "{folder}"], None, "a folder; name a file"),
        (["--figure", "{folder}/out.png"], lambda folder: fill(folder, 31), "31 lines, too many for one picture"),
        (["--table", "{folder}/out.csv"], lambda folder: write(folder / "target.txt"), "target.txt has 0"),
        (
            ["--table", "{folder}/out.csv"],
            lambda folder: save_trained(folder / "model", tiny_model(dtype=torch.float32, attention="fixed")),
            "its context is fixed",
        ),
    ],
)
def test_a_mistake_is_said_in_one_line(
    folder: Path, options: list[str], spoil: Any, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if spoil:
        spoil(folder)
    assert step(folder, "--tokenized", *(option.format(folder=folder) for option in options)) == 1
    error = capsys.readouterr().err
    assert error.startswith("nmt align: ")
    assert error.count("\n") == 1
    assert named in error
    assert not list(folder.glob("out.*"))


def fill(folder: Path, lines: int) -> None:
    for side in ("source", "target"):
        write(folder / f"{side}.txt", *["s2"] * lines)
