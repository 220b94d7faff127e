"""nmt.corpora.parts: large training corpora are cut into shards, all others stay whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.corpora.parts import Part, cut, cut_corpora, held_out_sets
from nmt.corpora.registry import read_registry
from nmt.settings.sections import Corpora, Shard

REGISTRY = read_registry(Path(__file__).parents[2] / "data" / "corpora.tsv")
CORPORA = Corpora(
    train=("news-commentary-v9", "un", "giga-fren"),
    development=("newstest2012", "newstest2013"),
    test=("newstest2014",),
    held_out=("newstest2013",),
)


def test_a_large_corpus_is_cut_into_numbered_shards() -> None:
    assert cut("un", 5_000, Shard(2_000)) == [
        Part("un.1-of-2", "un", ("--shard", 1, 2, 2000)),
        Part("un.2-of-2", "un", ("--shard", 2, 2, 2000)),
    ]


@pytest.mark.parametrize("pairs", [None, 1, 2_999])
def test_a_small_or_unknown_corpus_is_a_single_part(pairs: int | None) -> None:
    assert cut("un", pairs, Shard(2_000)) == [Part("un", "un")]


def test_only_training_corpora_are_cut() -> None:
    parts = cut_corpora(CORPORA, ["europarl-v7", "un"], REGISTRY, Shard(100_000))
    assert list(parts) == [*CORPORA.train, "newstest2012", "newstest2013", "newstest2014", "europarl-v7"]
    cut_ones = [corpus for corpus, found in parts.items() if len(found) > 1]
    assert cut_ones == ["news-commentary-v9", "un", "giga-fren"]
    assert parts["europarl-v7"] == [Part("europarl-v7", "europarl-v7")]


def test_a_training_corpus_that_is_also_in_domain_is_not_cut() -> None:
    corpora = Corpora(("un", "giga-fren"), ("newstest2012",), ("newstest2014",), in_domain=("un",))
    parts = cut_corpora(corpora, [], REGISTRY, Shard(1_000_000))
    assert parts["un"] == [Part("un", "un")]
    assert len(parts["giga-fren"]) > 1


def test_held_out_sets_are_named_once() -> None:
    assert held_out_sets(CORPORA) == ["newstest2012", "newstest2013", "newstest2014"]
