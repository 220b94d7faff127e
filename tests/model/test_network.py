"""The two implementations of the model against each other and against the NumPy loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from nmt.corpora.padding import pad
from nmt.model.attention import fine_grained
from nmt.model.embedding import PreviousWords
from nmt.model.fast import softmax
from nmt.model.initialization import count_parameters, initialize
from nmt.model.memory import Memory
from nmt.model.network import Network
from nmt.model.units import Unit
from nmt.settings.variant import Architecture, Optimization
from nmt.training.batches import Batch
from tests.model import oracle
from tests.model.models import ORDERS, TARGET_SYMBOLS, kinds, ragged_batch, ragged_pairs, tiny_model, tiny_variant

attentions = pytest.mark.parametrize("attention", ["additive", "fixed", "fine_grained"])
ATTY2D: dict[str, Any] = {"attention": "fine_grained", "score_previous": True, "decoder_order": "printed"}
contextualizations = pytest.mark.parametrize("contextualization", [None, 8])


def readable(model: Network) -> Network:
    twin = Network(model.architecture, *model.symbols, "readable")
    twin.to(next(model.parameters()).dtype).load_state_dict(model.state_dict())
    return twin


def as_numpy(model: Network) -> dict[str, np.ndarray]:
    return {name: weight.detach().numpy() for name, weight in model.state_dict().items()}


def equations(
    weights: dict[str, np.ndarray], source: list[int], target: list[int], kind: dict[str, Any]
) -> tuple[float, list[np.ndarray]]:
    """-log p and the alignments by the NumPy loops, of a sentence pair without EOS."""
    printed, mean = kind["decoder_order"] == "printed", kind.get("initial_state") == "mean"
    return oracle.nll(weights, [*source, 0], [*target, 0], printed, mean)


@kinds
def test_both_implementations_are_the_equations(kind: dict[str, Any]) -> None:
    model = tiny_model(**kind)
    sources, targets = ragged_pairs()
    weights = as_numpy(model)
    expected = [equations(weights, *pair, kind)[0] for pair in zip(sources, targets, strict=True)]
    for one in (model, readable(model)):
        np.testing.assert_allclose(one(*ragged_batch()).detach(), expected, rtol=1e-12)
        np.testing.assert_allclose(one.summed_nll(*ragged_batch()).item(), sum(expected), rtol=1e-12)


@kinds
def test_gradients_are_those_of_the_equations(kind: dict[str, Any]) -> None:
    """Every weight's gradient, along a random direction, against central differences of the NumPy loops."""
    model = tiny_model(**kind)
    sources, targets = ragged_pairs()
    weights = as_numpy(model)
    random = np.random.default_rng(0)

    def total(changed: dict[str, np.ndarray]) -> float:
        return sum(equations(changed, *pair, kind)[0] for pair in zip(sources, targets, strict=True))

    for one in (model, readable(model)):
        one.summed_nll(*ragged_batch()).backward()
    twin = dict(one.named_parameters())
    for name, parameter in model.named_parameters():
        direction = random.standard_normal(parameter.shape)
        step = 1e-6 * direction
        slope = (total({**weights, name: weights[name] + step}) - total({**weights, name: weights[name] - step})) / 2e-6
        for gradient in (parameter.grad, twin[name].grad):
            assert gradient is not None, name
            np.testing.assert_allclose((gradient.numpy() * direction).sum(), slope, rtol=1e-5, atol=1e-6, err_msg=name)


@kinds
def test_implementations_agree_to_rounding(kind: dict[str, Any]) -> None:
    shortest = Batch(*pad([[], []]), *pad([[], []]))  # the end of sentence alone
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
        fast = tiny_model(dtype=dtype, **kind)
        slow = readable(fast)
        for batch in (ragged_batch(), shortest):
            costs = [model.summed_nll(*batch) for model in (fast, slow)]
            torch.testing.assert_close(*costs, rtol=tolerance, atol=tolerance)
            gradients = [
                torch.autograd.grad(cost, [*model.parameters()], allow_unused=True, materialize_grads=True)
                for model, cost in zip((fast, slow), costs, strict=True)
            ]
            for (name, _), one, other in zip(fast.named_parameters(), *gradients, strict=True):
                assert (one - other).abs().max() <= tolerance * max(1.0, other.abs().max().item()), name


