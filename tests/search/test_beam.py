"""The batched search, compared with the one-sentence search, exhaustive search and the training probability."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from nmt.corpora.padding import pad
from nmt.corpora.shortlist import EOS, UNK
from nmt.model.fast.words import BLOCK, highest
from nmt.model.memory import Memory, Prediction
from nmt.model.network import Network
from nmt.search.beam import BeamSettings, Hypothesis, search
from nmt.search.step import best_words
from tests.model.models import SOURCE_SYMBOLS, kinds, tiny_model
from tests.search.reference import Found, reference_fallback, reference_search


def sources(count: int, seed: int = 0) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [random.integers(1, SOURCE_SYMBOLS, random.integers(1, 9)).tolist() for _ in range(count)]


def ending(model: Network, bias: float = 2.5) -> Network:
    """`model` with an end of sentence that is neither certain nor rare, so that hypotheses end at various steps."""
    with torch.no_grad():
        model.decoder.readout.W_o *= 0.3
        model.decoder.readout.W_o[EOS] = 0
        model.decoder.readout.b_o[EOS] = bias
    return model.eval()


def rarely_ending() -> Network:
    """A model of which greedy search finishes few sentences, most of them only after UNK."""
    model = tiny_model(seed=6).eval()
    with torch.no_grad():
        model.decoder.readout.W_o[EOS] *= 2
        model.decoder.readout.b_o[EOS] += 1
        model.decoder.readout.b_o[UNK] += 2
    return model


def assert_same(found: Sequence[Hypothesis], expected: Sequence[Found]) -> None:
    assert [one.words for one in found] == [one.words for one in expected]
    assert [one.ended for one in found] == [one.ended for one in expected]
    assert [one.length for one in found] == [len(one.words) + one.ended for one in expected]
    np.testing.assert_allclose(
        [one.log_probability for one in found], [one.log_probability for one in expected], rtol=1e-12
    )
    for one, other in zip(found, expected, strict=True):
        if other.alignment:
            torch.testing.assert_close(one.alignment, torch.stack(other.alignment))
        else:
            assert one.alignment is None


@kinds
@pytest.mark.parametrize("width", [1, 3, 12])
@pytest.mark.parametrize("normalize", [False, True])
def test_all_sentences_at_once_as_one_by_one(kind: dict[str, Any], width: int, normalize: bool) -> None:
    """Every hypothesis with its alignment, of a batch of sentences of 1 to 8 words."""
    model = ending(tiny_model(**kind))
    finished = 0
    for forbid_unk in (False, True):
        settings = BeamSettings(
            width, forbid_unk=forbid_unk, fallback=False, normalize=normalize, n_best=width, alignments=True
        )
        for source, found in zip(sources(9), search(model, sources(9), settings), strict=True):
            assert_same(found, reference_search(model, source, width, forbid_unk, normalize=normalize, compete=True))
            finished += any(one.ended for one in found)
    assert width == 1 or finished >= 4


@pytest.mark.parametrize("attention", ["additive", "fixed"])
@pytest.mark.parametrize("width", [1, 3, 12])
def test_a_search_is_watched_step_by_step(attention: str, width: int) -> None:
    model = ending(tiny_model(attention=attention))
    for source in sources(5):
        found: list[Hypothesis] = []
        expected: list[Found] = []

        def watch(leader: Callable[[], Hypothesis], found: list[Hypothesis] = found) -> bool:
            found.append(leader())
            return False

        search(model, [source], BeamSettings(width, fallback=False, alignments=True), watch)
        reference_search(model, source, width, watch=expected.append)
        assert_same(found, expected)
        assert [one.length for one in found] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("attention", ["additive", "fixed"])
def test_a_search_that_is_ended_returns_what_has_ended(attention: str) -> None:
    model, settings = ending(tiny_model(attention=attention), bias=0.5), BeamSettings(6, fallback=False, n_best=6)
    counts = set()
    for source in sources(5):
        [whole] = search(model, [source], settings)
        for last in range(1, max(one.length for one in whole)):
            leaders: list[Hypothesis] = []

            def watch(leader: Callable[[], Hypothesis], found: list[Hypothesis] = leaders, last: int = last) -> bool:
                found.append(leader())
                return len(found) == last

            [results] = search(model, [source], settings, watch)
            ended = [one for one in whole if one.ended and one.length <= last]
            assert results == (ended or leaders[-1:])
            counts.add(len(ended))
    assert {0, 1, 2} <= counts


def test_n_best_returns_the_first_of_all_hypotheses() -> None:
    model = ending(tiny_model())
    everything = search(model, sources(9), BeamSettings(6, n_best=6, alignments=True))
    for number in (1, 2, 5):
        for found, whole in zip(
            search(model, sources(9), BeamSettings(6, n_best=number, alignments=True)), everything, strict=True
        ):
            assert [(one.words, one.log_probability) for one in found] == [
                (one.words, one.log_probability) for one in whole[:number]
            ]
            assert len({tuple(one.words) for one in found}) == len(found) == number


def test_a_translation_that_does_not_end_is_abandoned_at_three_times_the_length() -> None:
    """Even while other sentences are still searched: words, probability and alignment are those up to that point."""
    model = ending(tiny_model(), bias=-50)
    mixed = [[3, 5], [4, 2, 6, 7, 1, 3], [2], [5, 5, 5]]
    settings = BeamSettings(4, fallback=False, n_best=4, alignments=True)
    for source, found in zip(mixed, search(model, mixed, settings), strict=True):
        assert len(found) == 4
        for one in found:
            assert not one.ended
            assert one.length == len(one.words) == 3 * (len(source) + 1)
            assert one.alignment is not None
            assert one.alignment.shape == (one.length, len(source) + 1)
        assert_same(found, reference_search(model, source, 4, compete=True))


def test_an_unfinished_translation_wins_where_it_is_more_probable() -> None:
    """Without the fallback, as in dl4mt; with it, one that has ended is preferred, as in the original code."""
    model = ending(tiny_model())
    with torch.no_grad():
        model.decoder.readout.b_o[5] += 8  # a word that goes on for ever
    settings = BeamSettings(3, n_best=3)
    once = search(model, [[3, 5], [4]], replace(settings, fallback=False))
    for found, (preferred, *_) in zip(once, search(model, [[3, 5], [4]], settings), strict=True):
        assert not found[0].ended
        assert set(found[0].words) == {5}
        assert preferred.ended
        assert preferred.words == next(one.words for one in found if one.ended)


@kinds
def test_beam_1_without_the_fallback_is_greedy(kind: dict[str, Any]) -> None:
    """At each step the most probable word, until it is EOS or the translation is three times as long as its source."""
    ended = Counter()
    for bias in (2.5, 0.0):
        model = ending(tiny_model(**kind), bias)
        settings = BeamSettings(1, minimum_length_ratio=0, fallback=False)
        for source, (found,) in zip(sources(9), search(model, sources(9), settings), strict=True):
            words: list[int] = []
            with torch.no_grad():
                memory = model.encode(*pad([source], torch.device("cpu")))
                state, previous = model.initial_state(memory), None
                while len(words) < 3 * (len(source) + 1):
                    prediction = model.predict(memory, state, previous)
                    previous = prediction.log_probabilities.argmax(dim=-1)
                    if previous.item() == EOS:
                        break
                    words.append(int(previous))
                    state = model.advance(prediction.carry, previous)
            assert found.words == words
            ended[found.ended] += 1
    assert min(ended[False], ended[True]) >= 2


@pytest.mark.parametrize("width", [*(pytest.param(width, marks=pytest.mark.long) for width in (1, 2)), 3])
def test_where_nothing_ends_it_searches_again(width: int) -> None:
    """With UNK, then in wider beams: as one by one, whichever search of a batch ends a sentence."""
    model = rarely_ending()
    batch = [source for source in sources(9) if len(source) < 8]
    for forbid_unk in (False, True):
        settings = BeamSettings(width, forbid_unk=forbid_unk, n_best=width, alignments=True)
        ends = Counter()
        for source, found in zip(batch, search(model, batch, settings), strict=True):
            expected = reference_fallback(model, source, width, forbid_unk)
            assert_same(found, expected[:width])
            first = reference_search(model, source, width, forbid_unk)
            with_unk = reference_search(model, source, width)
            ends["first" if first[0].ended else "with UNK" if with_unk[0].ended else "wider"] += found[0].ended
        assert ends["wider"] >= 2
        assert ends["first"] >= 2 or width < 3
        assert ends["with UNK"] >= 1 or not forbid_unk


@pytest.mark.parametrize(("width", "widest"), [(1, 512), (3, 768), (250, 500), (500, 500)])
def test_the_beam_is_doubled_until_it_is_500_wide(width: int, widest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that cannot end: the first search's translation stands in. Memory holds the first search's rows."""
    model = ending(tiny_model(), bias=-math.inf)
    batch = [[3, 5], [4], [2, 2], [6]]
    first = search(model, batch, BeamSettings(width, fallback=False, alignments=True))
    rows: set[tuple[int, int]] = set()  # (sentences, rows of each) of the steps
    predict = model.predict

    def counting(memory: Memory, state: Tensor, previous: Tensor | None) -> Prediction:
        rows.add((len(memory), len(state) // len(memory)))
        return predict(memory, state, previous)

    monkeypatch.setattr(model, "predict", counting)
    found = search(model, batch, BeamSettings(width, alignments=True))
    assert max(beam for _, beam in rows) == widest
    assert all(count * beam <= max(len(batch) * width, beam) for count, beam in rows)
    assert any(count > 1 and beam > width for count, beam in rows) or width == widest
    for (one,), (other,) in zip(found, first, strict=True):
        assert not one.ended
        assert (one.words, one.log_probability) == (other.words, other.log_probability)
        torch.testing.assert_close(one.alignment, other.alignment, rtol=0, atol=0)


WAITS = {
    getattr(Tensor, name)
    for name in ("cpu", "item", "tolist", "nonzero", "__bool__", "__int__", "__float__", "__index__", "__array__")
}


class Waits(TorchFunctionMode):
    """Counts the calls for which the host waits where the device is a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += function in WAITS
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("alignments", [False, True])
def test_a_step_waits_for_the_device_once(alignments: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether hypotheses end, sentences leave or the maximum length is reached."""
    model = ending(tiny_model())
    predict, waits, before = model.predict, Waits(), []  # before each step

    def counting(memory: Memory, state: Tensor, previous: Tensor | None) -> Prediction:
        before.append((waits.count, len(memory)))
        return predict(memory, state, previous)

    monkeypatch.setattr(model, "predict", counting)
    with waits:
        search(model, sources(9), BeamSettings(4, fallback=False, n_best=4, alignments=alignments))
    counts, batches = zip(*before, strict=True)
    assert list(counts) == list(range(len(counts)))
    assert len(set(batches)) > 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("frozen", [False, True])
@kinds
def test_a_gpu_finds_what_the_cpu_does(kind: dict[str, Any], frozen: bool) -> None:
    """Frozen weights have rows of zeros beside them on a GPU, so logits are parts of longer rows."""
    model = ending(tiny_model(**kind))
    settings = BeamSettings(5, forbid_unk=True, n_best=5, alignments=True)
    expected = search(model, sources(9), settings)
    model.cuda()
    if frozen:
        model.freeze()
    for found, others in zip(search(model, sources(9), settings), expected, strict=True):
        assert [(one.words, one.ended) for one in found] == [(other.words, other.ended) for other in others]
        for one, other in zip(found, others, strict=True):
            assert one.log_probability == pytest.approx(other.log_probability, rel=1e-10)
            torch.testing.assert_close(one.alignment, other.alignment)


def test_where_only_unk_is_possible_the_fallback_allows_it() -> None:
    model = ending(tiny_model())
    with torch.no_grad():
        model.decoder.readout.b_o[UNK + 1 :] = -math.inf
    assert search(model, [[3, 5]], BeamSettings(2, forbid_unk=True, fallback=False)) == [[]]
    ((found,),) = search(model, [[3, 5]], BeamSettings(2, forbid_unk=True))
    assert found.ended
    assert found.words == [UNK] * len(found.words) != []


def test_a_wide_beam_finds_the_most_probable_translation() -> None:
    """A beam as wide as the number of prefixes loses nothing: compare with all translations of up to 3 words."""
    model = ending(tiny_model())
    with torch.no_grad():  # only four words remain: EOS, UNK and two more
        model.decoder.readout.b_o[4:] = -1e9
    source = [3, 5]
    translations = [words for length in (1, 2, 3) for words in itertools.product((1, 2, 3), repeat=length)]
    pairs = [*pad([source] * len(translations)), *pad(translations)]
    with torch.no_grad():
        scores = dict(zip(translations, (-model(*pairs)).tolist(), strict=True))
    best = max(scores, key=scores.__getitem__)
    (found,) = search(model, [source], BeamSettings(width=5000, n_best=5000))
    short = [one for one in found if len(one.words) <= 3 and max(one.words) <= 3]
    assert tuple(short[0].words) == best
    assert {tuple(one.words) for one in short} == set(translations)
    for one in short:
        assert one.log_probability == pytest.approx(scores[tuple(one.words)])


def test_unknown_word_and_short_translations_are_forbidden_on_request() -> None:
    model = ending(tiny_model())
    with torch.no_grad():
        model.decoder.readout.b_o[UNK] += 20
    free = search(model, sources(10), BeamSettings(4))
    assert any(UNK in found[0].words for found in free)
    with torch.no_grad():
        model.decoder.readout.b_o[UNK] -= 20
        model.decoder.readout.b_o[EOS] += 20
    for source, found in zip(
        sources(10), search(model, sources(10), BeamSettings(4, forbid_unk=True, n_best=4)), strict=True
    ):
        assert all(UNK not in one.words for one in found)
        assert min(len(one.words) for one in found) == (len(source) + 1) // 2
    assert all(not found[0].words for found in search(model, sources(10), BeamSettings(4, minimum_length_ratio=0)))


def test_normalization_ranks_by_probability_per_word() -> None:
    model = ending(tiny_model(), bias=1.0)
    plain = search(model, sources(12), BeamSettings(8, n_best=8))
    normalized = search(model, sources(12), BeamSettings(8, normalize=True, n_best=8))
    differs = False
    for one, other in zip(plain, normalized, strict=True):
        assert {tuple(h.words) for h in one} == {tuple(h.words) for h in other}
        per_word = [h.log_probability / h.length for h in other]
        assert per_word == sorted(per_word, reverse=True)
        differs |= one[0].words != other[0].words
    assert differs


@pytest.mark.parametrize("symbols", [BLOCK, 3 * BLOCK + 5, 5])
@pytest.mark.parametrize("count", [1, 12, 40])
def test_the_best_words_are_the_best_of_all(count: int, symbols: int) -> None:
    generator = torch.Generator().manual_seed(symbols)
    added = torch.randn(3, 4, symbols, generator=generator).log_softmax(dim=-1)
    scores = torch.tensor([[0.0, -1.0, -2.0, -torch.inf]]).expand(3, 4)
    totals = (scores.unsqueeze(-1) + added).flatten(1)
    expected, places = totals.topk(min(count, 3 * symbols), dim=1)  # the empty row has no continuations
    best, rows, words = (part[:, : expected.shape[1]] for part in best_words(scores, added, highest(added), count))
    assert torch.equal(best, expected)
    assert torch.equal(rows, places // symbols)
    assert torch.equal(words, places % symbols)
