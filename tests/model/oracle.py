"""The equations of Section 3 and Appendix A as float64 NumPy loops over one sentence pair, one word at a time.

Written from the paper and from the original code's order of steps; shares nothing with `nmt.model` but the names of
the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Weights = Mapping[str, Vector]


def sigmoid(x: Vector) -> Vector:
    return 1 / (1 + np.exp(-x))


def softmax(x: Vector) -> Vector:
    exponentials = np.exp(x)
    return exponentials / exponentials.sum()


def gated_unit(w: Weights, name: str, x: Vector, s: Vector, context: tuple[Vector, Vector, Vector]) -> Vector:
    """s_i of Section 3.3.1; `context` is what c_i adds to the candidate and the gates."""
    z = sigmoid(w[f"{name}.W_z"] @ x + w[f"{name}.U_z"] @ s + context[1])
    r = sigmoid(w[f"{name}.W_r"] @ x + w[f"{name}.U_r"] @ s + context[2])
    candidate = np.tanh(w[f"{name}.W"] @ x + w[f"{name}.b"] + w[f"{name}.U"] @ (r * s) + context[0])
    return (1 - z) * s + z * candidate


def annotate(w: Weights, source: list[int]) -> tuple[list[Vector], list[Vector]]:
    """Forward states, and backward states where there is a backward RNN (A.1), of `source` that ends with EOS."""
    nothing = (np.zeros(1),) * 3
    embedded = [w["encoder.embedding.E"][x] + w["encoder.embedding.b"] for x in source]
    n = w["encoder.forwards.U"].shape[0]
    forwards, state = [], np.zeros(n)
    for x in embedded:
        state = gated_unit(w, "encoder.forwards", x, state, nothing)
        forwards.append(state)
    if "encoder.backwards.U" not in w:
        return forwards, []
    backwards, state = [], np.zeros(n)
    for x in reversed(embedded):
        state = gated_unit(w, "encoder.backwards", x, state, nothing)
        backwards.insert(0, state)
    return forwards, backwards


def nll(w: Weights, source: list[int], target: list[int], printed: bool) -> tuple[float, list[Vector]]:
    """-log p(target | source), and alpha_i of every target word (empty where the context is fixed).

    `printed`: the order of A.2, s_i before y_i; otherwise look, generate, update.
    """
    forwards, backwards = annotate(w, source)
    if backwards:
        annotations = [np.concatenate(pair) for pair in zip(forwards, backwards, strict=True)]
        s = np.tanh(w["decoder.W_s"] @ backwards[0] + w["decoder.b_s"])
    else:
        s = np.tanh(w["decoder.W_s"] @ forwards[-1] + w["decoder.b_s"])
    total, alignments = 0.0, []
    previous = np.zeros(w["decoder.embedding.E"].shape[1])
    for y in target:
        if backwards:
            energies = [
                w["decoder.attention.v_a"] @ np.tanh(w["decoder.attention.W_a"] @ s + w["decoder.attention.U_a"] @ h)
                for h in annotations
            ]
            alpha = softmax(np.array(energies))
            alignments.append(alpha)
            c = sum((a * h for a, h in zip(alpha, annotations, strict=True)), np.zeros(len(annotations[0])))
        else:
            c = forwards[-1]
        from_context = (w["decoder.unit.C"] @ c, w["decoder.unit.C_z"] @ c, w["decoder.unit.C_r"] @ c)
        if printed:
            s = gated_unit(w, "decoder.unit", previous, s, from_context)
        t = (
            w["decoder.readout.U_o"] @ s
            + w["decoder.readout.b_t"]
            + w["decoder.readout.V_o"] @ previous
            + w["decoder.readout.C_o"] @ c
        )
        maxout = np.array([max(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])
        if "decoder.readout.W_1" in w:
            maxout = w["decoder.readout.W_1"] @ maxout
        total -= np.log(softmax(w["decoder.readout.W_o"] @ maxout + w["decoder.readout.b_o"])[y])
        previous = w["decoder.embedding.E"][y] + w["decoder.embedding.b"]
        if not printed:
            s = gated_unit(w, "decoder.unit", previous, s, from_context)
    return float(total), alignments
