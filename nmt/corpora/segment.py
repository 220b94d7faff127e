"""Segment text: every word becomes its subwords, by the codes of the step learn_bpe or the pieces of learn_pieces."""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.corpora.pairs import split_words
from nmt.corpora.pieces import read_subwords
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.text import read_lines, write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", type=Path, required=True, help="tokenized text, one side")
    parser.add_argument("--codes", type=Path, required=True, help="the codes of its language")
    parser.add_argument("--output", type=Output, required=True, help="the same lines in subwords")


def run(arguments: argparse.Namespace) -> None:
    codes = read_subwords(arguments.codes)
    with Progress(f"segment {arguments.input.name}", None, "lines") as progress:
        lines = map(split_words, progress.over(read_lines(arguments.input)))
        write_lines(arguments.output, map(" ".join, codes.split_lines(lines, arguments.input)))
