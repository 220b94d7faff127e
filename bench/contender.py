"""JoeyNMT and OpenNMT-py as contenders, in an environment of their own: bench/peers.txt.

Both run unchanged, as close to the paper's model as they allow: one bidirectional layer of gated recurrent units,
attention with one hidden layer, input feeding. JoeyNMT's encoder has 1000 units in each direction. OpenNMT-py's has
500, because both directions together must have as many units as the decoder. Libraries that they import for other
purposes are replaced by empty modules.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from bench.eager import randomized
from bench.turns import Figures
from nmt.system.device import keep_memory

SYMBOLS = 30_001
EMBEDDING, HIDDEN = 620, 1000
LENGTH = 20
SPECIALS = ("<unk>", "<blank>", "<s>", "</s>")
UNK, PAD, BOS, EOS = range(4)
UNRELATED = (
    *("torch.utils.tensorboard", "importlib_metadata", "joeynmt.datasets", "joeynmt.plotting"),
    *("ahocorasick", "configargparse", "fasttext", "pyonmttok", "rapidfuzz", "regex", "spacy"),
)


class Empty(ModuleType):
    """A module in which every name is an empty class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Symbols:
    """A vocabulary for OpenNMT-py's translator, which only looks up its special symbols."""

    def __len__(self) -> int:
        return SYMBOLS

    def lookup_token(self, token: str) -> int:
        return SPECIALS.index(token) if token in SPECIALS else UNK


def made_up(sentences: int) -> Tensor:
    """Random sentences (B, LENGTH), EOS counted; the time does not depend on the words."""
    ids = torch.randint(len(SPECIALS), SYMBOLS, (sentences, LENGTH), generator=torch.Generator().manual_seed(1))
    ids[:, -1] = EOS
    return ids


def hide_unrelated() -> None:
    """Replace the libraries that the peers import for other purposes, which their environment lacks."""
    for module in UNRELATED:
        sys.modules[module] = Empty(module)


def joeynmt_model(symbols: Sequence[int], embedding: int, hidden: int, **initialization: object) -> nn.Module:
    """JoeyNMT's recurrent model for vocabularies of these sizes, with `initialization` in its configuration."""
    from joeynmt.model import build_model
    from joeynmt.vocabulary import Vocabulary

    special: dict[str, Any] = {"sep_token": None, "sep_id": None, "lang_tags": []}
    for number, name in enumerate(("unk", "pad", "bos", "eos")):
        special |= {f"{name}_token": SPECIALS[number], f"{name}_id": number}
    vocabularies = [Vocabulary([], SimpleNamespace(**special)) for _ in symbols]
    for vocabulary, size in zip(vocabularies, symbols, strict=True):
        vocabulary._itos += map(str, range(len(SPECIALS), size))  # add_tokens compares each word with all before it
    side = {"type": "recurrent", "rnn_type": "gru", "hidden_size": hidden, "embeddings": {"embedding_dim": embedding}}
    decoder = {**side, "attention": "bahdanau", "input_feeding": True, "init_hidden": "bridge"}
    model = build_model({"encoder": side, "decoder": decoder, **initialization}, *vocabularies)
    model.loss_function = ("crossentropy", 0.0)
    return model


def joeynmt_batch(sources: Tensor, lengths: Tensor, targets: Tensor | None) -> Any:
    """JoeyNMT's batch of `sources` (B, T), of `lengths` (B,) with EOS, and `targets` (B, T'), which start with BOS."""
    from joeynmt.batch import Batch

    return Batch(sources, lengths, None, targets, None, torch.arange(len(sources)), torch.device("cpu"), PAD, EOS)


def joeynmt(batch: int, beam: int) -> tuple[nn.Module, Callable[[], Tensor], Callable[[], int]]:
    """The model, a function for the cost of a batch, and one that translates a batch and counts the words."""
    from joeynmt.search import search

    model = randomized(joeynmt_model((SYMBOLS, SYMBOLS), EMBEDDING, HIDDEN))
    sentences = made_up(batch)
    ready = joeynmt_batch(sentences, torch.full((batch,), LENGTH), nn.functional.pad(sentences, (1, 0), value=BOS))

    def cost() -> Tensor:
        return model(return_type="loss", **vars(ready))[0]

    def translate() -> int:
        found, _, _ = search(model, ready, LENGTH, beam, beam_alpha=-1.0, min_output_length=LENGTH)
        return found.shape[0] * found.shape[1]

    return model, cost, translate


def opennmt(batch: int, beam: int) -> tuple[nn.Module, Callable[[], Tensor], Callable[[], int]]:
    """The model, a function for the cost of a batch, and one that translates a batch and counts the words."""
    from onmt.decoders import InputFeedRNNDecoder
    from onmt.encoders import RNNEncoder
    from onmt.models import NMTModel
    from onmt.modules import Embeddings
    from onmt.translate import GNMTGlobalScorer, Translator
    from onmt.utils.loss import LossCompute

    embeddings = [Embeddings(EMBEDDING, SYMBOLS, PAD) for _ in range(2)]
    encoder = RNNEncoder("GRU", True, 1, HIDDEN, embeddings=embeddings[0])
    decoder = InputFeedRNNDecoder("GRU", True, 1, HIDDEN, attn_type="mlp", embeddings=embeddings[1])
    model = NMTModel(encoder, decoder)
    model.generator = nn.Linear(HIDDEN, SYMBOLS)
    randomized(model)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")
    compute = LossCompute(criterion, model.generator)
    symbols = Symbols()
    translator = Translator(
        model,
        {"src": symbols, "tgt": symbols, "decoder_start_token": SPECIALS[BOS]},
        beam_size=beam,
        min_length=LENGTH,
        max_length=LENGTH,
        global_scorer=GNMTGlobalScorer(0.0, 0.0, "none", "none"),
    )
    sentences = made_up(batch)
    source = {"src": sentences.unsqueeze(-1), "srclen": torch.full((batch,), LENGTH)}
    pairs = {**source, "tgt": nn.functional.pad(sentences, (1, 0), value=BOS).unsqueeze(-1)}

    def cost() -> Tensor:
        output, attentions = model(pairs["src"], pairs["tgt"], pairs["srclen"])
        return compute(pairs, output, attentions)[0]

    def translate() -> int:
        found = translator.translate_batch(source, attn_debug=False)["predictions"]
        return sum(len(best) for (best,) in found)

    return model, cost, translate


def prepare(implementation: str, task: str, batch: int, beam: int) -> Callable[[], Figures]:
    """A function that measures this implementation once: seconds an update, or sentences translated a second."""
    keep_memory()
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    hide_unrelated()
    model, cost, translate = {"JoeyNMT": joeynmt, "OpenNMT-py": opennmt}[implementation](batch, beam)

    def train() -> Figures:
        begun = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        cost().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return {"seconds": time.perf_counter() - begun}

    def decode() -> Figures:
        begun = time.perf_counter()
        words = translate()
        seconds = time.perf_counter() - begun
        assert words == batch * LENGTH
        return {"sentences_per_second": batch / seconds}

    if task == "decode":
        model.eval()
        return decode
    optimizer = torch.optim.Adadelta(model.parameters(), 1.0, 0.95, 1e-6)
    return train
