"""Make Table 1: BLEU of every system on a test set, on all sentences and on those without unknown words.

With the paper's numbers, its phrase-based system Moses has a row even where it was not run.
"""

from __future__ import annotations

import argparse

from nmt.evaluation.scores import PERCENT, SIGNATURES, SPREAD, Score, check_alike, kind_of_text, read_scores, spread
from nmt.evaluation.sentences import grouped
from nmt.papers.bahdanau2015.printed import Printed, printed_row, read_printed
from nmt.report.markup import (
    MADE_UP,
    add_table_arguments,
    beside,
    escape_latex,
    escape_markdown,
    heading,
    listed,
    markdown_table,
    span,
)
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.tables import Cell, number, write_csv
from nmt.system.text import read_json, write_lines

BASELINE = "Moses"
TITLES = {"all": "All", "no_unk": "No UNK"}  # of the parts of a score

Scores = list[tuple[str, Score]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scores", required=True, nargs="+", help="JSON of the step evaluate, one file for each system"
    )
    parser.add_argument(
        "--labels",
        required=True,
        nargs="+",
        help="names of the systems, in the table's order; a model's seeds share its name",
    )
    parser.add_argument(
        "--phrase-based", metavar="LABEL", help="which of the systems is the phrase-based one (default: none)"
    )
    parser.add_argument("--tuning", nargs="?", metavar="JSON", help="what the tuning of that system left")
    PhraseBased.add_argument(parser)
    add_table_arguments(parser, printed=True)
    parser.add_argument("--output-tex", type=Output, required=True)


def run(arguments: argparse.Namespace) -> None:
    printed = read_printed(arguments.printed) if arguments.printed else None
    groups = grouped(arguments.labels, "--scores", arguments.scores)
    scores = [(label, read_scores(paths)) for label, paths in groups.items()]
    check_alike({groups[label][0]: score["all"] for label, score in scores}, "sentences", *SIGNATURES)
    if len({tuple(score) for _, score in scores}) > 1:
        raise UserError("--scores: only some of them have a score without unknown words; make all again")
    note = phrase_based_note(arguments, len(scores[0][1]))
    write_csv(arguments.output_csv, *csv_table(scores, printed))
    write_lines(arguments.output_md, markdown(scores, printed, note, arguments.generated))
    write_lines(arguments.output_tex, latex(scores, printed, arguments.generated))


def phrase_based_note(arguments: argparse.Namespace, columns: int) -> str:
    """How the phrase-based system was made, in a sentence or two; "" where none was run. Raises UserError."""
    if arguments.phrase_based is None:
        return ""
    if arguments.phrase_based not in arguments.labels:
        raise UserError(f"--phrase-based: {arguments.phrase_based} is not among --labels; name one of them")
    if arguments.tuning is None:
        raise UserError("--tuning is missing; name the file that the tuning of the phrase-based system left")
    tuning, settings = read_json(arguments.tuning), arguments.settings
    try:
        system, sentences = tuning["system"], tuning["sentences"]
        scores, kept = tuning["bleu"], tuning["kept"]
        are_all = not settings.pairs or tuning.get("pairs", settings.pairs) < settings.pairs  # the text has no more
        if not all(map(PERCENT.accepts, scores)):
            raise ValueError("no BLEU")
        tuned = (
            f"{sentences:,} sentences of the development set ({scores[0]:.2f} BLEU on them before, "
            f"{scores[kept]:.2f} with the weights used)"
        )
    except (KeyError, IndexError, TypeError, ValueError):
        raise UserError(f"{arguments.tuning}: does not say how the system was tuned; tune it again") from None
    pairs = "all selected pairs" if are_all else f"{settings.pairs:,} of the selected pairs"
    texts = listed(["the selected text", *settings.monolingual])
    return (
        f"{escape_markdown(arguments.phrase_based)}: {system}, trained on {pairs}, with a {settings.order}-gram "
        f"language model of {escape_markdown(texts)}, tuned on {tuned}. "
        "It copies unknown words" + (", and has one translation for both columns." if columns > 1 else ".")
    )


def with_baseline(scores: Scores, printed: Printed | None) -> Scores:
    """The rows of the table: every system and, beside the paper's numbers, its baseline, all None if it was not run."""
    if printed is None or BASELINE in dict(scores):
        return scores
    return [*scores, (BASELINE, {part: dict.fromkeys(values) for part, values in scores[0][1].items()})]


