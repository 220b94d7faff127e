"""The numbers that the paper prints (Tables 1 and 2), to stand beside our own."""

from __future__ import annotations

from nmt.system.files import UserError, read_lines

# float for numbers, str for names; an empty cell is None.
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


def read_paper(path: str) -> dict[str, Row]:
    """label -> its row of `data/paper.tsv`, with every column of COLUMNS; UserError where the file is not so."""
    lines = [line.split("\t") for line in read_lines(path)]
    header = ["label", *COLUMNS]
    if not lines or lines[0] != header:
        raise UserError(f"{path}: the first line must name the columns {', '.join(header)}, tab-separated")
    rows: dict[str, Row] = {}
    for number, cells in enumerate(lines[1:], 2):
        if len(cells) != len(header):
            raise UserError(f"{path}: line {number} has {len(cells)} columns, not {len(header)}")
        label = cells[0]
        if label in rows:
            raise UserError(f"{path}: line {number} repeats the label {label}")
        try:
            rows[label] = {
                column: kind(cell) if cell else None
                for (column, kind), cell in zip(COLUMNS.items(), cells[1:], strict=True)
            }
        except ValueError as error:
            raise UserError(f"{path}: line {number} is not a row of numbers ({error})") from None
    return rows


def paper_row(paper: dict[str, Row], label: str) -> Row:
    """The paper's numbers of `label`; all None for a model that the paper does not have."""
    return paper.get(label, dict.fromkeys(COLUMNS))
