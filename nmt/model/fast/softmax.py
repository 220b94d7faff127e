"""The softmax over the target vocabulary and its negative log-likelihood, for some words at a time."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nmt.model.fast.choice import kernel
from nmt.model.products import PADDED, padded_rows, product_type

CHUNK = 1024  # words with logits in memory at once in float32, twice as many in bfloat16: 120 MB at the paper's size
GPU_CHUNK = 8192  # the same on a GPU, where few large products are faster: 1 GB, usually all words of a minibatch
BLOCK = 64  # words whose logits fit in the cache of a CPU
MULTIPLE = 16  # rows of operands are padded to a multiple of this length: others make a product a third slower or more


def log_probabilities(hidden: Tensor, W_o: Tensor, b_o: Tensor) -> Tensor:
    """log softmax(W_o t_i + b_o) (N, K) for `hidden` (N, l or rank), in the type of b_o. Autograd cannot record it."""
    logits = _padded_logits(hidden, len(b_o))
    torch.mm(hidden, W_o.to(hidden.dtype).T, out=logits[:, : len(b_o)])
    exact = logits.to(b_o.dtype)
    exact += _padded_bias(b_o)
    return torch.log_softmax(exact, dim=-1, out=exact)[:, : len(b_o)]


def summed_nll(hidden: Tensor, W_o: Tensor, b_o: Tensor, words: Tensor, counted: Tensor | None) -> Tensor:
    """The sum of -log p, in nats, over all `words` (N,) or over those that are True in `counted` (N,).

    hidden (N, l or rank), W_o (K, l or rank), b_o (K,). The logits of some words at a time are in memory. Autograd can
    go backward once.
    """
    return _SummedNLL.apply(hidden, W_o, b_o, words, counted)


class _SummedNLL(torch.autograd.Function):
    """The forward pass also computes the gradients, while it has the probabilities."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, W_o: Tensor, b_o: Tensor, words: Tensor, counted: Tensor | None) -> Tensor:
        dtype, (symbols, columns) = product_type(W_o), W_o.shape
        on_cpu = W_o.device.type == "cpu"
        hidden, weights = padded_rows(hidden).to(dtype), W_o
        if dtype != W_o.dtype:
            more = 0 if on_cpu else -columns % MULTIPLE
            hidden = functional.pad(hidden, (0, more))
            weights = functional.pad(W_o.to(dtype), (0, more, 0, -symbols % MULTIPLE))
        total = b_o.new_zeros(())
        grad_hidden, grad_b = torch.empty_like(hidden), torch.zeros_like(b_o)
        grad_W: Tensor | None = None
        chunk = CHUNK if on_cpu else GPU_CHUNK
        chunks = math.ceil(len(hidden) * hidden.element_size() / (chunk * torch.float32.itemsize))
        size = math.ceil(len(hidden) / chunks)
        if dtype != W_o.dtype:
            size += -size % PADDED
        block = BLOCK if on_cpu else size
        logits, bias = _padded_logits(hidden[:size], symbols), _padded_bias(b_o)
        for start in range(0, len(hidden), size):
            rows, targets = hidden[start : start + size], words[start : start + size]
            found = torch.mm(rows, weights.T, out=logits[: len(rows), : len(weights)])
            for first in range(0, len(targets), block):
                last = min(first + block, len(targets))
                real = None if counted is None else counted[start + first : start + last]
                loss, grad_bias = errors(logits[first:last], targets[first:last], real, bias)
                total += loss
                grad_b += grad_bias[:symbols]
            found[len(targets) :] = 0
            torch.mm(found, weights, out=grad_hidden[start : start + size])
            if grad_W is None:
                grad_W = (found.T @ rows)[:symbols, :columns].to(W_o.dtype)
            elif dtype == W_o.dtype:
                grad_W.addmm_(found.T, rows)
            else:
                grad_W += (found.T @ rows)[:symbols, :columns]
        assert grad_W is not None
        ctx.gradients = grad_hidden[: len(words), :columns], grad_W, grad_b
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        grad_hidden, grad_W, grad_b = ctx.gradients
        del ctx.gradients  # scaled in place, so a second backward pass must fail
        if gradient.device.type != "cpu" or gradient != 1:
            for each in (grad_hidden, grad_W, grad_b):
                each.mul_(gradient)
        return grad_hidden, grad_W, grad_b, None, None


@kernel("nmt.model.fast.kernels.softmax")
def errors(logits: Tensor, words: Tensor, counted: Tensor | None, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Replace `logits` (N, K), before adding `bias`, by the gradient of the summed nll of the counted words.

    Returns that sum and the gradient of the bias. words and counted (N,). Everything has the type of the bias.
    """
    words = words.unsqueeze(-1)
    exact = logits.to(bias.dtype)
    exact += bias
    margin = exact.amax(dim=-1, keepdim=True) - exact.gather(-1, words)
    torch.softmax(exact, dim=-1, out=exact)
    losses = margin - exact.amax(dim=-1, keepdim=True).log()  # the probability of the likeliest word is never 0
    exact.scatter_add_(-1, words, torch.full_like(losses, -1.0))
    if counted is not None:
        exact *= counted.unsqueeze(-1)
        losses *= counted.unsqueeze(-1)
    if exact is not logits:
        logits.copy_(exact)
    return losses.sum(), exact.sum(dim=0)


def _padded_logits(hidden: Tensor, symbols: int) -> Tensor:
    """A tensor for the logits of `hidden` (N, l): (N, `symbols` or a few more columns of zeros, whole cache lines)."""
    logits = hidden.new_empty(len(hidden), symbols + -symbols % MULTIPLE)
    logits[:, symbols:] = 0
    return logits


def _padded_bias(bias: Tensor) -> Tensor:
    """`bias` (K,) padded as the logits are, with -inf, so that the probabilities beyond K are 0."""
    return functional.pad(bias, (0, -len(bias) % MULTIPLE), value=-torch.inf)
