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
SIGNATURES = ("signature", "detokenized_signature")
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


def check_alike(scores: Mapping[str, Mapping[str, Any]], *keys: str) -> None:
    """Refuse scores that differ in one of `keys`, such as their sentences; `scores` maps a file to what is in it.

    Raises UserError.
    """
    (first, expected), *others = scores.items()
    for path, found in others:
        for key in keys:
            if found[key] != expected[key]:
                differing = f'"{key}" is {found[key]}, but {expected[key]} in {first}'
                raise UserError(f"{path}: {differing}; name scores of one set, or make all again")


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
    standard deviations (n - 1), None for one. Raises UserError where they are not of one set, made in one way.
    """
    scores = [read_score(path) for path in paths]
    for path, score in zip(paths, scores, strict=True):
        if score.keys() != scores[0].keys():
            raise UserError(f"{path}: only one of it and {paths[0]} has a score without unknown words; make both again")
    joined: Score = {}
    for part, first in scores[0].items():
        found = [score[part] for score in scores]
        joined[part] = {**first, "seeds": len(found)}
        check_alike(dict(zip(paths, found, strict=True)), *(key for key in VALUES if key not in BLEU))
        for key in BLEU:
            values = [one[key] for one in found if one[key] is not None]
            joined[part][key] = fmean(values) if values else None
            joined[part][f"{key}_sd"] = stdev(values) if len(values) > 1 else None
    return joined
