"""The files of a system of Moses: the folder in which a step works, and moses.ini, which names the others."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nmt.system.files import UserError, atomic

PATH = re.compile(r"(?<= path=)\S+")


@contextmanager
def work_folder(output: Path) -> Iterator[Path]:
    """A folder beside `output`, empty at the beginning and removed at the end.

    A killed step leaves its folder to the next. Raises UserError while another process works there.
    """
    folder = output.parent.resolve() / f".{output.name}.work"
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise UserError(f"{folder}: another process works there; repeat when it has ended") from None
    except OSError:
        pass  # a file system without locks
    try:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def copy_configuration(configuration: Path, output: Path, relative: bool) -> None:
    """Copy a moses.ini, with paths that are relative to the folder of the copy, or absolute, as Moses wants them.

    A system is kept with relative ones, because a project may be moved or copied.
    """

    def placed(found: re.Match[str]) -> str:
        path = configuration.parent.resolve() / found[0]
        return os.path.relpath(path, output.parent.resolve()) if relative else str(path)

    text = PATH.sub(placed, configuration.read_text(encoding="utf-8"))
    with atomic(output) as partial:
        partial.write_text(text, encoding="utf-8")
