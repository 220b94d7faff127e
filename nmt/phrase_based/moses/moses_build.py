"""Build Moses, with the aligners mgiza and fast_align, for experiments that name no installation of their own.

The sources are fetched once, each pinned to a commit, and kept. Only what the steps call is compiled, by CMakeLists.txt
beside this module. An interrupted build resumes; if two builds use one folder, the second waits for the first. The
folder of the output is the installation: `bin`, `scripts` beside it, the sources, and the log of the build. A folder
with other files, or without the lock that a build makes first, is left as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nmt.corpora.archives import DAMAGED, WHOLE
from nmt.corpora.fetch import SET_MIRROR, fetch
from nmt.corpora.own import mirror_folder
from nmt.corpora.registry import Archive
from nmt.phrase_based.moses.installation import Moses
from nmt.settings.experiment import BUILT_COMMIT, BUILT_ORDER, MOSES_ALIGNERS, MOSES_PROGRAMS
from nmt.system.checksums import sha256
from nmt.system.errors import UserError
from nmt.system.files import check_regular, check_replaceable, of_names
from nmt.system.locks import acquire
from nmt.system.options import Output, add_threads_argument
from nmt.system.progress import Progress
from nmt.system.stop import temporary_folder
from nmt.system.text import read_lines, write_json, write_lines


class Source(NamedTuple):
    """A repository, and the commit that is built."""

    owner: str
    name: str
    commit: str

    @property
    def folder(self) -> str:
        """The one folder in an archive of this commit."""
        return f"{self.name}-{self.commit}"


MOSES = Source("moses-smt", "mosesdecoder", BUILT_COMMIT)
MGIZA = Source("moses-smt", "mgiza", "6105035cd5b2f631b80c58abba47e49793feacf7")
FAST_ALIGN = Source("clab", "fast_align", "cab1e9aac8d3bb02ff5ae58218d8d225a039fa11")
MERGE = "merge_alignment.py"  # a script of mgiza
COMPILED = {*MOSES_PROGRAMS, *(name for one in MOSES_ALIGNERS.items() for name in (one[0], *one[1]))} - {MERGE}
PROGRAMS = ("cmake", "make", "perl")
COMPILERS = (os.environ.get("CXX", "").split(" ")[0], "c++", "g++", "clang++")
INSTALL = (
    "install cxx-compiler cmake make perl libboost-devel zlib from conda-forge, or on Debian g++ cmake make perl "
    "libboost-all-dev zlib1g-dev; or name the folder of an installed Moses in phrase_based.bin"
)
SETTING = "phrase_based.sources"
SET_SOURCES = f"name a folder that has the sources in {SETTING}"
LOCK, BIN, SCRIPTS, SOURCES, WORK, LOG = "lock", "bin", "scripts", "sources", "build", "build.log"
HALF_WRITTEN = 10.0  # seconds; a compiler that is killed leaves a part of a file
FAULT = re.compile(r"\berror\b|No space left|Killed|CMake Error|\*\*\*", re.IGNORECASE)


def check_own(output: Path) -> None:
    """Raise UserError if the folder of `output` holds anything but what a build writes, which makes the lock first."""
    folder = output.parent.resolve()
    names = {output.name, LOCK, BIN, SCRIPTS, SOURCES, WORK, LOG} if (folder / LOCK).is_file() else set()
    check_replaceable(folder, "a folder of moses_build", of_names(*names))


def check_tools() -> None:
    """Raise UserError, in one line that says what to install, where a program or a library for the build is missing."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if not any(shutil.which(compiler) for compiler in COMPILERS if compiler):
        missing.insert(0, "a C++ compiler")
    if not missing:
        with temporary_folder("moses_build") as folder:
            said = subprocess.run(
                ["cmake", "-S", Path(__file__).parent, "-B", folder, "-DONLY_CHECK=ON"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        if said.returncode:
            missing = [name for name in ("Boost", "ZLIB") if re.search(rf"could not find.*\b{name}", said.stdout, re.I)]
            lines = [line.strip() for line in said.stdout.split("\n") if FAULT.search(line)]
            missing = missing or [f"what CMake needs ({lines[0] if lines else said.returncode})"]
    if missing:
        raise UserError(f"Moses cannot be built without {', '.join(missing)}; {INSTALL}")


def archive_of(source: Source, kept: Path, sources: str) -> Path:
    """The archive of a source: in the folder `sources`, or fetched into `kept` from that mirror or from GitHub."""
    place = mirror_folder(sources, SETTING) if sources else None
    if place is not None and (found := sorted(place.glob(f"{source.name}*.t*z"))):
        return found[0]
    archive = Archive(f"https://github.com/{source.owner}/{source.name}/archive/{source.commit}.tar.gz")
    output = kept / f"{source.folder}.tar.gz"
    if not output.exists():
        try:
            fetch(archive, output, mirror=sources)
        except UserError as error:
            raise UserError(str(error).replace(SET_MIRROR, SET_SOURCES)) from None
    return output


def begin(archives: Sequence[Path], work: Path) -> None:
    """Make the folder of the build; one that was begun from other archives, such as a damaged one, is started again.

    Raises UserError if an archive is not a file.
    """
    for archive in archives:
        check_regular(archive)
    record, digests = work / "archives", [sha256(archive) for archive in archives]
    if not record.is_file() or list(read_lines(record)) != digests:
        shutil.rmtree(work, ignore_errors=True)
        write_lines(record, digests)


def unpack(archive: Path, source: Source, folder: Path) -> Path:
    """The folder of a source, unpacked in `folder`. Raises UserError if the archive is damaged or of another commit.

    GitHub packs an archive anew for each download, so its hash tells nothing; its one folder and its comment name the
    commit.
    """
    final, partial = folder / source.folder, folder / "unpacked"
    if final.is_dir():
        return final
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with tarfile.open(archive) as packed:
            tops = sorted({top for name in packed.getnames() for top in PurePosixPath(name).parts[:1]})
            commit = packed.pax_headers.get("comment", source.commit)
            if tops != [source.folder] or commit != source.commit:
                held = ", ".join(tops[:3]) or "nothing" if tops != [source.folder] else f"the commit {commit}"
                raise UserError(f"{archive}: holds {held}, not {source.folder}; remove it, or {SET_SOURCES}")
            packed.extraction_filter = getattr(tarfile, "data_filter", None)  # not in the first versions of Python 3.11
            packed.extractall(partial)
    except DAMAGED as error:
        raise UserError(f"{archive}: truncated or damaged ({error}); {WHOLE}") from None
    os.replace(partial / source.folder, final)
    return final


@contextmanager
def alone(folder: Path) -> Iterator[int]:
    """Hold the lock of `folder`, and wait while another process has it; yield its file descriptor.

    Compilers that inherit it hold the lock too, so that none is left at work when the next build begins.
    """
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not acquire(file, wait=False):
            print(f"moses_build: waiting for another process, which builds in {folder}", file=sys.stderr, flush=True)
            acquire(file)
        yield file
    finally:
        os.close(file)


def logged(command: Sequence[str | Path], log: Path, lock: int, heed: Callable[[str], object]) -> None:
    """Run `command` with its output in `log`, and `heed` each line. Raises UserError with its first error."""
    fault = ""
    with open(log, "a", encoding="utf-8", buffering=1) as file:
        words: list[str | Path] = list(command)
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", pass_fds=[lock]
        ) as process:
            for line in process.stdout or ():
                file.write(line)
                heed(line)
                if not fault and FAULT.search(line):
                    fault = line.strip()
    if process.returncode:
        if "No space left" in fault:
            raise UserError(f"{log.parent}: no space left; free some and repeat, and the build continues")
        said = fault or f"exit code {process.returncode}"
        raise UserError(f"{command[0]} failed: {said}; {log} says more; correct it and repeat, and the build continues")


def drop_half_written(objects: Path) -> int:
    """Remove what was being compiled when an earlier build was ended; return the number of files that are left."""
    files = [path for path in objects.rglob("*") if path.suffix in (".o", ".a") or path.parent == objects / "bin"]
    times = {path: path.stat().st_mtime for path in files if path.is_file()}
    last = max(times.values(), default=0.0) - HALF_WRITTEN
    for path in [path for path, written in times.items() if written >= last]:
        path.unlink()
        del times[path]
    return sum(path.suffix == ".o" for path in times)


def compile_all(trees: Sequence[Path], work: Path, log: Path, lock: int, threads: int) -> Path:
    """Compile the programs in `work` from the unpacked sources; return their folder."""
    objects = work / "objects"
    done = drop_half_written(objects)
    options = [f"-D{name}={tree}" for name, tree in zip(("MOSES", "MGIZA", "FAST_ALIGN"), trees, strict=True)]
    options += [f"-DCOMMIT={MOSES.commit}", f"-DORDER={BUILT_ORDER}", "-DCMAKE_BUILD_TYPE=Release", "-DONLY_CHECK=OFF"]
    logged(["cmake", "-S", Path(__file__).parent, "-B", objects, "-G", "Unix Makefiles", *options], log, lock, len)
    total = len(json.loads((objects / "compile_commands.json").read_text()))
    with Progress("build Moses", total, "files", done) as progress:
        logged(
            ["cmake", "--build", objects, "--parallel", str(threads)],
            log,
            lock,
            lambda line: progress.update(int("] Building C" in line)),
        )
    return objects / "bin"


def install(compiled: Path, moses: Path, mgiza: Path, folder: Path) -> None:
    """Put programs and scripts into `folder`, each of its two folders as a whole."""
    partial = {name: folder / f".{name}.partial" for name in (BIN, SCRIPTS)}
    for path in partial.values():
        shutil.rmtree(path, ignore_errors=True)
    partial[BIN].mkdir()
    for name in sorted(COMPILED):
        shutil.copy(compiled / name, partial[BIN])
    script = (mgiza / "mgizapp/scripts" / MERGE).read_text(encoding="utf-8")
    merge = partial[BIN] / MERGE
    merge.write_text(re.sub(r"^#!.*", "#!/usr/bin/env python3", script), encoding="utf-8")
    merge.chmod(0o755)
    shutil.copytree(moses / "scripts", partial[SCRIPTS], symlinks=True)
    for name, path in partial.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        os.replace(path, folder / name)


def build(output: Path, sources: str, threads: int) -> None:
    """Build Moses in the folder of `output`, and write there what it was made of. Raises UserError."""
    folder = output.parent.resolve()
    if not output.exists():
        check_own(output)
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with alone(folder) as lock:
        if output.exists():  # made by the process that was waited for
            Moses(folder / BIN, MOSES.commit)
            return
        check_tools()
        work, log = folder / WORK, folder / LOG
        log.unlink(missing_ok=True)
        print(f"moses_build: in {folder}; the compiler's messages are in {log.name}", file=sys.stderr, flush=True)
        parts = (MOSES, MGIZA, FAST_ALIGN)
        archives = [archive_of(one, folder / SOURCES, sources) for one in parts]
        begin(archives, work)
        trees = [unpack(archive, one, work) for archive, one in zip(archives, parts, strict=True)]
        compiled = compile_all(trees, work, log, lock, threads)
        install(compiled, trees[0], trees[1], folder)
        Moses(folder / BIN, MOSES.commit)
        made = {
            "commits": {one.name: one.commit for one in parts},
            "compiler": (work / "objects/compiler").read_text(),
            "boost": (work / "objects/boost").read_text(),
            "seconds": round(time.monotonic() - begun, 1),
        }
        write_json(output, made)
        shutil.rmtree(work)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sources", default="", help="folder or mirror that has the sources (default: they are fetched from GitHub)"
    )
    add_threads_argument(parser, "compilers at once", required=True)
    parser.add_argument(
        "--output", type=Output, required=True, help="JSON of what it was made of; the installation lies beside it"
    )


def run(arguments: argparse.Namespace) -> None:
    build(arguments.output, arguments.sources, arguments.threads)
