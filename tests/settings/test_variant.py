"""A model variant: its three parts, their passage through JSON, and what of them decides the trained weights."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any

import pytest

from nmt.settings.checks import Neutral, build, choice
from nmt.settings.experiment import SECTIONS
from nmt.settings.extends import read_experiment
from nmt.settings.sections import Select, Shard
from nmt.settings.variant import PARTS, SETTINGS, Architecture, Optimization, RunTime, Variant, learned
from nmt.system.errors import UserError


def variant(**settings: object) -> Variant:
    return Variant.from_json(json.dumps({"name": "a", "updates": 3, **settings}))


def test_settings_survive_json() -> None:
    for one in read_experiment([]).variants.values():
        assert Variant.from_json(one.to_json()) == one
        assert "\n" not in one.to_json()


ODD = [None, True, -1, 0, 0.5, 10**30, 10**400, math.nan, math.inf, "", "x", "\ud800", [], [[]], {}, {"a": []}, {1: 2}]


def assert_one_line_or_accepted(build: Callable[[Any], object], value: Any) -> None:
    said = ""
    try:
        build(value)
    except UserError as error:
        said = str(error)
    assert "\n" not in said


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_values_of_any_setting_are_at_most_one_line(odd: object) -> None:
    for key in SETTINGS:
        assert_one_line_or_accepted(lambda value: Variant.build(value, "here"), {"name": "a", "updates": 3, key: odd})
    for kind in SECTIONS.values():
        for one in fields(kind):
            assert_one_line_or_accepted(lambda value, kind=kind: build(kind, value, "here"), {one.name: odd})


@pytest.mark.parametrize("value", [10**15, 10**400])
def test_a_number_of_too_many_digits_is_told_so(value: int) -> None:
    with pytest.raises(UserError, match=rf"settings\.hidden: expected a whole .* {value}; it has too many digits"):
        variant(hidden=value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "settings: not JSON"),
        ("[" * 100_000, "settings: not JSON"),
        ("[]", "settings: expected a section"),
        ("{}", "settings.name is missing"),
        ('{"name": "a"}', "settings.updates is missing"),
        ('{"name": "a", "hiden": 1}', "unknown setting hiden; the nearest is hidden"),
        ('{"name": "a", "hidden": "1"}', "settings.hidden: expected a whole number"),
    ],
)
def test_settings_in_json_are_strict(line: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        Variant.from_json(line)
    assert message in str(caught.value)


def test_a_cooldown_is_no_longer_than_the_training() -> None:
    assert variant(cooldown=3).optimization.cooldown == 3
    with pytest.raises(UserError, match=r"settings\.cooldown: expected at most as many as updates, 3, not 4"):
        variant(cooldown=4)


def test_every_setting_belongs_to_one_part() -> None:
    names = [one.name for kind in PARTS.values() for one in fields(kind)]
    assert len(names) == len(set(names))


def test_learned_leaves_out_what_does_not_matter() -> None:
    one = variant(attention="fixed")
    other = variant(
        name="b",
        attention="fixed",
        label="B",
        device="cpu",
        checkpoint_minutes=1,
        checkpoint_every=2,
        alignment=7,
        score_previous=True,
    )
    assert one.learned() == other.learned()
    assert variant(alignment=7).learned() != variant().learned()
    assert variant(forget_bias=1.0).learned() == variant().learned()
    adam = variant(optimizer="adam").learned()
    assert variant(optimizer="adam", rho=0.5, epsilon=1e-3).learned() == adam
    assert (adam["rho"], adam["epsilon"]) == (0.95, 1e-6)  # as it was: no model is trained again
    later = variant(continues="a", unit="lstm")
    initial = {"initialization_scale": 0.5, "attention_scale": 0.5, "forget_bias": 1.0}
    assert variant(continues="a", unit="lstm", **initial).learned() == later.learned()
    assert variant(continues="a", unit="lstm", seed=7).learned() == later.learned()
    assert variant(continues="a", seed=7, dropout=0.5).learned() != variant(continues="a", dropout=0.5).learned()


def test_a_whole_number_is_a_number() -> None:
    """Of 1 and 1.0 neither trains a model again that the other has trained."""
    whole = variant(learning_rate=1, clip_norm=2, dropout=-0.0, checkpoint_minutes=10)
    assert whole.to_json() == variant(learning_rate=1.0, clip_norm=2.0, dropout=0.0).to_json()


def test_no_two_seeds_draw_the_same_weights() -> None:
    """PyTorch uses 32 bits."""
    assert variant(seed=2**32 - 1).optimization.seed == 2**32 - 1
    with pytest.raises(UserError, match="seed: expected a whole number, from 0 to 4294967295, not 4294967296"):
        variant(seed=2**32)


def test_every_setting_that_is_learned_counts() -> None:
    changes = {"attention": "fixed", "decoder_order": "printed", "embedding_bias": False, "optimizer": "adam"}
    changes |= {
        "unit": "lstm",
        "score_previous": True,
        "initial_state": "mean",
        "loss": "mean",
        "precision": "bf16",
        "implementation": "readable",
        "rho": 0.5,
        "dropout": 0.5,
        "output_rank": None,
        "cooldown": 2,
        "stop_on": "bleu",
    }
    for kind in (Architecture, Optimization):
        for one in fields(kind):
            of_lstm = {"unit": "lstm"} if one.name == "forget_bias" else {}
            changed = variant(**{one.name: changes.get(one.name, 7)}, **of_lstm)
            assert changed.learned() != variant(**of_lstm).learned(), one.name
    assert variant(continues="b").learned() != variant().learned()
    for one in fields(RunTime):
        assert one.name not in variant().learned()


@dataclass(frozen=True)
class Later(Optimization):
    """The settings of a later version."""

    averaging: Annotated[str, choice("none", "ema"), Neutral("none")] = "none"


def test_a_new_setting_at_its_neutral_value_is_not_part_of_what_is_learned() -> None:
    assert learned(Later(updates=3)) == learned(Optimization(updates=3))
    assert learned(Later(updates=3, averaging="ema")) == {**learned(Optimization(updates=3)), "averaging": "ema"}


def test_a_section_goes_to_a_step_with_the_settings_that_it_uses() -> None:
    section = Select(words=5, order=3)
    assert json.loads(section.to_json("order")) == {"order": 3}
    assert Select.from_json(section.to_json()) == section
    with pytest.raises(UserError, match="--settings: unknown setting ordr; the nearest is order"):
        Select.from_json('{"ordr": 3}')
    with pytest.raises(UserError, match="--settings: not JSON"):
        Select.from_json("order=3")


def test_what_a_rule_of_selection_does_not_use_does_not_count() -> None:
    rules = {"ranking": {"words"}, "random": {"words"}, "shares": {"shares"}, "all": set()}
    changes: dict[str, Any] = {"words": 5, "shares": {"a": 0.5}}
    for rule, used in rules.items():
        standard = Select(rule).to_json()
        assert {key for key, value in changes.items() if Select(rule, **{key: value}).to_json() != standard} == used


def test_shares_count_in_no_order() -> None:
    found = Select.from_json('{"rule": "shares", "shares": {"b": 1, "a": 0.5}}')
    assert found.to_json() == Select("shares", shares={"a": 0.5, "b": 1.0}).to_json()
    assert found.to_json() == Select("shares", shares={"a": 0.5}).to_json()  # corpora not named are kept whole


def test_shards_have_about_that_many_pairs() -> None:
    counts = {0: 1, 3: 1, 14: 1, 16: 2, 24: 2, 26: 3, 100: 10}
    assert {pairs: Shard(10).count(pairs) for pairs in counts} == counts
