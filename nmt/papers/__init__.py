"""The papers: a package for each, with its tables and figures. The workflow reads the module `paper` of a package.

`paper` exports TITLE, REFERENCE and CLAIM (Markdown, for the heads of pages), STEPS (the name of each step, a module of
the package, and one line of help), `Settings`, a dataclass with a section or None for each table and figure,
`without(settings, left_out)`, which are the settings without what names one of these variants,
`check(settings, experiment)`, which raises UserError, and `artefacts(settings, experiment)`. It exports
`beams(settings, experiment)` if its tables score other beams than the experiment's, and `shown(settings, experiment)`
if its settings choose a sentence.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from nmt.settings.checks import build_parts, unknown

if TYPE_CHECKING:
    from nmt.report.artefacts import Artefact
    from nmt.settings.experiment import Experiment


def names() -> list[str]:
    """The names of the papers, sorted."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)


def paper(name: str) -> Any:
    """The module `paper` of a paper's package; UserError where there is no such paper."""
    if name not in names():
        raise unknown(name, names(), "config: paper.name", "paper")
    return importlib.import_module(f"{__name__}.{name}.paper")


def settings(experiment: Experiment) -> Any:
    """The checked settings of the experiment's paper, without what names a variant that is left out. Raises UserError.

    None without a paper.
    """
    if experiment.paper is None:
        return None
    found = paper(experiment.paper.name)
    built = build_parts(found.Settings, experiment.paper.settings, "config: paper")
    checked = found.without(built, experiment.left_out)
    found.check(checked, experiment)
    return checked


def artefacts(experiment: Experiment) -> list[Artefact]:
    """The tables and figures of the experiment's paper, in the page's order; none without a paper. Raises UserError."""
    if experiment.paper is None:
        return []
    return list(paper(experiment.paper.name).artefacts(settings(experiment), experiment))


def shown(experiment: Experiment) -> list[tuple[str, int, tuple[str, ...]]]:
    """The sentences that the settings choose: the setting, the number from 1, and the corpora to count through.

    Raises UserError.
    """
    if experiment.paper is None or not hasattr(found := paper(experiment.paper.name), "shown"):
        return []
    return list(found.shown(settings(experiment), experiment))


def beams(experiment: Experiment) -> dict[int, str]:
    """The beam widths at which models are scored, and how the names of their translations end for each.

    The ending is empty for the experiment's own beam. Raises UserError where there is no such paper.
    """
    if experiment.paper is not None:
        found = paper(experiment.paper.name)
        if hasattr(found, "beams"):
            return dict(found.beams(settings(experiment), experiment))
    return {experiment.translate.beam: ""}


def page_head(experiment: Experiment) -> list[str]:
    """The options with which the step index names the experiment's paper or, on the user's own text, the languages.

    None without a paper.
    """
    if experiment.files is not None:
        return ["--title", f"Translation from {experiment.languages.source} to {experiment.languages.target}"]
    if experiment.paper is None:
        return []
    found = paper(experiment.paper.name)
    return ["--title", found.TITLE, "--reference", found.REFERENCE, "--claim", found.CLAIM]
