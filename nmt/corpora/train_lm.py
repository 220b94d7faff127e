"""Train the language models of data selection: for each side one on in-domain text and one on general text.

The general text is a random sample of the clean pairs of all corpora, with as many source words as the in-domain text.
As in Moore and Lewis (2010) both models of a language share one vocabulary, the words that occur at least twice in the
in-domain text; all other words are one unknown word. Both know the whole vocabulary: a word that its text lacks has the
probability that smoothing leaves for it. The models are n-gram models with modified Kneser-Ney smoothing, estimated by
KenLM's lmplz.

The output folder holds for each side the vocabulary (`source.words`, one word per line) and the two models
(`source.in-domain.arpa`, `source.general.arpa`), and `meta.json`, which has the digests of these files: models of two
runs are never mixed.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import kenlm
import numpy as np

from nmt.corpora.clean import CleanedText, Pair, add_cleaned_arguments, cleaned_text, pair_files
from nmt.corpora.pairs import read_byte_pairs
from nmt.settings.sections import Select
from nmt.system.checksums import sha256
from nmt.system.errors import UserError, warn
from nmt.system.files import atomic, partial_name
from nmt.system.options import OutputFolder
from nmt.system.text import write_json

SIDES = ("source", "target")
KINDS = ("in-domain", "general")
META = "meta.json"
FILES = [f"{side}.{what}" for side in SIDES for what in ("words", *(f"{kind}.arpa" for kind in KINDS))]
MEMORY = "1G"  # in which lmplz sorts; beyond it, lmplz uses the disk
UNKNOWN = b"<unknown>"
MORE_SYMBOLS = 3  # beside the words of the vocabulary: UNKNOWN, </s> and lmplz's <unk>; <s> is never predicted
FULL_DISK = re.compile(f"{os.strerror(errno.ENOSPC)}|{os.strerror(errno.EFBIG)}", re.IGNORECASE)


def vocabulary(lines: Iterable[bytes]) -> frozenset[bytes]:
    """The words that occur at least twice; a word with a NUL, at which KenLM would split it, is unknown."""
    counter: Counter[bytes] = Counter()
    for line in lines:
        counter.update(line.split())
    special = {b"<s>", b"</s>", b"<unk>", UNKNOWN}
    return frozenset(word for word, count in counter.items() if count > 1 and word not in special and b"\0" not in word)


def known_words(lines: list[bytes], language: str) -> frozenset[bytes]:
    """The vocabulary of in-domain text. Raises UserError if it has no word: models would compare only lengths."""
    known = vocabulary(lines)
    words = [word for line in lines for word in line.split()]
    share = sum(word in known for word in words) / len(words)
    said = f"the in-domain text of the {language} language has {len(lines)} sentences, and of its words"
    if not known:
        raise UserError(f"{said} none occurs twice, so that only lengths could be compared; give more text")
    if share < 0.5:
        warn(f"{said} only {share:.0%} occur twice; the others are unknown to the models, so give more text")
    return known


def mask(line: bytes, known: frozenset[bytes]) -> tuple[bytes, int]:
    """The line with every word outside `known` replaced by the unknown word, and the number of its words."""
    words = line.split()
    return b" ".join([word if word in known else UNKNOWN for word in words]), len(words)


def estimate(
    lmplz: str, order: int, lines: Iterable[bytes], known: frozenset[bytes], arpa: Path, partial: Path
) -> None:
    """Estimate the interpolated model `arpa` with modified Kneser-Ney smoothing on `lines`, and write it to `partial`.

    In every context its probabilities sum to one over `known`, UNKNOWN, </s> and <unk>; a word of `known` that `lines`
    lack has the probability of <unk>. Raises UserError if lmplz cannot be run or fails.
    """
    text = partial_name(arpa.with_suffix(".txt"))
    try:
        with open(text, "wb") as file:
            for line in lines:
                file.write(mask(line, known)[0] + b"\n")
        command: list[str | Path] = [lmplz, "--order", str(order), "--memory", MEMORY, "--discount_fallback"]
        command += ["--vocab_pad", str(len(known) + MORE_SYMBOLS), "--temp_prefix", f"{arpa.parent}{os.sep}"]
        command += ["--text", text, "--arpa", partial]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except OSError as error:
            build = f"make it with `python -m nmt lmplz --output {shlex.quote(lmplz)}`"
            raise UserError(f"{lmplz}: cannot be run ({error.strerror}); {build}") from None
        if done.returncode:
            output = [line.strip() for line in done.stdout.decode(errors="replace").split("\n") if line.strip()]
            print(*output[-10:], sep="\n", file=sys.stderr)
            # One thread of lmplz after another fails: the last line need not be the cause, a full disk.
            full = [line for line in output if FULL_DISK.search(line)]
            reason = [f"exit code {done.returncode}", *output, *full][-1]
            if done.returncode < 0 and not full:
                more = "allow larger files (ulimit -f)" if done.returncode == -signal.SIGXFSZ else "give it more memory"
                reason = f"it was ended by {signal.strsignal(-done.returncode)}; {more}, and repeat"
            raise UserError(f"{lmplz}: {arpa} could not be estimated: {reason}")
    finally:
        text.unlink(missing_ok=True)


def load_model(arpa: Path) -> kenlm.Model:
    """A language model to score with. Raises UserError if its file is missing or broken."""
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        return kenlm.Model(str(arpa), config)
    except (OSError, RuntimeError) as error:
        raise UserError(f"{arpa}: cannot be read ({str(error).splitlines()[0]}); train it again") from None


def draw(text: CleanedText, words: int, seed: int) -> list[Pair]:
    """Clean pairs drawn at random without replacement until they have `words` source words, in the text's order."""
    # A clean pair has at least one source word, so `words` pairs are enough.
    order = np.random.default_rng(seed).permutation(np.flatnonzero(text.clean))[:words]
    count = int(np.searchsorted(np.cumsum(text.source_words[order], dtype=np.int64), words)) + 1
    drawn = np.zeros(len(text.states), dtype=bool)
    drawn[order[:count]] = True
    return [pair for pair, chosen in zip(text.pairs(), drawn, strict=True) if chosen]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lmplz", required=True, help="the program of KenLM that estimates models")
    add_cleaned_arguments(parser)
    parser.add_argument("--in-domain-sources", nargs="*", type=Path, default=[], help="tokenized text")
    parser.add_argument("--in-domain-targets", nargs="*", type=Path, default=[])
    Select.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="seed of the random sample for the general models")
    parser.add_argument("--output", type=OutputFolder, required=True, help="folder of the models")


