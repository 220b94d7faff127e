"""Dropout: what the masks are, when they are drawn, and that only the training cost has them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.settings.variant import Optimization
from nmt.system.errors import UserError
from nmt.training.dropout import BITS, Dropout
from nmt.training.parallel import Processes
from nmt.training.update import Update
from tests.model.models import kinds, ragged_batch, tiny_model
from tests.training.toy import tiny_variant

CPU = torch.device("cpu")


def make_dropout(processes: Processes | None = None, **settings: Any) -> Dropout:
    return Dropout(Optimization(updates=1, **{"batch": 6, **settings}), CPU, processes or Processes())


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
def test_units_are_dropped_and_the_others_scaled(probability: float) -> None:
    dropout = make_dropout(dropout=probability, batch=400)
    dropout.begin(0)
    masks = dropout(torch.ones(400, 501))
    dropped = masks == 0
    assert dropped.double().mean() == pytest.approx(probability, abs=5 * (0.25 / masks.numel()) ** 0.5)
    for axis in (0, 1):  # no row or column has much more than its share
        assert (dropped.double().mean(axis) - probability).abs().max() < 6 * (0.25 / 400) ** 0.5
    torch.testing.assert_close(masks[~dropped].unique(), torch.tensor([1 / (1 - probability)]))


def test_a_probability_that_the_random_numbers_cannot_express_is_refused() -> None:
    smallest = 2**-BITS
    for probability, dropped in ((smallest, 1), (1 - smallest, 2**BITS - 1)):
        dropout = make_dropout(dropout=tiny_variant(dropout=probability).optimization.dropout)
        assert dropout.least + 2 ** (BITS - 1) == dropped
    for probability in (smallest / 2, 1 - smallest / 2, 1e-9, 0.99999, True):
        with pytest.raises(UserError, match=r"dropout: expected 0, or a number from 1/65536 to 65535/65536"):
            tiny_variant(dropout=probability)


def test_masks_follow_from_the_seed_and_the_number_of_the_update() -> None:
    x = torch.ones(6, 5, 7)

    def drawn(update: int, **settings: Any) -> list[torch.Tensor]:
        dropout = make_dropout(dropout=0.5, **settings)
        dropout.begin(update)
        return [dropout(x), dropout(x)]

    assert all(torch.equal(one, other) for one, other in zip(drawn(3), drawn(3), strict=True))
    others = [*drawn(3), *drawn(4), *drawn(3, seed=5)]
    assert len({tuple(one.flatten().tolist()) for one in others}) == len(others)


def test_processes_take_the_rows_of_their_shares() -> None:
    x = torch.rand(6, 5, 7)
    whole = make_dropout(dropout=0.5)
    whole.begin(7)
    expected = whole(x)
    for rank in range(4):
        one = make_dropout(Processes(rank, 4), dropout=0.5)
        one.begin(7)
        assert torch.equal(one(x[rank::4]), expected[rank::4])


@kinds
def test_only_the_training_cost_has_it(kind: dict[str, Any]) -> None:
    """Fast and readable steps have the same masks; a gradient is that of the units that are left."""
    batch, costs, likelihoods = ragged_batch(), [], []
    for implementation in ("fast", "readable"):
        model = tiny_model(implementation=implementation, **kind)
        plain = model.summed_nll(*batch).item()
        optimization = tiny_variant(dropout=0.4, batch=len(batch.source)).optimization
        update = Update(model, optimization, CPU)
        update.begin(1)
        cost = update.cost(batch)
        cost.backward()
        costs.append(cost.item())
        likelihoods.append(model(*batch).sum().item())
        assert cost.item() != pytest.approx(plain, rel=1e-6)
        assert likelihoods[-1] == pytest.approx(plain, rel=1e-9)
    assert costs[0] == pytest.approx(costs[1], rel=1e-9)
