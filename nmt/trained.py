"""Trained models as files: the weights, and the folder that adds the words of both sides and their languages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from nmt.corpora.languages import has_spaces
from nmt.corpora.pieces import Pieces
from nmt.corpora.shortlist import Shortlist
from nmt.model.network import Network
from nmt.settings.checks import Check, build, checked, choice, integer, optional, read_values
from nmt.settings.sections import NFC, NORMALIZE
from nmt.settings.variant import Architecture
from nmt.system.checksums import recorded, sha256, unreplaced, verify
from nmt.system.device import warn_if_slow
from nmt.system.errors import UserError
from nmt.system.files import MODEL, SUMMARY, atomic, atomic_folder, check_folder
from nmt.system.text import read_lines, write_json, write_lines

SOURCE, TARGET = "source.tsv", "target.tsv"
CODES = ("source.codes", "target.codes")  # only of a model of subwords
LEARNED = (MODEL, SOURCE, TARGET)  # the summary has their digests, and those of the codes
WHAT, IS_OWN = "a model of this project", recorded(SUMMARY, (*LEARNED, *CODES, "metrics.jsonl"))
DIGESTS = Check(
    f"the digests of {', '.join(LEARNED)} and, for a model of subwords, of {', '.join(CODES)}",
    lambda value: (
        isinstance(value, Mapping)
        and value.keys() in ({*LEARNED}, {*LEARNED, *CODES})
        and all(isinstance(one, str) for one in value.values())
    ),
)
LANGUAGES = Check(
    'the languages of source and target, as ["en", "fr"]',
    lambda value: isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value),
)


@dataclass(frozen=True, repr=False)
class TrainedModel:
    """A network in evaluation mode, the shortlists of its two sides, and their languages, as "en" and "fr".

    `normalize` is how the lines of its training text were normalized (`nmt.corpora.normalization`).
    """

    folder: Path
    model: Network
    source: Shortlist
    target: Shortlist
    languages: tuple[str, str]
    normalize: str = NFC

    def __repr__(self) -> str:
        """The model in a few words: its weights and its vocabularies would fill pages."""
        source, target = self.languages
        attention = self.model.architecture.attention
        sizes = f"{len(self.source):,} and {len(self.target):,} symbols"
        return f"TrainedModel({str(self.folder)!r}, {source} to {target}, {sizes}, {attention} attention)"

    @property
    def tokenizers(self) -> list[str | None]:
        """The languages by whose rules running text becomes words; None where words are what spaces separate."""
        sides = zip((self.source, self.target), self.languages, strict=True)
        return [None if isinstance(side.codes, Pieces) else language for side, language in sides]

    def has_words(self, side: int) -> bool:
        """Whether the symbols of the source (0) or target (1) make up words, rather than pieces of unspaced text."""
        return self.tokenizers[side] is not None or has_spaces(self.languages[side])

    def freeze(self, precision: str = "float32") -> None:
        """Prepare the weights for fast steps (`Network.freeze`); warn if the device is slow in this precision."""
        warn_if_slow(precision, self.model.decoder.W_s.device)
        self.model.freeze(precision)

    def require_attention(self, what: str) -> None:
        """Raise UserError, which says that `what` needs attention, if the context of the model is fixed."""
        if self.model.architecture.attention == "fixed":
            raise UserError(
                f"{self.folder}: its context is fixed (RNNencdec), but {what} needs attention; "
                "take a model with attention (RNNsearch)"
            )


def load_trained(folder: str | Path, device: torch.device | str = "cpu") -> TrainedModel:
    """The model that the step train wrote to `folder`; UserError names what is missing or does not fit."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; name the one that the step train wrote")
    missing = [name for name in (MODEL, SUMMARY, SOURCE, TARGET) if not (folder / name).is_file()]
    if missing:
        raise UserError(f"{folder}: no {', no '.join(missing)} in it; name the folder that the step train wrote")
    with unreplaced(folder / SUMMARY):
        summary = read_values(
            folder / SUMMARY, languages=LANGUAGES, digests=DIGESTS, normalize=optional(choice(*NORMALIZE))
        )
        verify(folder / SUMMARY, summary["digests"], "train it again")
        codes = [folder / name if name in summary["digests"] else None for name in CODES]
        for path in (folder / name for name in CODES):
            if path not in codes and path.exists():
                raise UserError(f"{path}: not of this model, which is one of words; remove the file")
        model = load_model(folder / MODEL, device)
        source, target = (Shortlist.read(folder / name, own) for name, own in zip((SOURCE, TARGET), codes, strict=True))
    if model.symbols != (len(source), len(target)):
        raise UserError(f"{folder}: its weights and its shortlists are not of one model; train it again")
    return TrainedModel(folder, model, source, target, tuple(summary["languages"]), summary["normalize"] or NFC)


