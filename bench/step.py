"""A step of beam search and its parts, and an LSTM encoder, each beside what it replaces on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from bench.decode import BEAM, LENGTH
from nmt.model.fast.words import summarize
from nmt.model.network import Network
from nmt.search.replay import Recording, captured
from nmt.search.step import Beams, Rows, Sentences, Step

STEPS = 5  # compared


def begun(model: Network, batch: int) -> tuple[Step, Beams]:
    """A step of `model`, and beams of full width after two of them, for random sentences of `LENGTH` words."""
    step, device = Step(model, BEAM, forbid_unk=False, alignments=False), next(model.parameters()).device
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(2, model.symbols[0], (batch, LENGTH), generator=generator).to(device)
    memory = model.encode(ids, torch.ones_like(ids, dtype=torch.bool))
    zeros = torch.zeros(batch, dtype=torch.int64, device=device)
    sentences = Sentences(memory, zeros + BEAM, zeros, zeros + 3 * LENGTH, zeros[0].clone())
    state = model.initial_state(memory)
    beams = step.choose(sentences, Rows(state, state.new_zeros(batch, 1), None))
    return step, step.choose(beams.sentences, step.follow(beams, BEAM))


@torch.no_grad()
def replayed_apart(model: Network, batch: int) -> int:
    """How many continuations of `STEPS` recorded steps differ from those of steps run operation by operation."""
    step, beams = begun(model, batch)
    recording, apart = Recording(step, beams), 0
    recording.fill(beams)
    for _ in range(STEPS):
        beams = step(beams)
        apart += int((recording().choice.found != beams.choice.found).any(dim=0).sum())
    return apart


@torch.no_grad()
def parts(model: Network, batch: int) -> dict[str, Callable[[], object]]:
    """Functions that take a step of `model`, and summarize its logits; on a CPU none is recorded."""
    step, beams = begun(model, batch)
    device = beams.choice.found.device
    logits = torch.randn(batch, BEAM, model.symbols[1], device=device)
    forbidden = torch.zeros(batch, 2, dtype=torch.bool, device=device)
    plain = summarize.__wrapped__  # type: ignore[attr-defined]
    words: dict[str, Callable[[], object]] = {
        "words": partial(summarize, logits, forbidden),
        "words, plain": partial(plain, logits, forbidden),
    }
    one: Callable[[], object] = partial(step, beams)
    if device.type != "cuda":
        return {"step": one, "step, plain": one, **words}
    alone = {part: captured(work, device) for part, work in words.items()}
    return {"step": Recording(step, beams), "step, plain": one, **alone}


def encoders(model: Network, batch: int) -> dict[str, Callable[[], torch.Tensor]]:
    """Functions that read sentences of up to `LENGTH` words with the LSTM encoder of `model`: (B, Tx, 2n)."""
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(2, model.symbols[0], (batch, LENGTH), generator=generator).to(device)
    lengths = LENGTH - torch.arange(batch, device=device) % (LENGTH // 2)
    mask = torch.arange(LENGTH, device=device) < lengths.unsqueeze(1)

    def read(recorded: bool) -> torch.Tensor:
        with torch.set_grad_enabled(recorded):
            annotations: torch.Tensor = model.encoder(ids, mask, True)
            return annotations.detach()

    return {"LSTM encoder": partial(read, False), "LSTM encoder, plain": partial(read, True)}
