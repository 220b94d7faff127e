"""Translate text by beam search with a trained model: one line of output for each line of input."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from nmt.corpora.pairs import align
from nmt.search.alignments import Alignment
from nmt.search.text import add_model_argument, add_precision_argument, read_text, to_words, write_text
from nmt.settings.sections import Translate
from nmt.system.errors import UserError
from nmt.system.files import standard_input
from nmt.system.options import Output, add_device_arguments
from nmt.system.progress import SILENT_SECONDS, Progress
from nmt.system.text import decode_lines, read_lines, write_together

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nmt.search.beam import BeamSettings
    from nmt.search.translator import Translator
    from nmt.trained import TrainedModel

COPY = object()  # --replace-unk without a dictionary
EXAMPLES = """\
Input and output are plain text unless --tokenized is given. The whole input is read before anything is translated, and
output files are written when every line is done; but at a terminal, and with --interactive, each line is answered at
once. An empty line has an empty translation.

examples:
  Translate a file:
    %(prog)s --model models/en-fr --source english.txt --output french.txt
  Copy a source word for each unknown word, and use standard input and output:
    %(prog)s --model models/en-fr --replace-unk < english.txt > french.txt
  Type sentences, and read the translation of each:
    %(prog)s --model models/en-fr
  Write the five best translations of each line, with their log probabilities:
    %(prog)s --model models/en-fr --n-best 5 --scores scores.tsv < english.txt > french.txt
