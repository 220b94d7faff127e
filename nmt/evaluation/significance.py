"""Which differences of Table 1 are more than chance: sacreBLEU's paired bootstrap, on all sentences and on "No UNK".

Every row compares a system with a baseline on the same sentences. The p-value is the share of resamples whose
difference lies as far from the resamples' mean difference as the measured one does from none.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from sacrebleu.significance import PairedTest, Result

from nmt.corpora.shortlist import Shortlist
from nmt.evaluation.bleu import tokenized_metric
from nmt.evaluation.evaluate import known_lines
from nmt.evaluation.sentences import paired, read_parallel
from nmt.report.markup import escape_markdown, markdown_table, number, span
from nmt.system.files import UserError, write_lines
from nmt.system.tables import Cell, write_csv

COLUMNS = (
    *("part", "system", "baseline", "bleu", "baseline_bleu", "difference", "p_value"),
    *("sentences", "resamples", "signature"),
)
PARTS = {"all": "All", "no_unk": "No UNK"}
LEVEL = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, help="tokenized source sentences")
    parser.add_argument("--reference", required=True, help="tokenized reference translations")
    parser.add_argument("--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--translations", required=True, nargs="+", help="one file a system, UNK allowed")
    parser.add_argument("--translations-no-unk", required=True, nargs="+", help="one file a system, UNK forbidden")
    parser.add_argument("--labels", required=True, nargs="+", help="the systems' names")
    parser.add_argument(
        "--pair", nargs=2, action="append", default=[], metavar=("SYSTEM", "BASELINE"), help="labels to compare"
    )
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-csv", required=True)
    parser.add_argument("--output-md", required=True)


def compare(
    baseline: Sequence[str], systems: Sequence[Sequence[str]], references: Sequence[str], resamples: int, seed: int
) -> tuple[str, list[tuple[float, float, float]]]:
    """sacreBLEU's signature, and for each system its BLEU, the baseline's and the p-value."""
    os.environ["SACREBLEU_SEED"] = str(seed)  # the only way to give it one
    named = [(str(index), lines) for index, lines in enumerate([baseline, *systems])]
    test = PairedTest(named, {"BLEU": tokenized_metric()}, [references], "bs", resamples)
    signatures, scores = test()
    results = [result for result in scores["BLEU"] if isinstance(result, Result)]
    found = [(result.score, results[0].score, result.p_value or 1.0) for result in results[1:]]
    # sacreBLEU gives no difference at all the lowest p
    return str(signatures["BLEU"]), [(own, other, 1.0 if own == other else chance) for own, other, chance in found]


def rows(
    part: str,
    lines: dict[str, list[str]],
    references: list[str],
    pairs: list[tuple[str, str]],
    resamples: int,
    seed: int,
) -> list[list[Cell]]:
    """The rows of COLUMNS of one part, in the order of `pairs`; without numbers where it has no sentences."""
    if not references:
        return [[part, *pair, None, None, None, None, 0, resamples, None] for pair in pairs]
    found: dict[tuple[str, str], list[Cell]] = {}
    for baseline in dict.fromkeys(baseline for _, baseline in pairs):
        systems = [system for system, other in pairs if other == baseline]
        chosen = [lines[system] for system in systems]
        signature, results = compare(lines[baseline], chosen, references, resamples, seed)
        for system, (own, other, chance) in zip(systems, results, strict=True):
            numbers = (number(own, 2), number(other, 2), number(own - other, 2), number(chance, 4))
            found[system, baseline] = [part, system, baseline, *numbers, len(references), resamples, signature]
    return [found[pair] for pair in pairs]


def markdown(table: list[list[Cell]]) -> list[str]:
    """The table, its differences marked that are more than chance, and how it was made."""
    lines = []
    for row in table:
        part, system, baseline, bleu, other, difference, chance, *_ = (
            "" if cell is None else str(cell) for cell in row
        )
        names = (escape_markdown(system), escape_markdown(baseline), PARTS[part])
        if chance:
            mark = "**" if float(chance) < LEVEL else ""
            difference = f"{mark}{float(difference):+.2f}{mark}"
        lines.append([*names, bleu or "–", other or "–", difference or "–", chance or "–"])
    resamples = int(str(table[0][8]))
    counts = {part: span(int(str(row[7])) for row in table if row[0] == part) for part in PARTS}
    signatures = [str(row[9]) for row in table if row[9] is not None]
    return [
        "# Significance of the differences in Table 1",
        "",
        *markdown_table(["System", "Baseline", "Sentences", "BLEU", "Baseline's", "Difference", "p"], lines),
        "",
        f"Paired bootstrap over {resamples} resamples of the sentences (All: {counts['all']}, No UNK: "
        f"{counts['no_unk']}). Bold: p < {LEVEL}. The least p that they can show is {1 / (resamples + 1):.4f}: "
        "it means as much or less. " + (f"`{signatures[0]}`" if signatures else ""),
    ]


def run(arguments: argparse.Namespace) -> None:
    if not arguments.pair:
        raise UserError("--pair: nothing to compare; name a system and its baseline")
    if arguments.resamples < 1 or arguments.seed < 0:
        raise UserError("--resamples, --seed: give 1 resample or more and a seed that is not negative")
    pairs = [(system, baseline) for system, baseline in arguments.pair]
    for label in (label for pair in pairs for label in pair):
        if label not in arguments.labels:
            raise UserError(f"--pair: {label} is none of --labels")
    systems = paired(arguments.labels, "--translations", arguments.translations)
    no_unk = paired(arguments.labels, "--translations-no-unk", arguments.translations_no_unk)
    source, reference, *translations = read_parallel(
        arguments.source, arguments.reference, *(path for _, path in [*systems, *no_unk])
    )
    shortlists = [Shortlist.read(path) for path in arguments.shortlists]
    known = known_lines(source, reference, *shortlists)
    parts = {
        "all": (translations[: len(systems)], range(len(source))),
        "no_unk": (translations[len(systems) :], known),
    }
    table: list[list[Cell]] = []
    for part, (files, indices) in parts.items():
        chosen = {
            label: [lines[index] for index in indices] for label, lines in zip(arguments.labels, files, strict=True)
        }
        wanted = [reference[index] for index in indices]
        table += rows(part, chosen, wanted, pairs, arguments.resamples, arguments.seed)
    write_csv(arguments.output_csv, COLUMNS, table)
    write_lines(arguments.output_md, markdown(table))
