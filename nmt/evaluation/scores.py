"""Read the scores that the step evaluate wrote: BLEU of one set, on all sentences and on those without UNK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from nmt.corpora.languages import TOKENIZED
from nmt.settings.checks import between, integer, optional, text
from nmt.system.errors import UserError
from nmt.system.tables import number
from nmt.system.text import read_json

PARTS = ("all", "no_unk")
PERCENT = optional(between(0, 100 + 1e-9))  # sacreBLEU rounds 100 up
# What a part has; without sentences it has no score.
VALUES = {
    "bleu": PERCENT,
    "sentences": integer(0),
    "signature": optional(text()),
    "detokenized_bleu": PERCENT,
    "detokenized_ceiling": PERCENT,
    "detokenized_signature": optional(text()),
}

SPREAD = "BLEU ± its standard deviation over the seeds of a model's trainings."
BLEU = ("bleu", "detokenized_bleu")
Score = dict[str, dict[str, Any]]  # part -> its values


def read_score(path: str) -> Score:
    """The scores in a file, which may lack the part `no_unk`.

    Raises UserError where a value is missing in a part, or of another type.
    """
    scores = read_json(path)
    for part in PARTS:
        if part == "no_unk" and isinstance(scores, dict) and part not in scores:
            continue
        found = scores.get(part) if isinstance(scores, dict) else None
        for key, check in VALUES.items():
            if not isinstance(found, dict) or key not in found or not check.accepts(found[key]):
                raise UserError(
                    f"{path}: no {key} of {part} in it, {check.expected}; make it again with the step evaluate"
                )
            if found[key] is None and found.get("sentences"):
                raise UserError(f"{path}: {key} of {part} is null; make it again with the step evaluate")
    return {part: scores[part] for part in PARTS if part in scores}


def spread(part: Mapping[str, Any], key: str = "bleu") -> str:
    """A mean of `read_scores` with two decimals and, of several seeds, ± its standard deviation; "" without one."""
    deviation = part[f"{key}_sd"]
    return number(part[key], 2) + ("" if deviation is None else f" ± {deviation:.2f}")


def kind_of_text(signature: str | None) -> str:
    """What kind of text a score compares, by sacreBLEU's signature."""
    is_tokenized = f"tok:{TOKENIZED}" in (signature or "")
    return "tokenized, cased text, equal to multi-bleu" if is_tokenized else "running text"


def read_scores(paths: Sequence[str]) -> Score:
    """The scores of the trainings of one model, which differ in their seeds.

    In each part, BLEU is their mean; `seeds` says how many there are, and `bleu_sd` and `detokenized_bleu_sd` are their
    standard deviations (n - 1), None for one. Raises UserError where they are of different sets.
    """
    scores = [read_score(path) for path in paths]
    joined: Score = {}
    for part, first in scores[0].items():
        found = [score.get(part, {}) for score in scores]
        joined[part] = {**first, "seeds": len(found)}
        for path, one in zip(paths, found, strict=True):
            if one.keys() != first.keys() or any(one[key] != first[key] for key in first if key not in BLEU):
                raise UserError(f"{path}: made in another way than {paths[0]}, or on other text; make both again")
        for key in BLEU:
            values = [one[key] for one in found if one[key] is not None]
            joined[part][key] = fmean(values) if values else None
            joined[part][f"{key}_sd"] = stdev(values) if len(values) > 1 else None
    return joined
