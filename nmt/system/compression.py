"""How compressed files begin."""

from __future__ import annotations

import re

GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
OTHERS = {
    rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": "bzip2",
    rb"[\x50-\x5f]\x2a\x4d\x18|\x28\xb5\x2f\xfd": "Zstandard",
    rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18": "lz4",
    rb"LZIP[\x00\x01]": "lzip",
    rb"\x89LZO\x00\r\n\x1a\n": "lzop",
    rb"\x5d\x00\x00": "lzma",
    rb"\x1f\x9d": "compress",
    rb"7z\xbc\xaf\x27\x1c": "7z",
    rb"Rar!\x1a\x07": "RAR",
}  # the first bytes of compressed files that are not read


def other_kind(start: bytes) -> str:
    """The kind of a compressed file with these first bytes, if it is one of OTHERS; "" if not."""
    return next((kind for pattern, kind in OTHERS.items() if re.match(pattern, start)), "")


def is_compressed(start: bytes) -> bool:
    """Whether a file with these first bytes is compressed."""
    return start.startswith((GZIP, XZ, *ZIP)) or other_kind(start) != ""
