"""Learn the pieces of SentencePiece, a unigram model (Kudo 2018), from training text of one language or of both.

Characters that make up COVERED of the text are pieces of their own; a rarer one becomes its bytes, which are pieces,
too. Text is not normalized here. What is learned depends only on the text, the settings and the seed.
"""

from __future__ import annotations

import argparse
import io
import random
import re
from collections.abc import Iterable
from pathlib import Path

from nmt.corpora.pieces import Pieces
from nmt.settings.sections import SentencePiece
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.stop import interruptible
from nmt.system.text import read_lines

COVERED = 0.9995
THREADS = 4  # fixed, because the pieces depend on how the threads' sums are rounded
LONGEST_LINE = 10_000  # bytes; a longer one is left out


def draw(lines: Iterable[str], size: int, seed: int) -> list[str]:
    """`size` of the lines, drawn at random with equal chances, or all where there are fewer."""
    generator = random.Random(seed)
    drawn: list[str] = []
    for number, line in enumerate(lines):
        if number < size:
            drawn.append(line)
        elif (place := generator.randrange(number + 1)) < size:
            drawn[place] = line
    return drawn


def learn(lines: Iterable[str], symbols: int) -> Pieces:
    """At most `symbols` pieces, the unknown one included.

    Raises UserError, which does not name the text, if its characters and the bytes alone exceed this, or if it is
    empty.
    """
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    try:
        with interruptible():
            SentencePieceTrainer.train(
                sentence_iterator=iter(lines),
                model_writer=model,
                vocab_size=symbols,
                hard_vocab_limit=False,
                model_type="unigram",
                byte_fallback=True,
                character_coverage=COVERED,
                normalization_rule_name="identity",
                bos_id=-1,
                eos_id=-1,
                num_threads=THREADS,
                max_sentence_length=LONGEST_LINE,
                minloglevel=2,
            )
    except RuntimeError as error:
        needed = re.search(r"required_chars\. \d+ vs (\d+)", str(error))
        if needed is None:
            raise UserError(f"SentencePiece cannot learn from it ({' '.join(str(error).split())})") from None
        raise UserError(
            f"sentencepiece.symbols is {symbols}, but its characters and bytes are {needed[1]}; raise it"
        ) from None
    return Pieces(model.getvalue())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--inputs", type=Path, nargs="+", required=True, help="running text with single spaces, of one side or both"
    )
    SentencePiece.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="seed of the sample")
    parser.add_argument("--output", type=Output, required=True, help="the model, as SentencePiece writes it")


def run(arguments: argparse.Namespace) -> None:
    settings: SentencePiece = arguments.settings
    name = ", ".join(map(str, arguments.inputs))
    drawn: list[str] = []
    for path in arguments.inputs:
        with Progress(f"learn_pieces {path.name}", None, "lines") as progress:
            lines = (line for line in progress.over(read_lines(path)) if 0 < len(line.encode()) <= LONGEST_LINE)
            drawn += draw(lines, settings.sentences, arguments.seed)
    if not drawn:
        raise UserError(
            f"{name}: no text in lines of at most {LONGEST_LINE:,} bytes, from which pieces are learned; check the "
            "steps before this one"
        )
    try:
        pieces = learn(drawn, settings.symbols)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    pieces.write(arguments.output)
