"""The deep output of A.2: one maxout layer and a softmax over the target vocabulary."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nmt.model.fast import choice
from nmt.model.fast.precision import ROWS, padded_rows, product_type
from nmt.model.fast.steps import softmax as softmax_steps
from nmt.model.products import PLAIN, Products
from nmt.settings.variant import Architecture

CHUNK = 1024  # words with logits in memory at once in float32, twice as many in bfloat16: 120 MB at the paper's size
GPU_CHUNK = 8192  # the same on a GPU, where few large products are faster: 1 GB, mostly all words of a minibatch
BLOCK = 64  # words whose logits fit in the cache of a CPU
MULTIPLE = 16  # rows of operands are padded to a multiple of it: a product with odd rows takes a third longer or more


class Readout(nn.Module):
    """t~_i = U_o s + V_o E y_{i-1} + C_o c_i, t_i = pairwise maximum of t~_i, p(y_i) = softmax(W_o t_i).

    With a `rank`, the output matrix is the product of two, (K, rank) and (rank, l), as in the original code; without
    one, it is the single W_o (K, l) of the paper.
    """

    def __init__(self, symbols: int, architecture: Architecture, context: int) -> None:
        super().__init__()
        maxout, rank = architecture.maxout, architecture.output_rank
        self.U_o = nn.Parameter(torch.empty(2 * maxout, architecture.hidden))
        self.V_o = nn.Parameter(torch.empty(2 * maxout, architecture.embedding))
        self.C_o = nn.Parameter(torch.empty(2 * maxout, context))
        self.b_t = nn.Parameter(torch.empty(2 * maxout))
        self.W_1 = nn.Parameter(torch.empty(rank, maxout)) if rank else None
        self.W_o = nn.Parameter(torch.empty(symbols, rank or maxout))
        self.b_o = nn.Parameter(torch.empty(symbols))

    def project(self, embedded: Tensor, linear: Products = PLAIN) -> Tensor:
        """V_o E y_{i-1} (..., 2l) of E y_{i-1} (..., m)."""
        return linear(embedded, self.V_o)

    def hidden(self, state: Tensor, previous: Tensor, context: Tensor, linear: Products = PLAIN) -> Tensor:
        """t_i, or W_1 t_i with a rank, (..., l or rank), of s (..., n), V_o E y_{i-1} and C_o c_i (..., 2l)."""
        summed = linear(state, self.U_o, bias=self.b_t) + previous + context
        maxout = summed.unflatten(-1, (-1, 2)).amax(dim=-1)
        return maxout if self.W_1 is None else linear(maxout, self.W_1)

    def logits(self, hidden: Tensor, linear: Products = PLAIN) -> Tensor:
        """W_o t_i + b_o (N, K) of `hidden` (N, l or rank), in the type of products: p(y_i) is its softmax."""
        return linear(linear.rounded(hidden), self.W_o, bias=self.b_o)

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """log p(y_i) (N, K) of `hidden` (N, l or rank), in float32 or better."""
        if torch.is_grad_enabled():
            logits = functional.linear(hidden, self.W_o, self.b_o)
            return logits.to(self.b_o.dtype).log_softmax(dim=-1)
        logits = _padded_logits(hidden, len(self.b_o))
        torch.mm(hidden, self.W_o.to(hidden.dtype).T, out=logits[:, : len(self.b_o)])
        exact = logits.to(self.b_o.dtype)
        exact += _padded_bias(self.b_o)
        return torch.log_softmax(exact, dim=-1, out=exact)[:, : len(self.b_o)]

    def nll(self, hidden: Tensor, words: Tensor) -> Tensor:
        """-log p of `words` (N,) given `hidden` (N, l or rank): (N,), a chunk of logits at a time."""
        losses = [
            functional.nll_loss(self.log_probabilities(rows), targets, reduction="none")
            for rows, targets in zip(hidden.split(CHUNK), words.split(CHUNK), strict=True)
        ]
        return torch.cat(losses)

    def summed_nll(self, hidden: Tensor, words: Tensor, counted: Tensor | None = None) -> Tensor:
        """The sum of `nll` over all words or over the `counted` ones (N,), without the logits of all words at once."""
        return _SummedNLL.apply(hidden, self.W_o, self.b_o, words, counted)


def _functions(tensor: Tensor) -> ModuleType:
    if not choice.kernels_wanted(tensor):
        return softmax_steps
    from nmt.model.fast.kernels import softmax as softmax_kernels

    return softmax_kernels


class _SummedNLL(torch.autograd.Function):
    """The forward pass computes the gradients too, while it has the probabilities."""

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
            size += -size % ROWS
        block = BLOCK if on_cpu else size
        softmax = _functions(W_o)
        logits, bias = _padded_logits(hidden[:size], symbols), _padded_bias(b_o)
        for start in range(0, len(hidden), size):
            rows, targets = hidden[start : start + size], words[start : start + size]
            errors = torch.mm(rows, weights.T, out=logits[: len(rows), : len(weights)])
            for first in range(0, len(targets), block):
                last = min(first + block, len(targets))
                real = None if counted is None else counted[start + first : start + last]
                loss, grad_bias = softmax.errors(logits[first:last], targets[first:last], real, bias)
                total += loss
                grad_b += grad_bias[:symbols]
            errors[len(targets) :] = 0
            torch.mm(errors, weights, out=grad_hidden[start : start + size])
            if grad_W is None:
                grad_W = (errors.T @ rows)[:symbols, :columns].to(W_o.dtype)
            elif dtype == W_o.dtype:
                grad_W.addmm_(errors.T, rows)
            else:
                grad_W += (errors.T @ rows)[:symbols, :columns]
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


def _padded_logits(hidden: Tensor, symbols: int) -> Tensor:
    """A tensor for the logits of `hidden` (N, l): (N, `symbols` or a few more columns of zeros, whole cache lines)."""
    logits = hidden.new_empty(len(hidden), symbols + -symbols % MULTIPLE)
    logits[:, symbols:] = 0
    return logits


def _padded_bias(bias: Tensor) -> Tensor:
    """`bias` (K,) padded as the logits are, with -inf, so that the probabilities beyond K are 0."""
    return functional.pad(bias, (0, -len(bias) % MULTIPLE), value=-torch.inf)
