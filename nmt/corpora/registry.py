"""The registry of corpora: which archive holds which text, what it is for, and what it should contain.

A registry is a tab-separated file with a header. Each row describes one corpus, parallel or, with only the target
language, monolingual:

- `name`: not one that the workflow gives to files or rows of its own;
- `source_address`, `target_address`: the archives of its sides; the same address twice if one archive holds both; no
  source address if the corpus is monolingual. A path (below the setting `mirror`, if there is one) or a file: URL names
  the user's own file (see `nmt.corpora.own`) unless its length or hash is known;
- `role`: what the corpus is for, a note for readers;
- `mirrors`: further addresses of the same archive, separated by spaces and tried in order;
- `sha256`: the hash that the archive must have, wherever it is from; empty until known (see `nmt.corpora.lock`);
- `bytes`, `published`: the published length and hash (md5:HEX or sha256:HEX) of the archive. A file from the addresses
  must have them, a copy from the setting `mirror` need not; an entry that proves wrong may be emptied;
- `source_member`, `target_member`: the files inside a tar or zip archive; empty if the archive is the text itself,
  compressed or not. Where each line of one file holds both sides with a tab or `|||` between them, FILE:1 is the first
  side and FILE:2 the second, or :1 and :2 where the archive is that file;
- `pairs`, `words`: the expected numbers; `pairs` are the lines of a monolingual corpus, `words` is the number in the
  paper.

The first three columns are required; the others may be empty or missing. Those from `mirrors` to `published` have an
entry for each address, source first, separated by a comma; a single entry if the addresses are the same. Standard
library only, because the workflow reads the registry whenever it is parsed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from nmt.corpora.archives import member_name
from nmt.settings.checks import PLAIN, is_plain
from nmt.system.errors import UserError
from nmt.system.files import check_regular
from nmt.system.text import read_lines

ROLES = ("train", "development", "test", "in_domain", "monolingual")
REQUIRED = ("name", "source_address", "target_address")
COLUMNS = (
    *("name", "role", "source_address", "target_address", "mirrors", "bytes", "sha256", "published"),
    *("source_member", "target_member", "pairs", "words"),
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Names that the workflow uses: the joined development set, the page's folder, the row of all corpora, files made from a
# set or a corpus, and files beside the page's folder.
RESERVED = re.compile(
    r"development|index|total|.*\.(\d+-of-\d+|no_unk|symbols|beam[1-9]\d*|csv|html|log|md|pdf|png|svg|tex|tsv)"
)
LONGEST_PART = 200  # bytes of a part of a path, which has further endings in names of files
SHA256 = re.compile(r"[0-9a-f]{64}")
PUBLISHED = re.compile(r"md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Archive:
    """A file to fetch and what is known about it; unknown `bytes` are None, unknown hashes are ""."""

    address: str
    mirrors: tuple[str, ...] = ()
    bytes: int | None = None
    sha256: str = ""
    published: str = ""

    @cached_property
    def path(self) -> str:
        """Its path below a mirror or a folder of archives (see `archive_path`)."""
        return archive_path(self.address)


@dataclass(frozen=True)
class Corpus:
    """A corpus of a registry; tuples have the source side first, or, for a monolingual corpus, only the target side.

    A member is "" if the archive is the text itself, and ends in ":1" or ":2" if a line of it holds both sides;
    unknown `pairs` and `words` are None, an unknown `role` is "".
    """

    name: str
    archives: tuple[Archive, ...]
    members: tuple[str, ...] = ("", "")
    role: str = ""
    pairs: int | None = None
    words: int | None = None

    @property
    def is_monolingual(self) -> bool:
        """Whether it has only a target side."""
        return len(self.archives) == 1

    @property
    def sides(self) -> list[tuple[Archive, str]]:
        """The archive of each side, and its member."""
        return list(zip(self.archives, self.members, strict=True))


def in_one_form(member: str) -> str:
    """The `member_name`, as an argument."""
    return as_argument(member_name(member))


def as_argument(path: str) -> str:
    """A path that is no option on a command line: one that begins with a minus sign has `./` before it."""
    return f"./{path}" if path.startswith("-") else path


def archive_path(address: str) -> str:
    """The path of an address below a mirror or a folder of archives: its path without the leading slash, and its query.

    "https://www.statmt.org/wmt13/test.tgz" gives "wmt13/test.tgz", "https://host/get.php?f=a.zip" "get.php?f=a.zip"; a
    relative address is its own path. Raises UserError if the path is empty, leaves its folder or has unusual
    characters.
    """
    path = address
    if "://" in address:
        parts_of_url = urlsplit(address)
        query = f"?{parts_of_url.query}" if parts_of_url.query else ""
        path = unquote(f"{parts_of_url.path.lstrip('/')}{query}")
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or path.endswith("/") or ".." in parts:
        raise UserError(
            f"address {address!r}: no path of a file below a mirror; write https://HOST/FOLDER/FILE, FOLDER/FILE or "
            "file:///FOLDER/FILE"
        )
    if not is_plain(path) or any(part != part.strip() or len(os.fsencode(part)) > LONGEST_PART for part in parts):
        raise UserError(
            f"address {address!r}: must be a path {PLAIN}, of parts of at most {LONGEST_PART} bytes without spaces "
            "at their ends"
        )
    return str(PurePosixPath(path))


def check_url(url: str) -> None:
    """Raise ValueError unless a server can be asked for `url`."""
    if not re.fullmatch(r"[!-~]+", url):
        raise ValueError("must be in ASCII, without spaces (write other characters as %20)")
    parts = urlsplit(url)
    if parts.port == 0:  # raises ValueError where it is no number
        raise ValueError("port 0 does not exist")
    if parts.netloc and not parts.hostname:
        raise ValueError("no host in it")
    if "@" in parts.netloc:
        raise ValueError(
            "names and passwords are not sent; fetch the file yourself, into the folder that `mirror` names"
        )


def read_registry(path: str | Path) -> dict[str, Corpus]:
    """The corpora of the registry at `path`, by name, in the order of the file.

    Empty lines and lines that start with "#" are skipped. Raises UserError, with the file and line, for an unknown,
    repeated or missing column, a wrong number of fields, a repeated name, an unknown role, an invalid address, member,
    hash or number, an archive that two rows describe differently, and one whose path lies below another.
    """
    header: list[str] | None = None
    corpora: dict[str, Corpus] = {}
    known: dict[str, Archive] = {}
    folders: dict[str, str] = {}  # each folder that an archive lies in, and one such archive
    check_regular(path)
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{path}: line {number}"
        fields = [field.strip(" ") for field in line.split("\t")]
        if header is None:
            header = _header(fields, where)
            continue
        if len(fields) != len(header):
            raise UserError(f"{where}: {len(fields)} fields where the header has {len(header)}; separate them by tabs")
        try:
            corpus = _corpus(dict.fromkeys(COLUMNS, "") | dict(zip(header, fields, strict=True)))
        except UserError as error:
            raise UserError(f"{where}: {error}") from None
        if corpus.name in corpora:
            raise UserError(f"{where}: the name {corpus.name!r} occurs twice; rename or remove one")
        for archive in corpus.archives:
            if known.setdefault(archive.path, archive) != archive:
                raise UserError(
                    f"{where}: {archive.path} has another address, mirror, length or hash on an earlier line; "
                    "correct one of them"
                )
            around = [str(folder) for folder in PurePosixPath(archive.path).parents]
            folders.update(dict.fromkeys(around, archive.path))
            other = next((folder for folder in around if folder in known), folders.get(archive.path))
            if other is not None:
                raise UserError(f"{where}: {archive.path} and {other} cannot both be files; rename one of them")
        corpora[corpus.name] = corpus
    if header is None:
        raise UserError(f"{path}: empty; the first line must name columns, {', '.join(REQUIRED)} among them")
    return corpora


def read_archives(path: str | Path) -> dict[str, Archive]:
    """The archives of the registry at `path`, by their paths, in the order of the file."""
    return {archive.path: archive for corpus in read_registry(path).values() for archive in corpus.archives}


def _header(fields: list[str], where: str) -> list[str]:
    for field in fields:
        if field not in COLUMNS:
            near = get_close_matches(field, COLUMNS, 1, 0)[0] if field else COLUMNS[0]
            raise UserError(f"{where}: unknown column {field!r}; did you mean {near!r}?")
    if len(set(fields)) != len(fields):
        raise UserError(f"{where}: a column occurs twice")
    missing = [column for column in REQUIRED if column not in fields]
    if missing:
        raise UserError(f"{where}: missing column {', '.join(missing)}")
    return fields


def _corpus(row: dict[str, str]) -> Corpus:
    if not NAME.fullmatch(row["name"]):
        raise UserError(f"name {row['name']!r} must be letters, digits, '.', '_' and '-' (it names files), at most 100")
    if RESERVED.fullmatch(row["name"]):
        raise UserError(
            f"name {row['name']!r} is one that the workflow gives to files or rows of its own; choose another"
        )
    if row["role"] not in ("", *ROLES):
        raise UserError(f"role {row['role']!r} must be one of {', '.join(ROLES)}, or empty")
    sides = ["source", "target"]
    if row["role"] == "monolingual" or not (row["role"] or row["source_address"]):
        if row["source_address"] or row["source_member"]:
            raise UserError(
                "a monolingual corpus has a target side alone; leave source_address and source_member empty"
            )
        sides = ["target"]
    members = tuple(_member(row[f"{side}_member"]) for side in sides)
    numbers = (_number(row[column], column) for column in ("pairs", "words"))
    corpus = Corpus(row["name"], _archives(row, sides), members, row["role"], *numbers)
    if len({archive.path for archive in corpus.archives}) < len({archive.address for archive in corpus.archives}):
        raise UserError(
            f"the addresses of source and target differ, but both files would be kept as {corpus.archives[0].path}; "
            "name a copy of one of them that has another path"
        )
    if len({(archive.path, member) for archive, member in corpus.sides}) < len(sides):
        raise UserError(
            "source and target are the same file; give each its own address or member, or FILE:1 and FILE:2 (:1 and :2 "
            "for the archive itself) where each line holds both sides"
        )
    return corpus


def _archives(row: dict[str, str], sides: list[str]) -> tuple[Archive, ...]:
    addresses = [_address(row[f"{side}_address"]) for side in sides]
    columns = [_for_each(column, row, addresses) for column in ("mirrors", "bytes", "sha256", "published")]
    return tuple(
        Archive(
            address,
            tuple(_mirror(mirror) for mirror in mirrors.split()),
            _number(length, "bytes"),
            _hash(sha256, SHA256, "sha256", "64"),
            _hash(published, PUBLISHED, "published", "md5: and 32 or sha256: and 64"),
        )
        for address, mirrors, length, sha256, published in zip(addresses, *columns, strict=True)
    )


def _for_each(column: str, row: dict[str, str], addresses: list[str]) -> list[str]:
    """The entry of a column for each of `addresses`; a single entry is that of all if they are the same."""
    given = [one.strip() for one in row[column].split(",")]
    is_one_file = len(set(addresses)) == 1
    if len(given) == 1 and (is_one_file or not given[0]):
        given *= len(addresses)
    if len(given) != len(addresses) or (is_one_file and len(set(given)) > 1):
        several = "; separate several mirrors of a file by spaces" if column == "mirrors" else ""
        entries = "one" if is_one_file else "one for each address, separated by a comma,"
        raise UserError(f"{column} {row[column]!r}: give {entries} or none{several}")
    return given


def _address(text: str) -> str:
    try:
        path = archive_path(text)
        if "://" in text:
            check_url(text)
    except ValueError as error:
        raise UserError(f"address {text!r}: {error}") from None
    return text if "://" in text else path  # without ./


def _mirror(text: str) -> str:
    if urlsplit(_address(text)).scheme not in ("http", "https"):
        raise UserError(f"mirrors {text!r}: must be a full http or https address of the archive")
    return text


def _member(text: str) -> str:
    if text.startswith("-"):
        raise UserError(f"member {text!r}: write ./{text}, because a minus sign begins an option")
    if not is_plain(text) or text.startswith("/") or ".." in PurePosixPath(text).parts:
        raise UserError(f"member {text!r}: must be the path of a file inside the archive, {PLAIN}")
    return in_one_form(text)


def _hash(text: str, pattern: re.Pattern[str], column: str, digits: str) -> str:
    if text and not pattern.fullmatch(text):
        raise UserError(f"{column} {text!r} must be {digits} lower-case hex digits, or empty")
    return text


def _number(text: str, column: str) -> int | None:
    if text and not (re.fullmatch(r"[0-9]{1,18}", text) and int(text) > 0):
        raise UserError(f"{column} {text!r} must be a whole number above 0, or empty")
    return int(text) if text else None
