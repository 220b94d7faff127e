"""Read the scores that the step evaluate wrote: BLEU of one set, on all sentences and on those without UNK."""

from __future__ import annotations

from typing import Any

from nmt.settings.checks import finite, integer, optional, text
from nmt.system.files import UserError, read_json

PARTS = ("all", "no_unk")
# What a part has; without sentences it has no score.
VALUES = {
    "bleu": optional(finite(0)),
    "sentences": integer(0),
    "signature": optional(text()),
    "detokenized_bleu": optional(finite(0)),
    "detokenized_ceiling": optional(finite(0)),
    "detokenized_signature": optional(text()),
}

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
                raise UserError(f"{path}: no {key} of {part} in it; make it again with the step evaluate")
            if found[key] is None and found.get("sentences"):
                raise UserError(f"{path}: {key} of {part} is null; make it again with the step evaluate")
    return dict(scores)