"""


def read_sources(path: str | None, reference: str | None, trained: TrainedModel, tokenized: bool) -> list[list[str]]:
    """The words of every line of `path` or standard input; no words for a line that is not to be translated.

    With a `reference`, a line is translated only if the shortlists know all symbols of the line and of its reference.
    Raises UserError if there are no lines, or if the reference has another number of lines.
    """
    name = path or "standard input"
    lines = read_text(path)
    if not lines:
        raise UserError(f"{name}: empty; give some text to translate")
    sources = to_words(lines, trained, 0, tokenized)
    if reference is not None:
        others = [other for _, other in align(lines, read_lines(reference), name, reference)]
        sources = [
            source if trained.source.knows(source) and trained.target.knows(target) else []
            for source, target in zip(sources, to_words(others, trained, 1, tokenized), strict=True)
        ]
    return sources


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_model_argument(parser)
    text, search, unknown, further, speed = map(
        parser.add_argument_group, ("text", "search", "unknown words", "further output", "speed")
    )
    text.add_argument(
        "--source", metavar="FILE", help="text to translate, one sentence per line (default: standard input)"
    )
    text.add_argument(
        "--output", type=Output, metavar="FILE", help="the translations, line by line (default: standard output)"
    )
    text.add_argument(
        "--interactive",
        action="store_true",
        help="answer each line of standard input as soon as it is there, for a person or a program that waits "
        "(default: where standard input is a terminal and no other option names a file)",
    )
    text.add_argument(
        "--tokenized",
        action="store_true",
        help="input and output are tokenized, with spaces between words (default: plain text)",
    )
    search.add_argument(
        "--beam",
        type=int,
        default=Translate.beam,
        metavar="K",
        help="beam width: a wider beam finds more probable translations and takes longer (default: %(default)s)",
    )
    search.add_argument(
        "--n-best",
        type=int,
        default=1,
        metavar="N",
        help="write the N best translations of each line on N successive lines, best first, empty where the search "
        "found fewer; N is at most the beam width (default: %(default)s)",
    )
    search.add_argument(
        "--normalize",
        action="store_true",
        help="rank translations by log probability per word (default: by total log probability, which favours short "
        "ones)",
    )
    search.add_argument(
        "--minimum-length-ratio",
        type=float,
        default=Translate.minimum_length_ratio,
        metavar="RATIO",
        help="the fewest words of a translation, as a multiple of the source's words, whose end of sentence counts as "
        "one (default: %(default)s)",
    )
    search.add_argument(
        "--no-fallback",
        action="store_false",
        dest="fallback",
        help="search once: a translation that is cut off at three times the source's length competes with those that "
        "have ended (default: where none has ended, search again, first with UNK if it was forbidden, then with a beam "
        "that is doubled until a translation ends or the beam is 500 wide, which can take a hundred times as long)",
    )
    unknown.add_argument(
        "--forbid-unk",
        action="store_true",
        help="do not generate the unknown word, UNK, unless no translation ends without it (see --no-fallback)",
    )
    unknown.add_argument(
        "--replace-unk",
        nargs="?",
        const=COPY,
        metavar="DICTIONARY",
        help="replace each UNK by the source word with the largest attention weight, or by that word's translation in "
        "DICTIONARY, a file of lines with a source word, a tab and its translation, both tokenized; the model needs "
        "attention",
    )
    unknown.add_argument(
        "--only-known",
        metavar="REFERENCE",
        help="translate only lines whose words are all in the model's vocabulary, in the source and in the same line "
        "of REFERENCE; the others stay empty",
    )
    further.add_argument(
        "--scores",
        type=Output,
        metavar="FILE",
        help="also write a TSV file with a row for each line of output: log_probability in nats; words, end of "
        "sentence counted; ended, 0 if the search reached its maximum length first. An empty line has zeros",
    )
    further.add_argument(
        "--symbols",
        type=Output,
        metavar="FILE",
        help="also write the symbols of each translation, words or subwords, as the model wrote them, line by line",
    )
    further.add_argument(
        "--alignments",
        type=Output,
        metavar="FILE",
        help="also write a line of JSON for each translation: line and rank, both from 0; the words of source and "
        "target; and weights, the attention weights of each target word over the source words",
    )
    speed.add_argument(
        "--batch",
        type=int,
        default=Translate.batch,
        metavar="B",
        help="sentences translated at a time; fewer take less memory (default: %(default)s)",
    )
    add_precision_argument(speed)
    add_device_arguments(speed)


def run(arguments: argparse.Namespace) -> None:
    interactive = _is_interactive(arguments)
    if interactive:  # waiting threads sleep: spinning would cost more than translating a line
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # These import PyTorch, which takes seconds: too long for --help.
    from nmt.search.alignments import read_dictionary
    from nmt.search.beam import BeamSettings
    from nmt.search.translator import Translator, check_search
    from nmt.system.device import prepare
    from nmt.trained import load_trained

    settings = BeamSettings(
        arguments.beam,
        arguments.forbid_unk,
        arguments.minimum_length_ratio,
        arguments.fallback,
        arguments.normalize,
        arguments.n_best,
        arguments.alignments is not None or arguments.replace_unk is not None,
    )
    check_search(settings, arguments.batch, "--")
    trained = load_trained(arguments.model, prepare(arguments))
    trained.freeze(arguments.precision)
    dictionary: dict[str, str] | None = None
    if arguments.replace_unk is not None:
        trained.require_attention("--replace-unk")
        dictionary = {}
        if arguments.replace_unk is not COPY:
            dictionary = read_dictionary(arguments.replace_unk, trained.normalize)
    translator = Translator(trained, arguments.tokenized, dictionary)
    if interactive:
        answer(translator, settings)
        return
    lines = read_sources(arguments.source, arguments.only_known, trained, arguments.tokenized)
    name, wanted = arguments.source or "standard input", sum(map(bool, lines))
    rows = arguments.n_best * len(lines)
    translations, scores, symbols, alignments = [""] * rows, ["0\t0\t0"] * rows, [""] * rows, [""] * rows
    with Progress(f"translate {name}", wanted, "sentences", silent=SILENT_SECONDS) as progress:
        for number, best in translator.each(lines, arguments.batch, settings, name):
            for rank, found in enumerate(best):
                row = arguments.n_best * number + rank
                translations[row] = found.text
                scores[row] = f"{found.log_probability:.6f}\t{found.length}\t{found.ended:d}"
                symbols[row] = " ".join(found.symbols)
                if arguments.alignments is not None:
                    weights = None if found.weights is None else found.weights.tolist()
                    alignments[row] = Alignment(number, rank, found.source, found.target, weights).to_json()
            progress.update(1)
    files: list[tuple[Output | None, Iterable[str]]] = [
        (arguments.scores, ["log_probability\twords\tended", *scores]),
        (arguments.symbols, symbols),
        (arguments.alignments, filter(None, alignments)),
        (arguments.output, translations),
    ]
    write_together([(path, lines) for path, lines in files if path is not None])
    if arguments.output is None:
        write_text(None, translations)


def answer(translator: Translator, settings: BeamSettings) -> None:
    """Translate each line of standard input as soon as it is there, and write its `n_best` lines at once."""
    if sys.stdin.isatty():
        print("Type a sentence and Enter; Ctrl-D ends.", file=sys.stderr, flush=True)
    for number, line in enumerate(decode_lines(standard_input(), "standard input"), 1):
        found = dict(translator.each(translator.words([line]), 1, settings, "standard input", number)).get(0, [])
        write_text(None, [*(one.text for one in found), *[""] * (settings.n_best - len(found))])


def _is_interactive(arguments: argparse.Namespace) -> bool:
    """Whether each line is answered at once. Raises UserError if --interactive meets an option that needs all lines."""
    others = ("source", "output", "scores", "symbols", "alignments", "only_known")
    files = [f"--{name.replace('_', '-')}" for name in others if getattr(arguments, name) is not None]
    if arguments.interactive and files:
        raise UserError(f"--interactive: from standard input to standard output alone; leave out {', '.join(files)}")
    return arguments.interactive or (sys.stdin.isatty() and not files)
