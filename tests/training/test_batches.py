"""The order in which training reads its data."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nmt.corpora.shortlist import EOS
from nmt.system.files import UserError
from nmt.training.batches import Batches, by_length, pad


class Text:
    """Pairs whose only word is their number, repeated as often as their length says."""

    def __init__(self, source_lengths: list[int], target_lengths: list[int]) -> None:
        self.source_lengths, self.target_lengths = np.array(source_lengths), np.array(target_lengths)

    def source(self, pair: int) -> np.ndarray:
        return np.full(self.source_lengths[pair], pair + 10)

    def target(self, pair: int) -> np.ndarray:
        return np.full(self.target_lengths[pair], pair + 10)


def pairs_of(batch) -> list[int]:
    return (batch.source[:, 0] - 10).tolist()


def test_padding_is_after_the_end_of_sentence() -> None:
    ids, mask = pad([[5, 6, 7], [], [8]])
    assert ids.tolist() == [[5, 6, 7, EOS], [EOS] * 4, [8, EOS, EOS, EOS]]
    assert mask.tolist() == [[True] * 4, [True, False, False, False], [True, True, False, False]]
    assert ids.dtype == torch.int64


def test_long_sentences_make_small_batches() -> None:
    lengths = [3, 250, 100, 7, 100, 1000, 3]
    assert list(by_length(lengths, 4)) == [[5], [1], [2, 4, 3, 0], [6]]
    assert list(by_length([], 4)) == []


def test_batches_are_sorted_together_by_the_longer_side_and_wrap_round_at_the_end() -> None:
    text = Text([9, 1, 5, 2, 3, 4, 7], [1, 8, 5, 2, 3, 6, 7])
    batches = Batches(text, maximum_length=50, size=2, sort_batches=2)
    # Sorted together first: pairs 0-3 with longer sides 9, 8, 5, 2; second: pairs 4, 5, 6 and again 0.
    assert [pairs_of(batches[number]) for number in range(4)] == [[3, 2], [1, 0], [4, 5], [6, 0]]
    assert pairs_of(batches[4]) == [3, 4]  # third: pairs 1-4, with 8, 5, 2, 3


def test_the_limit_holds_for_both_sides_and_counts_no_end_of_sentence() -> None:
    batches = Batches(Text([30, 31, 1, 30], [30, 1, 31, 2]), maximum_length=30, size=1, sort_batches=1)
    assert batches.pairs.tolist() == [0, 3]


def test_every_batch_is_full_and_depends_on_its_number_alone() -> None:
    random = np.random.default_rng(0)
    text = Text(random.integers(1, 40, 101).tolist(), random.integers(1, 40, 101).tolist())
    one, other = (Batches(text, 50, size=8, sort_batches=3) for _ in range(2))
    for number in range(20):
        assert len(one[number].source) == 8
    assert torch.equal(one[17].source, other[17].source)


def test_four_bytes_a_pair_are_held_in_memory() -> None:
    assert Batches(Text([5] * 1000, [5] * 1000), maximum_length=5, size=1, sort_batches=1).pairs.nbytes == 4000


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_pinned_batches_are_the_same() -> None:
    batch = Batches(Text([2, 1, 3], [1, 4, 2]), maximum_length=5, size=3, sort_batches=1)[0]
    pinned = batch.pinned()
    assert all(part.is_pinned() for part in pinned)
    for one, other in zip(pinned.to(torch.device("cuda")), batch, strict=True):
        assert torch.equal(one.cpu(), other)


def test_no_pair_within_the_limit_is_an_error() -> None:
    with pytest.raises(UserError, match="maximum_length"):
        Batches(Text([5], [5]), maximum_length=4, size=1, sort_batches=1)
