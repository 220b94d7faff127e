"""The registry of corpora: which archive holds which text, what it is for, and what it should contain.

A registry is a tab-separated file with a header. Each row is one parallel corpus: its name, its role, the addresses of
the archives of its source and target sides (the same address twice where one archive holds both), the members inside
them (empty for a file that is the text itself, perhaps compressed), the archives' hashes and the number of pairs.
Standard library only: the workflow reads it while it is parsed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Literal, cast, get_args
from urllib.parse import unquote, urlsplit

from nmt.files import UserError, read_lines

Role = Literal["train", "development", "test", "in_domain"]
COLUMNS = (
    "name",
    "role",
    "source_address",
    "target_address",
    "source_member",
    "target_member",
    "hash",
    "pairs",
)
HASH = re.compile(r"md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Corpus:
    """One parallel corpus of a registry; each tuple holds the source side first, then the target side.

    A member is "" where the address is the text itself; a hash is "" where none is known; `pairs` is None
    where the number of pairs is not known.
    """

    name: str
    role: Role
    addresses: tuple[str, str]
    members: tuple[str, str]
    hashes: tuple[str, str]
    pairs: int | None

    @property
    def archives(self) -> tuple[str, str]:
        """The paths of both archives below the folder of archives (see `archive_path`)."""
        return archive_path(self.addresses[0]), archive_path(self.addresses[1])


def archive_path(address: str) -> str:
    """Where an address lies below a mirror or a folder of archives: its path without the leading slash.

    "https://www.statmt.org/wmt13/test.tgz" gives "wmt13/test.tgz"; a relative address is its own path. Raises
    UserError where the path is empty or leaves its folder.
    """
    path = unquote(urlsplit(address).path) if "://" in address else address
    path = path.lstrip("/") if "://" in address else path
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or path.endswith("/") or ".." in parts or "\\" in path:
        raise UserError(f"address {address!r}: no path of a file below a mirror; write HOST/FOLDER/FILE or FOLDER/FILE")
    return str(PurePosixPath(path))


def read_registry(path: str | Path) -> dict[str, Corpus]:
    """The corpora of the registry at `path`, by name, in the file's order.

    Empty lines and lines that start with "#" are skipped. Raises UserError, with the file and line, for an
    unknown, repeated or missing column, a wrong number of fields, a name twice, an unknown role, and a hash or
    number that cannot be read; also where two rows give one archive different hashes.
    """
    header: list[str] | None = None
    corpora: dict[str, Corpus] = {}
    known_hashes: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        line = line.removesuffix("\r")
        if number == 1:
            line = line.removeprefix("\ufeff")
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{path}: line {number}"
        fields = [field.strip(" ") for field in line.split("\t")]
        if header is None:
            header = _header(fields, where)
            continue
        if len(fields) != len(header):
            raise UserError(f"{where}: {len(fields)} fields where the header has {len(header)}; separate them by tabs")
        corpus = _corpus(dict(zip(header, fields, strict=True)), where)
        if corpus.name in corpora:
            raise UserError(f"{where}: the name {corpus.name!r} is there twice; rename or remove one")
        for archive, digest in zip(corpus.archives, corpus.hashes, strict=True):
            if digest and known_hashes.setdefault(archive, digest) != digest:
                raise UserError(f"{where}: {archive} has another hash on an earlier line; correct one of them")
        corpora[corpus.name] = corpus
    if header is None:
        raise UserError(f"{path}: empty; the first line must name the columns {' '.join(COLUMNS)}")
    return corpora


def _header(fields: list[str], where: str) -> list[str]:
    for field in fields:
        if field not in COLUMNS:
            near = get_close_matches(field, COLUMNS, 1, 0)[0] if field else COLUMNS[0]
            raise UserError(f"{where}: unknown column {field!r}; did you mean {near!r}?")
    if len(set(fields)) != len(fields):
        raise UserError(f"{where}: a column is there twice")
    missing = [column for column in COLUMNS if column not in fields]
    if missing:
        raise UserError(f"{where}: missing column {', '.join(missing)}")
    return fields


def _corpus(row: dict[str, str], where: str) -> Corpus:
    if not NAME.fullmatch(row["name"]):
        raise UserError(f"{where}: name {row['name']!r} must be letters, digits, '.', '_' and '-' (it names files)")
    roles = get_args(Role)
    if row["role"] not in roles:
        raise UserError(f"{where}: role {row['role']!r} must be one of {', '.join(roles)}")
    addresses = (row["source_address"], row["target_address"])
    members = (row["source_member"], row["target_member"])
    for address in addresses:
        try:
            archive_path(address)
        except (UserError, ValueError) as error:
            raise UserError(f"{where}: {error}") from None
    if (addresses[0], members[0]) == (addresses[1], members[1]):
        raise UserError(f"{where}: source and target are the same file; give each its own address or member")
    hashes = row["hash"].split(",") if row["hash"] else ["", ""]
    for digest in hashes:
        if digest and not HASH.fullmatch(digest):
            raise UserError(f"{where}: hash {digest!r} must be md5: and 32 or sha256: and 64 lower-case hex digits")
    if len(hashes) == 1 and addresses[0] == addresses[1]:
        hashes *= 2
    if len(hashes) != 2:
        raise UserError(f"{where}: give one hash for each address, separated by a comma, or none")
    pairs = row["pairs"]
    if pairs and not (pairs.isascii() and pairs.isdigit() and int(pairs) > 0):
        raise UserError(f"{where}: pairs {pairs!r} must be a whole number above 0, or empty")
    return Corpus(
        row["name"],
        cast(Role, row["role"]),
        addresses,
        members,
        (hashes[0], hashes[1]),
        int(pairs) if pairs else None,
    )
