"""Estimate the language model of Moses: KenLM's lmplz and build_binary, as the installation has them."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from nmt.phrase_based.monolingual import add_text_arguments, text_lines
from nmt.phrase_based.moses.installation import add_moses_arguments, call, moses_of
from nmt.system.files import atomic, write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt moses_language_model`."""
    add_moses_arguments(parser)
    add_text_arguments(parser)
    parser.add_argument("--order", type=int, default=5, help="words of the longest n-grams")
    parser.add_argument("--memory", type=int, default=4000, help="MB")
    parser.add_argument("--output", type=Path, required=True, help="the model in KenLM's binary form")


def run(arguments: argparse.Namespace) -> None:
    """Estimate, then make it binary."""
    moses = moses_of(arguments)
    lmplz, build_binary = moses.program("lmplz"), moses.program("build_binary")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="moses_language_model.", dir=arguments.output.parent) as name:
        text, arpa = Path(name) / "text", Path(name) / "arpa"
        write_lines(text, text_lines(arguments.texts, arguments.held_out))
        memory = f"{arguments.memory * 4 // 5}M"  # beside what it sorts with, it has its vocabulary
        call([lmplz, "-o", str(arguments.order), "-S", memory, "-T", name, "--text", text, "--arpa", arpa])
        with atomic(arguments.output) as partial:
            call([build_binary, arpa, partial])
