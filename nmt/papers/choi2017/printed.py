"""Read the numbers that the paper prints.

`printed.tsv` has a row for each model and pair of languages. From Table 1: BLEU of test and development set at beam 1
and 12. From Table 2: seconds to translate the test set, and by how many percent a model takes longer than the same
model with AttY. From Section 5.1: by how many percent it has more parameters, said once for both pairs.
"""

from __future__ import annotations

from nmt.system.errors import UserError
from nmt.system.tables import read_tsv, real

COLUMNS = (
    *("pair", "model", "test_1", "development_1", "test_12", "development_12"),
    *("seconds", "more_seconds", "more_parameters"),
)
MOST_SECONDS = 1e9  # thirty years

Row = dict[str, str]
Printed = dict[tuple[str, str], Row]


def read_printed(path: str | None) -> Printed:
    """(pair, model) -> its row, numbers as they are printed, "" for none; empty without a file. Raises UserError."""
    rows = [dict(zip(COLUMNS, cells, strict=True)) for cells in read_tsv(path, COLUMNS)] if path else []
    for index, row in enumerate(rows, 2):
        for column in COLUMNS[2:]:
            try:
                if row[column]:
                    check_number(column, row[column])
            except ValueError as error:
                raise UserError(f"{path}: row {index}: {column}: {error}; correct the file") from None
    return {(row["pair"], row["model"]): row for row in rows}


def check_number(column: str, cell: str) -> None:
    """Raise ValueError where a cell of this column can be no percentage of more, no seconds or no BLEU."""
    if "more_" in column:
        real(cell, -100)
    else:
        real(cell, 0, MOST_SECONDS if "seconds" in column else 100)


def printed_number(printed: Printed, pair: str, model: str, column: str) -> str:
    """A number as the paper prints it, "" where it prints none."""
    return printed.get((pair, model), {}).get(column, "")
