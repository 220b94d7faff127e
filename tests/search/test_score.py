"""The step score: the probability of a given pair is the one by which the search ranks it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from nmt.__main__ import main
from nmt.corpora.tokenize import Tokenizer
from nmt.search import loaded, text
from nmt.trained import load_trained
from nmt.training.likelihood import sentence_nll
from tests.model.models import save_trained, tiny_model

SOURCES = ["s2 s3", "s4 s5 s6 strange", "", "s7 s7 s7 s7 s7 s7", "s8", ""]
TARGETS = ["t2", "t3 t4 t5 t6 other", "t7", "t8", "", ""]


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
    return main(["score", "--model", str(folder / "model"), "--device", "cpu", *texts, *more])


def rows(tsv: str) -> list[tuple[float, int]]:
    header, *lines, last = tsv.split("\n")
    assert (header, last) == ("log_probability\twords", "")
    return [(float(line.split("\t")[0]), int(line.split("\t")[1])) for line in lines]


def test_bfloat16_gives_almost_the_same_probability(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for precision in ("float32", "bf16"):
        assert step(folder, "--tokenized", "--precision", precision) == 0
        found.append([probability for probability, _ in rows(capsys.readouterr().out)])
    assert found[0] != found[1]
    assert found[0] == pytest.approx(found[1], rel=0.05)


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_each_pair_has_its_probability(
    folder: Path, size: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the one that the pair has on its own, also where a side is empty."""
    monkeypatch.setattr(loaded, "SORTED_TOGETHER", size)
    assert step(folder, "--tokenized") == 0
    out, err = capsys.readouterr()
    assert err == ""
    trained = load_trained(folder / "model", torch.device("cpu"))
    for source, target, (found, words) in zip(SOURCES, TARGETS, rows(out), strict=True):
        ids = [trained.source.ids(source.split())], [trained.target.ids(target.split())]
        (loss,) = sentence_nll(trained.model, *ids, torch.device("cpu"))
        assert found == pytest.approx(-loss, abs=2e-6)
        assert words == len(target.split()) + 1


def test_translations_have_the_scores_that_the_search_gave_them(folder: Path) -> None:
    sources = [source for source in SOURCES if source]
    write(folder / "source.txt", *sources)
    flags = ["--source", str(folder / "source.txt"), "--output", str(folder / "target.txt"), "--device", "cpu"]
    flags += ["--scores", str(folder / "scores.tsv"), "--tokenized", "--n-best", "3", "--beam", "3"]
    assert main(["translate", "--model", str(folder / "model"), *flags]) == 0
    write(folder / "source.txt", *(source for source in sources for _ in range(3)))
    assert step(folder, "--tokenized", "--output", str(folder / "again.tsv")) == 0
    compared = 0
    for (found, words), line in zip(
        rows((folder / "again.tsv").read_text()), (folder / "scores.tsv").read_text().split("\n")[1:-1], strict=True
    ):
        expected, expected_words, ended = line.split("\t")
        if ended == "1":
            assert (found, words) == (pytest.approx(float(expected), abs=1e-5), int(expected_words))
            compared += 1
    assert compared > 5


def test_running_text_is_tokenized(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources, targets = ["Don't!", "s2, (s3)\r"], ["L'été\u2028t3.", ""]
    write(folder / "source.txt", *sources)
    write(folder / "target.txt", *targets)
    assert step(folder) == 0
    running = capsys.readouterr().out
    write(folder / "source.txt", *map(Tokenizer("en").line, sources))
    write(folder / "target.txt", *map(Tokenizer("fr").line, targets))
    assert step(folder, "--tokenized") == 0
    assert capsys.readouterr().out == running
    assert [words for _, words in rows(running)] == [5, 1]


@pytest.mark.parametrize(
    ("lines", "named"),
    [(["t2"], "source.txt has 6 lines"), ([], "target.txt has 0"), (["\udcff"], "target.txt: line 1 is not UTF-8")],
)
def test_a_mistake_is_said_in_one_line(
    folder: Path, lines: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(f"{line}\n" for line in lines)
    (folder / "target.txt").write_text(text, encoding="utf-8", errors="surrogateescape")
    assert step(folder, "--tokenized", "--output", str(folder / "scores.tsv")) == 1
    error = capsys.readouterr().err
    assert error.startswith("nmt score: ")
    assert error.count("\n") == 1
    assert named in error
    assert not (folder / "scores.tsv").exists()


def test_a_long_line_is_cut_on_both_sides(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(text, "LONGEST", 3)
    write(folder / "source.txt", "s2", "s3 s4 s5 " + "s6 " * 1000)
    write(folder / "target.txt", "t2 t3 t4 t5", "t6")
    assert step(folder, "--tokenized") == 0
    out, err = capsys.readouterr()
    assert err.split("\n") == [
        f"nmt: warning: {folder}/source.txt: line 2 has 1003 words; only the first 3 are used",
        f"nmt: warning: {folder}/target.txt: line 1 has 4 words; only the first 3 are used",
        "",
    ]
    write(folder / "source.txt", "s2", "s3 s4 s5")
    write(folder / "target.txt", "t2 t3 t4", "t6")
    assert step(folder, "--tokenized") == 0
    assert capsys.readouterr() == (out, "")


def test_nothing_to_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("source", "target"):
        write(folder / f"{name}.txt")
    assert step(folder) == 1
    assert "source.txt: empty" in capsys.readouterr().err
    (folder / "model/summary.json").write_text(json.dumps({"languages": "en fr"}))
    assert step(folder) == 1
    assert "summary.json" in capsys.readouterr().err
