"""Marian as a contender: a program, which runs in the peers' environment (bench/peers.txt).

Its model is as close to the paper's as its options allow: one bidirectional layer of gated recurrent units, attention
with one hidden layer, no dropout, no normalization. Three things differ. A step of the decoder takes two units, with
attention between them: with one, the context would not reach the state. A layer of tanh units as wide as an embedding
stands for the maxout layer. Adam stands for Adadelta, which Marian lacks.

Marian's threads share the pairs of an update (synchronous SGD), but each translates its own batches. Marian reads
sentences from its standard input as they come, so that a turn has nothing to load.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.turns import Figures

PROGRAM = [sys.executable, "-c", "import sys, _pymarian; sys.exit(_pymarian.main(sys.argv[1:]))"]
SYMBOLS = 30_001
LENGTH = 20
SPECIALS = ("</s>", "<unk>")
THREADS = os.cpu_count() or 1
MODEL = (
    *("--type", "s2s", "--dim-emb", "620", "--dim-rnn", "1000"),
    *("--enc-type", "bidirectional", "--enc-cell", "gru", "--enc-depth", "1", "--enc-cell-depth", "1"),
    *("--dec-cell", "gru", "--dec-depth", "1", "--dec-cell-base-depth", "2"),
)
TRAINING = (
    *("--cost-type", "ce-sum", "--optimizer", "adam", "--clip-norm", "1", "--sync-sgd", "--mini-batch-round-up=false"),
    *("--tsv", "--train-sets", "stdin", "--after", "1e", "--shuffle", "none", "--disp-freq", "1u"),
)
IN_ORDER = ("--maxi-batch", "1", "--maxi-batch-sort", "none")
OUTPUT_BIAS = "decoder_ff_logit_l2_b"  # (1, SYMBOLS)


def sentences(count: int) -> list[str]:
    """Random sentences of LENGTH words; EOS, which Marian adds, is the last."""
    words = np.random.default_rng(1).integers(len(SPECIALS), SYMBOLS, (count, LENGTH - 1))
    return [" ".join(f"w{word}" for word in sentence) for sentence in words]


def start(*options: str) -> subprocess.Popen[str]:
    """Marian with these options; what it logs comes out between its answers."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*PROGRAM, *options], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True)


def answers(marian: subprocess.Popen[str], lines: list[str], sign: str, count: int) -> list[str]:
    """Hand Marian these lines, and wait for `count` of its own that match `sign`. Raises SystemExit if it ends."""
    assert marian.stdin is not None
    assert marian.stdout is not None
    print(*lines, sep="\n", file=marian.stdin, flush=True)
    found = []
    said: deque[str] = deque(maxlen=10)
    for line in marian.stdout:
        said.append(line)
        if re.search(sign, line):
            found.append(line)
        if len(found) == count:
            return found
    raise SystemExit(f"Marian ended early:\n{''.join(said)}")


def without_eos(model: Path) -> None:
    """Change a model so that every translation is as long as it may be."""
    weights = dict(np.load(model))
    weights[OUTPUT_BIAS][0, SPECIALS.index("</s>")] = -100
    np.savez(model, **weights)


def prepare(task: str, batch: int, beam: int) -> Callable[[], Figures]:
    """A function that measures Marian once: seconds an update, or sentences translated a second.

    Marian has read all its files when this returns, and their folder is gone.
    """
    with TemporaryDirectory() as folder:
        model, vocabulary = Path(folder, "model.npz"), Path(folder, "vocabulary.yml")
        symbols = [*SPECIALS, *(f"w{word}" for word in range(len(SPECIALS), SYMBOLS))]
        vocabulary.write_text("".join(f"{symbol}: {number}\n" for number, symbol in enumerate(symbols)))
        files = ("--vocabs", str(vocabulary), str(vocabulary), "--cpu-threads", str(THREADS), *IN_ORDER)
        trainer = start("train", *MODEL, *TRAINING, *files, "--model", str(model), "--mini-batch", str(batch))
        pairs = [f"{sentence}\t{sentence}" for sentence in sentences(batch)]

        def train() -> Figures:
            begun = time.perf_counter()
            (update,) = answers(trainer, pairs, " : Up. ", 1)
            seconds = time.perf_counter() - begun
            assert f" {batch * LENGTH:,} @ " in update
            return {"seconds": seconds}

        train()
        if task == "train":
            return train
        trainer.communicate()  # at the end of its input, Marian writes the model
        without_eos(model)
        search = ("--beam-size", str(beam), "--max-length-factor", "1", "--mini-batch", str(batch))
        translator = start("decode", *files, *search, "--models", str(model), "--quiet-translation")
        sources = sentences(THREADS * batch)

        def decode() -> Figures:
            begun = time.perf_counter()
            translations = answers(translator, sources, r"^w\d", len(sources))
            seconds = time.perf_counter() - begun
            assert all(len(translation.split()) == LENGTH for translation in translations)
            return {"sentences_per_second": len(sources) / seconds}

        decode()
        return decode