def stepwise_nll(model: Network, batch: Batch) -> Tensor:
    """-log p of each pair by the steps of a search."""
    memory = model.encode(batch.source, batch.source_mask)
    state, previous = model.initial_state(memory), None
    total = state.new_zeros(len(memory))
    for words, real in zip(batch.target.T, batch.target_mask.T, strict=True):
        prediction = model.predict(memory, state, previous)
        total -= prediction.log_probabilities.gather(1, words[:, None])[:, 0] * real
        state, previous = model.advance(prediction.carry, words), words
    return total


@kinds
def test_search_steps_give_the_training_probability(kind: dict[str, Any]) -> None:
    model = tiny_model(**kind).eval()
    batch = ragged_batch()
    with torch.no_grad():
        torch.testing.assert_close(stepwise_nll(model, batch), model(*batch))


@kinds
@pytest.mark.parametrize(
    ("dtype", "precision", "tolerance"),
    [(torch.float64, "float32", 1e-12), (torch.float32, "float32", 1e-5), (torch.float32, "bf16", 0.02)],
)
def test_a_frozen_model_gives_the_same_probability(
    kind: dict[str, Any], dtype: torch.dtype, precision: str, tolerance: float
) -> None:
    """By the steps of a search and whole; in bfloat16, to its rounding."""
    model, batch = tiny_model(dtype=dtype, **kind).eval(), ragged_batch()
    with torch.no_grad():
        expected = model(*batch)
        model.freeze(precision)
        for found in (stepwise_nll(model, batch), model(*batch)):
            assert found.dtype == dtype
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=0)
            assert precision == "float32" or not torch.allclose(found, expected, rtol=1e-5, atol=0)


@contextualizations
def test_alignments_are_those_of_the_equations(contextualization: int | None) -> None:
    model = tiny_model(contextualization=contextualization).eval()
    (source,), (target,) = ragged_pairs(lengths=((5, 4),))
    _, expected = oracle.nll(as_numpy(model), [*source, 0], [*target, 0], printed=False)
    with torch.no_grad():
        memory = model.encode(torch.tensor([[*source, 0]]), torch.ones(1, 6, dtype=torch.bool))
        state, previous = model.initial_state(memory), None
        for word, alpha in zip([*target, 0], expected, strict=True):
            prediction = model.predict(memory, state, previous)
            np.testing.assert_allclose(prediction.alignment[0], alpha, rtol=1e-12)
            previous = torch.tensor([word])
            state = model.advance(prediction.carry, previous)


def test_fine_grained_weights_are_those_of_the_equations_and_sum_to_one_in_every_dimension() -> None:
    model = tiny_model(**ATTY2D).eval()
    batch, (sources, targets) = ragged_batch(), ragged_pairs()
    attention = model.decoder.attention
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        state, previous = memory.initial, torch.zeros(len(memory), 5, dtype=torch.float64)
        alpha = attention.weights(memory.kept, attention.query(state, previous))
        first = model.predict(memory, state, None)
    torch.testing.assert_close(alpha.sum(dim=1), torch.ones(len(memory), 12, dtype=torch.float64))
    assert not alpha[~batch.source_mask].any()
    assert alpha.std(dim=-1)[batch.source_mask.sum(dim=1) > 1].max() > 0.01
    torch.testing.assert_close(first.alignment, alpha.mean(dim=-1))
    for number, pair in enumerate(zip(sources, targets, strict=True)):
        (expected, *_) = equations(as_numpy(model), *pair, ATTY2D)[1]
        np.testing.assert_allclose(alpha[number, : len(expected)], expected, rtol=1e-12)


