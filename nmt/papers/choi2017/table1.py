"""Make Table 1: BLEU of every model on a test set and, in brackets, on the development set, at two beam widths.

The CSV has a row for each model and beam width. The step join joins those of several language pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from nmt.evaluation.scores import SIGNATURES, SPREAD, check_alike, kind_of_text, read_scores
from nmt.evaluation.sentences import grouped
from nmt.papers.choi2017.printed import printed_number, read_printed
from nmt.report.markup import add_table_arguments, escape_markdown, heading, markdown_table, span
from nmt.system.errors import UserError
from nmt.system.tables import number, write_csv
from nmt.system.text import write_lines

COLUMNS = (
    *("pair", "model", "beam", "test", "development", "paper_test", "paper_development"),
    *("test_detokenized", "development_detokenized", "detokenized_ceiling", "development_ceiling"),
    *("sentences", "development_sentences"),
    *("signature", "detokenized_signature"),
)
# Further columns where a model was trained with several seeds: standard deviations of the columns that they name.
SPREADS = ("test", "development", "test_detokenized", "development_detokenized")
WITH_SEEDS = (*COLUMNS, *(f"{column}_sd" for column in SPREADS), "seeds")
# Where the paper's text and its Table 1 disagree.
SLIPS = (
    "Two differences in the paper's text are not those of its table: +1.4 by fine-grained attention holds at beam 1 "
    "alone (+1.09 at most at beam 12), and +1.8 by contextualization alone is C+AttY against AttY (C against the "
    "baseline is +1.56 at most)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pair", required=True, help="the pair of languages, such as En-De")
    parser.add_argument(
        "--labels",
        required=True,
        nargs="+",
        help="names of the models, in the table's order; a model's seeds share its name",
    )
    parser.add_argument("--beams", required=True, nargs="+", type=int, help="beam widths, in the table's order")
    parser.add_argument(
        "--scores",
        required=True,
        nargs="+",
        help="JSON of the step evaluate on the test set: for each model a file for each beam width",
    )
    parser.add_argument("--development-scores", required=True, nargs="+", help="the same on the development set")
    add_table_arguments(parser, printed=True)


def run(arguments: argparse.Namespace) -> None:
    printed = read_printed(arguments.printed)
    systems = [(label, beam) for label in arguments.labels for beam in arguments.beams]
    names = [f"{label} at beam {beam}" for label, beam in systems]
    on_test = _scores(names, "--scores", arguments.scores)
    on_development = _scores(names, "--development-scores", arguments.development_scores)
    of_first = {arguments.scores[0]: on_test[names[0]], arguments.development_scores[0]: on_development[names[0]]}
    check_alike(of_first, *SIGNATURES)
    rows = []
    for (label, beam), name in dict(zip(systems, names, strict=True)).items():
        test, development = on_test[name], on_development[name]
        rows.append(
            {
                "pair": arguments.pair,
                "model": label,
                "beam": str(beam),
                "test": number(test["bleu"], 2),
                "development": number(development["bleu"], 2),
                "paper_test": printed_number(printed, arguments.pair, label, f"test_{beam}"),
                "paper_development": printed_number(printed, arguments.pair, label, f"development_{beam}"),
                "test_detokenized": number(test["detokenized_bleu"], 2),
                "development_detokenized": number(development["detokenized_bleu"], 2),
                "sentences": str(test["sentences"]),
                "development_sentences": str(development["sentences"]),
                "detokenized_ceiling": number(test["detokenized_ceiling"], 2),
                "development_ceiling": number(development["detokenized_ceiling"], 2),
                "signature": test["signature"],
                "detokenized_signature": test["detokenized_signature"],
                "test_sd": number(test["bleu_sd"], 2),
                "development_sd": number(development["bleu_sd"], 2),
                "test_detokenized_sd": number(test["detokenized_bleu_sd"], 2),
                "development_detokenized_sd": number(development["detokenized_bleu_sd"], 2),
                "seeds": str(test["seeds"]),
            }
        )
    page = markdown(rows, arguments.generated)
    columns = WITH_SEEDS if has_seeds(rows) else COLUMNS
    write_csv(arguments.output_csv, columns, [[row[column] for column in columns] for row in rows])
    write_lines(arguments.output_md, page)


def has_seeds(rows: Sequence[dict[str, str]]) -> bool:
    """Whether a model of the table was trained with several seeds."""
    return any(row.get("seeds", "1") != "1" for row in rows)


def _of_all_sentences(paths: Sequence[str]) -> dict[str, Any]:
    """The score of all sentences. Raises UserError where there are none."""
    score = read_scores(paths)["all"]
    if not score["sentences"] or None in (score["bleu"], score["detokenized_bleu"]):
        raise UserError(f"{paths[0]}: has no score; evaluate a set with sentences")
    return score


def _scores(names: Sequence[str], option: str, paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Name -> the score of this system; all are on one set. Raises UserError."""
    groups = grouped(names, option, paths)
    scores = {name: _of_all_sentences(files) for name, files in groups.items()}
    check_alike({groups[name][0]: score for name, score in scores.items()}, "sentences", *SIGNATURES)
    return scores


