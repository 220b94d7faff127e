"""The batched search against the one-sentence search, exhaustive search and the training probability."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from nmt.corpora.shortlist import EOS, UNK
from nmt.model.network import Network
from nmt.search.beam import BeamSettings, search
from nmt.training.batches import pad
from tests.model.models import KINDS, SOURCE_SYMBOLS, tiny_model
from tests.search.reference import reference_search

kinds = pytest.mark.parametrize(("context", "order", "rank"), KINDS)


def sources(count: int, seed: int = 0) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [random.integers(1, SOURCE_SYMBOLS, random.integers(1, 9)).tolist() for _ in range(count)]


def ending(model: Network, bias: float = 2.5) -> Network:
    """The same with an end of sentence that is neither sure nor rare, so that hypotheses end at various times."""
    with torch.no_grad():
        model.readout.W_o *= 0.3
        model.readout.W_o[EOS] = 0
        model.readout.b_o[EOS] = bias
    return model.eval()


@kinds
@pytest.mark.parametrize("width", [1, 3, 12])
def test_all_sentences_at_once_as_one_by_one(context: str, order: str, rank: int | None, width: int) -> None:
    model = ending(tiny_model(context=context, decoder_order=order, output_rank=rank))
    compared = 0
    for forbid_unk in (False, True):
        settings = BeamSettings(width, forbid_unk=forbid_unk, alignments=True)
        for source, found in zip(sources(9), search(model, sources(9), settings), strict=True):
            expected = reference_search(model, source, width, forbid_unk)
            if not expected:
                assert len(found) == 1
                assert len(found[0].words) == 3 * (len(source) + 1)
                continue
            compared += 1
            assert [one.words for one in found] == [words for words, _, _ in expected]
            np.testing.assert_allclose([one.log_probability for one in found], [score for _, score, _ in expected])
            for one, (_, _, looks) in zip(found, expected, strict=True):
                if context == "fixed":
                    assert one.alignment is None
                else:
                    torch.testing.assert_close(one.alignment, torch.stack(looks))
    assert width == 1 or compared >= 4


def test_a_wide_beam_finds_the_most_probable_translation() -> None:
    """With a beam as wide as there are prefixes nothing is lost: compare with all translations of up to 3 words."""
    model = ending(tiny_model())
    with torch.no_grad():  # four words only: EOS, UNK and two more
        model.readout.b_o[4:] = -1e9
    source = [3, 5]
    translations = [words for length in (1, 2, 3) for words in itertools.product((1, 2, 3), repeat=length)]
    pairs = [*pad([source] * len(translations)), *pad(translations)]
    with torch.no_grad():
        scores = dict(zip(translations, (-model(*pairs)).tolist(), strict=True))
    best = max(scores, key=scores.__getitem__)
    (found,) = search(model, [source], BeamSettings(width=5000))
    short = [one for one in found if len(one.words) <= 3 and max(one.words) <= 3]
    assert tuple(short[0].words) == best
    assert {tuple(one.words) for one in short} == set(translations)
    for one in short:
        assert one.log_probability == pytest.approx(scores[tuple(one.words)])


def test_unknown_word_and_short_translations_are_forbidden_on_request() -> None:
    model = ending(tiny_model())
    with torch.no_grad():
        model.readout.b_o[UNK] += 20
    free = search(model, sources(10), BeamSettings(4))
    assert any(UNK in found[0].words for found in free)
    with torch.no_grad():
        model.readout.b_o[UNK] -= 20
        model.readout.b_o[EOS] += 20
    for source, found in zip(sources(10), search(model, sources(10), BeamSettings(4, forbid_unk=True)), strict=True):
        assert all(UNK not in one.words for one in found)
        assert min(len(one.words) for one in found) == (len(source) + 1) // 2
    assert all(not found[0].words for found in search(model, sources(10), BeamSettings(4, minimum_length_ratio=0)))


def test_normalization_ranks_by_probability_per_word() -> None:
    model = ending(tiny_model(), bias=1.0)
    plain = search(model, sources(12), BeamSettings(8))
    normalized = search(model, sources(12), BeamSettings(8, normalize=True))
    differs = False
    for one, other in zip(plain, normalized, strict=True):
        assert {tuple(h.words) for h in one} == {tuple(h.words) for h in other}
        per_word = [h.log_probability / (len(h.words) + 1) for h in other]
        assert per_word == sorted(per_word, reverse=True)
        differs |= one[0].words != other[0].words
    assert differs
