"""The numbers of results that a document prints, and those of the tables that it names."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What is no result: code, addresses, the targets of links, versions, sections, licences, the level of an interval.
NO_RESULT = re.compile(
    r"^ {4}.*$|^```[^`]*^```$|`[^`]*`|<https?:[^>]*>|\]\([^)]*\)|\b\d+\.\d+\.\d+\b|\b95 % interval"
    r"|\b(?:Python|PyTorch|LibreOffice|Wesnoth|OPL|CC BY(?: SA)?|Sections?|Appendix \w|documentation)"
    r"(?:,?(?: or| and| to)? [\d.]*\d\b)+",
    re.MULTILINE,
)
UNIT = r"(%|million|GB|minutes|min|seconds|s|hours)(?!\w)"
NUMBER = re.compile(rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?![\d.]*\w)(?= ?{UNIT}|(?:,? (?:to|and|or) [\d.]+)? {UNIT})?")
# How a number of a column reads in a unit: by the name of the column, times a factor.
SCALES: dict[str, list[tuple[str, float]]] = {
    "": [("", 1)],
    "million": [("", 1e-6)],
    "GB": [("_mb$", 1e-3), ("_gb$", 1)],
    "%": [("percent|more_|growth", 1), ("share|ratio|fraction|lower|upper", 100)],
    "minutes": [("hours", 60), ("seconds", 1 / 60)],
    "s": [("seconds", 1)],
    "hours": [("hours", 1), ("seconds", 1 / 3600)],
}
SCALES |= {"min": SCALES["minutes"], "seconds": SCALES["s"]}


def numbers(text: str) -> Iterator[tuple[str, str]]:
    """Each number of a result and its unit, without signs and commas: decimals, whole percents and whole times."""
    prose = " ".join(NO_RESULT.sub(" ", text).split())
    for number, near, far in NUMBER.findall(prose):
        unit = near or far
        if "." in number or unit not in ("", "GB", "million"):
            yield number.replace(",", ""), unit


def tables(page: Path) -> list[Path]:
    """The tables that a page names: by themselves, by their folder, or by the account of their run.

    An experiment file is a table of settings, and a file below `nmt/papers` one of a paper's numbers.
    """
    places = [page]
    for link, code in re.findall(r"\]\(([^)#\s]+)|`([\w./-]+)`", page.read_text()):
        places += [page.parent / (link or code), ROOT / (link or code)]
    found: set[Path] = set()
    for place in {place.resolve() for place in places}:
        folder = place.parent if place.name == "README.md" else place
        if any(place.is_relative_to(ROOT / name) for name in ("config", "nmt/papers")):
            found.add(place)
        elif any(folder.is_relative_to(ROOT / name) for name in ("results", "docs/demonstration")):
            found |= {folder, *folder.rglob("*")}
    return sorted(file for file in found if file.suffix in (".csv", ".json", ".tsv", ".yaml") and file.is_file())


@cache
def cells(file: Path) -> list[tuple[str, float]]:
    """The numbers of a table, each with the name of its column; of a curve of minibatches only the last.

    The thousands of weights of a picture are left out: they would have any number.
    """
    if file.suffix == ".json":
        return list(_leaves("", json.loads(file.read_text())))
    if file.suffix == ".yaml":
        return [("", float(found)) for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", file.read_text())]
    with open(file, newline="") as opened:
        rows = list(csv.DictReader(opened, dialect="excel-tab" if file.suffix == ".tsv" else "excel"))
    if rows and "weight" in rows[0]:
        return []
    for row in rows:
        if row.get("source_words_kept"):
            row["share_of_words"] = str(float(row["source_words_kept"]) / float(row["source_words"]))
    last = {row["model"]: row for row in rows if row.get("measure") == "train_nll"}
    kept = [row for row in rows if row.get("measure") != "train_nll" or row is last[row["model"]]]
    return [
        (name, float(cell))
        for row in kept
        for name, cell in row.items()
        if re.fullmatch(r"-?\d+(?:\.\d+)?", cell or "")
    ]


def _leaves(name: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(key, one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(name, one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, float(value)


def is_near(number: str, value: float) -> bool:
    """Whether `number` is `value` rounded to as many digits."""
    half = 0.5 * 10.0 ** -len(number.partition(".")[2])
    return abs(value - float(number)) <= half * (1 + 1e-9)


def is_found(number: str, unit: str, files: list[Path]) -> bool:
    """Whether a table has the number, rounded as it is printed."""
    return any(
        is_near(number, abs(cell) * scale)
        for file in files
        for name, cell in cells(file)
        for columns, scale in SCALES[unit]
        if re.search(columns, name)
    )
