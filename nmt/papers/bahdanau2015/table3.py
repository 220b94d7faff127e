"""Make Table 3: long source sentences, their references and the translations of two models, as in Appendix C.

On newstest2014 the three sentences that the paper prints come first. The others are drawn at random from the long
sentences.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

from nmt.corpora.detokenize import detokenizer
from nmt.corpora.pairs import split_words
from nmt.evaluation.sentences import paired, read_parallel
from nmt.papers.bahdanau2015.printed import printed_sentences
from nmt.papers.bahdanau2015.settings import TABLE3_COLUMNS, Table3
from nmt.report.markup import add_table_arguments, escape_markdown, heading
from nmt.system.errors import UserError, warn
from nmt.system.tables import write_csv
from nmt.system.text import write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, help="tokenized source sentences")
    parser.add_argument("--raw-source", required=True, help="the same sentences, not tokenized")
    parser.add_argument("--reference", required=True, help="reference translations")
    parser.add_argument("--translations", required=True, nargs="+", help="one file for each model")
    parser.add_argument("--labels", required=True, nargs="+", help="names of the models, in the table's order")
    parser.add_argument("--set", required=True, help="name of the test set, such as newstest2014")
    parser.add_argument(
        "--language", nargs="?", help="the target language, such as fr; none where the raw text is tokenized, too"
    )
    Table3.add_argument(parser)
    parser.add_argument("--seed", required=True, type=int)
    add_table_arguments(parser)


def choose(sources: Sequence[str], first: Sequence[int], minimum: int, count: int, seed: int) -> list[int]:
    """`count` indices: `first`, then some of other sentences of at least `minimum` words, drawn with `seed`."""
    candidates = [
        index for index, line in enumerate(sources) if len(split_words(line)) >= minimum and index not in first
    ]
    random.Random(seed).shuffle(candidates)
    return [*first, *candidates][:count]


def run(arguments: argparse.Namespace) -> None:
    settings = arguments.settings
    models = paired(arguments.labels, "--translations", arguments.translations)
    if taken := [label for label in models if label in TABLE3_COLUMNS]:
        raise UserError(f"--labels: {taken[0]} is a column of the table; choose another")
    source, raw_source, reference, *translations = read_parallel(
        arguments.source, arguments.raw_source, arguments.reference, *models.values()
    )
    first = printed_sentences(arguments.set, "Table 3", raw_source)
    chosen = choose(source, first, settings.minimum_words, settings.sentences, arguments.seed)
    if len(chosen) < settings.sentences:
        warn(
            f"{arguments.source}: {len(chosen)} sentences of {settings.minimum_words} words or more, "
            f"not {settings.sentences}; Table 3 is shorter"
        )
    detokenize = detokenizer(arguments.language) if arguments.language else str
    columns = [*TABLE3_COLUMNS, *arguments.labels]
    rows = [
        [
            str(index + 1),
            "paper" if index in first else "drawn",
            raw_source[index],
            *(detokenize(lines[index]) for lines in (reference, *translations)),
        ]
        for index in chosen
    ]
    write_csv(arguments.output_csv, columns, rows)
    write_lines(arguments.output_md, markdown(rows, arguments))


def markdown(rows: list[list[str]], arguments: argparse.Namespace) -> list[str]:
    """A small table for each sentence, under the number of its line in the test set."""
    lines = heading("Table 3: translations of long sentences", arguments.generated)
    for line, kind, *texts in rows:
        title = "printed in the paper" if kind == "paper" else "drawn"
        names = ["Source", "Reference", *(escape_markdown(label) for label in arguments.labels)]
        lines += [
            f"## Line {line} of {escape_markdown(arguments.set)} ({title})",
            "",
            "| | |",
            "| :--- | :--- |",
            *(f"| **{name}** | {escape_markdown(text)} |" for name, text in zip(names, texts, strict=True)),
            "",
        ]
    drawn = f"Sentences of {arguments.settings.minimum_words} words or more, drawn with the seed {arguments.seed}"
    if any(kind == "paper" for _, kind, *_ in rows):
        drawn += ", where they are not printed in the paper"
    detokenized = " References and translations are detokenized." if arguments.language else ""
    return [*lines, f"{drawn}.{detokenized}"]
