"""What the workflow and the command line need of this paper.

Standard library only: the workflow imports it at every start.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import partial

from nmt.papers.choi2017.comparisons import baselines
from nmt.papers.choi2017.settings import Settings
from nmt.report.artefacts import Artefact, of_paper, significance
from nmt.settings.checks import unknown
from nmt.settings.experiment import Experiment
from nmt.system.errors import UserError

TITLE = "Fine-grained attention, reproduced"
REFERENCE = "Choi, Cho and Bengio (2017), *Fine-grained attention mechanism for neural machine translation*"
CLAIM = "Attention that weighs each dimension of an annotation by itself translates better than one weight for all."
STEPS = {
    "table1": "BLEU of every model at two beam widths, on a test set and on the development set",
    "translation_times": "time the translation of a text by several models, in turns",
    "table2": "how long the models translate",
    "parameters": "how many parameters each model has, part by part",
    "model_alignments": "the alignments of one sentence by several models, for Figure 2",
    "figure2": "draw the alignments of one sentence by several models",
    "mean_weights": "how much single dimensions attend to each source symbol, for Figure 3",
    "figure3": "draw how much single dimensions attend to each source symbol",
    "specialized_dimensions": "find the dimensions that attend to one class of words",
    "dimension_weights": "the weights of the specialized dimensions in one sentence, for Figure 4",
    "figure4": "draw the weights of the specialized dimensions in one sentence",
    "join": "join the tables of several language pairs",
}
FOLDER = "nmt/papers/choi2017"


def without(settings: Settings, left_out: Set[str]) -> Settings:
    """The settings without what names one of the variants `left_out`."""
    figure2, figure3, figure4 = settings.figure2, settings.figure3, settings.figure4
    pairs = tuple(pair for pair in settings.pairs if left_out.isdisjoint(pair))
    models = tuple(name for name in figure2.models if name not in left_out) if figure2 else ()
    return replace(
        settings,
        pairs=pairs,
        table2=settings.table2 if pairs == settings.pairs or pairs else None,
        figure2=replace(figure2, models=models) if figure2 and models else None,
        figure3=figure3 if figure3 and figure3.model not in left_out else None,
        figure4=figure4 if figure4 and left_out.isdisjoint((figure4.model, figure4.aligner)) else None,
    )


def check(settings: Settings, experiment: Experiment) -> None:
    """UserError where a pair or a figure names a variant that is not there or that it cannot show.

    UserError also where two pairs are of the same model, or where Table 2 has no pair.
    """
    figure2, figure3, figure4 = settings.figure2, settings.figure3, settings.figure4
    drawn = [("figure2.models", name) for name in figure2.models] if figure2 else []
    drawn += [("figure4.aligner", figure4.aligner)] if figure4 else []
    fine = [("figure3.model", figure3.model)] if figure3 else []
    fine += [("figure4.model", figure4.model)] if figure4 else []
    for key, name in [*(("pairs", name) for name in timed(settings)), *drawn, *fine]:
        if name not in experiment.models:
            raise unknown(name, experiment.models, f"config: paper.{key}", "variant")
    for key, name in drawn:
        if experiment.variants[name].architecture.attention == "fixed":
            raise UserError(f"config: paper.{key}: {name} has no alignments; name a variant with attention")
    for key, name in fine:
        if experiment.variants[name].architecture.attention != "fine_grained":
            raise UserError(f"config: paper.{key}: the attention of {name} is not fine_grained; name one where it is")
    compared = baselines(settings.pairs, "config: paper.pairs")
    if settings.table2 and not compared:
        raise UserError("config: paper.pairs is empty; name the models of Table 2, or set table2 to null")


def timed(settings: Settings) -> list[str]:
    """The models of Table 2: those of the pairs, each baseline before what is compared to it."""
    return list(dict.fromkeys(name for model, baseline in settings.pairs for name in (baseline, model)))


def points(settings: Settings, experiment: Experiment) -> list[tuple[str, str, tuple[str, ...], list[str]]]:
    """The steps that compute points of one sentence: the step, its figure, its models and the options of its own."""
    found: list[tuple[str, str, tuple[str, ...], list[str]]] = []
    if settings.figure2:
        names = settings.figure2.models
        found.append(
            ("model_alignments", "figure2", names, ["--labels", *(experiment.systems[name] for name in names)])
        )
    if settings.figure3:
        options = ["--settings", settings.figure3.to_json()]
        found.append(("mean_weights", "figure3", (settings.figure3.model,), options))
    if settings.figure4:
        options = ["--dimensions", f"{experiment.results}/specialized_dimensions.csv"]
        found.append(("dimension_weights", "figure4", (settings.figure4.model,), options))
    return found


def shown(settings: Settings, experiment: Experiment) -> list[tuple[str, int, tuple[str, ...]]]:
    """The sentence of Figures 2 to 4, in the form that `nmt.papers.shown` describes."""
    text = experiment.corpora.development
    return [("paper.sentence", settings.sentence, text)] if points(settings, experiment) else []


def beams(settings: Settings, experiment: Experiment) -> dict[int, str]:
    """The beam widths of Table 1, 1 and the experiment's own; only the latter without it: see `nmt.papers.beams`."""
    own = experiment.translate.beam
    return ({1: ".beam1"} if own != 1 and settings.table1 else {}) | {own: ""}


def language_pair(experiment: Experiment) -> str:
    """The pair of languages as the paper writes it, such as En-De."""
    return f"{experiment.languages.source.capitalize()}-{experiment.languages.target.capitalize()}"


def artefacts(settings: Settings, experiment: Experiment) -> list[Artefact]:
    """The paper's tables and figures, in the page's order; the significance of Table 1's differences follows them."""
    printed = (f"{FOLDER}/printed.tsv",) if settings.printed else ()
    own = partial(of_paper, FOLDER, experiment)
    whole = [
        own("table1", "BLEU", each_set=True, printed=printed),
        own("table2", "time", printed=printed),
        *significance(experiment),
        own("parameters", "parameters", printed=printed),
        *([own("specialized_dimensions", "specialized dimensions")] if settings.figure4 else []),
        own("figure2", "alignments", "csv"),
        own("figure3", "mean weights of single dimensions", "csv"),
        own("figure4", "specialized dimensions", "csv"),
    ]
    return [one for one in whole if getattr(settings, one.name, True) is not None]
