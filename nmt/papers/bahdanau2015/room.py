"""Bahdanau, Cho and Bengio (2015): what the paper adds to the steps."""

from __future__ import annotations

TITLE = "Neural Machine Translation by Jointly Learning to Align and Translate"
REFERENCE = "Bahdanau, Cho and Bengio (2015)"
STEPS = {
    "table1": "BLEU of every system on a test set",
    "table2": "how each model was trained: updates, time, likelihoods",
    "table3": "long sentences and their translations by two models",
    "samples": "pick the alignments of four sentences, for Figure 3",
    "figure1": "the diagram of the model",
    "figure2": "draw BLEU by the length of the source sentence",
    "figure3": "draw the alignments of four sentences",
}
