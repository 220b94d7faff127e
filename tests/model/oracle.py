"""The equations of Section 3 and Appendix A as float64 NumPy loops over one sentence pair, one word at a time.

Written from the paper and from the original code's order of steps; shares nothing with `nmt.model` but the names of
the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Weights = Mapping[str, Vector]


def sigmoid(x: Vector) -> Vector:
    return 1 / (1 + np.exp(-x))


def softmax(x: Vector) -> Vector:
    exponentials = np.exp(x)
    return exponentials / exponentials.sum()


def gated_unit(w: Weights, name: str, x: Vector, s: Vector, context: Sequence[Vector]) -> Vector:
    """s_i of Section 3.3.1; `context` is what c_i adds to the candidate and the gates."""
    z = sigmoid(w[f"{name}.W_z"] @ x + w[f"{name}.U_z"] @ s + context[1])
    r = sigmoid(w[f"{name}.W_r"] @ x + w[f"{name}.U_r"] @ s + context[2])
    candidate = np.tanh(w[f"{name}.W"] @ x + w[f"{name}.b"] + w[f"{name}.U"] @ (r * s) + context[0])
    return (1 - z) * s + z * candidate


def lstm(w: Weights, name: str, x: Vector, s: Vector, context: Sequence[Vector]) -> Vector:
    """The next [h; c] of an LSTM without peepholes; `context` is what c_i adds to candidate, input, forget, output."""
    h, cell = np.split(s, 2)
    sums = [
        w[f"{name}.W{gate}"] @ x + w[f"{name}.b{gate}"] + w[f"{name}.U{gate}"] @ h + added
        for gate, added in zip(("", "_i", "_f", "_o"), context, strict=True)
    ]
    cell = sigmoid(sums[2]) * cell + sigmoid(sums[1]) * np.tanh(sums[0])
    return np.concatenate([sigmoid(sums[3]) * np.tanh(cell), cell])


def step(w: Weights, name: str, x: Vector, s: Vector, c: Vector | None = None) -> Vector:
    """The next state of the unit `name`, which in the decoder sees c_i."""
    gates, unit = (("", "_i", "_f", "_o"), lstm) if f"{name}.W_f" in w else (("", "_z", "_r"), gated_unit)
    return unit(w, name, x, s, [np.zeros(1) if c is None else w[f"{name}.C{gate}"] @ c for gate in gates])


def gates(w: Weights, source: list[int]) -> tuple[Vector, Vector]:
    """What source and target embeddings are multiplied by: 1, or the gates of the contextualization."""
    if "contextualization.W_1" not in w:
        return np.ones(1), np.ones(1)
    total = np.zeros(len(w["contextualization.b_2"]))
    for x in source:
        embedded = w["encoder.embedding.E"][x] + w["encoder.embedding.b"]
        hidden = np.tanh(w["contextualization.W_1"] @ embedded + w["contextualization.b_1"])
        total += np.tanh(w["contextualization.W_2"] @ hidden + w["contextualization.b_2"])
    c = total / len(source)
    return (
        sigmoid(w["contextualization.G_x"] @ c + w["contextualization.b_x"]),
        sigmoid(w["contextualization.G_y"] @ c + w["contextualization.b_y"]),
    )


def annotate(w: Weights, source: list[int]) -> tuple[list[Vector], list[Vector]]:
    """Forward states, and backward states where there is a backward RNN (A.1), of `source` that ends with EOS."""
    gate, _ = gates(w, source)
    embedded = [gate * (w["encoder.embedding.E"][x] + w["encoder.embedding.b"]) for x in source]
    n = w["encoder.forwards.U"].shape[0]
    columns = 2 * n if "encoder.forwards.W_f" in w else n
    forwards, state = [], np.zeros(columns)
    for x in embedded:
        state = step(w, "encoder.forwards", x, state)
        forwards.append(state[:n])
    if "encoder.backwards.U" not in w:
        return forwards, []
    backwards, state = [], np.zeros(columns)
    for x in reversed(embedded):
        state = step(w, "encoder.backwards", x, state)
        backwards.insert(0, state[:n])
    return forwards, backwards


def squashed(w: Weights, s: Vector, previous: Vector, h: Vector) -> Vector:
    """tanh(W_a s_{i-1} + W_y E y_{i-1} + U_a h_j)."""
    query = w["decoder.attention.W_a"] @ s
    if "decoder.attention.W_y" in w:
        query = query + w["decoder.attention.W_y"] @ previous
    return np.tanh(query + w["decoder.attention.U_a"] @ h)


#: e_ij of s_{i-1}, E y_{i-1} and h_j: a number, or one for each dimension of h_j. The attention of a model is the first
#: here whose parameter it has.
SCORES: dict[str, Callable[[Weights, Vector, Vector, Vector], Vector]] = {
    "v_a": lambda w, s, previous, h: w["decoder.attention.v_a"] @ squashed(w, s, previous, h),
    "V": lambda w, s, previous, h: w["decoder.attention.V"] @ squashed(w, s, previous, h),
}


def nll(
    w: Weights, source: list[int], target: list[int], printed: bool, mean: bool = False
) -> tuple[float, list[Vector]]:
    """-log p(target | source), and alpha_i of every target word (empty where the context is fixed).

    alpha_i is (Tx,), or (Tx, 2n) where the attention is fine-grained (Choi et al. 2017, Eqs. 7 to 9).
    `printed`: the order of A.2, s_i before y_i; otherwise look, generate, update. `mean`: s_0 from the mean annotation.
    """
    forwards, backwards = annotate(w, source)
    annotations = forwards
    start = forwards[-1]
    if backwards:
        annotations = [np.concatenate(pair) for pair in zip(forwards, backwards, strict=True)]
        start = backwards[0]
    if mean:
        start = sum(annotations[1:], annotations[0]) / len(annotations)
    s = np.tanh(w["decoder.W_s"] @ start + w["decoder.b_s"])
    _, gate = gates(w, source)
    total, alignments = 0.0, []
    previous = np.zeros(w["decoder.embedding.E"].shape[1])
    n = w["decoder.unit.U"].shape[0]
    for y in target:
        if backwards:
            score = next(one for name, one in SCORES.items() if f"decoder.attention.{name}" in w)
            energies = np.array([score(w, s[:n], previous, h) for h in annotations])
            alpha = softmax(energies) if energies.ndim == 1 else np.stack([softmax(e) for e in energies.T], axis=1)
            alignments.append(alpha)
            c = sum((a * h for a, h in zip(alpha, annotations, strict=True)), np.zeros(len(annotations[0])))
        else:
            c = forwards[-1]
        if printed:
            s = step(w, "decoder.unit", previous, s, c)
        t = (
            w["decoder.readout.U_o"] @ s[:n]
            + w["decoder.readout.b_t"]
            + w["decoder.readout.V_o"] @ previous
            + w["decoder.readout.C_o"] @ c
        )
        maxout = np.array([max(t[2 * j], t[2 * j + 1]) for j in range(len(t) // 2)])
        if "decoder.readout.W_1" in w:
            maxout = w["decoder.readout.W_1"] @ maxout
        total -= np.log(softmax(w["decoder.readout.W_o"] @ maxout + w["decoder.readout.b_o"])[y])
        previous = gate * (w["decoder.embedding.E"][y] + w["decoder.embedding.b"])
        if not printed:
            s = step(w, "decoder.unit", previous, s, c)
    return float(total), alignments
