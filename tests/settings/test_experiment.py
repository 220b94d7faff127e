"""The configuration: what is read, how variants are resolved, and that every mistake is one line that names the key."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from nmt.corpora.registry import read_registry
from nmt.settings.experiment import Config, Shard, check_corpora, load
from nmt.settings.variant import CONTEXT_MODULES, Variant
from nmt.system.files import UserError

ROOT = Path(__file__).parents[2]


def read(name: str) -> dict[str, Any]:
    mapping = yaml.safe_load((ROOT / "config" / name).read_text(encoding="utf-8"))
    assert isinstance(mapping, dict)
    return mapping


def merged(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """`overlay` over `base`, as Snakemake merges: mappings deeply, everything else replaced."""
    result = copy.deepcopy(base)
    for key, value in overlay.items():
        deep = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if deep else value
    return result


def paper(overlay: str = "{}") -> Config:
    """The paper's configuration under an overlay in YAML."""
    return load(merged(read("wmt14.yaml"), yaml.safe_load(overlay)))


def test_paper_has_the_five_variants_of_table_1() -> None:
    variants = paper().variants
    labels = [variant.label for variant in variants.values()]
    assert labels == ["RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*"]
    updates = [variant.updates for variant in variants.values()]
    assert updates[:4] == [846_000, 471_000, 600_000, 288_000]
    assert updates[3] + updates[4] == 667_000
    assert [variant.maximum_length for variant in variants.values()] == [30, 30, 50, 50, 50]
    assert [variant.window for variant in variants.values()] == [10, 20, 20, 20, 20]
    assert [variant.context for variant in variants.values()] == [
        "fixed",
        "attention",
        "fixed",
        "attention",
        "attention",
    ]
    assert variants["RNNsearch-50star"].continues == "RNNsearch-50"


def test_paper_differs_from_the_built_in_defaults_in_the_factorized_output_alone() -> None:
    expected = Variant(name="RNNsearch-50", label="RNNsearch-50", output_rank=620)
    assert paper().variants["RNNsearch-50"] == expected


@pytest.mark.parametrize("name", ["demo.yaml", "open.yaml"])
def test_overlays_are_whole(name: str) -> None:
    config = load(merged(read("wmt14.yaml"), read(name)))
    assert config.experiment == name.removesuffix(".yaml")
    assert list(config.variants) == list(paper().variants)


def test_the_two_thirds_of_the_open_text_differ_in_the_rule_alone() -> None:
    third = merged(merged(read("wmt14.yaml"), read("open.yaml")), read("open-third.yaml"))
    drawn, chosen = load(merged(third, read("open-random.yaml"))), load(third)
    assert (chosen.select.rule, drawn.select.rule) == ("ranking", "random")
    names = {"experiment": "", "results": ""}
    assert replace(drawn, select=chosen.select, **names) == replace(chosen, **names)
    assert drawn.select.words == chosen.select.words


def test_hansard_is_one_more_corpus_of_the_open_text() -> None:
    open_text = merged(read("wmt14.yaml"), read("open.yaml"))
    with_hansard = load(merged(open_text, read("open-hansard.yaml")))
    assert with_hansard.corpora.train == (*load(open_text).corpora.train, "hansard36")
    check_corpora(with_hansard, read_registry(ROOT / with_hansard.registry))


@pytest.mark.parametrize("name", ["wmt14.yaml", "demo.yaml", "open.yaml"])
def test_corpora_are_in_the_registry(name: str) -> None:
    config = load(merged(read("wmt14.yaml"), read(name)))
    check_corpora(config, read_registry(ROOT / config.registry))


def test_own_settings_win_over_prototype_and_defaults() -> None:
    config = paper(
        "{defaults: {hidden: 1, maxout: 1, alignment: 1}, prototypes: {RNNsearch: {hidden: 2, maxout: 2}},"
        " variants: {RNNsearch-30: {hidden: 3}}}"
    )
    variant = config.variants["RNNsearch-30"]
    assert (variant.hidden, variant.maxout, variant.alignment) == (3, 2, 1)


