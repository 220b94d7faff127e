"""Corpus BLEU: on tokenized text as multi-bleu.perl computes it, on running text as sacreBLEU does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.utils import SACREBLEU_DIR

from nmt.corpora.languages import TOKENIZED
from nmt.system.errors import UserError

RUNNING_TEXT = "13a"  # that of most languages


def add_tokenizer_argument(parser: argparse.ArgumentParser) -> None:
    """The option --bleu-tokenizer of a step that scores the text of the target."""
    parser.add_argument(
        "--bleu-tokenizer",
        choices=BLEU.TOKENIZERS,
        default=TOKENIZED,
        metavar="NAME",
        help="sacreBLEU's tokenizer for running text, such as 13a (default: none, for tokenized text)",
    )


def metric(tokenizer: str) -> BLEU:
    """Cased BLEU-4; of tokenized text it is not smoothed, and equal to that of the Moses script multi-bleu.perl.

    Raises UserError where a tokenizer needs what is not installed, is damaged or cannot be fetched.
    """
    if tokenizer == TOKENIZED:
        return BLEU(tokenize=TOKENIZED, smooth_method="none", force=True)
    try:
        return BLEU(tokenize=tokenizer)
    except RuntimeError as error:
        if "mecab" not in tokenizer:
            raise UserError(
                f"--bleu-tokenizer {tokenizer}: sacreBLEU's model of it is damaged ({error}); "
                f"remove {SACREBLEU_DIR}/models"
            ) from None
        raise UserError(
            f"--bleu-tokenizer {tokenizer}: what sacreBLEU needs for it is not installed; "
            "pip install 'sacrebleu[ja,ko]', or name char"
        ) from None
    except OSError as error:
        raise UserError(f"--bleu-tokenizer {tokenizer}: sacreBLEU cannot fetch its model ({error})") from None


def corpus_bleu(
    translations: Sequence[str], references: Sequence[str], tokenizer: str = TOKENIZED
) -> tuple[float | None, str]:
    """The score in percent, None without sentences, and sacreBLEU's signature."""
    chosen = metric(tokenizer)
    if not translations:
        chosen.corpus_score(["a"], [["a"]])  # the signature knows the number of references only after a score
        return None, str(chosen.get_signature())
    score = chosen.corpus_score(list(translations), [list(references)])
    return float(score.score), str(chosen.get_signature())
