"""Table 1: BLEU of every model on the test set, on all sentences and on those without unknown words.

The paper's numbers stand beside ours. Its phrase-based system is Moses: where that is not run the row quotes the paper.
"""

from __future__ import annotations

import argparse
from typing import Any

from nmt.evaluation.sentences import paired
from nmt.papers.bahdanau2015.printed import Row, paper_row, read_paper
from nmt.report.markup import beside, escape_latex, escape_markdown, markdown_table, number, span
from nmt.system.files import UserError, read_json, write_lines
from nmt.system.tables import Cell, write_csv

COLUMNS = (
    "model",
    "all",
    "no_unk",
    "paper_all",
    "paper_no_unk",
    "sentences_all",
    "sentences_no_unk",
    "signature",
)
BASELINE = "Moses"
PARTS = ("all", "no_unk")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scores", required=True, nargs="+", help="JSON of the step evaluate, one a model")
    parser.add_argument("--labels", required=True, nargs="+", help="the models' names, in the table's order")
    parser.add_argument("--paper", required=True, help="data/paper.tsv")
    parser.add_argument("--phrase-based", metavar="LABEL", help="which of the models is the phrase-based system (none)")
    parser.add_argument("--tuning", help="JSON of how that one was tuned")
    parser.add_argument("--pairs", type=int, default=0, help="it was trained on (0: all selected ones)")
    parser.add_argument("--order", type=int, help="of its language model")
    parser.add_argument(
        "--monolingual", nargs="*", default=[], help="corpora of its language model beside the selected text"
    )
    parser.add_argument("--output-csv", required=True)
    parser.add_argument("--output-md", required=True)
    parser.add_argument("--output-tex", required=True)


def read_score(path: str) -> dict[str, dict[str, Any]]:
    """A file of the step `evaluate`; UserError where a part or a key of it is missing."""
    score = read_json(path)
    for part in PARTS:
        for key in ("bleu", "sentences", "signature", "detokenized_bleu", "detokenized_signature"):
            if not isinstance(score, dict) or not isinstance(score.get(part), dict) or key not in score[part]:
                raise UserError(f"{path}: no {key} of {part} in it; make it again with the step evaluate")
    return score


def run(arguments: argparse.Namespace) -> None:
    paper = read_paper(arguments.paper)
    scores = [(label, read_score(path)) for label, path in paired(arguments.labels, "--scores", arguments.scores)]
    signatures = {score["all"]["signature"] for _, score in scores}
    if len(signatures) > 1:
        raise UserError(f"--scores: made in different ways ({', '.join(sorted(signatures))}); make all again")
    write_csv(arguments.output_csv, COLUMNS, csv_rows(scores, paper))
    write_lines(arguments.output_md, markdown(scores, paper, phrase_based_note(arguments)))
    write_lines(arguments.output_tex, latex(scores, paper))


def phrase_based_note(arguments: argparse.Namespace) -> str:
    """How the phrase-based system was made, a sentence or two; "" where none was run."""
    if arguments.phrase_based is None:
        return ""
    if arguments.phrase_based not in arguments.labels:
        raise UserError(f"--phrase-based: {arguments.phrase_based} is none of --labels")
    tuning = read_json(arguments.tuning)
    try:
        system, sentences = tuning["system"], tuning["sentences"]
        scores, kept = tuning["bleu"], tuning["kept"]
        tuned = f"{scores[0]:.2f} BLEU on them before, {scores[kept]:.2f} with the weights used"
    except (KeyError, IndexError, TypeError, ValueError):
        raise UserError(f"{arguments.tuning}: does not say how the system was tuned; tune it again") from None
    pairs = f"{arguments.pairs:,} of the selected pairs" if arguments.pairs else "all selected pairs"
    texts = ["the selected text", *arguments.monolingual]
    return (
        f"{escape_markdown(arguments.phrase_based)}: {system}, trained on {pairs}, with a {arguments.order}-gram "
        f"language model of {escape_markdown(' and '.join(texts))}, tuned on {sentences:,} sentences of the "
        f"development set ({tuned}). It copies unknown words, and has one translation for both columns."
    )


def with_baseline(scores: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any] | None]]:
    """The rows of the table: every model, then the baseline, which has no scores of ours."""
    own = [label for label, _ in scores]
    return [*scores, *([] if BASELINE in own else [(BASELINE, None)])]


def csv_rows(scores: list[tuple[str, dict[str, Any]]], paper: dict[str, Row]) -> list[list[Cell]]:
    """Rows in the order of COLUMNS, BLEU in percent with two decimals."""
    rows: list[list[Cell]] = []
    for label, score in with_baseline(scores):
        printed = paper_row(paper, label)
        rows.append(
            [
                label,
                *(number(score[part]["bleu"], 2) if score else None for part in PARTS),
                *(number(printed[part], 2) for part in PARTS),
                *(score[part]["sentences"] if score else None for part in PARTS),
                score["all"]["signature"] if score else None,
            ]
        )
    return rows


def markdown(scores: list[tuple[str, dict[str, Any]]], paper: dict[str, Row], note: str = "") -> list[str]:
    """The table with the paper's numbers in brackets, and below it how the numbers were made.

    `note` says how the phrase-based system was made.
    """
    rows = []
    for label, score in with_baseline(scores):
        printed = paper_row(paper, label)
        bleu, running = (
            [number(score[part][key], 2) if score else "" for part in PARTS] for key in ("bleu", "detokenized_bleu")
        )
        pairs = [beside(ours, number(printed[part], 2)) for ours, part in zip(bleu, PARTS, strict=True)]
        rows.append([escape_markdown(label), *pairs, *running])
    first = scores[0][1]
    sentences, known = (span(score[part]["sentences"] for _, score in scores) for part in PARTS)
    return [
        "# Table 1: BLEU on the test set",
        "",
        *markdown_table(["Model", "All", "No UNK", "All, detokenized", "No UNK, detokenized"], rows),
        "",
        "In brackets: what the paper prints for its models on newstest2014."
        + (
            ""
            if BASELINE in dict(scores)
            else " Moses, its phrase-based system, was not run: the row quotes the paper."
        ),
        "",
        *([note, ""] if note else []),
        f"All: the {sentences} sentences of the set. No UNK: the {known} sentences without an unknown word in "
        "source or reference, translated with UNK forbidden; the shortlists decide which words are known.",
        "",
        f"All and No UNK are corpus BLEU of tokenized, cased text, equal to multi-bleu: `{first['all']['signature']}`. "
        f"The detokenized columns compare running text: `{first['all']['detokenized_signature']}`. "
        "Table 2 says how each model was trained.",
    ]


def latex(scores: list[tuple[str, dict[str, Any]]], paper: dict[str, Row]) -> list[str]:
    r"""A `tabular` that needs no package, to be read with \input."""
    rows = []
    for label, score in with_baseline(scores):
        printed = paper_row(paper, label)
        ours = [number(score[part]["bleu"], 2) if score else "" for part in PARTS]
        cells = [cell for own, part in zip(ours, PARTS, strict=True) for cell in (own, number(printed[part], 2))]
        rows.append(" & ".join([escape_latex(label), *(cell or "--" for cell in cells)]) + r" \\")
    return [
        r"\begin{tabular}{lrrrr}",
        r"\hline",
        r" & \multicolumn{2}{c}{All} & \multicolumn{2}{c}{No UNK} \\",
        r"Model & ours & paper & ours & paper \\",
        r"\hline",
        *rows,
        r"\hline",
        r"\end{tabular}",
    ]