def test_seed_of_the_experiment_is_that_of_its_variants_unless_they_have_their_own() -> None:
    config = paper("{seed: 7, variants: {RNNsearch-30: {seed: 8}}}")
    assert config.variants["RNNsearch-30"].seed == 8
    assert config.variants["RNNsearch-50"].seed == 7


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ("{experimnt: a}", "config: unknown setting experimnt; the nearest is experiment"),
        ("{translate: {beem: 3}}", "config: translate: unknown setting beem; the nearest is beam"),
        ("{defaults: {hiden: 3}}", "config: defaults: unknown setting hiden; the nearest is hidden"),
        ("{prototypes: {RNNsearch: {contxt: fixed}}}", "unknown setting contxt; the nearest is context"),
        ("{variants: {RNNsearch-30: {update: 3}}}", "unknown setting update; the nearest is updates"),
        ("{variants: {A: {prototype: RNNserch}}}", "unknown prototype RNNserch; the nearest is RNNsearch"),
        ("{variants: {A: {updates: 3}}}", "config: variants.A.prototype"),
        ("{variants: {RNNsearch-30: 3}}", "config: variants.RNNsearch-30: expected a section"),
        ("{variants: {a/b: {prototype: RNNsearch}}}", "expected a name of letters, digits"),
        ("{figure3: {model: RNNsearch-5}}", "unknown variant RNNsearch-5; the nearest is RNNsearch-50"),
        ("{figure3: {model: RNNencdec-50}}", "RNNencdec-50 has no alignments"),
        ("{figure3: {chosen: 0}}", "config: figure3.chosen: expected auto or a whole number, 1 or more"),
        ("{table3: {models: [RNNsearch-50, RNNsearch-5]}}", "config: table3.models: unknown variant"),
        ("{table3: {models: [RNNsearch-30, RNNsearch-50, RNNencdec-50]}}", "expected two variants"),
        ("{figure2: {leave_out: [A]}}", "config: figure2.leave_out: unknown variant A"),
        ("{defaults: {hidden: 0}}", "hidden: expected a whole number, 1 or more, not 0"),
        ("{defaults: {hidden: 1.5}}", "hidden: expected a whole number"),
        ("{defaults: {hidden: true}}", "hidden: expected a whole number"),
        ("{defaults: {epsilon: 1e-6}}", "epsilon: expected a number above 0, not '1e-6'; YAML reads 1e-6 as text"),
        ("{defaults: {rho: 1}}", "rho: expected a number above 0 and below 1"),
        ("{defaults: {learning_rate: .nan}}", "learning_rate: expected a number"),
        ("{defaults: {optimizer: sgd}}", "optimizer: expected one of adadelta, adam, not 'sgd'"),
        ("{defaults: {embedding_bias: 1}}", "embedding_bias: expected true or false"),
        ("{translate: {minimum_length_ratio: 2}}", "expected a number from 0 to 1"),
        ("{select: {rule: best}}", "config: select.rule: expected one of ranking, shares, random, not 'best'"),
        ("{select: {rule: shares}}", "config: select.shares: expected the share of one corpus or more"),
        ("{select: {shares: {un: 1.5}}}", "config: select.shares: expected a number from 0 to 1 for each"),
        ("{select: {shares: {unn: 0.5}}}", "config: select.shares: unknown training corpus unn; the nearest is un"),
        ("{seed: -1}", "config: seed: expected a whole number, 0 or more"),
        ("{results: a/}", "config: results: expected a folder"),
        ("{mirror: 3}", "config: mirror: expected text, or null"),
        ("{corpora: {test: []}}", "config: corpora.test: expected a list of different names, 1 or more"),
        ("{corpora: {train: [un, un]}}", "config: corpora.train: expected a list of different names"),
        ("{languages: {source: english}}", "config: languages.source: expected a language code"),
        ("{variants: {RNNsearch-30: {label: RNNsearch-50}}}", "is taken by"),
        ("{variants: {RNNsearch-30: {continues: RNNsearch-5}}}", "unknown variant RNNsearch-5"),
        ("{variants: {RNNsearch-50: {continues: RNNsearch-50star}}}", "a circle"),
        ("{variants: {RNNsearch-50: {hidden: 5}}}", "RNNsearch-50 has another hidden"),
        ("{phrase_based: {system: joshua}}", "config: phrase_based.system: expected one of moses, thot"),
        ("{phrase_based: {stak: 3}}", "config: phrase_based: unknown setting stak; the nearest is stack"),
        ("{phrase_based: {n_best: 1}}", "config: phrase_based.n_best: expected a whole number, 2 or more"),
        ("{phrase_based: {pairs: 9}, moses: {bin: a}}", "phrase_based.pairs: Moses is trained on all selected pairs"),
        ("{moses: {bin: 3}}", "config: moses.bin: expected text, or null"),
        ("{variants: {phrase-based: {prototype: RNNsearch}}}", "the name of the phrase-based system"),
        ("{variants: {RNNsearch-30: {label: Moses}}}", "Moses is taken by the phrase-based system"),
        ("{variants: null}", "config: variants: expected a section of settings"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(overlay: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        paper(overlay)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named() -> None:
    mapping = read("wmt14.yaml")
    del mapping["seed"]
    with pytest.raises(UserError, match="config: seed is missing; expected a whole number"):
        load(mapping)


def test_an_unknown_corpus_is_named_with_the_nearest() -> None:
    config = paper("{corpora: {train: [europarl-v8]}}")
    with pytest.raises(UserError, match=r"unknown corpus .*europarl-v8; the nearest is europarl-v7"):
        check_corpora(config, read_registry(ROOT / config.registry))


def test_a_test_set_is_not_trained_on() -> None:
    config = paper("{corpora: {test: [newstest2013]}}")
    with pytest.raises(UserError, match="newstest2013 is also used in training"):
        check_corpora(config, read_registry(ROOT / config.registry))


def test_a_language_model_is_not_made_of_unknown_corpora_or_test_sets() -> None:
    for corpus, message in (
        ("news-crawl", "phrase_based.monolingual: unknown corpus"),
        ("newstest2014", "newstest2014 is a test set"),
        ("newstest2013", "newstest2013 is a development set"),
        ("newstest2012", "newstest2012 is a held-out set"),
    ):
        sets = "{development: [newstest2013], held_out: [newstest2012]}"
        config = paper(f"{{corpora: {sets}, phrase_based: {{monolingual: [{corpus}]}}}}")
        with pytest.raises(UserError, match=message):
            check_corpora(config, read_registry(ROOT / config.registry))


def test_the_paper_quotes_its_phrase_based_system_unless_moses_is_named() -> None:
    assert not paper().runs_phrase_based
    for overlay, label in (
        ("moses: {bin: tools/moses/bin}", "Moses"),
        ("phrase_based: {system: thot}", "Phrase-based (Thot)"),
    ):
        config = paper(f"{{{overlay}}}")
        assert config.runs_phrase_based
        assert config.phrase_based_label == label


def test_settings_survive_json() -> None:
    for variant in paper().variants.values():
        assert Variant.from_json(variant.to_json()) == variant
        assert "\n" not in variant.to_json()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "settings: not JSON"),
        ("[]", "settings: expected a section"),
        ("{}", "settings.name is missing"),
        ('{"name": "a", "hiden": 1}', "unknown setting hiden; the nearest is hidden"),
        ('{"name": "a", "hidden": "1"}', "settings.hidden: expected a whole number"),
    ],
)
def test_settings_in_json_are_strict(line: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        Variant.from_json(line)
    assert message in str(caught.value)


def test_what_is_learned_leaves_out_what_does_not_matter() -> None:
    one = Variant(name="a", context="fixed")
    other = Variant(name="b", context="fixed", label="B", device="cpu", checkpoint_minutes=1, alignment=7)
    assert one.what_is_learned() == other.what_is_learned()
    assert Variant(name="a", alignment=7).what_is_learned() != Variant(name="a").what_is_learned()


def test_every_context_has_its_class() -> None:
    for module, name in CONTEXT_MODULES.values():
        path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        assert f"class {name}(" in path.read_text(encoding="utf-8")


def test_shards_have_about_so_many_pairs() -> None:
    counts = {0: 1, 3: 1, 14: 1, 16: 2, 24: 2, 26: 3, 100: 10}
    assert {pairs: Shard(10).count(pairs) for pairs in counts} == counts