def csv_table(scores: Scores, printed: Printed | None) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows, BLEU in percent with two decimals."""
    rows: list[dict[str, Cell]] = []
    for label, score in with_baseline(scores, printed):
        row: dict[str, Cell] = {"model": label}
        row |= {part: number(score[part]["bleu"], 2) for part in score}
        if printed is not None:
            row |= {f"paper_{part}": number(printed_row(printed, label)[part], 2) for part in score}
        row |= {f"sentences_{part}": score[part]["sentences"] for part in score}
        row["signature"] = score["all"]["signature"]
        if has_seeds(scores):
            row |= {f"{part}_sd": number(score[part]["bleu_sd"], 2) for part in score}
            row["seeds"] = score["all"]["seeds"]
        rows.append(row)
    return list(rows[0]), [list(row.values()) for row in rows]


def markdown(scores: Scores, printed: Printed | None, note: str = "", generated: bool = False) -> list[str]:
    """The table, the paper's numbers in brackets, and below it how the numbers were made.

    `note` says how the phrase-based system was made.
    """
    first = scores[0][1]
    signature, running_signature = first["all"]["signature"], first["all"]["detokenized_signature"]
    rows = []
    for label, score in with_baseline(scores, printed):
        theirs = printed_row(printed or {}, label)
        pairs = [beside(spread(score[part]), number(theirs[part], 2)) for part in first]
        running = [] if signature == running_signature else [spread(score[part], "detokenized_bleu") for part in first]
        rows.append([escape_markdown(label), *pairs, *running])
    titles = [TITLES[part] for part in first]
    one = len(titles) == 1
    tokenized = "All is" if one else "All and No UNK are"
    running_text = "column compares" if one else "columns compare"
    made = f"{tokenized} corpus BLEU of {kind_of_text(signature)}: `{signature}`."
    if signature != running_signature:
        made += f" The detokenized {running_text} running text: `{running_signature}`.{ceiling(scores)}"
    sentences = {part: span(score[part]["sentences"] for _, score in scores) for part in first}
    return [
        *heading("Table 1: BLEU on the test set", generated),
        *markdown_table(
            ["Model", *titles, *(f"{title}, detokenized" for title in titles if signature != running_signature)], rows
        ),
        "",
        *([] if printed is None else [brackets(scores), ""]),
        *([note, ""] if note else []),
        f"All: the {sentences['all']} sentences of the set."
        + (
            f" No UNK: the {sentences['no_unk']} sentences without an unknown word in source or reference, translated "
            "with UNK forbidden; the shortlists decide which words are known."
            if "no_unk" in first
            else ""
        ),
        "",
        made,
        *(["", SPREAD] if has_seeds(scores) else []),
    ]


def has_seeds(scores: Scores) -> bool:
    """Whether a system was trained with several seeds."""
    return any(score["all"]["seeds"] > 1 for _, score in scores)


def ceiling(scores: Scores) -> str:
    """What the detokenized score of a perfect translation is, where text is detokenized."""
    score = number(scores[0][1]["all"]["detokenized_ceiling"], 2)
    return f" There, a perfect translation would score {score}." if score else ""


def brackets(scores: Scores) -> str:
    """What the numbers in brackets are."""
    said = "In brackets: what the paper prints for its models on newstest2014."
    if BASELINE not in dict(scores):
        said += f" {BASELINE}, its phrase-based system, was not run: the row quotes the paper."
    return said


def latex(scores: Scores, printed: Printed | None, generated: bool) -> list[str]:
    r"""A `tabular` that needs no package, to be read with \input; a language that is made up is its first row."""
    parts = list(scores[0][1])
    rows = []
    for label, score in with_baseline(scores, printed):
        cells = []
        for part in parts:
            cells.append(spread(score[part]).replace("±", r"$\pm$"))
            if printed is not None:
                cells.append(number(printed_row(printed, label)[part], 2))
        rows.append(" & ".join([escape_latex(label), *(cell or "--" for cell in cells)]) + r" \\")
    titles = [TITLES[part] for part in parts]
    if printed is None:
        head = [" & ".join(["Model", *titles]) + r" \\"]
    else:
        head = [
            " & " + " & ".join(rf"\multicolumn{{2}}{{c}}{{{title}}}" for title in titles) + r" \\",
            " & ".join(["Model", *["ours", "paper"] * len(parts)]) + r" \\",
        ]
    columns = len(parts) * (1 if printed is None else 2)
    if generated:
        head.insert(0, rf"\multicolumn{{{columns + 1}}}{{l}}{{{MADE_UP.split(':')[0]}.}} \\")
    return [rf"\begin{{tabular}}{{l{'r' * columns}}}", r"\hline", *head, r"\hline", *rows, r"\hline", r"\end{tabular}"]
