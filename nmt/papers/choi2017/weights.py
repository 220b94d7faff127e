"""The attention weights of trained models between the symbols of a sentence and those of its translation."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt.corpora.pairs import LONGEST, split_words
from nmt.corpora.shortlist import EOS_SYMBOL
from nmt.evaluation.sentences import read_parallel
from nmt.search.text import to_symbols, to_words
from nmt.system.errors import UserError
from nmt.system.options import add_device_arguments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nmt.trained import TrainedModel


class Sentence(NamedTuple):
    """The symbols of a sentence and of its translation, with the ends of sentence, and their ids without them."""

    source: list[str]
    target: list[str]
    source_ids: list[int]
    target_ids: list[int]


def add_line_argument(parser: argparse.ArgumentParser) -> None:
    """The option --line of a step that shows one sentence."""
    parser.add_argument("--line", type=int, required=True, metavar="N", help="the sentence to show, counted from 1")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a step that reads the weights of one model in its translations."""
    parser.add_argument(
        "--model", required=True, type=Path, metavar="DIR", help="folder of the model with fine-grained attention"
    )
    parser.add_argument("--source", required=True, metavar="FILE", help="tokenized sentences")
    parser.add_argument("--translation", required=True, metavar="FILE", help="symbols of the model's translations")
    add_device_arguments(parser)


def add_one_sentence_arguments(parser: argparse.ArgumentParser) -> None:
    """The same, and that of a step that shows one sentence; `one_sentence` reads them."""
    add_model_arguments(parser)
    add_line_argument(parser)


def encode(
    trained: TrainedModel, sources: Sequence[str], translations: Sequence[str], name: str, first: int = 1
) -> list[Sentence]:
    """The sentences of tokenized `sources`, which are line `first` and on of the file `name`, and of `translations`.

    The latter are the symbols that the model wrote: its words, segmented again, may have other subwords.
    """
    symbols = to_symbols(to_words(sources, trained, 0, tokenized=True), trained.source, name, first)
    written = [split_words(line)[:LONGEST] for line in translations]
    return [
        Sentence([*source, EOS_SYMBOL], [*target, EOS_SYMBOL], trained.source.ids(source), trained.target.ids(target))
        for source, target in zip(symbols, written, strict=True)
    ]


def encode_line(trained: TrainedModel, source: str, translation: str, number: int) -> Sentence:
    """The sentence of line `number` of the two files, as `encode` has it. Raises UserError."""
    sources, translations = read_parallel(source, translation)
    if not 1 <= number <= len(sources):
        raise UserError(f"{source}: no line {number}; choose another sentence")
    if not split_words(sources[number - 1]):
        raise UserError(f"{source}: line {number} is empty; choose another sentence")
    place = slice(number - 1, number)
    [sentence] = encode(trained, sources[place], translations[place], source, number)
    return sentence


def fine_grained(trained: TrainedModel, sentence: Sentence) -> NDArray[Any]:
    """alpha_t',t^d (Eq. 8), (target symbols, source symbols, dimensions of an annotation)."""
    import torch

    from nmt.corpora.padding import pad
    from nmt.model.attention.fine_grained import FineGrainedAttention

    device = next(trained.model.parameters()).device
    decoder = trained.model.decoder
    assert isinstance(decoder.attention, FineGrainedAttention)
    with torch.inference_mode():
        memory = trained.model.encode(*pad([sentence.source_ids], device))
        words, _ = pad([sentence.target_ids], device)
        query = decoder.attention.query(*decoder.attending(memory, words))
        return decoder.attention.weights(memory.kept, query).cpu().numpy()


def require_fine_grained(trained: TrainedModel, what: str) -> None:
    """Raise UserError, which says that `what` needs it, where there is not a weight for each dimension."""
    if trained.model.architecture.attention != "fine_grained":
        raise UserError(f"{trained.folder}: its attention is not fine-grained, but {what} needs it; name another")


def one_sentence(arguments: argparse.Namespace, what: str) -> tuple[Sentence, NDArray[Any]]:
    """The sentence that the options name, and its weights as `fine_grained` has them. Raises UserError."""
    # These import PyTorch, which takes seconds: too long for --help.
    from nmt.system.device import prepare
    from nmt.trained import load_trained

    trained = load_trained(arguments.model, prepare(arguments))
    require_fine_grained(trained, what)
    sentence = encode_line(trained, arguments.source, arguments.translation, arguments.line)
    return sentence, fine_grained(trained, sentence)
