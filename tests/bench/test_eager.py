"""The baseline of the benchmarks computes the same cost and makes the same search."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from bench.eager import Eager
from bench.machine import MODELS, PAPER, SYMBOLS, layer_sizes, products_of_update
from bench.train import BATCH, made_up
from nmt.corpora.padding import pad
from nmt.model.network import Network
from nmt.settings.variant import Architecture
from tests.model.models import SOURCE_SYMBOLS, TARGET_SYMBOLS, ragged_batch, ragged_pairs, tiny_model

M, N, ALIGNMENT, MAXOUT = 5, 6, 7, 3


@pytest.fixture
def models() -> tuple[Network, Eager]:
    """A model, and the baseline with the same weights."""
    model = tiny_model(embedding_bias=False, output_rank=None)
    eager = Eager(TARGET_SYMBOLS, M, N, ALIGNMENT, MAXOUT).double()
    decoder = model.decoder
    attention, readout, unit = decoder.attention, decoder.readout, decoder.unit
    weights = {
        # the baseline has one vocabulary size for both sides
        "source.weight": functional.pad(model.encoder.embedding.E, (0, 0, 0, TARGET_SYMBOLS - SOURCE_SYMBOLS)),
        "target.weight": decoder.embedding.E,
        "start.weight": decoder.W_s,
        "start.bias": decoder.b_s,
        "C.weight": torch.cat(unit.context_matrices),
        "U_o.bias": readout.b_t,
        "W_o.weight": readout.W_o,
        "W_o.bias": readout.b_o,
        "v_a.weight": attention.v_a.unsqueeze(0),
        **{f"{name}.weight": getattr(attention, name) for name in ("W_a", "U_a")},
        **{f"{name}.weight": getattr(readout, name) for name in ("U_o", "V_o", "C_o")},
    }
    for name, gated in (
        ("unit", unit),
        ("forwards", model.encoder.forwards),
        ("backwards", model.encoder.backwards),
    ):
        weights[f"{name}.W.weight"] = torch.cat([gated.W, gated.W_z, gated.W_r])
        weights[f"{name}.W.bias"] = torch.cat([gated.b, torch.zeros(2 * N)])
        weights[f"{name}.U.weight"] = gated.U
        weights[f"{name}.U_zr.weight"] = torch.cat([gated.U_z, gated.U_r])
    eager.load_state_dict(weights)
    return model, eager


def test_it_computes_the_same_cost(models: tuple[Network, Eager]) -> None:
    model, eager = models
    torch.testing.assert_close(eager(*ragged_batch()), model.summed_nll(*ragged_batch()))


@torch.no_grad()
def test_its_search_ranks_as_all_pairs_of_words_do(models: tuple[Network, Eager]) -> None:
    """A beam as wide as the vocabulary loses nothing in the first step."""
    model, eager = models
    sources, mask = pad(ragged_pairs()[0])
    memory = model.encode(sources, mask)
    words = torch.arange(TARGET_SYMBOLS).repeat(len(sources))
    state = model.initial_state(memory)
    first = model.predict(memory, state, None)
    spread = torch.arange(len(sources)).repeat_interleave(TARGET_SYMBOLS)
    state = model.advance(first.carry.select(spread), words)
    second = model.predict(memory, state, words).log_probabilities
    totals = (first.log_probabilities.flatten().unsqueeze(-1) + second).view(len(sources), -1)
    best = totals.topk(TARGET_SYMBOLS, dim=1).indices
    found = eager.beam(sources, mask, TARGET_SYMBOLS, 2)
    torch.testing.assert_close(found[:, 1], best % TARGET_SYMBOLS)


@pytest.mark.parametrize(
    "architecture",
    [PAPER, replace(PAPER, embedding=300, hidden=700, alignment=500, maxout=200)],
    ids=["paper", "other"],
)
def test_the_products_are_counted_right(architecture: Architecture) -> None:
    """Within 2 %: s_0 is left out, and the baseline weights annotations instead of their projections."""
    eager = Eager(SYMBOLS, *layer_sizes(architecture)).to("meta")
    batch = [part.to("meta") for part in made_up(20, 20)]
    with FlopCounterMode(display=False) as counter:
        eager(*batch).backward()
    counted = products_of_update(SYMBOLS, BATCH, 20, 20, architecture)
    assert counter.get_total_flops() == pytest.approx(counted, rel=0.02)


@pytest.mark.parametrize("name", MODELS)
def test_the_products_of_every_model_are_counted_right(name: str) -> None:
    """Within 2 %: s_0 is left out."""
    architecture = replace(MODELS[name].architecture, embedding=31, hidden=50, alignment=100, maxout=50)
    model = Network(architecture, 1500, 1500, "readable")
    with FlopCounterMode(display=False) as counter:
        model.summed_nll(*made_up(20, 20, 1500, 3)).backward()
    counted = products_of_update(1500, 3, 20, 20, architecture)
    assert counter.get_total_flops() == pytest.approx(counted, rel=0.02)
