"""Train the language model of Moses with KenLM's lmplz and build_binary from the Moses installation."""

from __future__ import annotations

import argparse
import os

from nmt.phrase_based.moses.files import encoded, work_folder
from nmt.phrase_based.moses.installation import add_moses_arguments, call, moses_of
from nmt.phrase_based.text import add_text_arguments, text_lines
from nmt.settings.sections import PhraseBased
from nmt.system.files import atomic
from nmt.system.options import Output
from nmt.system.text import write_lines

LEAST = 256  # MB
PER_BYTE = 20  # of the text; more memory does not make lmplz faster


def sorting_memory(size: int, most: int) -> int:
    """The memory in MB for lmplz to sort the n-grams of a text of `size` bytes; lmplz allocates all of it at once.

    It is at most four fifths of `most`, because the vocabulary needs memory, too, and at most half of the machine's.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return min(LEAST + (PER_BYTE * size >> 20), most * 4 // 5, machine // 2)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_moses_arguments(parser)
    add_text_arguments(parser)
    parser.add_argument("--memory", type=int, required=True, help="MB that lmplz may use, at most")
    parser.add_argument("--output", type=Output, required=True, help="the model in KenLM's binary format")


def run(arguments: argparse.Namespace) -> None:
    settings: PhraseBased = arguments.settings
    moses = moses_of(arguments)
    lmplz, build_binary = moses.program("lmplz"), moses.program("build_binary")
    with work_folder(arguments.output) as folder:
        text, arpa = folder / "text", folder / "arpa"
        write_lines(text, map(encoded, text_lines(arguments.texts, arguments.held_out)))
        memory = f"{sorting_memory(text.stat().st_size, arguments.memory)}M"
        options = ["-o", str(settings.order), "-S", memory, "-T", str(folder), "--discount_fallback"]
        call([lmplz, *options, "--text", text, "--arpa", arpa], folder)
        with atomic(arguments.output) as partial:
            call([build_binary, arpa, partial], folder)
