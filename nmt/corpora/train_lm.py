"""Estimate the language models of data selection: for each side one of in-domain text and one of text in general.

The general model is estimated on as many source words as the in-domain text has, drawn at random from the clean pairs
of all corpora. As in Moore and Lewis (2010) both models of a language share one vocabulary, the words seen twice or
more in the in-domain text; every other word is one unknown word. The models are n-gram models with modified
Kneser-Ney smoothing, made by KenLM's lmplz.

A folder holds, for each side, the vocabulary (`source.words`, a word a line) and the two models
(`source.in-domain.arpa`, `source.general.arpa`).
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import kenlm
import numpy as np

from nmt.corpora.clean import Pair, Text, add_text_arguments, count_words, pair_files, text_of
from nmt.corpora.pairs import read_byte_pairs
from nmt.system.files import UserError, atomic, partial_name

SIDES = ("source", "target")
KINDS = ("in-domain", "general")
MEMORY = "1G"  # for lmplz to sort in; beyond it uses the disk
UNKNOWN = b"<unknown>"
FULL_DISK = re.compile(f"{os.strerror(errno.ENOSPC)}|{os.strerror(errno.EFBIG)}", re.IGNORECASE)


def vocabulary(lines: Iterable[bytes]) -> frozenset[bytes]:
    """The words seen twice or more; control characters that KenLM would split at make a word unknown."""
    counter: Counter[bytes] = Counter()
    for line in lines:
        counter.update(line.split())
    special = {b"<s>", b"</s>", b"<unk>", UNKNOWN}
    return frozenset(word for word, count in counter.items() if count > 1 and word not in special and b"\0" not in word)


def mask(line: bytes, known: frozenset[bytes]) -> tuple[bytes, int]:
    """The line with its unknown words replaced, and its number of words."""
    words = line.split()
    return b" ".join([word if word in known else UNKNOWN for word in words]), len(words)


def estimate(
    lmplz: Path, order: int, lines: Iterable[bytes], known: frozenset[bytes], arpa: Path, *options: str
) -> None:
    """Estimate an interpolated modified Kneser-Ney model of `lines` with KenLM and write it to `arpa`.

    `options` are further ones of lmplz.
    """
    with atomic(arpa) as partial:
        text = partial_name(arpa.with_suffix(".txt"))
        try:
            with open(text, "wb") as file:
                for line in lines:
                    file.write(mask(line, known)[0] + b"\n")
            command: list[str | Path] = [lmplz, "--order", str(order), "--memory", MEMORY, "--discount_fallback"]
            command += ["--temp_prefix", f"{arpa.parent}{os.sep}", "--text", text, "--arpa", partial, *options]
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except OSError as error:
                made = "make it with `python -m nmt lmplz`"
                raise UserError(f"{lmplz}: cannot be run ({error.strerror}); {made}") from None
            if done.returncode:
                output = [line.strip() for line in done.stdout.decode(errors="replace").split("\n") if line.strip()]
                print(*output[-10:], sep="\n", file=sys.stderr)
                # its threads fail one after the other: on a full disk the last line may be of one that only followed
                full = [line for line in output if FULL_DISK.search(line)]
                reason = [f"exit code {done.returncode}", *output, *full][-1]
                raise UserError(f"{lmplz}: {arpa} could not be estimated: {reason}")
        finally:
            text.unlink(missing_ok=True)


def load_model(arpa: Path) -> kenlm.Model:
    """A language model for scoring; UserError where its file is missing or broken."""
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        return kenlm.Model(str(arpa), config)
    except (OSError, RuntimeError) as error:
        raise UserError(f"{arpa}: cannot be read ({str(error).splitlines()[0]}); estimate it again") from None


def draw(text: Text, words: int, seed: int) -> list[Pair]:
    """Clean pairs drawn with the seed, without repetition, until they hold `words` source words."""
    # a clean pair has a source word or more, hence no more than `words` of them are needed
    order = np.random.default_rng(seed).permutation(np.flatnonzero(text.clean))[:words]
    count = int(np.searchsorted(np.cumsum(text.source_words[order], dtype=np.int64), words)) + 1
    drawn = np.zeros(len(text.states), dtype=bool)
    drawn[order[:count]] = True
    return [pair for pair, chosen in zip(text.pairs(), drawn, strict=True) if chosen]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt estimate`."""
    parser.add_argument("--lmplz", type=Path, required=True, help="KenLM's program that estimates models")
    add_text_arguments(parser)
    parser.add_argument("--in-domain-sources", nargs="*", type=Path, default=[])
    parser.add_argument("--in-domain-targets", nargs="*", type=Path, default=[])
    parser.add_argument("--order", type=int, default=4, help="of the language models")
    parser.add_argument("--seed", type=int, required=True, help="of the sample for the general models")
    parser.add_argument("--output", type=Path, required=True, help="a folder")


def run(arguments: argparse.Namespace) -> None:
    """Estimate the four models."""
    if not 2 <= arguments.order <= 6:
        raise UserError(f"selection order {arguments.order}: n-gram models have an order from 2 to 6")
    if arguments.seed < 0:
        raise UserError(f"selection seed {arguments.seed}: it must not be negative")
    files = pair_files(arguments.in_domain_sources, arguments.in_domain_targets, "in-domain-")
    in_domain = [pair for one in files for pair in read_byte_pairs(*one) if pair[0].strip() and pair[1].strip()]
    if not in_domain:
        named = ", ".join(str(path) for one in files for path in one) or "--in-domain-sources"
        raise UserError(f"{named}: no in-domain text to select by; give some")
    text = text_of(arguments)
    if not text.clean.any():
        raise UserError(f"{', '.join(text.corpora())}: no clean pair, all are empty or held out; check the corpora")
    print("estimate: drawing the general text", file=sys.stderr, flush=True)
    general = draw(text, sum(count_words(source) for source, _ in in_domain), arguments.seed)
    for side, language in enumerate(SIDES):
        known = vocabulary(pair[side] for pair in in_domain)
        with atomic(arguments.output / f"{language}.words") as partial, open(partial, "wb") as file:
            file.writelines(word + b"\n" for word in sorted(known))
        for kind, pairs in zip(KINDS, (in_domain, general), strict=True):
            print(f"estimate: the {kind} model of the {language}", file=sys.stderr, flush=True)
            lines = (pair[side] for pair in pairs)
            estimate(arguments.lmplz, arguments.order, lines, known, arguments.output / f"{language}.{kind}.arpa")
