"""Check all fetched archives against the registry and its lock.

Prints a line for each archive of the registry: whole, different, or not fetched. An archive is whole if it has the
sha256 of the registry, or the length and hash of the lock. It is also compared with the length and hash published for
it; an archive from a `mirror` that was accepted despite such a difference is whole, and the difference is printed.
"""

from __future__ import annotations

import argparse
import codecs
import hashlib
import re
from pathlib import Path, PurePosixPath

from nmt.corpora.archives import HEADER, is_tar
from nmt.corpora.lock import Fingerprint, read_lock
from nmt.corpora.registry import Archive, read_archives
from nmt.system.compression import GZIP, XZ, ZIP
from nmt.system.errors import UserError
from nmt.system.progress import Progress

BLOCK = 1 << 20
SILENT = 5.0  # seconds
START = 4096  # bytes that show what a file is
PAGE = re.compile(rb"(?:(?><\?.*?>|<!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
STARTS = {".gz": (GZIP,), ".tgz": (GZIP,), ".xz": (XZ,), ".zip": ZIP, ".sgm": (b"<",), ".sgml": (b"<",)}


def measure(path: Path, label: str) -> tuple[Fingerprint, str]:
    """The length and SHA-256 of the file at `path`, and its MD5; if that takes long, `label` shows the progress."""
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    size = path.stat().st_size
    with open(path, "rb") as file, Progress(label, size, "B", silent=SILENT) as progress:
        while block := file.read(BLOCK):
            sha256.update(block)
            md5.update(block)
            progress.update(len(block))
    return Fingerprint(size, sha256.hexdigest()), md5.hexdigest()


def fault(archive: Archive, locked: Fingerprint | None, found: Fingerprint) -> str:
    """How a file differs from what the registry or the lock pins; "" if it does not or nothing is pinned."""
    if archive.sha256:
        return f"expected sha256:{archive.sha256}, got sha256:{found.sha256}" if found.sha256 != archive.sha256 else ""
    if locked is not None and found != locked:
        expected = f"{locked.bytes} bytes, sha256:{locked.sha256}"
        return f"expected {expected} as first fetched, got {found.bytes} bytes, sha256:{found.sha256}"
    return ""


def departure(archive: Archive, found: Fingerprint, md5: str) -> str:
    """How a file differs from the published length and hash; "" if it does not or none are known."""
    if archive.bytes is not None and found.bytes != archive.bytes:
        return f"expected {archive.bytes} bytes as published, got {found.bytes}"
    kind = archive.published.partition(":")[0]
    got = {"": "", "md5": f"md5:{md5}", "sha256": f"sha256:{found.sha256}"}[kind]
    return f"expected {archive.published} as published, got {got}" if got != archive.published else ""


def disguise(name: str, path: Path) -> str:
    """How the first bytes of the file at `path` contradict that it is the archive `name`; "" if they do not."""
    with open(path, "rb") as file:
        start = file.read(START)
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if not text:
        return "an empty file"
    if PAGE.match(text):
        return "a page in HTML"
    kind = PurePosixPath(name).suffix.lower()
    if kind == ".tar":
        fits = start.startswith((GZIP, XZ)) or is_tar(start[:HEADER])
    else:
        fits = text.startswith(STARTS.get(kind, b""))
    if not fits:
        return f"no {kind} file, by its first bytes"
    return ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--registry", type=Path, required=True, help="TSV of the corpora")
    parser.add_argument(
        "--lock", default="", help="TSV of the hashes of what was first fetched; need not exist yet (default: none)"
    )
    parser.add_argument("--archives", type=Path, required=True, help="folder of the archives, laid out like a mirror")


def run(arguments: argparse.Namespace) -> None:
    folder: Path = arguments.archives
    locked = read_lock(arguments.lock) if arguments.lock else {}
    present, wrong = 0, []
    for path, archive in read_archives(arguments.registry).items():
        if not (folder / path).is_file():
            print(f"{path}: not fetched", flush=True)
            continue
        present += 1
        found, md5 = measure(folder / path, f"verify {path}")
        if said := fault(archive, locked.get(path), found):
            wrong.append(path)
            print(f"{path}: DIFFERS, {said}", flush=True)
            continue
        known = "whole" if archive.sha256 or path in locked else "no hash is known"
        said = departure(archive, found, md5)
        print(f"{path}: {known}, {found.bytes} bytes" + (f", but {said}" if said else ""), flush=True)
    if wrong:
        raise UserError(
            f"{folder}: {len(wrong)} of {present} archives are not what was fetched: {', '.join(wrong)}; remove them "
            "and fetch them again"
        )
