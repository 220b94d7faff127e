"""SentencePiece (Kudo and Richardson, 2018): running text of any language as a sequence of pieces, and back.

Spaces separate words, and a piece that begins a word begins with "▁". A character that is no piece becomes its bytes in
UTF-8, so no text has an unknown piece, and joining is the exact inverse of splitting, unless the text has the sign "▁"
(U+2581) itself, which is read as a space.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from nmt.corpora.subwords import VERSION, Codes
from nmt.system.errors import UserError
from nmt.system.files import atomic, open_once

SPACE = "▁"
BYTE = re.compile("<0x([0-9A-F]{2})>")
UNREADABLE = "\ufffd"  # bytes that are no text
BYTES = {f"<0x{number:02X}>" for number in range(256)}  # pieces that every vocabulary has


@dataclass(frozen=True)
class Pieces:
    """A model of SentencePiece, as its own library writes it, with the methods of `Codes`."""

    model: bytes = field(repr=False)

    @cached_property
    def _processor(self) -> Any:
        from sentencepiece import SentencePieceProcessor  # here, so that other models do without it

        return SentencePieceProcessor(model_proto=self.model)

    @classmethod
    def read(cls, path: str | os.PathLike[str], symbols: Sequence[str] | None = None) -> Pieces:
        """Read the model that the step learn_pieces wrote; `symbols` is its vocabulary.

        Raises UserError if the file is damaged, or if the vocabulary is not that of its pieces.
        """
        try:
            pieces = cls(Path(path).read_bytes() or b"?")  # without a byte it would not be read
            own = {*pieces.symbols}
        except (RuntimeError, UnicodeDecodeError):
            raise UserError(f"{path}: no codes of BPE and no model of SentencePiece; learn it again") from None
        if symbols is not None and {*symbols} != own:
            raise UserError(f"{path}: not the pieces of this vocabulary; name its own")
        return pieces

    def write(self, path: str | os.PathLike[str]) -> None:
        with atomic(path) as partial:
            partial.write_bytes(self.model)

    @cached_property
    def symbols(self) -> list[str]:
        """All pieces but the unknown one."""
        numbers = range(self._processor.get_piece_size())
        return [self._processor.id_to_piece(one) for one in numbers if one != self._processor.unk_id()]

    def split(self, words: Iterable[str]) -> list[str]:
        # Each word by itself, so that no word depends on its neighbours, whatever they hold.
        pieces: list[list[str]] = self._processor.encode(list(words), out_type=str, num_threads=1)
        return list(chain.from_iterable(pieces))

    def split_lines(self, lines: Iterable[Sequence[str]], name: str | os.PathLike[str]) -> Iterator[list[str]]:
        return map(self.split, lines)

    def join(self, symbols: Iterable[str]) -> list[str]:
        return [spelled(word) or UNREADABLE for word in _grouped(symbols)]

    def owners(self, symbols: Iterable[str]) -> list[int]:
        return [number for number, word in enumerate(_grouped(symbols)) for _ in word]


def _grouped(symbols: Iterable[str]) -> list[list[str]]:
    """The symbols of each word. No symbol is just the sign of a space, unless it is the only one."""
    words: list[list[str]] = []
    for symbol in symbols:
        if not words or symbol[0] == SPACE != words[-1][-1]:
            words.append([])
        words[-1].append(symbol)
    if len(words) > 1 and words[-1] == [SPACE]:
        words[-2:] = [[*words[-2], SPACE]]
    return words


def spelled(symbols: Iterable[str]) -> str:
    """The characters that `symbols` stand for, without white space, whatever a model writes; perhaps none."""
    coded = b"".join(
        bytes([int(byte[1], 16)]) if (byte := BYTE.fullmatch(symbol)) else symbol.replace(SPACE, "").encode()
        for symbol in symbols
    )
    return "".join(coded.decode(errors="replace").split())


Subwords = Codes | Pieces


def read_subwords(path: str | os.PathLike[str], symbols: Sequence[str] | None = None) -> Subwords:
    """Codes or pieces, whichever the file holds; `symbols` is the vocabulary that they must make. Raises UserError."""
    try:
        with open_once(path) as file:
            is_codes = file.read(len(VERSION)) == VERSION.encode()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    return (Codes if is_codes else Pieces).read(path, symbols)
