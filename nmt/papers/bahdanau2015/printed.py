"""Read the numbers that the paper prints in Tables 1 and 2."""

from __future__ import annotations

from nmt.system.files import UserError
from nmt.system.tables import read_tsv

# float and int for numbers, str for names; an empty cell is None.
COLUMNS: dict[str, type] = {
    "all": float,
    "no_unk": float,
    "updates": int,
    "epochs": float,
    "hours": float,
    "device": str,
    "train_nll": float,
    "development_nll": float,
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
                column: kind(cell) if cell else None
                for (column, kind), cell in zip(COLUMNS.items(), cells, strict=True)
            }
        except ValueError as error:
            raise UserError(f"{path}: line {number} is not a row of numbers ({error})") from None
    return rows


def printed_row(printed: Printed, label: str) -> Row:
    """The paper's numbers of `label`; all None for a system that the paper does not have."""
    return printed.get(label, dict.fromkeys(COLUMNS))
