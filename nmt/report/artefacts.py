"""Artefacts: the tables and figures of an experiment. Targets, report and page follow from one list of them.

A paper lists its own; those that every experiment has are here. Standard library only: the workflow imports
this module at every start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nmt.settings.experiment import PHRASE_BASED, Experiment
from nmt.settings.project import find

CAPTIONS = "nmt/report/captions"
FIGURE = ("pdf", "svg", "png")
KINDS = {"Tables": "table", "Figures": "figure"}  # what the report calls a result of a category


@dataclass(frozen=True)
class Artefact:
    """A table or figure: NAME.ENDING in the folder of results, once or, with `each_set`, for every test set.

    `name` is also the name of the rule that makes it. `shown` is the ending of the file that the report and the page
    show, `caption` a file of reStructuredText, and `printed` files of the paper's numbers that stand beside ours; these
    paths are relative to the repository. With `has_systems` it has a line for each system: its step takes --systems.
    """

    name: str
    title: str
    category: str
    caption: str
    endings: tuple[str, ...]
    shown: str
    each_set: bool = False
    printed: tuple[str, ...] = ()
    has_systems: bool = False

    @property
    def is_figure(self) -> bool:
        """Whether a drawing is shown; a table is shown as a page of its own."""
        return self.shown in FIGURE

    def path(self, ending: str = "") -> str:
        """The file that is shown, or the one with another ending; {place} stands for the folder of the test set."""
        return f"{'{place}' if self.each_set else ''}{self.name}.{ending or self.shown}"

    def places(self, places: Iterable[str]) -> list[str]:
        """The folders in which it lies, of those of the test sets ("" for the first)."""
        return list(places) if self.each_set else [""]

    def files(self, places: Iterable[str]) -> list[str]:
        """All its files, relative to the folder of results; `places` are the folders of the test sets."""
        return [f"{place}{self.name}.{ending}" for place in self.places(places) for ending in self.endings]

    def in_report(self, places: Mapping[str, str]) -> dict[str, Any]:
        """The arguments of Snakemake's `report()`, in a rule file; `places` maps folders to names of test sets."""

        def labels(wildcards: Any) -> dict[str, str]:
            found = {KINDS.get(self.category, "result"): self.title}
            return found | ({"set": places[wildcards.place]} if self.each_set else {})

        return {"caption": f"../../{self.caption}", "category": self.category, "labels": labels}


def _general(name: str, title: str, category: str, *endings: str, each_set: bool = False) -> Artefact:
    shown = "svg" if "svg" in endings else endings[-1]
    return Artefact(name, title, category, f"{CAPTIONS}/{name}.rst", endings, shown, each_set)


def selection() -> Artefact:
    """What data selection keeps of each corpus."""
    return _general("selection", "Data selection", "Corpora", "csv")


def of_paper(folder: str, experiment: Experiment, name: str, subject: str, *further: str, **options: Any) -> Artefact:
    """A paper's table or figure, such as figure1, whose caption is in `folder`; `further` are endings of its own.

    On the user's own text, which is not the paper's, its title is without the number.
    """
    kind = "Figure" if name.startswith("figure") else "Table"
    endings, shown = ((*further, *FIGURE), "svg") if kind == "Figure" else (("csv", "md", *further), "md")
    number = name.removeprefix(kind.lower())
    is_numbered = number.isdigit() and experiment.files is None
    title = f"{kind} {number}: {subject}" if is_numbered else subject[0].upper() + subject[1:]
    return Artefact(name, title, f"{kind}s", f"{folder}/captions/{name}.rst", endings, shown, **options)


Pairs = list[tuple[str, str]]


def compared(experiment: Experiment) -> tuple[Pairs, Pairs]:
    """System and baseline of each row of the table of significance, by name: those shown, then those collapsed.

    Shown are the pairs that the experiment lists. Without a list, every model with attention is compared with those
    without that were trained on sentences of the same length, and with the phrase-based system; models without
    attention are compared with the phrase-based system in the rest.
    """
    if experiment.evaluate.compare is not None:
        return [(system, baseline) for system, baseline in experiment.evaluate.compare], []
    attend = {name: one for name, one in experiment.models.items() if one.architecture.attention != "fixed"}
    fixed = {name: one for name, one in experiment.models.items() if name not in attend}
    pairs = [
        (name, other)
        for name, variant in attend.items()
        for other, baseline in fixed.items()
        if variant.optimization.maximum_length == baseline.optimization.maximum_length
    ]
    if not experiment.runs_phrase_based:
        return pairs, []
    rest = [(name, PHRASE_BASED) for name in fixed]
    return (pairs + [(name, PHRASE_BASED) for name in attend], rest) if attend else (rest, [])


def significance(experiment: Experiment) -> list[Artefact]:
    """Which differences in BLEU are more than chance; none where nothing is compared."""
    found = _general("significance", "Significance", "Tables", "csv", "md", each_set=True)
    return [found] if any(compared(experiment)) else []


def collect(experiment: Experiment, own: Sequence[Artefact]) -> dict[str, Artefact]:
    """All artefacts by name: the paper's `own`, then the general ones that are not among them.

    The paths of `printed` are relative to the working directory.
    """
    curves = replace(_general("learning_curves", "Learning curves", "Figures", "csv", *FIGURE), has_systems=True)
    general = [*significance(experiment), curves, selection()]
    if experiment.select.scores_pairs:
        general.append(_general("ratings", "Ratings of data selection", "Corpora", "csv", *FIGURE))
    general.append(_general("coverage", "Shortlist coverage", "Corpora", "csv"))
    names = {one.name for one in own}
    found = [*own, *(one for one in general if one.name not in names)]
    return {one.name: replace(one, printed=tuple(map(find, one.printed))) for one in found}


def on_page(artefacts: Iterable[Artefact], places: Iterable[str]) -> list[tuple[Artefact, str]]:
    """Each artefact and its file that is shown, in the page's order: those of the first test set, then of the others.

    Artefacts that the experiment has only once are listed with those of the first set.
    """
    artefacts, (first, *others) = list(artefacts), places
    found = [(one, first) for one in artefacts]
    found += [(one, place) for place in others for one in artefacts if one.each_set]
    return [(one, one.path().replace("{place}", place)) for one, place in found]


def front(page: Iterable[tuple[Artefact, str]]) -> str:
    """The figure that the summary of `page` shows: the first of a test set or, where there is none, the first."""
    figures = [(one, file) for one, file in page if one.is_figure]
    return next((file for one, file in figures if one.each_set), figures[0][1])


def targets(artefacts: Iterable[Artefact], places: Mapping[str, str]) -> list[str]:
    """The results that an experiment is asked for: every artefact and the index.

    `places` maps the folder of each test set to its name.
    """
    files = ["<results>/index.html", *(f"<results>/index/{name}.js" for name in places.values())]
    return files + [f"<results>/{file}" for one in artefacts for file in one.files(places)]


def sheets(artefacts: Iterable[Artefact], places: Iterable[str]) -> list[str]:
    """The page of each table in the report."""
    tables = [one for one in artefacts if not one.is_figure]
    return [f"<data>/sheets/{place}{one.name}.html" for one in tables for place in one.places(places)]
