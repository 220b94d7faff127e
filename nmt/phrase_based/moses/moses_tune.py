"""Tune the weights of Moses on a sample of the development set with mert-moses.pl (minimum error rate training).

The sample is then translated with the weights before and after tuning, and the better weights are kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from nmt.phrase_based.bleu import bleu, counts
from nmt.phrase_based.moses.files import ORIENTATION, SIDES, TABLES, empty, encoded, keep_system
from nmt.phrase_based.moses.installation import PERL, add_moses_arguments, call, moses_of
from nmt.phrase_based.moses.moses_translate import search_flags, translate
from nmt.phrase_based.text import drawn_pairs, join_escaped, split_escaped
from nmt.settings.experiment import MOSES_TUNERS
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError, warn
from nmt.system.files import check_regular
from nmt.system.options import Output, ReplacedFolder, add_threads_argument
from nmt.system.text import write_json, write_lines

KENLM = 8  # the number of its language models in train-model.perl
SOURCE, REFERENCE, UNTUNED, MERT = OWN = "source", "reference", "untuned.ini", "mert"  # in the folder of the tuning
FIRST = "filterphrases.out"  # what mert-moses.pl writes first


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_moses_arguments(parser)
    parser.add_argument("--model", type=Path, required=True, help="folder that the step moses_phrases wrote")
    parser.add_argument("--language-model", type=Path, required=True, help="model from the step moses_language_model")
    parser.add_argument(
        "--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="development set"
    )
    parser.add_argument("--seed", type=int, required=True, help="seed of the random sample")
    add_threads_argument(parser, "threads of the program", required=True)
    parser.add_argument("--work", type=ReplacedFolder, required=True, help="folder for the files of the tuning")
    parser.add_argument("--configuration", type=Output, required=True, help="the tuned moses.ini to write")
    parser.add_argument("--output", type=Output, required=True, help="JSON: BLEU before and after")


def run(arguments: argparse.Namespace) -> None:
    settings: PhraseBased = arguments.settings
    moses = moses_of(arguments)
    for path in (arguments.model / "model" / name for name in TABLES):
        if not path.exists():
            raise UserError(f"{path}: no such file; run the step moses_phrases")
    check_regular(arguments.language_model)
    if not arguments.language_model.stat().st_size:
        raise UserError(f"{arguments.language_model}: empty; train it with the step moses_language_model")
    pairs = drawn_pairs(arguments.texts, settings.tune_sentences, arguments.seed)
    work = arguments.work.resolve()
    empty(work, "moses_tune", OWN, is_earlier=(work / MERT / FIRST).is_file())
    source, reference, before = work / SOURCE, work / REFERENCE, work / UNTUNED
    options = ["-root-dir", arguments.model.resolve(), "-reordering", ORIENTATION, "-f", SIDES[0], "-e", SIDES[1]]
    options += ["-lm", f"0:{settings.order}:{arguments.language_model.resolve()}:{KENLM}", "-config", before]
    call([PERL, moses.script("train-model.perl"), *options, "-first-step", "9", "-last-step", "9"], work)
    for side, path in enumerate((source, reference)):
        write_lines(path, (encoded(join_escaped(pair[side])) for pair in pairs))
    flags = search_flags(settings, arguments.threads)
    for name in MOSES_TUNERS:  # mert-moses.pl wants them all
        moses.program(name)
    command = [PERL, moses.script("mert-moses.pl"), source, reference, moses.program("moses"), before]
    command += ["--mertdir", moses.folder.resolve(), "--working-dir", work / MERT, "--return-best-dev"]
    command += ["--maximum-iterations", str(settings.tune_rounds), "--nbest", str(settings.n_best)]
    call([*command, "--predictable-seeds", "--decoder-flags", " ".join(flags)], work)
    tuned = work / MERT / "moses.ini"
    if not tuned.exists():
        raise UserError(f"{tuned}: the tuning did not write it; the log says why")
    scores = []
    for configuration in (before, tuned):
        lines = zip(translate(moses, configuration, flags, source, work / MERT), pairs, strict=True)
        sums = np.sum([counts(split_escaped(line), target) for line, (_, target) in lines], axis=0)
        scores.append(float(bleu(sums)))
    kept = int(scores[1] >= scores[0])
    if not kept:
        warn(f"{tuned}: {scores[1]:.2f} BLEU, less than before tuning ({scores[0]:.2f}); the earlier weights are kept")
    keep_system((before, tuned)[kept], arguments.configuration)
    write_json(arguments.output, {"system": moses.version, "sentences": len(pairs), "bleu": scores, "kept": kept})
