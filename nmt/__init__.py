"""Neural machine translation by jointly learning to align and translate: every step of the reproduction.

For Python programs, `nmt.load(DIR)` is a trained model: `translate`, `search`, `score` and `align` are its methods.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.search.loaded import Model

__version__ = "0.1.0"  # pyproject.toml reads it here


def load(
    folder: str | os.PathLike[str], device: str = "auto", *, tokenized: bool = False, precision: str = "float32"
) -> Model:
    """The trained model in `folder`, such as data/EXPERIMENT/models/VARIANT, ready to use.

    `device` is "cpu", "cuda" or "auto", a GPU where there is one. With `tokenized`, text has spaces between words, and
    otherwise it is plain. `precision` is that of matrix products, "float32" or "bf16".

    Raises UserError (`nmt.system.errors`) if a file of the model is missing or damaged, or for another device or
    precision; OSError if the system refuses to read a file.
    """
    # These import PyTorch, which takes seconds: too long for `nmt --help`.
    from nmt.search.loaded import Model
    from nmt.settings.checks import checked, choice, flag
    from nmt.settings.variant import DEVICES, PRECISIONS
    from nmt.system.device import choose_device, survive_forks
    from nmt.system.errors import UserError
    from nmt.trained import load_trained

    if not isinstance(folder, str | os.PathLike):
        raise UserError(f"folder: expected a path, not {folder!r}")
    checked(device, choice(*DEVICES), "device")
    checked(precision, choice(*PRECISIONS), "precision")
    checked(tokenized, flag(), "tokenized")
    trained = load_trained(os.fspath(folder), choose_device(device))
    trained.freeze(precision)
    survive_forks()
    lasting = replace(trained, folder=trained.folder.absolute())  # a pickle needs it, wherever it is made
    return Model(lasting, tokenized, device=device, precision=precision)
