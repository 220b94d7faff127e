"""Make Table 2: how long models translate, and how much longer than their baselines.

The CSV has a row for each model and number of sentences at a time (batch). The step join joins those of several
language pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nmt.papers.choi2017.comparisons import add_compare_argument, baselines
from nmt.papers.choi2017.printed import MOST_SECONDS, printed_number, read_printed
from nmt.papers.choi2017.translation_times import COLUMNS as TIMES
from nmt.report.markup import add_table_arguments, escape_markdown, heading, markdown_table, span
from nmt.system.errors import UserError
from nmt.system.tables import number, read_csv, real, whole, write_csv
from nmt.system.text import write_lines

COLUMNS = (
    *("pair", "model", "baseline", "batch", "seconds", "more_seconds", "paper_seconds", "paper_more_seconds"),
    *("sentences", "beam", "device"),
)
LEAST_SECONDS = 1e-4  # the least above 0 that the step translation_times writes

# What the paper's times are, and where one of its percentages is not that of its times.
PAPER = (
    " Paper: 2,169 sentences of newstest2015 (En-De) and 1,370 (En-Fi), on a machine that it does not name. More than "
    "a second a sentence is the time of a GPU of those years that translates one sentence at a time, and its claim of "
    "a small overhead holds for that alone. Its 2,894 seconds against 2,758 are +4.9 %, not +4.5 % as printed."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pair", required=True, help="the pair of languages, such as En-De")
    parser.add_argument("--times", required=True, metavar="CSV", help="what the step translation_times wrote")
    add_compare_argument(parser, required=True)
    add_table_arguments(parser, printed=True)


def run(arguments: argparse.Namespace) -> None:
    totals, sentences, (beam, device) = _totals(arguments.times)
    compared = baselines(arguments.compare)
    for label in [*compared, *compared.values()]:
        if label not in {model for model, _ in totals}:
            raise UserError(f"--compare: {label} is not in {arguments.times}; name one of its models")
    for model, batch in totals:
        if model in compared and (compared[model], batch) not in totals:
            raise UserError(
                f"{arguments.times}: no time of {compared[model]} at batch {batch}, with which {model} is compared; "
                "make it again with the step translation_times"
            )
    printed = read_printed(arguments.printed)
    rows = []
    for (model, batch), seconds in totals.items():
        baseline = compared.get(model, "")
        more = 100 * (seconds / totals[baseline, batch] - 1) if baseline else None
        # The paper's times are beside those of single sentences, which its program translates.
        theirs = [
            printed_number(printed, arguments.pair, model, column) if batch == "1" else ""
            for column in ("seconds", "more_seconds")
        ]
        values = (arguments.pair, model, baseline, batch, number(seconds, 2), number(more, 1), *theirs, str(sentences))
        rows.append(dict(zip(COLUMNS, (*values, beam, device), strict=True)))
    write_csv(arguments.output_csv, COLUMNS, [list(row.values()) for row in rows])
    write_lines(arguments.output_md, markdown(rows, arguments.generated))


def _totals(path: str) -> tuple[dict[tuple[str, str], float], int, tuple[str, str]]:
    """(model, batch) -> seconds, the number of sentences, and the beam and the device.

    Raises UserError unless every model has every turn once, of the same sentences at the same beam on the same device.
    """
    rows = [dict(zip(TIMES, row, strict=True)) for row in read_csv(path, TIMES)]
    if not rows:
        raise UserError(f"{path}: no times in it; make it again with the step translation_times")
    seconds: dict[tuple[str, str], dict[int, float]] = {}  # of each turn
    sentences: dict[int, int] = {}  # of each turn
    how = rows[0]["beam"], rows[0]["device"]
    for index, row in enumerate(rows, 2):
        times = seconds.setdefault((row["model"], row["batch"]), {})
        try:
            turn, count = whole(row["turn"]), whole(row["sentences"])
            if turn in times:
                raise ValueError(f"turn {turn} of this model is there twice")
            if sentences.setdefault(turn, count) != count:
                raise ValueError(f"{count} sentences, where an earlier row of turn {turn} has {sentences[turn]}")
            if (row["beam"], row["device"]) != how:
                raise ValueError("another beam or device than in the first row")
            times[turn] = real(row["seconds"], LEAST_SECONDS, MOST_SECONDS)
        except ValueError as error:
            raise UserError(f"{path}: row {index}: {error}; make the file again") from None
    for (model, batch), times in seconds.items():
        if times.keys() != sentences.keys():
            raise UserError(
                f"{path}: {model} at batch {batch} has {len(times)} of {len(sentences)} turns; make the file again"
            )
    return {key: sum(times.values()) for key, times in seconds.items()}, sum(sentences.values()), how


def markdown(rows: Sequence[dict[str, str]], generated: bool = False) -> list[str]:
    """The table of one or several pairs of languages."""
    cells: dict[str, dict[str, str]] = {}
    titles: list[str] = []
    for row in rows:
        pair, line = escape_markdown(row["pair"]), cells.setdefault(row["model"], {})
        line[f"{pair}, batch {row['batch']}"] = _cell(f"{float(row['seconds']):,.1f}", row["more_seconds"])
        if row["paper_seconds"]:
            line[f"{pair}, paper"] = _cell(f"{float(row['paper_seconds']):,.0f}", row["paper_more_seconds"])
        titles += [title for title in line if title not in titles]
    lines = [[escape_markdown(model), *(line.get(title, "–") for title in titles)] for model, line in cells.items()]
    made = dict.fromkeys((row["pair"], row["sentences"], row["beam"], row["device"]) for row in rows)
    how = [
        f"{escape_markdown(pair)}: {int(sentences):,} sentences at beam {beam}, {escape_markdown(device)}"
        for pair, sentences, beam, device in made
    ]
    translated = span(int(sentences) for _, sentences, _, _ in made)
    compared = dict.fromkeys(
        escape_markdown(f"{row['model']} against {row['baseline']}") for row in rows if row["baseline"]
    )
    return [
        *heading(f"Table 2: seconds to translate {translated} sentences of the test set", generated),
        *markdown_table(["Model", *titles], lines),
        "",
        f"{'; '.join(how)}. A batch is what is translated at a time. Each model took turns with its baseline; loading "
        f"is left out. In brackets: how much longer than the baseline ({'; '.join(compared)})."
        + (PAPER if any(row["paper_seconds"] for row in rows) else ""),
    ]


def _cell(seconds: str, more: str) -> str:
    return f"{seconds} ({float(more):+.1f} %)" if more else seconds