@pytest.mark.parametrize(("rows", "parts_of_four_by_three"), [(1, 12), (2, 8), (5, 4), (6, 2), (12, 1)])
def test_fine_grained_attention_takes_as_many_hypotheses_at_a_time_as_the_limit_allows(
    rows: int, parts_of_four_by_three: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model(**ATTY2D).eval()
    batch, limit = ragged_batch(), rows * 6 * 12 * 8  # six positions of twelve dimensions in float64
    taken = []

    def tanh_of_sum(x: Tensor, y: Tensor) -> Tensor:
        squashed = (x + y).tanh()
        taken.append(squashed.nbytes)
        return squashed

    monkeypatch.setattr(fine_grained, "tanh_of_sum", tanh_of_sum)
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        states = torch.arange(12.0, dtype=torch.float64).unsqueeze(1) / 10 - memory.initial.repeat_interleave(3, dim=0)
        whole = model.predict(memory, states, torch.arange(12))
        assert len(taken) == 1
        monkeypatch.setattr(fine_grained, "LIMIT", limit)
        parts = model.predict(memory, states, torch.arange(12))
    assert len(taken) == 1 + parts_of_four_by_three
    assert max(taken[1:]) <= limit
    torch.testing.assert_close(parts.log_probabilities, whole.log_probabilities)
    torch.testing.assert_close(parts.alignment, whole.alignment)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("score_previous", [False, True])
def test_only_in_the_printed_order_does_the_score_need_the_previous_word(order: str, score_previous: bool) -> None:
    """In the other order s_{i-1} has read y_{i-1}: alpha_i depends on it anyway."""
    kind = {"decoder_order": order, "score_previous": score_previous}
    model = tiny_model(**kind)
    (one, *_, last), (other, *_, changed) = (
        equations(as_numpy(model), [3, 1, 4], [5, 9, previous], kind)[1] for previous in (2, 6)
    )
    np.testing.assert_array_equal(one, other)
    sees_previous = score_previous or order == "look_generate_update"
    assert (abs(last - changed).max() > 1e-3) == sees_previous


@attentions
@contextualizations
def test_several_hypotheses_share_the_memory_of_their_sentence(attention: str, contextualization: int | None) -> None:
    model = tiny_model(attention=attention, score_previous=True, contextualization=contextualization).eval()
    batch = ragged_batch()
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        wide = model.initial_state(memory).repeat_interleave(3, dim=0) + torch.arange(12).unsqueeze(1) / 10
        together = model.predict(memory, wide, torch.arange(12))
        for k in range(3):
            alone = model.predict(memory, wide[k::3], torch.arange(12)[k::3])
            torch.testing.assert_close(together.log_probabilities[k::3], alone.log_probabilities)
            if attention != "fixed":
                torch.testing.assert_close(together.alignment[k::3], alone.alignment)


@pytest.mark.parametrize(
    ("attention", "rank", "count"),
    [
        ("additive", None, 80_438_981),
        ("additive", 620, 84_349_101),
        ("fixed", None, 68_576_981),
        ("fixed", 620, 72_487_101),
    ],
)
def test_full_size_has_the_original_number_of_parameters(attention: str, rank: int | None, count: int) -> None:
    with torch.device("meta"):
        model = Network(Architecture(attention=attention, output_rank=rank), 30_001, 30_001)
    assert count_parameters(model) == count


@pytest.mark.parametrize(
    ("settings", "count"),
    [({}, 111_928_000), ({"score_previous": True}, 113_168_000), (ATTY2D, 117_166_000)],
    ids=["Baseline", "AttY", "AttY2D"],
)
def test_full_size_of_the_second_paper(settings: dict[str, Any], count: int) -> None:
    sizes = {"alignment": 2000, "maxout": 1000, "output_rank": None, "embedding_bias": False}
    others = {"unit": "lstm", "decoder_order": "printed", "initial_state": "mean"}
    n, m, symbols = 1000, 620, 30_000
    decoder = 4 * n * (m + n + 2 * n + 1) + 2 * n * (2 * n + 1)  # with s_0
    readout = 2 * n * (n + m + 2 * n + 1) + symbols * (n + 1)
    attention = 2 * n * (n + 2 * n + 1)
    assert 2 * symbols * m + 8 * n * (m + n + 1) + decoder + readout + attention == 111_928_000
    with torch.device("meta"):
        model = Network(Architecture(**{**sizes, **others, **settings}), 30_000, 30_000)
    assert count_parameters(model) == count


def test_weights_of_the_score_start_as_those_of_the_first_paper() -> None:
    """W_y is as small as W_a, and V is zero as v_a is: the attention starts with the same weight everywhere."""
    model = Network(tiny_variant(embedding=50, alignment=60, **ATTY2D).architecture, 99, 99)
    initialize(model, Optimization(updates=1, seed=3))
    assert model.decoder.attention.W_y.std().item() == pytest.approx(0.001, rel=0.1)
    assert not model.decoder.attention.V.any()


def test_contextualization_adds_its_network_and_two_gates() -> None:
    with torch.device("meta"):
        plain, gated = (Network(Architecture(contextualization=units), 30_000, 30_000) for units in (None, 1000))
    network = 1000 * (620 + 1) + 1000 * (1000 + 1)
    assert count_parameters(gated) - count_parameters(plain) == network + 2 * 620 * (1000 + 1) == 2_863_240


@pytest.mark.parametrize("implementation", ["fast", "readable"])
def test_the_attention_sees_target_embeddings_gated(implementation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a score that depends on y_{i-1} depends on it as the unit and the readout do."""
    model = tiny_model(contextualization=8, implementation=implementation)
    batch, attention = ragged_batch(), model.decoder.attention
    seen: list[torch.Tensor] = []
    attend, run = attention.attend, attention.run

    def watched_attend(memory: Memory, state: Tensor, previous: Tensor) -> Any:
        seen.append(previous)
        return attend(memory, state, previous)

    def watched_run(memory: Memory, unit: Unit, projected: Tensor, previous: PreviousWords) -> Any:
        seen.extend(previous.embedded())
        return run(memory, unit, projected, previous)

    monkeypatch.setattr(attention, "attend", watched_attend)
    monkeypatch.setattr(attention, "run", watched_run)
    model(*batch)
    weights, (sources, _) = as_numpy(model), ragged_pairs()
    gates = np.stack([oracle.gates(weights, [*source, 0])[1] for source in sources])
    embedded = weights["decoder.embedding.E"][batch.target.numpy()] + weights["decoder.embedding.b"]
    assert len(seen) == batch.target.shape[1]
    assert not seen[0].any()
    for i, previous in enumerate(seen[1:]):
        np.testing.assert_allclose(previous.detach(), gates * embedded[:, i], rtol=1e-12)


def test_the_gradients_of_the_annotations_are_summed_in_a_fixed_order() -> None:
    """Autograd sums them from the last product made to the first; another order would round to other weights."""
    attention, maps = tiny_model().decoder.attention, [torch.ones(2, 12, dtype=torch.float64)]
    annotations = torch.ones(3, 4, 12, dtype=torch.float64, requires_grad=True)
    kept, first = attention.keep(annotations, torch.ones(3, 4, dtype=torch.bool), maps)
    made = [tensor.grad_fn._sequence_nr() for tensor in (first, kept.values, kept.keys)]
    assert made == sorted(made)


def test_initialization_is_appendix_b1() -> None:
    sizes = {"hidden": 40, "embedding": 50, "alignment": 60, "contextualization": 70}
    model = Network(tiny_variant(**sizes).architecture, 99, 99)
    initialize(model, Optimization(updates=1, seed=3))
    weights = dict(model.named_parameters())
    for name in (
        "decoder.unit.U",
        "decoder.unit.U_z",
        "decoder.unit.U_r",
        "encoder.forwards.U",
        "encoder.backwards.U_r",
    ):
        torch.testing.assert_close(weights[name] @ weights[name].T, torch.eye(40), atol=1e-5, rtol=0)
    for name in ("decoder.attention.W_a", "decoder.attention.U_a"):
        assert weights[name].std().item() == pytest.approx(0.001, rel=0.1)
    for name in (
        *("encoder.embedding.E", "decoder.unit.C", "decoder.W_s", "decoder.readout.W_o", "decoder.unit.W"),
        *(f"contextualization.{matrix}" for matrix in ("W_1", "W_2", "G_x", "G_y")),
    ):
        assert weights[name].std().item() == pytest.approx(0.01, rel=0.1)
    for name in (
        *("decoder.attention.v_a", "decoder.b_s", "decoder.unit.b", "decoder.readout.b_o", "decoder.readout.b_t"),
        *("decoder.embedding.b", "encoder.backwards.b"),
        *(f"contextualization.{bias}" for bias in ("b_1", "b_2", "b_x", "b_y")),
    ):
        assert not weights[name].any()
    again = Network(model.architecture, 99, 99)
    initialize(again, Optimization(updates=1, seed=3))
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), again.parameters(), strict=True))


@pytest.mark.parametrize(("chunk", "block"), [(1, 1), (3, 2), (1000, 1000)])
def test_the_summed_likelihood_is_the_same_in_any_chunks(
    chunk: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(softmax, "CHUNK", chunk)
    monkeypatch.setattr(softmax, "BLOCK", block)
    model = tiny_model()
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(7, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    words = torch.randint(TARGET_SYMBOLS, (7,), generator=generator)
    counted = torch.tensor([True, True, False, True, True, True, False])
    leaves = [hidden, model.decoder.readout.W_o, model.decoder.readout.b_o]
    plain = model.decoder.readout.nll(hidden, words)[counted].sum()
    fast = model.decoder.readout.summed_nll(hidden, words, counted)
    torch.testing.assert_close(fast, plain)
    torch.testing.assert_close(torch.autograd.grad(fast, leaves), torch.autograd.grad(plain, leaves))


@pytest.mark.parametrize(("attention", "contextualization"), [("additive", None), ("fixed", None), ("fixed", 8)])
def test_bfloat16_stays_near_float32(attention: str, contextualization: int | None) -> None:
    model = tiny_model(dtype=torch.float32, attention=attention, contextualization=contextualization)
    exact = model.summed_nll(*ragged_batch())
    exact.backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model.summed_nll(*ragged_batch())
    rounded.backward()
    assert rounded.item() == pytest.approx(exact.item(), rel=0.02)
    assert rounded.item() != exact.item()
    ours = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    theirs = torch.cat([gradient.flatten() for gradient in gradients])
    assert torch.nn.functional.cosine_similarity(ours, theirs, dim=0) > 0.995


def test_bfloat16_likelihood_of_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "CHUNK", 32)
    readout = tiny_model(dtype=torch.float32).decoder.readout
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(150, 3, generator=generator, requires_grad=True)
    words = torch.randint(TARGET_SYMBOLS, (150,), generator=generator)
    leaves = [hidden, readout.W_o, readout.b_o]
    plain = readout.nll(hidden, words).sum()
    with torch.autocast("cpu", torch.bfloat16):
        rounded = readout.summed_nll(hidden, words)
    torch.testing.assert_close(rounded, plain, rtol=0.001, atol=0)
    gradients = (torch.autograd.grad(total, leaves) for total in (rounded, plain))
    for ours, theirs in zip(*gradients, strict=True):
        assert torch.nn.functional.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0) > 0.999


class ProductShapes(TorchDispatchMode):
    """Gathers the shapes of the operands of matrix products."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[torch.Size, ...]] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function.overloadpacket in (torch.ops.aten.mm, torch.ops.aten.addmm, torch.ops.aten.bmm):
            self.found.add(tuple(operand.shape for operand in args))
        return function(*args, **(kwargs or {}))


@kinds
def test_bfloat16_products_have_the_same_shapes_whatever_the_words(kind: dict[str, Any]) -> None:
    """oneDNN generates code for each shape, so neither distinct words nor padding may change one."""
    model = tiny_model(dtype=torch.float32, **kind)
    batch = ragged_batch()
    alike = Batch(torch.zeros_like(batch.source), batch.source_mask, torch.ones_like(batch.target), batch.target_mask)
    unpadded = batch._replace(target_mask=torch.ones_like(batch.target_mask))
    found = []
    for words in (batch, alike, unpadded):
        with ProductShapes() as shapes, torch.autocast("cpu", torch.bfloat16):
            model.summed_nll(*words).backward()
        found.append(shapes.found)
    assert found[0]
    assert found[0] == found[1] == found[2]


@attentions
def test_in_bfloat16_the_states_of_the_decoder_are_float32(attention: str) -> None:
    """Products are rounded to bfloat16; what is carried from word to word is not."""
    model = tiny_model(dtype=torch.float32, attention=attention)
    batch, decoder = ragged_batch(), model.decoder
    with torch.autocast("cpu", torch.bfloat16):
        memory = model.encode(batch.source, batch.source_mask)
        words = PreviousWords(decoder.embedding, batch.target.T, None)
        projected = words.projected(decoder.unit.project)
        assert projected.dtype == torch.bfloat16
        states, _ = decoder.attention.run(memory, decoder.unit, projected, words)
    assert states.dtype == torch.float32


def test_golden_output() -> None:
    """A fixed model must score a fixed pair as it did when this was written, whatever is rewritten inside.

    The weights come from arithmetic, not from a random generator that may change.
    """
    model = tiny_model()
    with torch.no_grad():
        for number, parameter in enumerate(model.ordered_parameters()):
            places = torch.arange(parameter.numel(), dtype=torch.float64).reshape(parameter.shape)
            parameter.copy_(torch.sin(places + number) / 2)
    batch = ragged_batch()
    source = torch.arange(24).reshape(4, 6) % 11
    target = torch.arange(28).reshape(4, 7) % 13
    np.testing.assert_allclose(model(source, batch.source_mask, target, batch.target_mask).detach(), GOLDEN, rtol=1e-10)


GOLDEN = [5.078838709857, 18.74116444937, 2.239723186804, 10.29665349717]
