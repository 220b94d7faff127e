"""The commands of `nmt`: the module of each, one line of help, and the group in which the help lists it.

The first groups are what people type; the others are the steps of the workflow.

Nothing imported here is slow to import, so that `nmt --help` answers at once.
"""

from __future__ import annotations

import difflib

from nmt import papers
from nmt.system.errors import UserError

# Group, package, step: the module of a step is its package and its name.
GROUPS: dict[str, dict[str, dict[str, str]]] = {
    "Begin an experiment": {
        "nmt.corpora": {"new": "write an experiment on files of your own"},
        "nmt.papers": {"schema": "write the JSON Schema with which editors complete and check experiment files"},
    },
    "Use a trained model": {
        "nmt.search": {
            "translate": "translate text by beam search",
            "score": "compute the log probability of given translations",
        },
        "nmt.report": {
            "align": "show which source words the model attends to, as a figure and a table",
            "serve": "serve a local page that translates what you type and shows what the model attends to",
        },
    },
    "Follow the training of an experiment": {
        "nmt.monitor": {
            "status": "show the progress of each model and when it will be finished",
        },
        "nmt.report": {"tensorboard": "export the training metrics and sample alignments for TensorBoard"},
        "nmt.training": {"export": "make a model from a training's latest checkpoint, or a smaller copy of a model"},
    },
    "Workflow: corpora": {
        "nmt.toy": {"generate": "generate the demonstration's corpora in the built-in language"},
        "nmt.corpora": {
            "fetch": "download one archive and check its hash",
            "verify": "check all downloaded archives against the registry",
            "extract": "extract the two sides of a corpus from its archives",
            "tokenize": "tokenize text as the Moses script does",
            "lmplz": "build KenLM's lmplz, which estimates language models",
            "clean": "mark the sentence pairs that data selection may keep",
            "train_lm": "estimate the language models of data selection",
            "score_pairs": "score sentence pairs by bilingual cross-entropy difference",
            "select": "select the training pairs that are most like in-domain text",
            "learn_bpe": "learn how byte pair encoding cuts words into subwords",
            "learn_pieces": "learn the pieces of SentencePiece from running text",
            "segment": "cut the words of a text into subwords",
            "shortlist": "keep the most frequent words of one side as the vocabulary",
            "binarize": "turn the training text into shuffled word ids",
        },
    },
    "Workflow: phrase-based systems": {
        "nmt.phrase_based.thot": {
            "thot_word_align": "align words in one direction with Thot's fast_align",
            "thot_symmetrize": "join the word alignments of both directions",
            "thot_phrase_table": "extract and count phrase pairs",
            "thot_language_model": "count n-grams for Thot's language model",
            "thot_tune": "tune the weights of the Thot system by minimum error rate training",
            "thot_translate": "translate text with the Thot system",
        },
        "nmt.phrase_based.moses": {
            "moses_build": "build Moses and its aligners from their sources",
            "moses_align": "align words with the tools of a Moses installation",
            "moses_language_model": "estimate the language model of the Moses system",
            "moses_phrases": "extract and score phrases and their reordering",
            "moses_tune": "tune the weights of the Moses system by minimum error rate training",
            "moses_translate": "translate text with the Moses system",
        },
    },
    "Workflow: training": {
        "nmt.training": {
            "train": "train one model, or resume its training",
            "nll": "measure the negative log-likelihood of sentence pairs",
        },
    },
    "Workflow: evaluation and report": {
        "nmt.evaluation": {
            "evaluate": "compute the BLEU of one system on one test set",
            "bleu_by_length": "compute BLEU by the length of the source sentence",
            "coverage": "count how much of each text the vocabularies cover",
            "evidence": "compare data selections by perplexity and BLEU",
        },
        "nmt.monitor": {"gather_metrics": "gather the training metrics of all models in one table"},
        "nmt.report": {
            "learning_curves": "draw the learning curves of all models",
            "selection_table": "tabulate what data selection kept from each corpus",
            "ratings": "draw the distribution of the scores of each corpus's pairs",
            "significance": "test which differences in BLEU are more than chance",
            "sheet": "render a table as an HTML page for Snakemake's report",
            "index": "build the page with all tables, figures and alignments",
            "provenance": "record how the results were made: code, text, versions, device and seconds",
        },
    },
}
MODULES = {
    step: f"{package}.{step}" for packages in GROUPS.values() for package, steps in packages.items() for step in steps
}


def groups() -> dict[str, dict[str, str]]:
    """The help line of every command by group, in the order of the help; each paper is a group of its own."""
    listed = {
        group: {step: line for steps in packages.values() for step, line in steps.items()}
        for group, packages in GROUPS.items()
    }
    for name in papers.names():
        steps = papers.paper(name).STEPS
        listed[f"Workflow: tables and figures of {name}"] = {f"{name}.{step}": line for step, line in steps.items()}
    return listed


def typed() -> dict[str, dict[str, str]]:
    """The groups of the commands that people type."""
    return {group: listed for group, listed in groups().items() if not group.startswith("Workflow")}


def names() -> list[str]:
    """The names of all commands, those of the papers included."""
    return [step for steps in groups().values() for step in steps]


def module(step: str) -> str:
    """The name of the module of `step`; raises UserError, which names the nearest command."""
    paper, _, name = step.rpartition(".")
    if step in MODULES:
        return MODULES[step]
    if paper in papers.names() and name in papers.paper(paper).STEPS:
        return f"nmt.papers.{step}"
    # A paper's step is found without the paper's name, too.
    candidates = {key: one for one in names() for key in (one, one.rpartition(".")[2])}
    [nearest] = difflib.get_close_matches(step, candidates, n=1, cutoff=0.0)
    raise UserError(f"unknown command {step}; the nearest is {candidates[nearest]}")
