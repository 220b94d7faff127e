"""The files of a Moses system: the folder in which a step works, moses.ini, which names the others, and text.

In text that Moses reads, some characters have a special meaning. A | separates the factors of a word and, as |||, the
columns of a table; words in brackets are symbols of a grammar; <s>, </s> and <unk> are words of every language model.
So they are written as character references, as Moses's tokenizer does, followed by an invisible character: text that
already holds references comes back as it was.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nmt.corpora.pairs import read_pairs
from nmt.system.checksums import sha256, verify
from nmt.system.errors import UserError
from nmt.system.files import atomic, check_regular, check_replaceable, of_names
from nmt.system.locks import acquire
from nmt.system.text import write_lines

ORIENTATION = "msd-bidirectional-fe"
TABLES = ("phrase-table.gz", f"reordering-table.wbe-{ORIENTATION}.gz")  # in the folder `model` of moses_phrases
SIDES = ("source", "target")  # the names of the languages, for train-model.perl
PATH = re.compile(r"(?<= path=)\S+")
DIGEST = "\n# SHA-256 "  # a comment, to Moses
MARK = "\u2060"
CODES = {"|": "&#124;", "[": "&#91;", "]": "&#93;", "<": "&#60;", ">": "&#62;"}
_ENCODED = str.maketrans({sign: code + MARK for sign, code in CODES.items()})


@contextmanager
def work_folder(output: Path) -> Iterator[Path]:
    """A folder beside `output`, empty at the beginning and removed at the end.

    A killed step leaves its folder to the next. Raises UserError while another process works there.
    """
    folder = output.parent.resolve() / f".{output.name}.work"
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / ".lock"
    with open(lock, "ab") as file:
        if not acquire(file, wait=False):
            raise UserError(f"{folder}: another process works there; repeat when it has ended")
        try:
            for path in {*folder.iterdir()} - {lock}:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def empty(folder: Path, step: str, names: Sequence[str], is_earlier: bool) -> None:
    """Make the folder of a step, or remove the step's files and folders, `names`, from it.

    A file, the mark, says that the folder is the step's; it is written first, and stays. A folder of an earlier version
    (`is_earlier`) has none. Raises UserError if the folder holds anything else, or anything at all without a mark.
    """
    mark = folder / f".{step}"
    is_own = of_names(mark.name, *names) if is_earlier or mark.is_file() else _is_empty_folder
    check_replaceable(folder, f"a folder of {step}", is_own)
    folder.mkdir(parents=True, exist_ok=True)
    mark.touch()
    for path in {*folder.iterdir()} - {mark}:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _is_empty_folder(path: Path) -> bool:
    """Whether `path` is a folder without files, as Snakemake makes it for outputs."""
    return path.is_dir() and not any(path.iterdir())


def keep_system(configuration: Path, output: Path) -> None:
    """Copy the moses.ini of a tuned system, with the SHA-256 of its language model and, last, of itself.

    The tables have checksums of their own, and hold the time at which they were made. Paths become relative to the
    folder of the copy, because a project may be moved or copied.
    """
    folder = output.parent.resolve()
    text = _placed(configuration, lambda path: os.path.relpath(path, folder))
    with atomic(output) as partial:  # makes the folder to which the paths are relative
        plain = [path for path in PATH.findall(text) if not path.endswith(".gz")]
        text += "".join(f"{DIGEST}{sha256(folder / path)} {path}" for path in plain)
        text += f"{DIGEST}{hashlib.sha256(text.encode()).hexdigest()}\n"
        partial.write_text(text, encoding="utf-8")


def system_files(configuration: Path) -> list[Path]:
    """The files that the moses.ini of `keep_system` names.

    Raises UserError if one is missing, or if the language model or moses.ini itself is damaged.
    """
    content, _, digest = configuration.read_bytes().rpartition(DIGEST.encode())
    if digest != f"{hashlib.sha256(content).hexdigest()}\n".encode():
        raise UserError(f"{configuration}: damaged, changed or not from the step moses_tune; run that step again")
    text, *lines = content.decode().split(DIGEST)
    digests = {path: digest for digest, path in map(str.split, lines)}
    verify(configuration, digests, "run the step that wrote it, and moses_tune")
    files = [configuration.parent / path for path in PATH.findall(text)]
    for path in files:
        check_regular(path)
    return files


def write_configuration(configuration: Path, output: Path) -> None:
    """Copy a moses.ini, with or without SHA-256s, for Moses, which wants absolute paths."""
    output.write_text(_placed(configuration, str).partition(DIGEST)[0], encoding="utf-8")


def _placed(configuration: Path, place: Callable[[Path], str]) -> str:
    """The text of a moses.ini with `place` of each path."""
    folder = configuration.parent.resolve()
    return PATH.sub(lambda found: place(folder / found[0]), configuration.read_text(encoding="utf-8"))


def encoded(line: str) -> str:
    """`line` as Moses may read it."""
    return line.translate(_ENCODED)


def decoded(line: str) -> str:
    """The text that a line from Moses stands for."""
    for sign, code in CODES.items():
        line = line.replace(code + MARK, sign)
    return line


def corpus_options(texts: Sequence[Path], folder: Path) -> list[str]:
    """Write the two sides of a text to `folder`; return the options of train-model.perl that name them."""
    for place, language in enumerate(SIDES):
        write_lines(folder / f"text.{language}", (encoded(pair[place]) for pair in read_pairs(*texts)))
    return ["-corpus", str(folder / "text"), "-f", SIDES[0], "-e", SIDES[1]]
