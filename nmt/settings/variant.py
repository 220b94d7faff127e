"""A model variant: every setting that decides what is trained, and how.

Apart from the rest of the configuration, so that a setting of a table or figure never touches a trained model.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from nmt.settings.checks import build, choice, flag, identifier, integer, optional, positive, text
from nmt.system.files import UserError

#: Module and class of each `context`; chosen by name, so that a model depends only on the one it uses.
CONTEXT_MODULES = {
    "attention": ("nmt.model.attention.additive", "Attention"),
    "fixed": ("nmt.model.attention.fixed", "FixedContext"),
}


@dataclass(frozen=True)
class Variant:
    """One model and how it is trained; the defaults are the paper's RNNsearch-50.

    `updates` is the cap on parameter updates, counted from this variant's own start; `patience` is the number
    of evaluations without improvement after which training stops (0: never); `evaluate_every` counts updates, as
    does `checkpoint_every` (0: by time alone);
    `window` counts batches that are read ahead and sorted by length (Appendix B.2). `output_rank` is the size
    of the original code's linear layer between maxout and softmax, null the paper's single matrix W_o.
    """

    name: Annotated[str, identifier()]
    label: Annotated[str, text(r"[^\n]*")] = ""
    context: Annotated[str, choice("attention", "fixed")] = "attention"
    embedding: Annotated[int, integer(1)] = 620
    hidden: Annotated[int, integer(1)] = 1000
    alignment: Annotated[int, integer(1)] = 1000
    maxout: Annotated[int, integer(1)] = 500
    output_rank: Annotated[int | None, optional(integer(1))] = None
    decoder_order: Annotated[str, choice("look_generate_update", "printed")] = "look_generate_update"
    embedding_bias: Annotated[bool, flag()] = True
    maximum_length: Annotated[int, integer(1)] = 50
    initialization_scale: Annotated[float, positive()] = 0.01
    attention_scale: Annotated[float, positive()] = 0.001
    optimizer: Annotated[str, choice("adadelta", "adam")] = "adadelta"
    learning_rate: Annotated[float, positive()] = 1.0
    rho: Annotated[float, positive(below=1)] = 0.95
    epsilon: Annotated[float, positive()] = 1e-6
    clip_norm: Annotated[float, positive()] = 1.0
    loss: Annotated[str, choice("sum", "mean")] = "sum"
    batch: Annotated[int, integer(1)] = 80
    window: Annotated[int, integer(1)] = 20
    updates: Annotated[int, integer(1)] = 288_000
    patience: Annotated[int, integer(0)] = 0
    evaluate_every: Annotated[int, integer(1)] = 5_000
    checkpoint_minutes: Annotated[float, positive()] = 10.0
    checkpoint_every: Annotated[int, integer(0)] = 0
    precision: Annotated[str, choice("float32", "bf16")] = "float32"
    implementation: Annotated[str, choice("fast", "readable")] = "fast"
    device: Annotated[str, choice("auto", "cpu", "cuda")] = "auto"
    seed: Annotated[int, integer(0)] = 1234
    continues: Annotated[str | None, optional(identifier())] = None

    def to_json(self) -> str:
        """All settings on one line, in a fixed order."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Variant:
        """The inverse of `to_json`; a setting that is left out has the paper's value. Raises UserError."""
        try:
            value = json.loads(line)
        except ValueError as error:
            raise UserError(f"settings: not JSON ({error})") from None
        return build(cls, value, "settings")

    def what_is_learned(self) -> dict[str, Any]:
        """The settings that decide the trained parameters: a change of any other need not train again."""
        settings = asdict(self)
        for key in ("name", "label", "checkpoint_minutes", "checkpoint_every", "device"):
            del settings[key]
        if self.context == "fixed":
            del settings["alignment"], settings["attention_scale"]
        return settings
