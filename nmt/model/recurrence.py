"""The recurrences of encoder and decoder, as fast as the mathematics allows.

The same functions as the readable steps of `nmt.model.units` and `nmt.model.attention`. Only what depends on the
previous state stays in the loops; backward, a loop carries the gradient of the state alone, and each weight's gradient
is one product after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

if TYPE_CHECKING:
    from nmt.model.attention import Attention
    from nmt.model.units import GatedUnit


def gated(projected: Tensor, present: Tensor, initial: Tensor, units: list[GatedUnit]) -> Tensor:
    """Run D independent gated recurrences side by side.

    projected (D, T, B, 3n): what the inputs add to candidate, update and reset. present (D, T, B): 1, or 0 where the
    state stays. initial (D, B, n). Returns the states, the initial one first: (D, T + 1, B, n).
    """
    U = torch.stack([unit.U for unit in units])
    U_zr = torch.stack([torch.cat([unit.U_z, unit.U_r]) for unit in units])
    return _Gated.apply(projected, present, initial, U, U_zr)


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
    return _Attentive.apply(projected, initial, contexts, keys, mask, attention.W_a, attention.v_a, unit.U, U_zr)


def _compute_type(tensor: Tensor) -> torch.dtype:
    """The type of the matrix products: autocast's where it is on, else the tensor's own."""
    kind = tensor.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else tensor.dtype


def _unit_backward(
    gradient: Tensor,
    state: Tensor,
    candidate: Tensor,
    z: Tensor,
    r: Tensor,
    U: Tensor,
    U_zr: Tensor,
    out: Tensor,
) -> Tensor:
    """Backward through one step: fill `out` (..., 3n) with the pre-activations' gradients, return the state's."""
    n = state.shape[-1]
    for_candidate, for_update, for_reset = out.split(n, dim=-1)
    torch.mul(gradient * z, 1 - candidate * candidate, out=for_candidate)
    through_reset = (for_candidate.to(U.dtype) @ U).to(state.dtype)
    torch.mul(gradient * (candidate - state), z * (1 - z), out=for_update)
    torch.mul(through_reset * state, r * (1 - r), out=for_reset)
    through_gates = (out[..., n:].to(U.dtype) @ U_zr).to(state.dtype)
    return torch.addcmul(through_gates, gradient, 1 - z).addcmul_(through_reset, r)


def _weight_gradients(gradients: Tensor, states: Tensor, reset: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Gradients of U and [U_z; U_r] over all steps at once, from (..., T, B, .) tensors."""
    n = states.shape[-1]
    flat = gradients.flatten(-3, -2).to(dtype).transpose(-1, -2)
    for_U = flat[..., :n, :] @ (reset * states).flatten(-3, -2).to(dtype)
    for_U_zr = flat[..., n:, :] @ states.flatten(-3, -2).to(dtype)
    return for_U.to(states.dtype), for_U_zr.to(states.dtype)


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, projected: Tensor, present: Tensor, initial: Tensor, U: Tensor, U_zr: Tensor) -> Tensor:
        D, T, B, width = projected.shape
        n = width // 3
        dtype = _compute_type(projected)
        U, U_zr = U.to(dtype), U_zr.to(dtype)
        projected, initial = projected.to(present.dtype), initial.to(present.dtype)
        states = projected.new_empty(D, T + 1, B, n)
        candidates = projected.new_empty(D, T, B, n)
        gates = projected.new_empty(D, T, B, 2 * n)
        states[:, 0] = initial
        U_transposed, U_zr_transposed = U.transpose(1, 2), U_zr.transpose(1, 2)
        for t in range(T):
            state = states[:, t]
            gate = gates[:, t]
            torch.add(projected[:, t, :, n:], state.to(dtype) @ U_zr_transposed, out=gate)
            gate.sigmoid_()
            gate[..., :n] *= present[:, t].unsqueeze(-1)
            product = (gate[..., n:] * state).to(dtype) @ U_transposed
            candidate = torch.add(projected[:, t, :, :n], product, out=candidates[:, t]).tanh_()
            torch.lerp(state, candidate, gate[..., :n], out=states[:, t + 1])
        ctx.save_for_backward(states, candidates, gates, U, U_zr)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        states, candidates, gates, U, U_zr = ctx.saved_tensors
        D, T, B, n = candidates.shape
        projected = states.new_empty(D, T, B, 3 * n)
        carried = gradient[:, T]
        for t in reversed(range(T)):
            z, r = gates[:, t].split(n, dim=-1)
            carried = gradient[:, t] + _unit_backward(
                carried, states[:, t], candidates[:, t], z, r, U, U_zr, projected[:, t]
            )
        for_U, for_U_zr = _weight_gradients(projected, states[:, :T], gates[..., n:], U.dtype)
        return projected, None, carried, for_U, for_U_zr


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
    ) -> tuple[Tensor, Tensor]:
        T, B, width = projected.shape
        n = width // 3
        dtype = _compute_type(projected)
        U, U_zr, W_a, contexts = U.to(dtype), U_zr.to(dtype), W_a.to(dtype), contexts.to(dtype)
        projected, initial, keys = projected.to(v_a.dtype), initial.to(v_a.dtype), keys.to(v_a.dtype)
        states = projected.new_empty(T + 1, B, n)
        candidates = projected.new_empty(T, B, n)
        gates = projected.new_empty(T, B, 2 * n)
        alignments = projected.new_empty(T, B, keys.shape[1])
        states[0] = initial
        padding = ~mask
        queried = W_a.T
        for t in range(T):
            state = states[t]
            narrow = state.to(dtype)
            energy = (keys + (narrow @ queried).unsqueeze(1)).tanh_() @ v_a
            alignment = torch.softmax(energy.masked_fill_(padding, -torch.inf), dim=-1)
            alignments[t] = alignment
            context = torch.bmm(alignment.to(dtype).unsqueeze(1), contexts).squeeze(1)
            inputs = projected[t] + context
            gate = torch.add(inputs[:, n:], narrow @ U_zr.T, out=gates[t]).sigmoid_()
            product = (gate[:, n:] * state).to(dtype) @ U.T
            candidate = torch.add(inputs[:, :n], product, out=candidates[t]).tanh_()
            torch.lerp(state, candidate, gate[:, :n], out=states[t + 1])
        ctx.save_for_backward(states, candidates, gates, alignments, contexts, keys, W_a, v_a, U, U_zr)
        return states, alignments

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, aligned: Tensor) -> tuple[Tensor | None, ...]:
        states, candidates, gates, alignments, contexts, keys, W_a, v_a, U, U_zr = ctx.saved_tensors
        T, B, n = candidates.shape
        dtype = U.dtype
        projected = states.new_empty(T, B, 3 * n)
        queries = states.new_empty(T, B, len(v_a))
        positions = contexts.transpose(1, 2)
        energies = states.new_empty(T, *keys.shape[:2])
        squares = torch.zeros_like(keys)  # sum over i of de_ij tanh^2
        for_v = torch.zeros_like(v_a)
        carried = gradient[T]
        for t in reversed(range(T)):
            state, alignment = states[t], alignments[t]
            z, r = gates[t].split(n, dim=-1)
            through_unit = _unit_backward(carried, state, candidates[t], z, r, U, U_zr, projected[t])
            weighed = aligned[t] + torch.bmm(projected[t].to(dtype).unsqueeze(1), positions).squeeze(1)
            total = (alignment * weighed).sum(dim=-1, keepdim=True)
            energy = torch.mul(alignment, weighed - total, out=energies[t]).unsqueeze(-1)
            hidden = (keys + (state.to(dtype) @ W_a.T).unsqueeze(1)).tanh_()
            for_v += energy.flatten() @ hidden.flatten(0, 1)
            squares.addcmul_(hidden.square_(), energy)
            seen = torch.bmm(energy.transpose(1, 2), hidden).squeeze(1)
            torch.mul(energy.sum(dim=1) - seen, v_a, out=queries[t])
            carried = gradient[t] + through_unit + queries[t].to(dtype) @ W_a
        for_U, for_U_zr = _weight_gradients(projected, states[:T], gates[..., n:], dtype)
        for_W_a = queries.flatten(0, 1).T.to(dtype) @ states[:T].flatten(0, 1).to(dtype)
        for_contexts = torch.bmm(alignments.permute(1, 2, 0).to(dtype), projected.transpose(0, 1).to(dtype))
        return (
            projected,
            carried,
            for_contexts.to(states.dtype),
            (energies.sum(dim=0).unsqueeze(-1) - squares).mul_(v_a),
            None,
            for_W_a.to(states.dtype),
            for_v,
            for_U,
            for_U_zr,
        )
