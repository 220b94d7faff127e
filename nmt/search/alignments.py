"""The weights with which a model attends to the source words as it generates given translations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nmt.model.network import Network

BATCH = 20


def alignments(
    model: Network, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> list[NDArray[Any]]:
    """alpha_ij of each pair of ids without EOS: (target words + 1, source words + 1), the ends of sentence included."""
    import torch

    from nmt.corpora.padding import by_length, pad

    device = next(model.parameters()).device
    found: dict[int, NDArray[Any]] = {}
    with torch.no_grad():
        for chosen in by_length([max(map(len, pair)) for pair in zip(sources, targets, strict=True)], BATCH):
            memory = model.encode(*pad([sources[pair] for pair in chosen], device))
            words, _ = pad([targets[pair] for pair in chosen], device)
            asked = model.decoder.attending(memory, words)
            for row, pair in enumerate(chosen):
                state, previous = (part.view(*words.shape, -1)[row] for part in asked)
                weights, _ = model.decoder.attention.attend(memory.select(torch.tensor([row])), state, previous)
                assert weights is not None
                found[pair] = weights[: len(targets[pair]) + 1, : len(sources[pair]) + 1].cpu().numpy()
    return [found[pair] for pair in range(len(sources))]
