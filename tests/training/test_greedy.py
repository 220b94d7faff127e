"""Greedy translations and their BLEU, beside the one-sentence search and multi-bleu's definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.__main__ import main
from nmt.corpora.shortlist import EOS, Shortlist
from nmt.model.network import Network
from nmt.training import greedy
from nmt.training.greedy import GreedyBLEU, translate_greedily
from nmt.training.parallel import Processes
from tests.evaluation.test_evaluate import multi_bleu
from tests.model.models import SOURCE_SYMBOLS, TARGET_SYMBOLS, kinds, save_trained, tiny_model
from tests.search.reference import reference_search


def shortlist(letter: str, symbols: int) -> Shortlist:
    words = [f"{letter}{number}" for number in range(2, symbols)]
    return Shortlist(("<eos>", "<unk>", *words), (1,) * symbols)


SHORTLISTS = [shortlist("s", SOURCE_SYMBOLS), shortlist("t", TARGET_SYMBOLS)]


def sources(count: int) -> list[list[int]]:
    random = np.random.default_rng(0)
    return [random.integers(2, SOURCE_SYMBOLS, random.integers(1, 9)).tolist() for _ in range(count)]


@kinds
def test_batches_as_one_by_one(kind: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Translations that end at various steps, and some that never do."""
    monkeypatch.setattr(greedy, "BATCH", 4)
    ended = set()
    for seed, bias in ((4, 0.0), (5, 1.5), (1, 1.5), (1, -9.0)):
        model = tiny_model(seed=seed, **kind)
        with torch.no_grad():
            model.decoder.readout.b_o[EOS] += bias
        expected = [reference_search(model, source, 1, ratio=0)[0] for source in sources(9)]
        assert translate_greedily(model, sources(9)) == [one.words for one in expected]
        ended |= {one.ended for one in expected}
    assert ended == {True, False}


def write(folder: Path, lines: list[tuple[str, str]]) -> list[str]:
    """The files of the two sides."""
    for name, side in zip("st", zip(*lines, strict=True), strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in side))
    return [str(folder / name) for name in "st"]


@pytest.fixture
def development(tmp_path: Path) -> tuple[Network, list[str], list[str], list[str]]:
    """A model, the two files of a development set, its translations and its references, which are like them.

    A pair has an empty source, and a pair an empty reference.
    """
    model = tiny_model(seed=5, dtype=torch.float32)
    ids = sources(9)
    translations = [SHORTLISTS[1].words(reference_search(model, one, 1, ratio=0)[0].words) for one in ids]
    references = [" ".join(["unseen" if at == 5 else word for at, word in enumerate(one)]) for one in translations]
    references = [line or "unseen" for line in references]
    lines = [(" ".join(SHORTLISTS[0].words(one)), line) for one, line in zip(ids, references, strict=True)]
    texts = write(tmp_path, [*lines, ("", "t2"), ("s2", "")])
    [more] = translate_greedily(model, [[2]])
    translations += [[], SHORTLISTS[1].words(more)]
    return model, texts, [" ".join(one) for one in translations], [*references, "t2", ""]


def test_the_score_is_that_of_multi_bleu(development: tuple[Network, list[str], list[str], list[str]]) -> None:
    model, texts, translations, references = development
    expected = multi_bleu(translations, references)
    assert 10 < expected < 99
    assert GreedyBLEU(texts, SHORTLISTS)(model, Processes()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("bias", [0.0, -9.0])
def test_the_score_is_that_of_the_tables_at_beam_1(
    development: tuple[Network, list[str], list[str], list[str]], tmp_path: Path, bias: float
) -> None:
    """With the second paper's search, whether translations end or not."""
    model, (source, reference), *_ = development
    with torch.no_grad():
        model.decoder.readout.b_o[EOS] += bias
    save_trained(tmp_path / "model", model)
    found = str(tmp_path / "translation")
    words = ["--model", str(tmp_path / "model"), "--tokenized", "--source", source, "--output", found]
    words += ["--device", "cpu", "--beam", "1", "--minimum-length-ratio", "0", "--no-fallback"]
    assert main(["translate", *words]) == 0
    words = ["--source", source, "--reference", reference, "--raw-reference", reference, "--translation", found]
    shortlists = [str(tmp_path / "model" / f"{side}.tsv") for side in ("source", "target")]
    assert main(["evaluate", *words, "--shortlists", *shortlists, "--output", str(tmp_path / "score.json")]) == 0
    score = json.loads((tmp_path / "score.json").read_text())["all"]
    assert score["sentences"] == 11
    assert GreedyBLEU([source, reference], SHORTLISTS)(model, Processes()) == pytest.approx(score["bleu"], rel=1e-12)


def test_symbols_are_joined_to_words_before_they_are_scored(
    development: tuple[Network, list[str], list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, texts, translations, references = development

    def join(symbols: list[str]) -> str:
        return " ".join(symbols).replace("t12 ", "t12")

    expected = multi_bleu([join(line.split()) for line in translations], references)
    assert expected != multi_bleu(translations, references)
    monkeypatch.setattr(Shortlist, "join", lambda _, symbols: join(symbols).split())
    assert GreedyBLEU(texts, SHORTLISTS)(model, Processes()) == pytest.approx(expected, rel=1e-12)


def test_processes_score_the_whole_set_together(
    development: tuple[Network, list[str], list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there are more of them than sentences."""
    model, texts, *_ = development
    score = GreedyBLEU(texts, SHORTLISTS)
    whole = score(model, Processes())
    shares: list[Tensor] = []
    monkeypatch.setattr(Processes, "sum", lambda self, values: shares.append(values) or values)
    for rank in range(12):
        score(model, Processes(rank, 12))  # of 11 pairs
    monkeypatch.setattr(Processes, "sum", lambda self, values: torch.stack(shares).sum(dim=0))
    assert score(model, Processes(3, 12)) == whole


def test_a_model_that_translates_nothing_scores_0(
    development: tuple[Network, list[str], list[str], list[str]],
) -> None:
    model, texts, *_ = development
    with torch.no_grad():
        model.decoder.readout.b_o[EOS] = 100
    assert GreedyBLEU(texts, SHORTLISTS)(model, Processes()) == 0.0
