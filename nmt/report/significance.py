"""Test which differences in BLEU are more than chance, by paired bootstrap (`nmt.evaluation.bootstrap`).

Each row compares a system with a baseline on the same sentences: on all; where they were translated with the unknown
word forbidden, on those without unknown words; and where there are greedy translations, on these of all sentences. The
table also has the p-values after Holm's correction for all rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain, islice

from nmt.corpora.shortlist import add_codes_argument, read_shortlists
from nmt.evaluation.bleu import add_tokenizer_argument
from nmt.evaluation.bootstrap import compare, holm
from nmt.evaluation.evaluate import known_lines
from nmt.evaluation.sentences import grouped, read_parallel
from nmt.report.markup import add_table_arguments, escape_markdown, folded, heading, markdown_table, span
from nmt.system.errors import UserError
from nmt.system.tables import number, write_csv
from nmt.system.text import write_lines

COLUMNS = (
    *("part", "system", "baseline", "bleu", "baseline_bleu", "difference", "lower", "upper", "p_value"),
    *("p_holm", "sentences", "resamples", "signature"),
)
PARTS = {"all": "All", "no_unk": "No UNK", "greedy": "All (beam 1)"}
LEVEL = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, help="tokenized source sentences")
    parser.add_argument("--reference", required=True, help="tokenized reference translations")
    parser.add_argument("--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"))
    add_codes_argument(parser)
    parser.add_argument("--translations", required=True, nargs="+", help="one file for each system, UNK allowed")
    parser.add_argument(
        "--translations-no-unk", nargs="*", default=[], help="one file for each system, UNK forbidden (default: none)"
    )
    parser.add_argument(
        "--translations-greedy", nargs="*", default=[], help="one file for each system, beam 1 (default: none)"
    )
    parser.add_argument(
        "--labels", required=True, nargs="+", help="names of the systems; a model's seeds share its name"
    )
    parser.add_argument(
        "--pair", nargs=2, action="append", default=[], metavar=("SYSTEM", "BASELINE"), help="labels to compare"
    )
    parser.add_argument(
        "--folded",
        nargs=2,
        action="append",
        default=[],
        metavar=("SYSTEM", "BASELINE"),
        help="labels to compare, too, in a part of the Markdown that is folded (default: none)",
    )
    add_tokenizer_argument(parser)
    parser.add_argument("--resamples", type=int, default=1000, help="number of resamples (default: %(default)s)")
    parser.add_argument("--seed", type=int, required=True)
    add_table_arguments(parser)


def rows(
    part: str,
    lines: dict[str, list[list[str]]],
    references: list[str],
    pairs: list[tuple[str, str]],
    resamples: int,
    seed: int,
    tokenizer: str,
) -> list[dict[str, str]]:
    """The rows of one part, in the order of `pairs`, without p_holm; no numbers where it has no sentences.

    `lines` are the translations of each system, by seed.
    """
    empty = dict.fromkeys(COLUMNS, "") | {"sentences": str(len(references)), "resamples": str(resamples)}
    found = {pair: empty | {"part": part, "system": pair[0], "baseline": pair[1]} for pair in pairs}
    for baseline in dict.fromkeys(baseline for _, baseline in pairs) if references else ():
        systems = [system for system, other in pairs if other == baseline]
        chosen = [lines[system] for system in systems]
        signature, results = compare(lines[baseline], chosen, references, resamples, seed, tokenizer)
        for system, result in zip(systems, results, strict=True):
            for name, value in result._asdict().items():
                found[system, baseline][name] = number(value, 4 if name == "p_value" else 2)
            found[system, baseline]["signature"] = signature
    return [found[pair] for pair in pairs]


def with_holm(table: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The rows with p_holm: their p-values, as they are written, corrected for all comparisons of the table."""
    corrected = iter(holm([float(row["p_value"]) for row in table if row["p_value"]]))
    return [row | {"p_holm": number(next(corrected), 4) if row["p_value"] else ""} for row in table]


