"""A model variant: what the model is, how it is trained, and how the training is run.

Apart from the rest of an experiment, so that a setting of a table or figure never touches a trained model. In YAML the
settings of a variant are one flat section; here they are three types, because only the first two decide what is
learned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, get_type_hints

from nmt.settings.checks import (
    Neutral,
    build,
    choice,
    finite,
    flag,
    identifier,
    integer,
    optional,
    parse_json,
    parts_of,
    positive,
    probability,
    seed,
    text,
)
from nmt.system.errors import UserError

#: Module and class of each attention and of each unit. A model imports only those that it uses.
ATTENTIONS = {
    "additive": ("nmt.model.attention.additive", "AdditiveAttention"),
    "fine_grained": ("nmt.model.attention.fine_grained", "FineGrainedAttention"),
    "fixed": ("nmt.model.attention.fixed", "FixedContext"),
}
UNITS = {
    "gated": ("nmt.model.units.gated", "GatedUnit"),
    "lstm": ("nmt.model.units.lstm", "LSTM"),
}
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float32", "bf16")  # of matrix products; sums are in float32
DROPOUT_BITS = 16  # of the random number that decides whether a unit is kept
# More than any machine holds.
WIDEST_LAYER, LARGEST_BATCH, LONGEST_SENTENCE = 100_000, 1_000_000, 1_000_000


@dataclass(frozen=True)
class Architecture:
    """The layers of a model; the defaults are those of RNNsearch.

    `output_rank` is the size of the original code's linear layer between maxout and softmax, null the paper's single
    matrix W_o. `contextualization` is the size of the hidden layers of the network that gates word embeddings, null
    for none.
    """

    attention: Annotated[str, choice(*ATTENTIONS)] = "additive"
    embedding: Annotated[int, integer(1, WIDEST_LAYER)] = 620
    hidden: Annotated[int, integer(1, WIDEST_LAYER)] = 1000
    alignment: Annotated[int, integer(1, WIDEST_LAYER)] = 1000
    maxout: Annotated[int, integer(1, WIDEST_LAYER)] = 500
    output_rank: Annotated[int | None, optional(integer(1, WIDEST_LAYER))] = 620
    decoder_order: Annotated[str, choice("look_generate_update", "printed")] = "look_generate_update"
    embedding_bias: Annotated[bool, flag()] = True
    unit: Annotated[str, choice(*UNITS), Neutral("gated")] = "gated"
    score_previous: Annotated[bool, flag(), Neutral(False)] = False
    initial_state: Annotated[str, choice("first", "mean"), Neutral("first")] = "first"
    contextualization: Annotated[int | None, optional(integer(1, WIDEST_LAYER)), Neutral(None)] = None

    @property
    def layers(self) -> Architecture:
        """The same, with the defaults of what no layer uses: without attention, the settings of the alignment."""
        if self.attention != "fixed":
            return self
        return replace(self, alignment=Architecture.alignment, score_previous=Architecture.score_previous)


@dataclass(frozen=True)
class Optimization:
    """How the weights are found.

    `updates` is the cap on parameter updates, counted from this variant's own start; `patience` is the number of
    evaluations without improvement after which training stops (0: never); `stop_on` is the score of the development set
    that must improve, its likelihood or the BLEU of its greedy translations; `evaluate_every` counts updates;
    `sort_batches` counts the batches that are read ahead and sorted by length (Appendix B.2); over the last `cooldown`
    updates before the cap, the learning rate falls linearly to 0; `dropout` is the probability that a unit of the
    annotations, or of what the output matrix is applied to, is 0 in an update.
    """

    updates: Annotated[int, integer(1)]
    seed: Annotated[int, seed()] = 1234
    maximum_length: Annotated[int, integer(1, LONGEST_SENTENCE)] = 50
    initialization_scale: Annotated[float, positive()] = 0.01
    attention_scale: Annotated[float, positive()] = 0.001
    forget_bias: Annotated[float, finite(0), Neutral(0.0)] = 0.0
    optimizer: Annotated[str, choice("adadelta", "adam")] = "adadelta"
    learning_rate: Annotated[float, positive()] = 1.0
    cooldown: Annotated[int, integer(0), Neutral(0)] = 0
    rho: Annotated[float, positive(below=1)] = 0.95
    epsilon: Annotated[float, positive()] = 1e-6
    clip_norm: Annotated[float, positive()] = 1.0
    dropout: Annotated[float, probability(DROPOUT_BITS), Neutral(0.0)] = 0.0
    loss: Annotated[str, choice("sum", "mean")] = "sum"
    batch: Annotated[int, integer(1, LARGEST_BATCH)] = 80
    sort_batches: Annotated[int, integer(1, LARGEST_BATCH)] = 20
    patience: Annotated[int, integer(0)] = 0
    stop_on: Annotated[str, choice("nll", "bleu"), Neutral("nll")] = "nll"
    evaluate_every: Annotated[int, integer(1)] = 5_000
    precision: Annotated[str, choice(*PRECISIONS), Neutral("float32")] = "float32"
    implementation: Annotated[str, choice("fast", "readable"), Neutral("fast")] = "fast"


@dataclass(frozen=True)
class RunTime:
    """Where a training runs, and how often it writes a checkpoint (`checkpoint_every` updates; 0: only by time)."""

    checkpoint_minutes: Annotated[float, positive()] = 10.0
    checkpoint_every: Annotated[int, integer(0)] = 0
    device: Annotated[str, choice(*DEVICES)] = DEVICES[0]


@dataclass(frozen=True)
class Variant:
    """One model of an experiment; `continues` names the variant whose trained model it continues."""

    name: str
    label: str
    continues: str | None
    architecture: Architecture
    optimization: Optimization
    run_time: RunTime

    @classmethod
    def build(cls, value: Any, where: str) -> Variant:
        """The variant of one flat section of settings; UserError where one is unknown, missing or out of range."""
        named = build(_Named, value, where, others=SETTINGS)
        parts: dict[str, Any] = {
            part: build(kind, {key: value[key] for key in keys_of(kind) if key in value}, where)
            for part, kind in PARTS.items()
        }
        optimization = parts["optimization"]
        if optimization.cooldown > optimization.updates:
            expected = f"at most as many as updates, {optimization.updates}"
            raise UserError(f"{where}.cooldown: expected {expected}, not {optimization.cooldown}")
        return cls(named.name, named.label or named.name, named.continues, **parts)

    def to_json(self) -> str:
        """All settings on one line, flat and in a fixed order."""
        flat = {"name": self.name, "label": self.label, "continues": self.continues}
        for part in PARTS:
            flat |= asdict(getattr(self, part))
        return json.dumps(flat, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Variant:
        """The inverse of `to_json`; a setting that is left out has its default. Raises UserError."""
        return cls.build(parse_json(line, "settings"), "settings")

    def learned(self) -> dict[str, Any]:
        """The settings that decide the trained weights, but those at a neutral value.

        A neutral value is the one that leaves a training run as it was before the setting existed: so a new setting
        retrains nothing, and open checkpoints still resume. For the same reason a setting that the kind of model or of
        optimizer does not use is left out, or has its default where it was not always left out.
        """
        settings = learned(self.architecture.layers) | learned(self.optimization)
        if self.continues is not None:  # the initial weights are those of the other model
            settings["continues"] = self.continues
            settings |= {key: getattr(Optimization, key) for key in ("initialization_scale", "attention_scale")}
            settings.pop("forget_bias", None)
            if not has_seed(settings):
                settings["seed"] = Optimization.seed
        if self.architecture.attention == "fixed":
            del settings["alignment"], settings["attention_scale"]
        if self.architecture.unit == "gated":
            settings.pop("forget_bias", None)
        if self.optimization.optimizer == "adam":
            settings |= {"rho": Optimization.rho, "epsilon": Optimization.epsilon}
        return settings


def has_seed(settings: Mapping[str, Any]) -> bool:
    """Whether a seed decides what is learned, by the settings of `Variant.learned`.

    It draws the initial weights and the masks of dropout; a model that continues another begins with its weights.
    """
    return "continues" not in settings or "dropout" in settings


def relearned(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The `settings` of a checkpoint as `Variant.learned` gives them now; earlier versions kept some without effect.

    Other entries, such as the digests of texts, stay. If the settings do not make a variant, all stay as they are.
    """
    own = {key: settings[key] for key in SETTINGS if key in settings}
    try:
        kept = Variant.build({"name": "checkpoint", **own}, "checkpoint").learned()
    except UserError:
        return dict(settings)
    return {key: kept.get(key, value) for key, value in settings.items() if key in kept or key not in SETTINGS}


@dataclass(frozen=True)
class _Named:
    """What a variant is called."""

    name: Annotated[str, identifier()]
    label: Annotated[str, text(0)] = ""
    continues: Annotated[str | None, optional(identifier())] = None


PARTS = parts_of(Variant)


def keys_of(kind: type) -> list[str]:
    """The names of a part's settings."""
    return [one.name for one in fields(kind)]


KINDS: tuple[type, ...] = (_Named, *PARTS.values())
SETTINGS = [key for kind in KINDS for key in keys_of(kind)]


def learned(part: Any) -> dict[str, Any]:
    """The settings of a part of a variant, but those at their neutral values."""
    hints = get_type_hints(type(part), include_extras=True)
    found = {}
    for one in fields(part):
        value = getattr(part, one.name)
        if Neutral(value) not in getattr(hints[one.name], "__metadata__", ()):
            found[one.name] = value
    return found
