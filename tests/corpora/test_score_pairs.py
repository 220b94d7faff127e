"""nmt.corpora.score_pairs: ratings follow the formula and do not depend on shards."""

from __future__ import annotations

from math import log10
from pathlib import Path

import numpy as np
import pytest

from nmt.corpora.score_pairs import Models
from nmt.corpora.train_lm import load_model
from nmt.system.errors import UserError
from tests.conftest import SmallDisk
from tests.corpora.selection import NEWS, Case, last_line, make_case, write_pairs


@pytest.fixture
def case(tmp_path: Path, lmplz: Path) -> Case:
    case = make_case(tmp_path, lmplz)
    assert (case.clean(), case.train_lm()) == (0, 0)
    return case


def test_rating_is_the_formula() -> None:
    class Unigrams:
        def __init__(self, table: dict[str, float]) -> None:
            self.table = table

        def score(self, line: bytes) -> float:
            return sum(log10(self.table[word]) for word in [*line.decode().split(), "</s>"])

    known = frozenset({b"a"})
    models = Models(
        [known, known],
        [Unigrams({"a": 0.5, "<unknown>": 0.25, "</s>": 0.25}), Unigrams({"a": 0.5, "</s>": 0.5})],
        [Unigrams({"a": 0.125, "<unknown>": 0.25, "</s>": 0.5}), Unigrams({"a": 0.25, "</s>": 0.25})],
    )
    # bits per word, the end counted: source (1 + 2 + 2) / 3 - (3 + 2 + 1) / 3, target (1 + 1 + 1) / 3 - (2 + 2 + 2) / 3
    assert models.rating((b"a b", b"a a")) == pytest.approx(-1 / 3 - 1)


def test_the_shards_concatenated_are_the_whole(case: Case) -> None:
    assert case.score_pairs() == 0
    whole = np.load(case.folder / "web.1-of-1.ratings.npy")
    assert (whole.shape, whole.dtype) == ((300,), np.float32)
    case.shards = 7
    assert (case.clean(), case.score_pairs()) == (0, 0)
    shards = [np.load(case.folder / f"web.{number}-of-7.ratings.npy") for number in range(1, 8)]
    assert np.array_equal(np.concatenate(shards), whole)


def test_pairs_like_the_in_domain_text_have_low_ratings(case: Case) -> None:
    assert case.score_pairs() == 0
    ratings = np.load(case.folder / "web.1-of-1.ratings.npy")
    news = np.array([source.split()[0] in NEWS for source, _ in case.corpora["web"]])
    assert ratings[news].mean() < ratings[~news].mean() - 1


def test_a_missing_or_broken_model_is_named(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    model = case.folder / "models/target.general.arpa"
    model.write_text("no model\n")
    assert case.score_pairs() == 1
    assert "target.general.arpa: damaged or replaced" in last_line(capsys)
    with pytest.raises(UserError, match=r"target\.general\.arpa: cannot be read"):
        load_model(model)
    model.unlink()
    assert case.score_pairs() == 1
    assert "target.general.arpa: no such file; train the language models again" in last_line(capsys)
    (case.folder / "models/source.words").unlink()
    assert case.score_pairs() == 1
    assert "source.words: no such file" in last_line(capsys)


def test_a_shard_with_unequal_sides_fails_alone(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    with open(case.folder / "acts.1-of-1.fr", "a") as file:
        file.write("encore\n")
    assert case.score_pairs() == 1
    assert "acts.1-of-1.fr has 201" in last_line(capsys)
    assert (case.folder / "web.1-of-1.ratings.npy").exists()
    assert not (case.folder / "acts.1-of-1.ratings.npy").exists()


def test_a_full_disk_is_one_line_and_freeing_space_fixes_it(
    case: Case, tmp_path: Path, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = write_pairs(tmp_path, "long", case.corpora["web"] * 30)
    output = small_disk.folder / "ratings.npy"
    command = ["score_pairs", "--texts", *texts, "--models", case.path("models"), "--output", str(output)]
    small_disk.refuse_then_take(command, output, 8192, capsys)
    assert len(np.load(output)) == 9000
