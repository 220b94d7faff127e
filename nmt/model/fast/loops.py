"""The recurrences of encoder and decoder, as fast as the mathematics allows.

The same functions as the readable steps of `nmt.model.units` and `nmt.model.attention`. Only what depends on the
previous state stays in the loops; backward, a loop carries the gradient of the state alone, and each weight's gradient
is one product after it.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nmt.model.fast import kernels, steps
from nmt.system.device import product_type, without_autocast

if TYPE_CHECKING:
    from nmt.model.attention.additive import Attention
    from nmt.model.units.gated import GatedUnit


def gated(projected: Tensor, present: Tensor, initial: Tensor, units: list[GatedUnit]) -> Tensor:
    """Run D independent gated recurrences side by side.

    projected (D, T, B, 3n): what the inputs add to candidate, update and reset. present (D, T, B): 1, or 0 where the
    state stays. initial (D, B, n). Returns the states, the initial one first: (D, T + 1, B, n).
    """
    U = torch.stack([unit.U for unit in units])
    U_zr = torch.stack([torch.cat([unit.U_z, unit.U_r]) for unit in units])
    dtype = product_type(projected)
    with without_autocast(projected):
        return _Gated.apply(projected.to(present.dtype), present, initial, U, U_zr, dtype)


def attentive(
    projected: Tensor,
    initial: Tensor,
    contexts: Tensor,
    keys: Tensor,
    mask: Tensor,
    attention: Attention,
    unit: GatedUnit,
) -> tuple[Tensor, Tensor]:
    """Run the decoder of RNNsearch over given target words.

    projected (T, B, 3n), initial (B, n), contexts (B, Tx, 3n), keys (B, Tx, n'), mask (B, Tx). Returns the states, the
    initial one first, (T + 1, B, n), and the alignments (T, B, Tx).
    """
    U_zr = torch.cat([unit.U_z, unit.U_r])
    W_a, v_a = attention.W_a, attention.v_a
    dtype = product_type(projected)
    with without_autocast(projected):
        return _Attentive.apply(projected.to(v_a.dtype), initial, contexts, keys, mask, W_a, v_a, unit.U, U_zr, dtype)


def _steps(tensor: Tensor) -> ModuleType:
    """The functions between the products: Triton's on a GPU, where it is installed, else PyTorch's."""
    return kernels if tensor.is_cuda and kernels.available() else steps


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, present: Tensor, initial: Tensor, U: Tensor, U_zr: Tensor, dtype: torch.dtype
    ) -> Tensor:
        D, T, B, width = projected.shape
        n = width // 3
        step = _steps(projected)
        U, U_zr = U.to(dtype), U_zr.to(dtype)
        states, candidates = projected.new_empty(D, T + 1, B, n), projected.new_empty(D, T, B, n)
        gates, resets = projected.new_empty(D, T, B, 2 * n), projected.new_empty(D, T, B, n, dtype=dtype)
        states[:, 0] = initial
        exact = dtype == states.dtype
        narrow = states if exact else states.to(dtype)
        for t in range(T):
            state, inputs, gate, reset = states[:, t], projected[:, t], gates[:, t], resets[:, t]
            step.gates(state, inputs, narrow[:, t] @ U_zr.transpose(1, 2), gate, reset, present[:, t])
            product = reset @ U.transpose(1, 2)
            copy = None if exact else narrow[:, t + 1]
            step.candidate(state, inputs, product, gate, candidates[:, t], states[:, t + 1], copy)
        ctx.save_for_backward(states, narrow, candidates, gates, resets, U, U_zr)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        states, narrow, candidates, gates, resets, U, U_zr = ctx.saved_tensors
        D, T, B, n = candidates.shape
        step = _steps(states)
        errors = states.new_empty(D, T, B, 3 * n, dtype=U.dtype)  # by what candidate, update and reset are made of
        carried = gradient[:, T]
        for t in reversed(range(T)):
            state, gate, error = states[:, t], gates[:, t], errors[:, t]
            step.candidate_backward(state, carried, candidates[:, t], gate, error)
            through_reset = error[..., :n] @ U
            step.reset_backward(state, through_reset, gate, error)
            carried = step.state_backward(gradient[:, t], carried, through_reset, error[..., n:] @ U_zr, gate)
        flat = errors.flatten(1, 2).transpose(1, 2)
        for_U = flat[:, :n] @ resets.flatten(1, 2)
        for_U_zr = flat[:, n:] @ narrow[:, :T].flatten(1, 2)
        return errors, None, carried, for_U, for_U_zr, None


class _Attentive(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        initial: Tensor,
        contexts: Tensor,
        keys: Tensor,
        mask: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        U_zr: Tensor,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        T, B, width = projected.shape
        n, a = width // 3, len(v_a)
        step = _steps(projected)
        U, from_state = U.to(dtype), torch.cat([W_a, U_zr]).to(dtype)
        held = dtype if step is kernels else v_a.dtype  # batched products with one row are slower in bfloat16 on a CPU
        contexts, keys = contexts.to(held), keys.to(held)
        states, candidates = projected.new_empty(T + 1, B, n), projected.new_empty(T, B, n)
        gates, resets = projected.new_empty(T, B, 2 * n), projected.new_empty(T, B, n, dtype=dtype)
        alignments = projected.new_empty(T, B, keys.shape[1])
        states[0] = initial
        exact = dtype == states.dtype
        narrow = states if exact else states.to(dtype)
        for t in range(T):
            product = narrow[t] @ from_state.T
            inputs = step.look(product[:, :a], keys, mask, v_a, contexts, alignments[t], projected[t])
            step.gates(states[t], inputs, product[:, a:], gates[t], resets[t])
            copy = None if exact else narrow[t + 1]
            step.candidate(states[t], inputs, resets[t] @ U.T, gates[t], candidates[t], states[t + 1], copy)
        ctx.save_for_backward(states, narrow, candidates, gates, resets, alignments, contexts, keys, v_a, U, from_state)
        return states, alignments

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, aligned: Tensor) -> tuple[Tensor | None, ...]:
        states, narrow, candidates, gates, resets, alignments, contexts, keys, v_a, U, from_state = ctx.saved_tensors
        T, B, n = candidates.shape
        a = len(v_a)
        step = _steps(states)
        queries = narrow[:T] @ from_state[:a].T
        # By what candidate, update and reset are made of, and by the query: the last three lead to the state at once.
        errors = states.new_empty(T, B, 3 * n + a, dtype=U.dtype)
        to_state = from_state.roll(-a, dims=0)
        for_keys, for_v = torch.zeros_like(keys, dtype=states.dtype), states.new_zeros(B, a)
        carried = gradient[T]
        for t in reversed(range(T)):
            unit, query = errors[t].split([3 * n, a], dim=-1)
            step.candidate_backward(states[t], carried, candidates[t], gates[t], unit)
            through_reset = unit[:, :n] @ U
            step.reset_backward(states[t], through_reset, gates[t], unit)
            step.look_backward(unit, aligned[t], alignments[t], queries[t], keys, v_a, contexts, for_keys, for_v, query)
            carried = step.state_backward(gradient[t], carried, through_reset, errors[t, :, n:] @ to_state, gates[t])
        for_contexts = torch.bmm(alignments.permute(1, 2, 0).to(U.dtype), errors[..., : 3 * n].transpose(0, 1))
        flat = errors.flatten(0, 1).T
        for_U = flat[:n] @ resets.flatten(0, 1)
        for_U_zr, for_W_a = (flat[n:] @ narrow[:T].flatten(0, 1)).split([2 * n, a])
        return (
            errors[..., : 3 * n],
            carried,
            for_contexts,
            for_keys.mul_(v_a),
            None,
            for_W_a,
            for_v.sum(dim=0),
            for_U,
            for_U_zr,
            None,
        )
