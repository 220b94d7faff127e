"""The sentences of newstest2014 that the paper prints, known by their lines and letters."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from nmt.system.files import warn

# set -> table or figure -> its sentences in the paper's order: the line, counted from 1, and its `fingerprint`, which
# shows whether the text is the paper's. Those of Figure 3 are its panels (b) to (d); that of (a) is not in the set.
PRINTED = {
    "newstest2014": {
        "Table 3": ((939, "17636a83285e"), (120, "4f7afb157175"), (2443, "f39ec7308117")),
        "Figure 3": ((2409, "1643f6aeaf50"), (1884, "2c7c1bdde6ba"), (2716, "b413ecdd2de2")),
    },
}


def fingerprint(line: str) -> str:
    """A digest of the letters of `line`, which ignores quotation marks, spaces and case."""
    letters = "".join(character for character in line.lower() if character.isalpha())
    return hashlib.sha256(letters.encode()).hexdigest()[:12]


def printed_sentences(name: str, place: str, raw_sources: Sequence[str]) -> list[int]:
    """Indices in `raw_sources`, the set `name`, of the sentences that the paper prints in `place`, such as "Table 3".

    There are none in a set that the paper does not use; a line that is not the paper's is left out with a warning.
    """
    found = []
    for line, digest in PRINTED.get(name, {}).get(place, ()):
        if line <= len(raw_sources) and fingerprint(raw_sources[line - 1]) == digest:
            found.append(line - 1)
        else:
            warn(f"line {line} of {name} is not the paper's sentence; {place} leaves it out")
    return found
