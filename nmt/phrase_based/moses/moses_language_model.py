"""Train the language model of Moses with KenLM's lmplz and build_binary from the Moses installation."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from nmt.phrase_based.moses.installation import add_moses_arguments, call, moses_of
from nmt.phrase_based.text import add_text_arguments, text_lines
from nmt.settings.sections import PhraseBased
from nmt.system.files import atomic, write_lines
from nmt.system.options import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `nmt moses_language_model`."""
    add_moses_arguments(parser)
    add_text_arguments(parser)
    parser.add_argument("--memory", type=int, required=True, help="MB that lmplz may use")
    parser.add_argument("--output", type=Output, required=True, help="the model in KenLM's binary format")


def run(arguments: argparse.Namespace) -> None:
    """Estimate the model and convert it to binary."""
    settings: PhraseBased = arguments.settings
    moses = moses_of(arguments)
    lmplz, build_binary = moses.program("lmplz"), moses.program("build_binary")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="moses_language_model.", dir=arguments.output.parent) as name:
        text, arpa = Path(name) / "text", Path(name) / "arpa"
        write_lines(text, text_lines(arguments.texts, arguments.held_out))
        memory = f"{arguments.memory * 4 // 5}M"  # for sorting; the vocabulary comes on top
        call([lmplz, "-o", str(settings.order), "-S", memory, "-T", name, "--text", text, "--arpa", arpa])
        with atomic(arguments.output) as partial:
            call([build_binary, arpa, partial])
