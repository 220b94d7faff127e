"""What the workflow and the command line need of this paper.

Standard library only: the workflow imports it at every start.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import partial

from nmt.papers.bahdanau2015.printed import PRINTED
from nmt.papers.bahdanau2015.settings import TABLE3_COLUMNS, Settings
from nmt.report.artefacts import Artefact, of_paper, selection, significance
from nmt.settings.checks import unknown
from nmt.settings.experiment import PHRASE_BASED, Experiment
from nmt.system.errors import UserError

TITLE = "RNNsearch, reproduced"
REFERENCE = "Bahdanau, Cho and Bengio (2015), *Neural machine translation by jointly learning to align and translate*"
CLAIM = (
    "A decoder that attends to the source sentence anew for every word translates better than one that has a single "
    "vector of it, and the longer the sentence, the larger its lead."
)
STEPS = {
    "table1": "BLEU of every system on a test set",
    "table2": "how each model was trained: updates, time, likelihoods",
    "table3": "long sentences and their translations by two models",
    "figure1": "the diagram of the model",
    "figure2": "draw BLEU by the length of the source sentence",
    "sample_alignments": "pick the alignments of four sentences, for Figure 3",
    "figure3": "draw the alignments of four sentences",
}
FOLDER = "nmt/papers/bahdanau2015"


def without(settings: Settings, left_out: Set[str]) -> Settings:
    """The settings without what names one of the variants `left_out`."""
    table3, figure2, figure3 = settings.table3, settings.figure2, settings.figure3
    return replace(
        settings,
        table3=table3 if table3 and left_out.isdisjoint(table3.models) else None,
        figure2=figure2 and replace(figure2, leave_out=tuple(n for n in figure2.leave_out if n not in left_out)),
        figure3=figure3 if figure3 and figure3.model not in left_out else None,
    )


def check(settings: Settings, experiment: Experiment) -> None:
    """UserError where a table or figure names a variant that is not there or that it cannot show."""
    table3, figure2, figure3 = settings.table3, settings.figure2, settings.figure3
    uses = [("table3.models", name) for name in table3.models] if table3 else []
    uses += [("figure2.leave_out", name) for name in figure2.leave_out] if figure2 else []
    uses += [("figure3.model", figure3.model)] if figure3 else []
    for key, name in uses:
        if name not in experiment.models:
            raise unknown(name, experiment.models, f"config: paper.{key}", "variant")
    if table3 and len(table3.models) != 2:
        raise UserError("config: paper.table3.models: expected two variants")
    for name in table3.models if table3 else ():
        if (label := experiment.models[name].label) in TABLE3_COLUMNS:
            raise UserError(f"config: variants.{name}.label: {label} is a column of table3.csv; choose another")
    if figure2 and not curves(settings, experiment):
        raise UserError("config: paper.figure2.leave_out: no curve is left; leave out fewer, or set figure2 to null")
    if figure3 and experiment.variants[figure3.model].architecture.attention == "fixed":
        raise UserError(
            f"config: paper.figure3.model: {figure3.model} has no alignments; name a variant with attention"
        )


def curves(settings: Settings, experiment: Experiment) -> list[str]:
    """The systems of Figure 2, none where it is left out."""
    if settings.figure2 is None:
        return []
    left_out = [*settings.figure2.leave_out, *([] if settings.figure2.phrase_based else [PHRASE_BASED])]
    return [name for name in experiment.systems if experiment.replicas.get(name, name) not in left_out]


def shown(settings: Settings, experiment: Experiment) -> list[tuple[str, int, tuple[str, ...]]]:
    """The sentence chosen for Figure 3, a line of every test set, in the form that `nmt.papers.shown` describes."""
    figure3 = settings.figure3
    if figure3 is None or isinstance(figure3.chosen, str):
        return []
    return [("paper.figure3.chosen", figure3.chosen, (name,)) for name in experiment.corpora.test]


def phrase_based_options(experiment: Experiment) -> list[str]:
    """The options by which Table 1 says how the phrase-based system was made, none where it is not run."""
    made = experiment.phrase_based
    if made is None or not experiment.runs_phrase_based:
        return []
    return ["--phrase-based", made.label, "--settings", made.to_json("pairs", "order", "monolingual")]


def artefacts(settings: Settings, experiment: Experiment) -> list[Artefact]:
    """The paper's tables and figures, in the page's order; the significance of Table 1's differences follows them."""
    printed = (f"{FOLDER}/printed.tsv",) if settings.printed else ()
    own = partial(of_paper, FOLDER, experiment)
    figure3 = own("figure3", "alignments", "csv", each_set=True)
    if not PRINTED.keys().isdisjoint(experiment.corpora.test):
        figure3 = replace(figure3, caption=f"{FOLDER}/captions/figure3_printed.rst")
    whole = [
        own("table1", "BLEU", "tex", each_set=True, printed=printed),
        own("table2", "training", printed=printed),
        own("table3", "long sentences", each_set=True),
        *significance(experiment),
        own("figure1", "the model"),
        own("figure2", "BLEU by sentence length", "csv", each_set=True, has_systems=True),
        figure3,
    ]
    if settings.printed:
        words, caption = f"{FOLDER}/printed_words.tsv", f"{FOLDER}/captions/selection.rst"
        whole.append(replace(selection(), caption=caption, printed=(words,)))
    return [one for one in whole if getattr(settings, one.name, True) is not None]
