"""Tune the weights of Moses on a sample of the development set: its mert-moses.pl.

The sample is then translated with the weights from before and after. The better ones are kept.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np

from nmt.corpora.pairs import split_words
from nmt.phrase_based.moses.installation import PERL, add_moses_arguments, call, moses_of
from nmt.phrase_based.moses.moses_translate import add_search_arguments, search_flags, translate
from nmt.phrase_based.text import drawn_pairs
from nmt.phrase_based.thot.line_search import bleu, counts
from nmt.system.files import UserError, atomic, warn, write_json, write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt moses_tune`."""
    add_moses_arguments(parser)
    add_search_arguments(parser)
    parser.add_argument("--model", type=Path, required=True, help="the folder of the step moses_phrases")
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="development")
    parser.add_argument("--sentences", type=int, default=3000, help="how many are drawn by lot")
    parser.add_argument("--rounds", type=int, default=10, help="at most")
    parser.add_argument("--n-best", type=int, default=100, help="hypotheses of a sentence in a round")
    parser.add_argument("--seed", type=int, default=1234, help="of the lot")
    parser.add_argument("--work", type=Path, required=True, help="a folder for what the tuning writes")
    parser.add_argument("--configuration", type=Path, required=True, help="the tuned moses.ini, to be written")
    parser.add_argument("--output", type=Path, required=True, help="JSON of how well it went")


def run(arguments: argparse.Namespace) -> None:
    """Tune and compare."""
    moses = moses_of(arguments)
    before = arguments.model / "model" / "moses.ini"
    if not before.exists():
        raise UserError(f"{before}: no such file; run the step moses_phrases")
    work = arguments.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    pairs = drawn_pairs(arguments.texts, arguments.sentences, arguments.seed)
    source, reference = work / "source", work / "reference"
    for side, path in enumerate((source, reference)):
        write_lines(path, (" ".join(pair[side]) for pair in pairs))
    flags = search_flags(arguments.stack, arguments.reordering, arguments.threads)
    moses.program("mert")
    moses.program("extractor")
    command = [PERL, moses.script("mert-moses.pl"), source, reference, moses.program("moses"), before.resolve()]
    command += ["--mertdir", moses.folder.resolve(), "--working-dir", work / "mert", "--return-best-dev"]
    command += ["--maximum-iterations", str(arguments.rounds), "--nbest", str(arguments.n_best)]
    call([*command, "--predictable-seeds", "--decoder-flags", " ".join(flags)])
    tuned = work / "mert" / "moses.ini"
    if not tuned.exists():
        raise UserError(f"{tuned}: Moses's tuning did not write it; the log says why")
    scores = []
    for configuration in (before, tuned):
        lines = zip(translate(moses, configuration, flags, source), pairs, strict=True)
        sums = np.sum([counts(split_words(line), target) for line, (_, target) in lines], axis=0)
        scores.append(float(bleu(sums)))
    kept = int(scores[1] >= scores[0])
    if not kept:
        warn(f"{tuned}: {scores[1]:.2f} BLEU, less than before ({scores[0]:.2f}); the weights from before are kept")
    with atomic(arguments.configuration) as partial:
        shutil.copyfile((before, tuned)[kept], partial)
    write_json(
        arguments.output,
        {"system": moses.version, "sentences": len(pairs), "bleu": scores, "kept": kept},
    )
