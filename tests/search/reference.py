"""Beam search as in the original code, or as in dl4mt: one sentence at a time, with hypotheses in plain lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from nmt.corpora.shortlist import EOS, UNK
from nmt.model.network import Network


class Found(NamedTuple):
    """A hypothesis: its words without EOS, its log probability, alpha_i of each word, and whether it ended."""

    words: list[int]
    log_probability: float
    alignment: list[torch.Tensor]
    ended: bool


@torch.no_grad()
def reference_search(
    model: Network,
    source: list[int],
    width: int,
    forbid_unk: bool = False,
    ratio: float = 0.5,
    normalize: bool = False,
    watch: Callable[[Found], None] | None = None,
    compete: bool = False,
) -> list[Found]:
    """Finished hypotheses, best first; the best unfinished one where none ended in time.

    With `compete`, the unfinished ones are results like the others. `watch` is given the best unfinished one before
    each step but the first.
    """
    length = len(source) + 1
    memory = model.encode(torch.tensor([[*source, EOS]]), torch.ones(1, length, dtype=torch.bool))
    live = [([], 0.0, [], model.initial_state(memory))]
    finished = []
    for step in range(3 * length):
        if watch is not None and step:
            words, score, seen, _ = live[0]
            watch(Found(words, score, seen, False))
        candidates = []
        for words, score, alignment, state in live:
            previous = torch.tensor([words[-1]]) if words else None
            prediction = model.predict(memory, state, previous)
            log_probabilities = prediction.log_probabilities[0].clone()
            if forbid_unk:
                log_probabilities[UNK] = -torch.inf
            if step < int(ratio * length):
                log_probabilities[EOS] = -torch.inf
            seen = alignment if prediction.alignment is None else [*alignment, prediction.alignment[0]]
            for word, log_probability in enumerate(log_probabilities.tolist()):
                if log_probability > -float("inf"):
                    candidates.append((score + log_probability, words, word, seen, prediction.carry))
        candidates.sort(key=lambda candidate: -candidate[0])
        live = []
        for score, words, word, seen, carry in candidates[:width]:
            if word == EOS:
                finished.append(Found(words, score, seen, True))
                width -= 1
            else:
                live.append(([*words, word], score, seen, model.advance(carry, torch.tensor([word]))))
        if not live or width == 0:
            break
    unfinished = [Found(words, score, seen, False) for words, score, seen, _ in live]
    if compete:
        finished += unfinished
    elif not finished:
        finished = unfinished[:1]
    return sorted(finished, key=lambda one: -one.log_probability / (len(one.words) + one.ended if normalize else 1))


def reference_fallback(
    model: Network, source: list[int], width: int, forbid_unk: bool = False, **options: Any
) -> list[Found]:
    """As `reference_search`; where nothing ended, again with UNK and then with doubled beams, at least 500 wide."""
    first = found = reference_search(model, source, width, forbid_unk, **options)
    if forbid_unk and not found[0].ended:
        found = reference_search(model, source, width, **options)
    while not found[0].ended and width < 500:
        width *= 2
        found = reference_search(model, source, width, **options)
    return found if found[0].ended else first
