"""Translate a tokenized text with a trained model by beam search.

Each line of the output is the best translation of the same line of the source, tokenized, with UNK where the model
chose the unknown word. The scores file has its log probability (nats) and number of words, end of sentence counted;
the alignments file, one JSON object a line, the weights of every output word (rows) over the source words (columns).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import ExitStack

import torch

from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.shortlist import EOS_SYMBOL, Shortlist
from nmt.device import choose_device
from nmt.files import UserError, atomic, read_lines, warn
from nmt.model.network import Network, load_with_shortlists
from nmt.progress import Progress
from nmt.search.beam import BeamSettings, Hypothesis, search

LONGEST = 1000  # words of a source line that are read
FULL_BATCH = 100  # words of the longest sentence up to which a batch is full; longer ones would take too much memory


def read_sources(path: str, reference: str | None, shortlists: list[Shortlist]) -> list[list[str]]:
    """The words of every line of `path`, an empty list where it is not to be translated.

    With a `reference`, lines with a word unknown to the shortlists in either text are not.
    """
    if reference is None:
        lines = [split_words(line) for line in read_lines(path)]
    else:
        lines = [
            split_words(source) if shortlists[0].knows(source) and shortlists[1].knows(target) else []
            for source, target in read_pairs(path, reference)
        ]
    for number, words in enumerate(lines, 1):
        if len(words) > LONGEST:
            warn(f"{path}: line {number} has {len(words)} words, of which the first {LONGEST} are translated")
            del words[LONGEST:]
    return lines


def translate(
    model: Network, sources: list[list[int]], batch: int, settings: BeamSettings
) -> Iterator[tuple[int, Hypothesis]]:
    """Yield the number and best hypothesis of every source that is not empty, long ones first."""
    order = sorted((number for number, source in enumerate(sources) if source), key=lambda n: -len(sources[n]))
    while order:
        size = max(1, batch * FULL_BATCH // max(FULL_BATCH, len(sources[order[0]])))
        numbers, order = order[:size], order[size:]
        for number, hypotheses in zip(
            numbers, search(model, [sources[number] for number in numbers], settings), strict=True
        ):
            yield number, hypotheses[0]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="a trained model")
    parser.add_argument("--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--source", required=True, help="tokenized text, one sentence a line")
    parser.add_argument("--beam", type=int, default=12, help="hypotheses of a sentence (12)")
    parser.add_argument("--batch", type=int, default=32, help="sentences translated together (32)")
    parser.add_argument("--forbid-unk", action="store_true", help="never choose the unknown word")
    parser.add_argument("--only-known", metavar="REFERENCE", help="leave out lines with unknown words here or there")
    parser.add_argument(
        "--minimum-length-ratio", type=float, default=0.5, help="of source words to translate into at least (0.5)"
    )
    parser.add_argument("--normalize", action="store_true", help="rank by log probability per word")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="CPU threads (all)")
    parser.add_argument("--output", required=True, help="translations, one a line")
    parser.add_argument("--scores", required=True, help="TSV of log probabilities")
    parser.add_argument("--alignments", help="JSON lines of alignment weights")


def run(arguments: argparse.Namespace) -> None:
    if arguments.beam < 1 or arguments.batch < 1:
        raise UserError(f"--beam {arguments.beam}, --batch {arguments.batch}: both must be 1 or more")
    torch.set_num_threads(arguments.threads)
    device = choose_device(arguments.device)
    model, *shortlists = load_with_shortlists(arguments.model, arguments.shortlists, device)
    lines = read_sources(arguments.source, arguments.only_known, shortlists)
    if not lines:
        raise UserError(f"{arguments.source}: empty; give some text to translate")
    settings = BeamSettings(
        arguments.beam,
        arguments.forbid_unk,
        arguments.minimum_length_ratio,
        arguments.normalize,
        arguments.alignments is not None,
    )
    sources = [shortlists[0].ids(words) for words in lines]
    translations, scores, alignments = [""] * len(lines), ["0\t0"] * len(lines), [""] * len(lines)
    wanted = sum(map(bool, sources))
    with Progress(f"translate {arguments.output}", wanted, "sentences") as progress:
        for number, best in translate(model, sources, arguments.batch, settings):
            words = shortlists[1].words(best.words)
            translations[number] = " ".join(words)
            scores[number] = f"{best.log_probability:.6f}\t{len(words) + 1}"
            if arguments.alignments is not None:
                alignments[number] = _alignment(number, lines[number], words, best)
            progress.update(1)
    with ExitStack() as stack:
        for path, header, content in (
            (arguments.output, [], translations),
            (arguments.scores, ["log_probability\twords"], scores),
            (arguments.alignments, [], filter(None, alignments)),
        ):
            if path is not None:
                partial = stack.enter_context(atomic(path))
                partial.write_text("".join(f"{line}\n" for line in (*header, *content)), encoding="utf-8", newline="\n")


def _alignment(number: int, source: list[str], target: list[str], best: Hypothesis) -> str:
    """One line of the alignments file; `weights` is null where the model has a fixed context."""
    weights = None
    if best.alignment is not None:
        weights = [[round(weight, 4) for weight in row] for row in best.alignment.tolist()]
    columns, rows = [*source, EOS_SYMBOL], [*target, EOS_SYMBOL]
    if weights is not None:
        rows = rows[: len(weights)]
    return json.dumps({"line": number, "source": columns, "target": rows, "weights": weights}, ensure_ascii=False)