def markdown(rows: Sequence[dict[str, str]], generated: bool = False) -> list[str]:
    """The table of one or several pairs of languages; UserError where scores of a pair were made in different ways."""
    signatures = _signatures(rows, "signature")
    kinds = dict.fromkeys(map(kind_of_text, signatures.values()))
    has_printed = any(row["paper_test"] for row in rows)
    return [
        *heading("Table 1: BLEU on the test set and, in brackets, on the development set", generated),
        *_table(rows, ("", ""), *([("paper_", "")] if has_printed else [])),
        "",
        f"Corpus BLEU of {' or '.join(kinds)}, of {_sentences(rows, 'sentences')} test and "
        f"{_sentences(rows, 'development_sentences')} development sentences: {_stated(signatures)}."
        + (f" Paper: what it prints for its models. {SLIPS}" if has_printed else "")
        + (f" {SPREAD}" if has_seeds(rows) else ""),
        *([] if signatures == _signatures(rows, "detokenized_signature") else _of_running_text(rows)),
    ]


def _signatures(rows: Sequence[dict[str, str]], column: str) -> dict[str, str]:
    """How the scores of each pair of languages were made. Raises UserError where those of one pair differ."""
    signatures: dict[str, str] = {}
    for row in rows:
        if (first := signatures.setdefault(row["pair"], row[column])) != row[column]:
            both = ", ".join(sorted({first, row[column]}))
            raise UserError(f"{row['pair']}: scores made in different ways ({both}); make all again")
    return signatures


def _stated(signatures: Mapping[str, str]) -> str:
    """The signature of all pairs, or those of each: the target language decides which tokenizer sacreBLEU uses."""
    if len(one := {*signatures.values()}) == 1:
        return f"`{one.pop()}`"
    return ", ".join(f"`{signature}` in {escape_markdown(pair)}" for pair, signature in signatures.items())


def _of_running_text(rows: Sequence[dict[str, str]]) -> list[str]:
    """The table of the detokenized translations, and what a perfect one would score."""
    ceilings = {row["pair"]: f"{row['detokenized_ceiling']} ({row['development_ceiling']})" for row in rows}
    pairs = [f"{ceiling} in {escape_markdown(pair)}" for pair, ceiling in ceilings.items() if ceiling != " ()"]
    return [
        "",
        f"The same translations as running text, {_stated(_signatures(rows, 'detokenized_signature'))}:",
        "",
        *_table(rows, ("", "_detokenized")),
        *(["", f"There, a perfect translation would score {', '.join(pairs)}."] if pairs else []),
    ]


def _sentences(rows: Sequence[dict[str, str]], column: str) -> str:
    return span(int(row[column]) for row in rows)


def _table(rows: Sequence[dict[str, str]], *kinds: tuple[str, str]) -> list[str]:
    """A line for each model and, for each pair of languages and beam width, a column for each kind of score.

    A kind is what comes before and after `test` and `development` in the names of the CSV's columns.
    """
    cells = {
        (row["model"], row["pair"], row["beam"], (before, after)): _both(row, before, after)
        for row in rows
        for before, after in kinds
    }
    columns = list(dict.fromkeys((row["pair"], row["beam"]) for row in rows))
    titles = [
        "paper" if before else f"{escape_markdown(pair)}, beam {beam}" for pair, beam in columns for before, _ in kinds
    ]
    lines = [
        [escape_markdown(model), *(cells.get((model, *one, kind), "–") for one in columns for kind in kinds)]
        for model in dict.fromkeys(row["model"] for row in rows)
    ]
    return markdown_table(["Model", *titles], lines)


def _both(row: dict[str, str], before: str, after: str) -> str:
    """The score of the test set and, in brackets, of the development set, with what several seeds deviate."""
    columns = (f"{before}{side}{after}" for side in ("test", "development"))
    test, development = (row[one] + (f" ± {sd}" if (sd := row.get(f"{one}_sd")) else "") for one in columns)
    return f"{test} ({development})" if test else "–"
