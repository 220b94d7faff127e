"""Tokenize in the obvious way, with sacremoses line by line: the baseline for `nmt.corpora.tokenize`."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from sacremoses import MosesTokenizer

from nmt.system.text import read_lines, write_lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", required=True)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--lines", type=int, required=True, help="number of lines to read")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    tokenizer = MosesTokenizer(arguments.language)
    lines = islice(read_lines(arguments.input), arguments.lines)
    write_lines(arguments.output, (tokenizer.tokenize(line, return_str=True) for line in lines))


if __name__ == "__main__":
    main()