def run(arguments: argparse.Namespace) -> None:
    settings: Select = arguments.settings
    files = pair_files(arguments.in_domain_sources, arguments.in_domain_targets, "in-domain-")
    in_domain = [pair for one in files for pair in read_byte_pairs(*one) if pair[0].strip() and pair[1].strip()]
    if not in_domain:
        named = ", ".join(str(path) for one in files for path in one) or "--in-domain-sources"
        raise UserError(f"{named}: no in-domain text to compare with; give some")
    text = cleaned_text(arguments)
    print("train_lm: drawing the general text", file=sys.stderr, flush=True)
    general = draw(text, sum(len(source.split()) for source, _ in in_domain), arguments.seed)
    with ExitStack() as stack:
        # The last one entered is renamed first: META comes last, when all others are there.
        partials = {name: stack.enter_context(atomic(arguments.output / name)) for name in (META, *FILES)}
        for side, language in enumerate(SIDES):
            known = known_words([pair[side] for pair in in_domain], language)
            partials[f"{language}.words"].write_bytes(b"".join(word + b"\n" for word in sorted(known)))
            for kind, pairs in zip(KINDS, (in_domain, general), strict=True):
                print(f"train_lm: the {kind} model of the {language} language", file=sys.stderr, flush=True)
                lines, name = (pair[side] for pair in pairs), f"{language}.{kind}.arpa"
                estimate(arguments.lmplz, settings.order, lines, known, arguments.output / name, partials[name])
        write_json(partials[META], {"digests": {name: sha256(partials[name]) for name in FILES}})
