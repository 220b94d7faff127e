"""Experiments for tests, from a few settings."""

from __future__ import annotations

from typing import Any

from nmt.settings.experiment import Experiment, load

VARIANTS = {
    "fixed": {"attention": "fixed", "updates": 1},
    "short": {"updates": 1, "maximum_length": 30},
    "search": {"updates": 1, "label": "RNNsearch*"},
}


def experiment(**settings: Any) -> Experiment:
    """An experiment of three variants, without a phrase-based system and without a paper."""
    corpora = {"train": ["a"], "in_domain": ["b"], "development": ["c"], "test": ["d", "e"]}
    languages = {"source": "en", "target": "fr"}
    given = {"experiment": "x", "languages": languages, "registry": "r.tsv", "corpora": corpora, "variants": VARIANTS}
    return load(given | settings)
