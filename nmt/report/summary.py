"""The summary of a page: what the numbers say in one sentence, and BLEU of every system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nmt.report.markup import listed
from nmt.report.page import SCROLLED, escape
from nmt.report.significance import COLUMNS, LEVEL
from nmt.system.errors import UserError
from nmt.system.tables import read_csv, real, whole


@dataclass(frozen=True)
class Comparison:
    """How far a system is ahead of a baseline, in BLEU, and whether that is more than chance."""

    system: str
    baseline: str
    difference: float
    is_significant: bool


def read_comparisons(path: str, pairs: Sequence[Sequence[str]], sentences: int) -> list[Comparison]:
    """The comparisons of `pairs` on all `sentences` of a set, from the table of the step significance.

    Raises UserError.
    """
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in read_csv(path, COLUMNS)]
    found = {(row["system"], row["baseline"]): row for row in rows if row["part"] == "all"}
    comparisons = []
    for system, baseline in pairs:
        try:
            row = found[system, baseline]
            difference, p_value, count = real(row["difference"]), real(row["p_holm"]), whole(row["sentences"])
        except (KeyError, ValueError):
            raise UserError(
                f"{path}: does not compare {system} with {baseline} on all sentences; make the file again"
            ) from None
        if count != sentences:
            raise UserError(f"{path}: of {count} sentences, but the set has {sentences}; name the table of this set")
        comparisons.append(Comparison(system, baseline, difference, p_value < LEVEL))
    return comparisons


def finding(name: str, bleu: Mapping[str, float], comparisons: Sequence[Comparison]) -> str:
    """One sentence: how the systems compare on the set `name`, or what they have where none are compared."""
    if not comparisons:
        best, worst = max(bleu, key=bleu.__getitem__), min(bleu, key=bleu.__getitem__)
        if len(bleu) == 1:
            return f"{best} has {bleu[best]:.2f} BLEU on {name}."
        if bleu[best] == bleu[worst]:
            return f"On {name}, all systems have {bleu[best]:.2f} BLEU."
        return f"On {name}, {best} has the most BLEU, {bleu[best]:.2f}, and {worst} the least, {bleu[worst]:.2f}."
    ahead = [one for one in comparisons if one.is_significant and one.difference > 0]
    behind = [one for one in comparisons if one.is_significant and one.difference < 0]
    even = [one for one in comparisons if one not in (*ahead, *behind)]
    clauses = [
        _clause(ahead, "{system} is significantly ahead of {baseline}", "{system} of {baseline}"),
        _clause(behind, "{system} is significantly behind {baseline}", "{system} behind {baseline}"),
        _clause(
            even,
            "there is no significant difference between {system} and {baseline}",
            "between {system} and {baseline}",
        ),
    ]
    return f"On {name}, {'; '.join(filter(None, clauses))}."


def _clause(comparisons: Sequence[Comparison], first: str, further: str) -> str:
    """The comparisons as a list of words, the first of which has the verb and names the unit; "" for none."""
    parts = [
        (further if place else first).format(system=one.system, baseline=one.baseline)
        + f" ({one.difference:+.2f}{'' if place else ' BLEU'})".replace("-", "−")
        for place, one in enumerate(comparisons)
    ]
    return listed(parts)


def bleu_table(systems: Sequence[str], bleu: Mapping[str, Sequence[float]]) -> str:
    """The table of BLEU: a row for each system, a column for each test set, whose scores `bleu` has."""
    head = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in bleu)
    rows = (
        f'<tr><th scope="row">{escape(system)}</th>'
        + "".join(f'<td class="number">{scores[place]:.2f}</td>' for scores in bleu.values())
        + "</tr>"
        for place, system in enumerate(systems)
    )
    return (
        f'{SCROLLED[0]}\n<thead><tr><th scope="col">BLEU</th>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + f"\n</tbody>\n{SCROLLED[1]}"
    )
