"""A trained model's folder as a whole: the network, the words that its symbols stand for, and its languages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from nmt.corpora.shortlist import Shortlist
from nmt.model.network import Network, load_with_shortlists
from nmt.system.files import UserError, read_json

MODEL, SUMMARY, SOURCE, TARGET = "model.safetensors", "summary.json", "source.tsv", "target.tsv"


@dataclass(frozen=True)
class Translator:
    """A network in evaluation mode, the shortlists of its two sides, and their languages, as "en" and "fr"."""

    folder: Path
    model: Network
    source: Shortlist
    target: Shortlist
    languages: tuple[str, str]

    def require_attention(self, what: str) -> None:
        """UserError, naming `what` needs it, where the model has a fixed context."""
        if self.model.variant.context == "fixed":
            raise UserError(
                f"{self.folder}: its context is fixed (RNNencdec), so it looks at no source word in particular, which "
                f"{what} asks for; take a model with attention (RNNsearch)"
            )


def load_translator(folder: str | Path, device: torch.device) -> Translator:
    """The model that the step train left in `folder`; UserError that names what is missing or does not fit."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; name the one that the step train wrote")
    missing = [name for name in (MODEL, SUMMARY, SOURCE, TARGET) if not (folder / name).is_file()]
    if missing:
        raise UserError(f"{folder}: no {', no '.join(missing)} in it; name the folder that the step train wrote")
    summary = read_json(folder / SUMMARY)
    languages = summary.get("languages") if isinstance(summary, dict) else None
    if not (isinstance(languages, list) and len(languages) == 2 and all(isinstance(one, str) for one in languages)):
        raise UserError(f'{folder / SUMMARY}: no "languages" of source and target, as ["en", "fr"]; train it again')
    model, source, target = load_with_shortlists(folder / MODEL, [str(folder / SOURCE), str(folder / TARGET)], device)
    return Translator(folder, model, source, target, (languages[0], languages[1]))
