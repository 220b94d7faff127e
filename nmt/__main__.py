"""`python -m nmt STEP ...`: one step of the reproduction."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from nmt.system.files import DISK_FULL, UserError
from nmt.system.orphans import end_with_run
from nmt.system.stop import STOPPED, StoppedError

STEPS = {
    "mirror": "nmt.toy.mirror",
    "fetch": "nmt.corpora.fetch",
    "verify": "nmt.corpora.verify",
    "extract": "nmt.corpora.extract",
    "tokenize": "nmt.corpora.tokenize",
    "lmplz": "nmt.corpora.lmplz",
    "clean": "nmt.corpora.clean",
    "train_lm": "nmt.corpora.train_lm",
    "score_pairs": "nmt.corpora.score_pairs",
    "select": "nmt.corpora.select",
    "shortlist": "nmt.corpora.shortlist",
    "binarize": "nmt.corpora.binarize",
    "train": "nmt.training.train",
    "nll": "nmt.training.nll",
    "translate": "nmt.search.translate",
    "score": "nmt.search.score",
    "thot_word_align": "nmt.phrase_based.thot.thot_word_align",
    "thot_symmetrize": "nmt.phrase_based.thot.thot_symmetrize",
    "thot_phrase_table": "nmt.phrase_based.thot.thot_phrase_table",
    "thot_language_model": "nmt.phrase_based.thot.thot_language_model",
    "thot_tune": "nmt.phrase_based.thot.thot_tune",
    "thot_translate": "nmt.phrase_based.thot.thot_translate",
    "moses_align": "nmt.phrase_based.moses.moses_align",
    "moses_language_model": "nmt.phrase_based.moses.moses_language_model",
    "moses_phrases": "nmt.phrase_based.moses.moses_phrases",
    "moses_tune": "nmt.phrase_based.moses.moses_tune",
    "moses_translate": "nmt.phrase_based.moses.moses_translate",
    "evaluate": "nmt.evaluation.evaluate",
    "selection_table": "nmt.report.selection_table",
    "coverage": "nmt.evaluation.coverage",
    "evidence": "nmt.evaluation.evidence",
    "ratings": "nmt.report.ratings",
    "table1": "nmt.papers.bahdanau2015.table1",
    "significance": "nmt.evaluation.significance",
    "table2": "nmt.papers.bahdanau2015.table2",
    "table3": "nmt.papers.bahdanau2015.table3",
    "lengths": "nmt.evaluation.lengths",
    "samples": "nmt.papers.bahdanau2015.samples",
    "figure1": "nmt.papers.bahdanau2015.figure1",
    "figure2": "nmt.papers.bahdanau2015.figure2",
    "figure3": "nmt.papers.bahdanau2015.figure3",
    "align": "nmt.report.align",
    "sheet": "nmt.report.sheet",
    "index": "nmt.report.index",
    "status": "nmt.monitor.status",
    "tensorboard": "nmt.monitor.tensorboard",
}


def main(words: list[str] | None = None) -> int:
    """Run one step; return its exit code.

    0 done, 1 a mistake said in one line, 75 stopped where the same command goes on, 130 cut off.
    """
    end_with_run()
    words = sys.argv[1:] if words is None else words
    outer = argparse.ArgumentParser(prog="python -m nmt", description=__doc__)
    outer.add_argument("step", choices=STEPS, metavar="STEP", help=", ".join(STEPS))
    step = outer.parse_args(words[:1]).step
    module = importlib.import_module(STEPS[step])
    parser = argparse.ArgumentParser(prog=f"python -m nmt {step}", description=(module.__doc__ or "").split("\n\n")[0])
    module.add_arguments(parser)
    arguments = parser.parse_args(words[1:])
    try:
        module.run(arguments)
    except UserError as error:
        print(f"nmt {step}: {error}", file=sys.stderr)
        return 1
    except StoppedError as stopped:
        if str(stopped):
            print(f"nmt {step}: {stopped}", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        where = error.filename or "the disk of the output"
        print(f"nmt {step}: {where}: no space left; nothing was changed, free some and repeat", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
