"""Sentences as evaluation reads and shows them: parallel files of one set, Moses entities, detokenized text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacremoses import MosesDetokenizer

from nmt.corpora.pairs import split_words
from nmt.files import UserError, read_lines

# What the Moses tokenizer escapes; the ampersand last, so that "&amp;lt;" becomes "&lt;" and not "<".
ENTITIES = {
    "&apos;": "'",
    "&quot;": '"',
    "&lt;": "<",
    "&gt;": ">",
    "&#124;": "|",
    "&#91;": "[",
    "&#93;": "]",
    "&amp;": "&",
}


def read_parallel(*paths: str) -> list[list[str]]:
    """The lines of each file of one set; UserError, naming both counts, where two files differ in length."""
    files = [list(read_lines(path)) for path in paths]
    for path, lines in zip(paths, files, strict=True):
        if len(lines) != len(files[0]):
            raise UserError(
                f"{path}: {len(lines)} lines, but {paths[0]} has {len(files[0])}; give files of the same set"
            )
    if not files[0]:
        raise UserError(f"{paths[0]}: no sentences in it; give a set that is not empty")
    return files


def paired(labels: Sequence[str], option: str, paths: Sequence[str]) -> list[tuple[str, str]]:
    """(label, path) for each model; UserError where --labels and `option` differ in number or a label repeats."""
    if len(labels) != len(paths):
        raise UserError(f"--labels: {len(labels)} labels for {len(paths)} files of {option}; give one label a file")
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"--labels: {label} is given twice; every model needs a label of its own")
    return list(zip(labels, paths, strict=True))


def unescape(text: str) -> str:
    """`text` with the entities of the Moses tokenizer turned back into the characters they stand for."""
    for entity, character in ENTITIES.items():
        text = text.replace(entity, character)
    return text


def detokenizer(language: str) -> Callable[[str], str]:
    """The function that turns a tokenized, escaped sentence of `language` into running text."""
    moses = MosesDetokenizer(lang=language)

    def detokenize(sentence: str) -> str:
        return str(moses.detokenize(split_words(sentence), unescape=True))

    return detokenize