def check_output(folder: Path) -> None:
    """Raise UserError if a model cannot replace `folder`: it holds something else, or its name is not UTF-8."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise UserError(f"{folder}: the name is not UTF-8, as it must be; name another folder") from None
    check_folder(folder, WHAT, IS_OWN)


def write_trained(
    folder: Path,
    model: Network,
    shortlists: Sequence[Shortlist],
    summary: Mapping[str, Any],
    metrics: Path | None = None,
) -> None:
    """Write the folder that `load_trained` reads, as a whole or not at all, with a copy of `metrics`.

    `summary` has the languages; the digests are added to it. The vocabularies are those that were read, even if their
    files have changed since. Raises UserError as `check_output` and `save_model` do.
    """
    with atomic_folder(folder, WHAT, IS_OWN) as partial:
        for shortlist, name, codes in zip(shortlists, (SOURCE, TARGET), CODES, strict=True):
            shortlist.write(partial / name)
            if shortlist.codes is not None:
                shortlist.codes.write(partial / codes)
        if metrics is not None:
            write_lines(partial / metrics.name, read_lines(metrics))
        save_model(model, partial / MODEL)
        digests = {name: sha256(partial / name) for name in (*LEARNED, *CODES) if (partial / name).exists()}
        write_json(partial / SUMMARY, {**summary, "digests": digests})


def save_model(model: Network, path: str | Path) -> None:
    """Write the weights as safetensors; the metadata holds what is needed to build the model again.

    Raises UserError if a weight is not finite.
    """
    about = {"architecture": asdict(model.architecture), "symbols": model.symbols, "updates": model.updates}
    metadata = {"model": json.dumps(about)}  # one entry: the order of several would change from file to file
    weights = {name: weight.detach().cpu().contiguous() for name, weight in model.state_dict().items()}
    _check_finite(weights, path)
    with atomic(path) as partial:
        partial.write_bytes(safetensors.torch.save(weights, metadata))  # save_file lets no other user read it


def load_model(path: str | Path, device: torch.device | str = "cpu") -> Network:
    """The model in `path`, in evaluation mode on `device`.

    Raises UserError if the file is missing, truncated or no model, or if its weights are not finite, and OSError if it
    cannot be read.
    """
    try:
        str(path).encode()  # safetensors opens no file of another name
        open(path, "rb").close()  # safetensors reports every file that it cannot open as missing
        with safetensors.safe_open(path, framework="pt", device=str(device)) as file:
            about = json.loads((file.metadata() or {})["model"])
            # Copies, because the tensors are views of the file, which may be overwritten while the model is used.
            weights = {
                name: file.get_tensor(name).to(torch.float32, copy=True)
                for name in file.keys()  # noqa: SIM118 (no mapping)
            }
        architecture = build(Architecture, about["architecture"], str(path))
        source_symbols, target_symbols = (checked(size, integer(1), f"{path}: symbols") for size in about["symbols"])
        with torch.device("meta"):  # a damaged size must not take memory
            model = Network(architecture, source_symbols, target_symbols)
        model.load_state_dict(weights, assign=True)
        model.updates = checked(about["updates"], integer(0), f"{path}: updates")
    except FileNotFoundError:
        raise UserError(f"{path}: no such model; train it first") from None
    except UnicodeEncodeError:
        raise UserError(f"{path}: the name is not UTF-8, as it must be; rename the folder") from None
    except (safetensors.SafetensorError, KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: not a whole model of this project ({reason}); train it again") from None
    _check_finite(weights, path)
    return model.to(device).eval()


def _check_finite(weights: Mapping[str, torch.Tensor], path: str | Path) -> None:
    if not all(bool(weight.isfinite().all()) for weight in weights.values()):
        raise UserError(f"{path}: its weights are not finite; train it again, with a lower learning_rate")
