"""Dimensions that specialize: planted ones are found, chance is not, and the sums are those of the equations."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.evaluation.bootstrap import holm
from nmt.papers.choi2017.specialized_dimensions import AlignedSymbols, WordClasses, best, spoken
from nmt.report.markup import MADE_UP
from nmt.search.alignments import alignments
from tests.model.models import tiny_model
from tests.papers.choi2017 import fine

PLANTED, DIMENSIONS, PERMUTATIONS = 17, 40, 99


@pytest.mark.parametrize("planted", [True, False])
def test_a_dimension_for_a_class_of_words(planted: bool) -> None:
    random = np.random.default_rng(1)
    sums = WordClasses(2, DIMENSIONS, PERMUTATIONS, np.random.default_rng(2))
    for words in random.integers(5, 20, 100):
        labels = random.random((2, words)) < 0.2
        weights = random.exponential(size=(words, DIMENSIONS))
        if planted:
            weights[labels[1], PLANTED] *= 1.5
        sums.add(weights, labels)
    [noise, found] = best(["noise", "class"], sums.statistics(), sums.counts)
    assert [float(row[5]) for row in (noise, found)] == pytest.approx(holm([float(row[4]) for row in (noise, found)]))
    assert float(noise[4]) > 0.05
    assert (float(found[4]) == 1 / (1 + PERMUTATIONS)) == planted
    assert (int(found[1]) == PLANTED + 1) == planted
    assert (float(found[2]) > 1.5 * float(found[3])) == planted


@pytest.mark.parametrize("planted", [True, False])
def test_a_dimension_for_the_alignment(planted: bool) -> None:
    random = np.random.default_rng(1)
    sums = AlignedSymbols(DIMENSIONS, PERMUTATIONS, np.random.default_rng(2))
    for _ in range(50):
        targets, sources = random.integers(4, 12, 2)
        strongest = random.integers(0, sources, targets)
        weights = random.exponential(size=(targets, sources, DIMENSIONS))
        if planted:
            weights[np.arange(targets), strongest, PLANTED] += 1
        sums.add(weights / weights.sum(axis=1, keepdims=True), strongest)
    [found] = best(["alignment"], sums.statistics(), [sums.count])
    assert (float(found[4]) == 1 / (1 + PERMUTATIONS)) == planted
    assert (int(found[1]) == PLANTED + 1) == planted


def test_the_statistic_is_the_standardized_mean() -> None:
    random = np.random.default_rng(3)
    sums = WordClasses(1, 3, 1, random)
    some, none = (np.array([[word in chosen for word in range(count)]]) for count, chosen in ((5, (0, 3)), (2, ())))
    sentences = [(random.random((5, 3)), some), (random.random((2, 3)), none)]
    for weights, labels in sentences:
        sums.add(weights, labels)
    whole = np.concatenate([weights for weights, _ in sentences])
    expected = (whole[[0, 3]].mean(axis=0) - whole.mean(axis=0)) / whole.std(axis=0)
    np.testing.assert_allclose(sums.statistics()[0, 0], expected)


def test_a_dimension_whose_weights_never_vary_is_not_the_best() -> None:
    random = np.random.default_rng(4)
    sums = WordClasses(1, 3, PERMUTATIONS, random)
    for _ in range(10):
        weights = random.random((6, 3))
        weights[:, 1] = 0.25
        sums.add(weights, random.random((1, 6)) < 0.5)
    [row] = best(["class"], sums.statistics(), sums.counts)
    assert row[1] in "13"
    assert all(np.isfinite(float(cell)) for cell in row[1:])


def words(folder: Path, classes: str = "odd\ts9 S3 s5\nnone\tx\n") -> list[str]:
    (folder / "classes.tsv").write_text(classes)
    settings = f'{{"model": "fine", "aligner": "plain", "words": "{folder}/classes.tsv", "permutations": 9}}'
    outputs = [f"--output-{kind}={folder / 'dimensions'}.{kind}" for kind in ("csv", "md")]
    options = ["--aligner", str(folder / "plain"), "--settings", settings, "--labels", "Fine*", "Plain"]
    return ["choi2017.specialized_dimensions", *fine.options(folder), *options, "--seed", "1", *outputs]


def test_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The third line has no translation and the fourth no source: nothing is counted of them."""
    assert main([*words(fine.make(tmp_path)), "--generated"]) == 0
    assert "source.txt: no word of the class none; it is left out" in capsys.readouterr().err
    with (tmp_path / "dimensions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["class"], row["words"]) for row in rows] == [("odd", "3"), ("alignment", "6")]
    alphas = [fine.equations(line)[:-1] for line in (1, 2)]
    relative = np.concatenate([alpha.mean(axis=0)[:-1] * alpha.shape[1] for alpha in alphas])
    odd = (relative[[1, 2, 7]].mean(axis=0) - relative.mean(axis=0)) / relative.std(axis=0)
    aligner = tiny_model(**fine.FINE | {"attention": "additive"})
    sides = ([[int(word[1:]) for word in line.split()] for line in side[:2]] for side in (fine.SOURCE, fine.TARGET))
    places = [matrix[:-1].argmax(axis=1) for matrix in alignments(aligner, *sides)]
    given = [alpha[np.arange(len(place)), place] for alpha, place in zip(alphas, places, strict=True)]
    for row, expected in zip(rows, (odd, np.concatenate(given).mean(axis=0)), strict=True):
        assert int(row["dimension"]) == expected.argmax() + 1
        assert float(row["statistic"]) == pytest.approx(expected.max(), abs=1e-3)
    page = (tmp_path / "dimensions.md").read_text()
    assert page.split("\n")[2] == f"**{MADE_UP}**"
    assert "| odd " in page
    assert "Of Fine\\*, over 2 sentences and their translations" in page
    assert "to which Plain attends most" in page
    assert "for all 2 comparisons" in page


def test_the_escapes_of_the_tokenizer_are_undone(tmp_path: Path) -> None:
    """A file of classes says l', where the tokenized text says l&apos;."""
    fine.make(tmp_path)
    source = tmp_path / "source.txt"
    source.write_text(source.read_text().replace("s9", "l&apos;"))
    counts = []
    for classes in ("odd\tL' s3 s5\n", "odd\tl&apos; s3 s5\n"):
        assert main(words(tmp_path, classes)) == 0
        with (tmp_path / "dimensions.csv").open(encoding="utf-8", newline="") as file:
            counts.append(next(csv.DictReader(file))["words"])
    assert counts == ["3", "3"]


def test_the_punctuation_around_a_word_of_running_text_is_no_part_of_it() -> None:
    words = ["(Province.", "l'homme,", "“", "द्वि।"]
    assert [spoken(word, True) for word in words] == ["province", "l'homme", "", "द्वि"]
    assert [spoken(word, False) for word in ("L&apos;", "&quot;")] == ["l'", '"']


def test_a_model_that_translates_nothing_has_a_table_without_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As one that was hardly trained may do."""
    fine.make(tmp_path)
    (tmp_path / "empty.txt").write_text("\n" * len(fine.SOURCE))
    assert main([*words(tmp_path), "--translation", str(tmp_path / "empty.txt")]) == 0
    assert (tmp_path / "dimensions.csv").read_text().count("\n") == 1
    assert "over 0 sentences" in (tmp_path / "dimensions.md").read_text()
    [line] = capsys.readouterr().err.split("\n")[:-1]
    assert line.endswith("empty.txt: no words in it; the table has no rows")


def test_a_text_of_one_word_has_no_statistic_of_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fine.make(tmp_path)
    texts = {"source": "s3", "translation": "t2"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(f"{text}\n")
    assert main([*words(tmp_path), *(f"--{name}={tmp_path / name}.txt" for name in texts)]) == 0
    assert (tmp_path / "dimensions.csv").read_text().split("\n")[1].startswith("alignment,")
    assert "source.txt: the weights are the same on all words; the class odd is left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--model", "plain"], "plain: its attention is not fine-grained, but Figure 4 needs it"),
        (
            ["--aligner", "fixed"],
            "but --aligner needs attention",
        ),
        (["--translation", "short.txt"], "short.txt: 1 lines, but "),
        (["--aligner", "other"], "other: its vocabularies are not those of "),
        (["--output-csv", "classes.tsv"], "classes.tsv: is read too; name another output"),
        (["--output-md", "classes.tsv"], "classes.tsv: is read too; name another output"),
    ],
)
def test_what_does_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str], message: str
) -> None:
    fine.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("short.txt").write_text("\n")
    fine.save_other(tmp_path / "other")
    assert main([*words(tmp_path), *more]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not Path("dimensions.csv").exists()
