"""One page of all tables and figures, on which a click on a sentence shows where each model looks as it translates it.

The page needs no server. Its sentences and alignments lie beside it as scripts, in a folder of the page's name: one for
the text of each set, and one for the alignments of every CHUNK sentences, which is loaded when one of them is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from nmt.corpora.detokenize import unescape
from nmt.corpora.pairs import split_words
from nmt.corpora.shortlist import EOS_SYMBOL, UNK_WORD
from nmt.evaluation.sentences import read_parallel
from nmt.report.page import SCRIPT, document, escape, show_table, visible
from nmt.system.files import UserError, read_lines, write_lines

CHUNK = 50
TABLES, FIGURES = (".md", ".csv"), (".svg", ".png")
TEXTS = ("source", "reference", "baseline")

Look = tuple[list[str], str | None]  # the words of a translation, and its weights in two hexadecimal digits each


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--experiment", required=True, help="what the page is of")
    parser.add_argument(
        "--shown",
        required=True,
        nargs="+",
        metavar="FILE",
        help="tables (.md, .csv) and figures (.svg, .png), in the page's order; figures are linked, tables copied",
    )
    parser.add_argument("--captions", required=True, type=Path, metavar="DIR", help="NAME.rst says what NAME.svg is")
    parser.add_argument("--sets", required=True, nargs="+", metavar="NAME")
    parser.add_argument("--sources", required=True, nargs="+", metavar="FILE", help="tokenized, one a set")
    parser.add_argument("--references", required=True, nargs="+", metavar="FILE", help="tokenized, one a set")
    parser.add_argument("--labels", required=True, nargs="+", metavar="MODEL", help="the models' names")
    parser.add_argument(
        "--alignments",
        required=True,
        nargs="+",
        metavar="FILE",
        help="JSON lines of the step translate, those of all models on the first set, then those on the next",
    )
    parser.add_argument(
        "--baseline",
        nargs="+",
        default=[],
        metavar=("LABEL", "FILE"),
        help="the name of a system without alignments and its translations, tokenized, one file a set",
    )
    parser.add_argument("--output", required=True, type=Path, metavar="HTML")


def run(arguments: argparse.Namespace) -> None:
    sets, labels = arguments.sets, arguments.labels
    wanted = {"--sources": len(sets), "--references": len(sets), "--alignments": len(sets) * len(labels)}
    for option, number in wanted.items():
        given = len(getattr(arguments, option[2:]))
        if given != number:
            raise UserError(f"{option}: {given} files for {len(sets)} sets and {len(labels)} models; give {number}")
    if len(arguments.baseline) not in (0, 1 + len(sets)):
        raise UserError(f"--baseline: {len(arguments.baseline) - 1} files for {len(sets)} sets; give {len(sets)}")
    folder = arguments.output.with_suffix("")
    written = set()
    for number, name in enumerate(sets):
        of_set = arguments.alignments[number * len(labels) : (number + 1) * len(labels)]
        files = [arguments.sources[number], arguments.references[number], *arguments.baseline[number + 1 :][:1]]
        for file, line in scripts(name, read_parallel(*files), of_set):
            write_lines(folder / file, [line])
            written.add(file)
    for file in set(os.listdir(folder)) - written:
        (folder / file).unlink()
    write_lines(arguments.output, [page(arguments, folder.name)])


def scripts(name: str, texts: Sequence[Sequence[str]], alignments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(file, line) of every script of a set: its text, then the alignments of all models, CHUNK sentences at a time."""
    readable = [[" ".join(map(_shown, split_words(line))) for line in lines] for lines in texts]
    source = readable[0]
    yield f"{name}.js", _call("text", name, dict(zip(TEXTS, readable, strict=False)))
    models = [groupby(looks(path, texts[0]), key=lambda look: look[0] // CHUNK) for path in alignments]
    heads = [next(model, None) for model in models]
    for number in range((len(source) + CHUNK - 1) // CHUNK):
        sentences: list[list[Look | None]] = [[None] * len(models) for _ in source[number * CHUNK :][:CHUNK]]
        for place, model in enumerate(models):
            head = heads[place]
            if head is not None and head[0] == number:
                for line, look in head[1]:
                    sentences[line % CHUNK][place] = look
                heads[place] = next(model, None)
        yield f"{name}.{number}.js", _call("chunk", name, number, sentences)


def _call(function: str, *values: Any) -> str:
    """A line of JavaScript, in ASCII."""
    return f"nmt.{function}({', '.join(json.dumps(value, separators=(',', ':')) for value in values)});"


def looks(path: str, sources: Sequence[str]) -> Iterator[tuple[int, Look]]:
    """The line and look of each best translation, in order; UserError where they are not those of `sources`."""
    last = -1
    for number, text in enumerate(read_lines(path), 1):
        try:
            record = json.loads(text)
            line = int(record["line"])
            if record.get("rank", 0) == 0:
                if not last < line < len(sources):
                    raise ValueError(f"sentence {line + 1} is out of place")
                last = line
                yield line, _look(record, sources[line])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path}: line {number} is not an alignment of the source ({error})") from None


def _shown(word: str) -> str:
    """A word of tokenized text as a reader knows it."""
    return visible(unescape(word))


def _look(record: dict[str, Any], source: str) -> Look:
    words, target, weights = record["source"], [_shown(str(word)) for word in record["target"]], record["weights"]
    # A source that the decoder cut short is still an alignment of the words that are left.
    own = [*split_words(source)[: len(words) - 1], EOS_SYMBOL]
    if any(one not in (word, UNK_WORD) for one, word in zip(words, own, strict=True)):
        raise ValueError("its words are others")
    if weights is None:
        return target, None
    if len(weights) != len(target) or any(len(row) != len(words) for row in weights):
        raise ValueError("its words and weights differ in number")
    return target, "".join(f"{round(255 * min(1.0, max(0.0, weight))):02x}" for row in weights for weight in row)


def page(arguments: argparse.Namespace, folder: str) -> str:
    """The page itself."""
    sections = [Section(Path(file), arguments) for file in arguments.shown]
    links = [f'<a href="#{escape(one.anchor)}">{escape(one.title)}</a>' for one in sections]
    setup = {"folder": folder, "chunk": CHUNK, "sets": arguments.sets, "models": arguments.labels}
    setup["baseline"] = next(iter(arguments.baseline), None)
    held = json.dumps(setup).replace("<", "\\u003c")
    body = f"""<h1>RNNsearch, reproduced: {escape(arguments.experiment)}</h1>
<p>The tables and figures of Bahdanau, Cho and Bengio (2015), <i>Neural machine translation by jointly learning to
align and translate</i>, made again, and below them every sentence of the test sets, with what each model looks at as it
translates.</p>
<nav>{" ".join(links)} <a href="#sentences">Sentences</a></nav>
{"".join(one.html for one in sections)}
<section id="sentences"><h2>Sentences</h2>
<p>Choose one: for each model a row for each word that it writes, a column for each source word, the darker (on a dark
screen the brighter) the more it looks there, Eq. (6).</p>
<div class="controls"><select id="set" aria-label="Test set"></select>
<input id="search" type="search" placeholder="words or a number" aria-label="Search">
<button id="back">←</button><span id="count"></span><button id="on">→</button></div>
<div class="browser"><ol id="list"></ol><div id="sentence">This needs JavaScript.</div></div></section>
<script type="application/json" id="setup">{held}</script>
<script>
{SCRIPT.read_text(encoding="utf-8")}</script>"""
    return document(f"RNNsearch: {arguments.experiment}", body)


class Section:
    """One table or figure of the page; one in a folder below the page's is of the test set of that name."""

    def __init__(self, file: Path, arguments: argparse.Namespace) -> None:
        path = Path(os.path.relpath(file, arguments.output.parent))
        self.anchor = path.with_suffix("").as_posix()
        of_set = f" of {path.parent.as_posix()}" if path.parent.parts else ""
        self.title = re.sub(r"(?=\d)", " ", path.stem, count=1).capitalize() + of_set
        caption = escape("\n".join(read_lines(arguments.captions / f"{path.stem}.rst")).strip())
        if file.suffix in TABLES:
            shown = f"<p>{caption}</p>\n{show_table(str(file), level=3)}"
        elif file.suffix in FIGURES:
            large, link = escape(path.with_suffix(".pdf").as_posix()), escape(path.as_posix())
            shown = (
                f'<figure><a href="{large}"><img src="{link}" alt="{escape(self.title)}"></a>'
                f"<figcaption>{caption}</figcaption></figure>"
            )
        else:
            raise UserError(f"{file}: neither a table ({', '.join(TABLES)}) nor a figure ({', '.join(FIGURES)})")
        self.html = f'<section id="{escape(self.anchor)}"><h2>{escape(self.title)}</h2>\n{shown}</section>\n'
