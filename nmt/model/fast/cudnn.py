"""The LSTM encoder by PyTorch's own LSTM, which on a GPU is cuDNN's: it keeps recurrent weights on the chip.

Only where autograd does not record: PyTorch warns that repeating cuDNN's backward pass may give other bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.model.products import without_autocast


def read(embedded: Tensor, real: Tensor, directions: Sequence[list[Tensor]]) -> Tensor:
    """The hidden states of each direction, side by side: (Tx, B, n or 2n).

    embedded (Tx, B, m) are the inputs, real (Tx, B) is 0 on padding, at the end of sentences, where a state does not
    change. Each of `directions`, the forward one first, is what `Unit.library_weights` returns. Initial states are 0.
    """
    lengths = real.sum(dim=0, keepdim=True).long()
    places = torch.arange(len(real), device=real.device).unsqueeze(1)
    last = places.minimum(lengths - 1).unsqueeze(-1)
    states = [_run(embedded, directions[0]).take_along_dim(last, 0)]
    for weights in directions[1:]:
        turned = torch.where(places < lengths, lengths - 1 - places, places).unsqueeze(-1)
        states.append(_run(embedded.take_along_dim(turned, 0), weights).take_along_dim(turned, 0) * real.unsqueeze(-1))
    return torch.cat(states, dim=-1)


def _run(embedded: Tensor, weights: list[Tensor]) -> Tensor:
    """The hidden states (Tx, B, n), in the type of the weights."""
    initial = embedded.new_zeros(1, embedded.shape[1], weights[1].shape[1])
    with without_autocast(embedded), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        states: Tensor = torch.lstm(embedded, (initial, initial), weights, True, 1, 0.0, False, False, False)[0]
    return states