def markdown(
    table: Sequence[dict[str, str]], fold: Sequence[tuple[str, str]], seeds: int, generated: bool = False
) -> list[str]:
    """The table, with significant differences in bold and the pairs of `fold` folded, and how it was made.

    `seeds` is how many trainings the systems have at most.
    """
    first: list[list[str]] = []
    rest: list[list[str]] = []
    for row in table:
        part, system, baseline, bleu, other, difference, lower, upper, p_value, p_holm = (
            row[column] for column in COLUMNS[:10]
        )
        names = (escape_markdown(system), escape_markdown(baseline), PARTS[part])
        interval = ""
        if p_value:
            mark = "**" if float(p_holm) < LEVEL else ""
            difference = f"{mark}{float(difference):+.2f}{mark}"
            interval = f"{float(lower):+.2f} to {float(upper):+.2f}"
        lines = rest if (system, baseline) in fold else first
        lines.append([*names, *(cell or "–" for cell in (bleu, other, difference, interval, p_value, p_holm))])
    resamples = int(table[0]["resamples"])
    comparisons = sum(bool(row["p_value"]) for row in table)
    counts = [
        f"{title}: {span(int(row['sentences']) for row in table if row['part'] == part)}"
        for part, title in PARTS.items()
        if any(row["part"] == part for row in table)
    ]
    signatures = [row["signature"] for row in table if row["signature"]]
    titles = ["System", "Baseline", "Sentences", "BLEU", "Baseline's", "Difference", "95 % interval", "p", "p (Holm)"]
    return [
        *heading("Significance of the differences in BLEU", generated),
        *markdown_table(titles, first),
        "",
        *([*folded("Further comparisons", markdown_table(titles, rest)), ""] if rest else []),
        f"Paired bootstrap over {resamples} resamples of the sentences ({', '.join(counts)}). {of_seeds(seeds)}The "
        "interval holds the differences of 95 % of them. p is two-sided: how often a resample's difference is at least "
        "as far from the mean of all resamples as the measured one is from zero. "
        f"{resamples} resamples can show no p below {1 / (resamples + 1):.4f}: where it stands, p may be smaller. "
        "p (Holm) is corrected by Holm's method for all "
        f"{comparisons} comparisons of the table. Bold: p (Holm) < {LEVEL}. "
        + (f"`{signatures[0]}`" if signatures else ""),
    ]


def of_seeds(seeds: int) -> str:
    """How several trainings of a model are compared; "" where there is one."""
    if seeds == 1:
        return ""
    return (
        f"BLEU is a model's mean over its seeds, {seeds} at most. For a model with n seeds, each resample also draws "
        "n - 1 of them with replacement, and shifts the model's BLEU by the difference between their mean and that of "
        "all n. So the interval covers the choice of sentences and of seeds. "
    )


def run(arguments: argparse.Namespace) -> None:
    if not arguments.pair:
        raise UserError("--pair: nothing to compare; name a system and its baseline")
    if arguments.resamples < 1:
        raise UserError("--resamples 0: must be 1 or more")
    fold = [(system, baseline) for system, baseline in arguments.folded]
    pairs = [*((system, baseline) for system, baseline in arguments.pair), *fold]
    for option, named in (("--pair", arguments.pair), ("--folded", fold)):
        for label in chain.from_iterable(named):
            if label not in arguments.labels:
                raise UserError(f"{option}: {label} is not among --labels; name one of them")
    given = {
        "all": ("--translations", arguments.translations),
        "no_unk": ("--translations-no-unk", arguments.translations_no_unk),
        "greedy": ("--translations-greedy", arguments.translations_greedy),
    }
    for system, baseline in pairs:
        if system == baseline or pairs.count((system, baseline)) > 1:
            raise UserError(f"--pair, --folded: {system} {baseline}: name a pair of two systems, and each pair once")
    parts = [part for part, (_, paths) in given.items() if paths]
    seeds = max(map(arguments.labels.count, arguments.labels))
    groups = {part: grouped(arguments.labels, *given[part]) for part in parts}
    files = [path for systems in groups.values() for paths in systems.values() for path in paths]
    source, reference, *translations = read_parallel(arguments.source, arguments.reference, *files)
    known, texts = known_lines(source, reference, *read_shortlists(arguments)), iter(translations)
    found: list[dict[str, str]] = []
    for part, systems in groups.items():
        indices = known if part == "no_unk" else list(range(len(source)))
        chosen = {
            label: [[lines[index] for index in indices] for lines in islice(texts, len(paths))]
            for label, paths in systems.items()
        }
        wanted = [reference[index] for index in indices]
        found += rows(part, chosen, wanted, pairs, arguments.resamples, arguments.seed, arguments.bleu_tokenizer)
    table = with_holm(found)
    write_csv(arguments.output_csv, COLUMNS, [[row[column] for column in COLUMNS] for row in table])
    write_lines(arguments.output_md, markdown(table, fold, seeds, arguments.generated))
