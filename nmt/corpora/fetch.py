"""Fetch an archive of a registry from the web, a mirror or a folder, and keep it only if it is complete and correct.

A truncated or altered file never has the final name: data is received into a partial file beside it, which a later run
completes. After a timeout, a broken connection or a server error the step tries again, with growing pauses; if an
address fails, it tries the archive's next mirror. The file must have the sha256 of the registry or, if that is
empty, the one recorded in the lock when the file was first fetched. A file from the registry's addresses must also have
the length and hash published for it; a copy from the setting `mirror`, which is the user's responsibility, is accepted
with a warning. A file that is not of the kind that its name says, such as a server's error page, is never recorded.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from nmt.corpora.kept import second_name
from nmt.corpora.lock import read_lock, record
from nmt.corpora.own import local_path, mirror_folder
from nmt.corpora.registry import Archive, read_archives
from nmt.corpora.transfer import TooLongError, UnavailableError, begun, download, note_path
from nmt.corpora.verify import departure, disguise, fault, measure
from nmt.settings.checks import unknown
from nmt.system.errors import UserError, warn
from nmt.system.files import DISK_FULL
from nmt.system.locks import acquire
from nmt.system.options import Output
from nmt.system.progress import Progress

BLOCK = 1 << 20
PAUSES = (1.0, 4.0, 15.0, 60.0)  # seconds between attempts at one address
LONGEST = 10_000_000_000  # bytes of an archive whose length is not known
SET_MIRROR = "set `mirror` in the config to a copy that can be reached"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--registry", type=Path, required=True, help="TSV of the corpora")
    parser.add_argument("--archive", required=True, help="its path below a mirror, such as wmt13/test.tgz")
    parser.add_argument("--address", help="the address that the registry must have for it (default: any)")
    parser.add_argument("--sha256", help="the hash that the registry must have for it (default: any)")
    parser.add_argument(
        "--lock", default="", help="TSV of the hashes of what was first fetched (default: none is kept)"
    )
    parser.add_argument(
        "--mirror",
        default="",
        help="folder or http, https or file URL to read instead of the addresses (default: none)",
    )
    parser.add_argument("--output", type=Output, required=True)


def run(arguments: argparse.Namespace) -> None:
    archives = read_archives(arguments.registry)
    if arguments.archive not in archives:
        raise unknown(arguments.archive, archives, str(arguments.registry), "archive")
    archive = archives[arguments.archive]
    for given, found in ((arguments.address, archive.address), (arguments.sha256, archive.sha256)):
        if given not in (None, found):
            raise UserError(
                f"{arguments.registry}: {archive.path} has changed since the run began; start the run again"
            )
    lock = Path(arguments.lock) if arguments.lock else None
    fetch(archive, arguments.output, mirror=arguments.mirror, lock=lock)


def fetch(
    archive: Archive, output: Path, *, mirror: str = "", lock: Path | None = None, pauses: Sequence[float] = PAUSES
) -> None:
    """Write `archive`, or its copy in `mirror`, to `output`, and record it in `lock` if the registry has no hash of it.

    Nothing is fetched if `keep` has renamed an archive that has the hash of the registry or the lock. Otherwise each
    address is tried once, and again after each of `pauses` (in seconds), the address of a partial file first. Raises
    UserError if the archive is not available anywhere or the disk is full; `output` is then unchanged.
    """
    pinned = read_lock(lock).get(archive.path) if lock and not archive.sha256 else None
    former = second_name(output)
    if (archive.sha256 or pinned) and former.is_file():
        found, md5 = measure(former, f"check {archive.path}")
        if not (fault(archive, pinned, found) or (departure(archive, found, md5) and not mirror)):
            os.replace(former, output)
            return
    longest = pinned.bytes if pinned else max(LONGEST, archive.bytes or 0)
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(f".{output.name}.partial")
    places = locations(archive, mirror)
    said: list[str] = []
    with _alone(partial):
        before = begun(partial)
        for place in sorted(places, key=lambda place: place != before):
            if said:
                warn(f"{said[-1]}; trying {place}")
            try:
                if isinstance(place, Path):
                    _copy(place, partial, f"fetch {archive.path}")
                else:
                    length = None if mirror else archive.bytes
                    download(place, partial, f"fetch {archive.path}", length=length, longest=longest, pauses=pauses)
                _keep(archive, partial, output, lock, published_binds=not mirror)
                former.unlink(missing_ok=True)
                return
            except TooLongError as error:
                said.append(f"{place}: {error} ({_accept(archive, lock if pinned else None)})")
            except UnavailableError as error:
                said.append(f"{place}: {error}")
            except OSError as error:
                if error.errno not in DISK_FULL:
                    raise
                kept = "" if isinstance(place, Path) else "; what was received is kept"
                raise UserError(f"{output}: no space left{kept}, free some and repeat") from None
    # A server may recover, a wrong path will not.
    remedy = "repeat later" if any(isinstance(place, str) for place in places) else "correct the registry"
    raise UserError(f"{'; '.join(said)}; {remedy}, or {SET_MIRROR}")


@contextmanager
def _alone(partial: Path) -> Iterator[None]:
    """Lock the partial file, and remove it at the end if it is empty. Raises UserError if another process holds it."""
    with open(partial, "ab") as file:
        if not acquire(file, wait=False):
            raise UserError(f"{partial}: another process is fetching it; wait for it, or end it")
        try:
            yield
        finally:
            if partial.exists() and partial.stat().st_size == 0:
                partial.unlink()


def locations(archive: Archive, mirror: str = "") -> list[Path | str]:
    """The places to read `archive` from, in order: local paths and http(s) URLs.

    With a mirror, "https://host/a/b.tgz" is only read from "MIRROR/a/b.tgz". Raises UserError for an address that needs
    a mirror when there is none, and for a scheme other than http, https or file.
    """
    if mirror:
        folder = mirror_folder(mirror)
        return [folder / archive.path if folder else f"{mirror.rstrip('/')}/{quote(archive.path)}"]
    addresses = [address for address in (archive.address, *archive.mirrors) if "://" in address]
    if not addresses:
        raise UserError(
            f"{archive.address}: only a mirror has it, and none is set; set `mirror` in the config to its folder or URL"
        )
    return [local_path(address) or address for address in addresses]


def _copy(place: Path, partial: Path, label: str) -> None:
    if not place.is_file() and not place.is_dir() and place.exists():
        raise UnavailableError("a pipe or a device, not a file")
    try:
        with (
            open(place, "rb") as source,
            open(partial, "wb") as file,
            Progress(label, os.fstat(source.fileno()).st_size, "B") as progress,
        ):
            note_path(partial).unlink(missing_ok=True)
            while block := source.read(BLOCK):
                file.write(block)
                progress.update(len(block))
    except OSError as error:
        _drop(partial)
        if error.filename != str(place):
            raise
        raise UnavailableError(error.strerror) from None


def _keep(archive: Archive, partial: Path, output: Path, lock: Path | None, *, published_binds: bool) -> None:
    """Give the complete file its final name if it is correct; otherwise empty it and raise UnavailableError."""
    found, md5 = measure(partial, f"check {archive.path}")
    differs = departure(archive, found, md5)
    wrong = differs if published_binds else ""
    if wrong:
        column = "published" if archive.bytes in (None, found.bytes) else "bytes"
        wrong += f" ({_accept(archive, None, column)})"
    elif archive.sha256:
        wrong = fault(archive, None, found)
    elif not (wrong := disguise(archive.path, partial)) and lock:
        wrong = fault(archive, record(lock, archive.path, found), found)
        if wrong:
            wrong += f" ({_accept(archive, lock)})"
    if wrong:
        _drop(partial)
        raise UnavailableError(f"{wrong}; nothing was kept, because the copy there differs")
    if differs:
        warn(f"{archive.path}: {differs}; accepted nevertheless, because it is from `mirror`")
    with open(partial, "rb") as written:
        os.fsync(written.fileno())
    os.replace(partial, output)
    note_path(partial).unlink(missing_ok=True)


def _accept(archive: Archive, lock: Path | None, column: str = "bytes") -> str:
    """What to do to accept a file that differs from what `lock` or a `column` of the registry says."""
    if lock:
        return f"to accept it, remove its line from {lock}"
    does = "empty" if archive.bytes or column == "published" else "set"
    return f"to accept it, {does} `{column}` of {archive.path} in the registry"


def _drop(partial: Path) -> None:
    """Empty the partial file. `_alone` removes it later, because it holds the lock."""
    note_path(partial).unlink(missing_ok=True)
    os.truncate(partial, 0)
