"""What the paper prints: the numbers of its tables, and the sentences of its figures and Table 3."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

from nmt.system.errors import UserError, warn
from nmt.system.tables import read_tsv, real, whole

BLEU = partial(real, minimum=0, maximum=100)
# What reads a cell of each column; an empty one is None.
COLUMNS: dict[str, Callable[[str], float | str]] = {
    "all": BLEU,
    "no_unk": BLEU,
    "updates": whole,
    "epochs": real,
    "hours": real,
    "device": str,
    "train_nll": real,
    "development_nll": real,
}

Row = dict[str, float | int | str | None]
Printed = dict[str, Row]


def read_printed(path: str) -> Printed:
    """label -> its row of a file such as `printed.tsv`, with every column of COLUMNS. Raises UserError."""
    rows: Printed = {}
    for number, (label, *cells) in enumerate(read_tsv(path, ["label", *COLUMNS]), 2):
        if label in rows:
            raise UserError(f"{path}: line {number} repeats the label {label}")
        try:
            rows[label] = {
                column: read(cell) if cell else None
                for (column, read), cell in zip(COLUMNS.items(), cells, strict=True)
            }
        except ValueError as error:
            raise UserError(f"{path}: line {number} is not a row of numbers ({error})") from None
    return rows


def printed_row(printed: Printed, label: str) -> Row:
    """The paper's numbers of `label`; all None for a system that the paper does not have."""
    return printed.get(label, dict.fromkeys(COLUMNS))


# set -> table or figure -> its sentences in the paper's order: the line, counted from 1, and its `fingerprint`, which
# shows whether the text is the paper's. Those of Figure 3 are its panels (b) to (d); that of (a) is not in the set.
PRINTED = {
    "newstest2014": {
        "Table 3": ((939, "17636a83285e"), (120, "4f7afb157175"), (2443, "f39ec7308117")),
        "Figure 3": ((2409, "1643f6aeaf50"), (1884, "2c7c1bdde6ba"), (2716, "b413ecdd2de2")),
    },
}


def fingerprint(line: str) -> str:
    """A digest of the letters of `line`, which ignores quotation marks, spaces and case."""
    letters = "".join(character for character in line.lower() if character.isalpha())
    return hashlib.sha256(letters.encode()).hexdigest()[:12]


def printed_sentences(name: str, place: str, raw_sources: Sequence[str]) -> list[int]:
    """Indices in `raw_sources`, the set `name`, of the sentences that the paper prints in `place`, such as "Table 3".

    There are none in a set that the paper does not use; a line that is not the paper's is left out with a warning.
    """
    found = []
    for line, digest in PRINTED.get(name, {}).get(place, ()):
        if line <= len(raw_sources) and fingerprint(raw_sources[line - 1]) == digest:
            found.append(line - 1)
        else:
            warn(f"line {line} of {name} is not the paper's sentence; {place} leaves it out")
    return found
