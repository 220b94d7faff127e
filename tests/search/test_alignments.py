"""The weights of attention: those of the equations."""

from __future__ import annotations

import numpy as np
import pytest

from nmt.corpora.shortlist import EOS
from nmt.search.alignments import alignments
from tests.model import oracle
from tests.model.models import ragged_pairs, tiny_model


@pytest.mark.parametrize("order", ["look_generate_update", "printed"])
@pytest.mark.parametrize("implementation", ["fast", "readable"])
def test_weights_are_those_of_the_equations(order: str, implementation: str) -> None:
    model = tiny_model(decoder_order=order, implementation=implementation)
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    sources, targets = ragged_pairs()
    found = alignments(model, sources, targets)
    for source, target, matrix in zip(sources, targets, found, strict=True):
        _, expected = oracle.nll(weights, [*source, EOS], [*target, EOS], order == "printed")
        np.testing.assert_allclose(matrix, expected, rtol=1e-10)
