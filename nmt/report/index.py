"""Make one page of all tables and figures, where a click on a sentence shows what each model attends to.

The page needs no server. Sentences and alignments lie beside it as scripts, in a folder of the same name: one script
for the text of each set, and one for the alignments of every CHUNK sentences, which is loaded on demand.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from nmt.corpora.detokenize import unescape
from nmt.corpora.pairs import split_words
from nmt.corpora.shortlist import EOS_SYMBOL, UNK_WORD
from nmt.evaluation.sentences import read_parallel
from nmt.report.page import SCRIPT, document, emphasized, escape, show_table, visible
from nmt.system.files import UserError, check_replaceable, read_lines, write_lines
from nmt.system.options import Output

CHUNK = 50
TABLES, FIGURES = (".md", ".csv"), (".svg", ".png")
TEXTS = ("source", "reference", "baseline")
CALL = "nmt."  # the beginning of every script

# The words of a translation, and its weights row by row, each as two hexadecimal digits; None without attention.
Alignment = tuple[list[str], str | None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--experiment", required=True, help="name of the experiment")
    parser.add_argument("--title", help="heading of the page, before the experiment's name (none)")
    parser.add_argument("--reference", help="the paper whose tables and figures these are, in Markdown (none)")
    parser.add_argument(
        "--shown",
        required=True,
        nargs="+",
        metavar="FILE",
        help="tables (.md, .csv), which are copied, and figures (.svg, .png), which are linked, in the page's order",
    )
    parser.add_argument("--titles", required=True, nargs="+", metavar="TEXT", help="one for each file of --shown")
    parser.add_argument("--captions", required=True, nargs="+", metavar="FILE", help="one for each file of --shown")
    parser.add_argument("--sets", required=True, nargs="+", metavar="NAME")
    parser.add_argument("--sources", required=True, nargs="+", metavar="FILE", help="tokenized, one for each set")
    parser.add_argument("--references", required=True, nargs="+", metavar="FILE", help="tokenized, one for each set")
    parser.add_argument("--labels", required=True, nargs="+", metavar="MODEL", help="names of the models")
    parser.add_argument(
        "--alignments",
        required=True,
        nargs="+",
        metavar="FILE",
        help="JSON lines of the step translate: all models on the first set, then on the next",
    )
    parser.add_argument(
        "--baseline",
        nargs="+",
        default=[],
        metavar=("LABEL", "FILE"),
        help="name of a system without alignments, and its tokenized translations, one file for each set",
    )
    parser.add_argument("--output", required=True, type=Output, metavar="HTML")


def run(arguments: argparse.Namespace) -> None:
    sets, labels = arguments.sets, arguments.labels
    wanted = {"--sources": len(sets), "--references": len(sets), "--alignments": len(sets) * len(labels)}
    for option, number in wanted.items():
        given = len(getattr(arguments, option[2:]))
        if given != number:
            raise UserError(f"{option}: {given} files for {len(sets)} sets and {len(labels)} models; give {number}")
    for option in ("titles", "captions"):
        if len(getattr(arguments, option)) != len(arguments.shown):
            raise UserError(f"--{option}: give one for each of the {len(arguments.shown)} files of --shown")
    if len(arguments.baseline) not in (0, 1 + len(sets)):
        raise UserError(f"--baseline: {len(arguments.baseline) - 1} files for {len(sets)} sets; give {len(sets)}")
    if arguments.output.suffix != ".html":
        raise UserError(f"--output: {arguments.output} does not end in .html; name a file that does")
    folder = arguments.output.with_suffix("")
    check_replaceable(folder, "a folder of this page's scripts", is_script)
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


def is_script(path: Path) -> bool:
    """Whether a file is one that `scripts` gives, or an unfinished one."""
    if path.suffix != ".js" or not path.is_file():
        return path.match(".*.partial")
    with open(path, "rb") as file:
        return file.read(len(CALL)) == CALL.encode()


def scripts(name: str, texts: Sequence[Sequence[str]], alignments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(file, line) of each script of a set: the text, then the alignments of all models, CHUNK sentences at a time."""
    readable = [[" ".join(map(_shown, split_words(line))) for line in lines] for lines in texts]
    source = readable[0]
    yield f"{name}.js", _call("text", name, dict(zip(TEXTS, readable, strict=False)))
    models = [groupby(best(path, texts[0]), key=lambda found: found[0] // CHUNK) for path in alignments]
    heads = [next(model, None) for model in models]
    for number in range((len(source) + CHUNK - 1) // CHUNK):
        sentences: list[list[Alignment | None]] = [[None] * len(models) for _ in source[number * CHUNK :][:CHUNK]]
        for place, model in enumerate(models):
            head = heads[place]
            if head is not None and head[0] == number:
                for line, alignment in head[1]:
                    sentences[line % CHUNK][place] = alignment
                heads[place] = next(model, None)
        yield f"{name}.{number}.js", _call("chunk", name, number, sentences)


def _call(function: str, *values: Any) -> str:
    """A line of JavaScript, in ASCII."""
    return f"{CALL}{function}({', '.join(json.dumps(value, separators=(',', ':')) for value in values)});"


def best(path: str, sources: Sequence[str]) -> Iterator[tuple[int, Alignment]]:
    """The line and alignment of each best translation, in order; UserError where the text is not `sources`."""
    last = -1
    for number, text in enumerate(read_lines(path), 1):
        try:
            record = json.loads(text)
            line = int(record["line"])
            if record.get("rank", 0) == 0:
                if not last < line < len(sources):
                    raise ValueError(f"sentence {line + 1} is out of place")
                last = line
                yield line, _alignment(record, sources[line])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path}: line {number} is not an alignment of the source ({error})") from None


def _shown(word: str) -> str:
    """A word of tokenized text as a reader should see it."""
    return visible(unescape(word))


def _alignment(record: dict[str, Any], source: str) -> Alignment:
    """The best translation of a record; ValueError where it is not one of `source`."""
    words, target, weights = record["source"], [_shown(str(word)) for word in record["target"]], record["weights"]
    # A source that the decoder cut short is still an alignment of the words that are left.
    own = [*split_words(source)[: len(words) - 1], EOS_SYMBOL]
    if any(one not in (word, UNK_WORD) for one, word in zip(words, own, strict=True)):
        raise ValueError("its source words differ")
    if weights is None:
        return target, None
    if len(weights) != len(target) or any(len(row) != len(words) for row in weights):
        raise ValueError("its words and weights differ in number")
    return target, "".join(f"{round(255 * min(1.0, max(0.0, weight))):02x}" for row in weights for weight in row)


def page(arguments: argparse.Namespace, folder: str) -> str:
    """The page, whose scripts lie in `folder`."""
    shown = zip(arguments.shown, arguments.titles, arguments.captions, strict=True)
    sections = [Section(Path(file), title, caption, arguments.output.parent) for file, title, caption in shown]
    links = [f'<a href="#{escape(one.anchor)}">{escape(one.title)}</a>' for one in sections]
    setup = {"folder": folder, "chunk": CHUNK, "sets": arguments.sets, "models": arguments.labels}
    setup["baseline"] = next(iter(arguments.baseline), None)
    held = json.dumps(setup).replace("<", "\\u003c")
    title = ": ".join(part for part in (arguments.title, arguments.experiment) if part)
    results = "The tables and figures of the experiment"
    if arguments.reference:
        results = f"The tables and figures of {emphasized(arguments.reference)}, reproduced"
    body = f"""<h1>{escape(title)}</h1>
<p>{results}, and below them every sentence of the test sets, with the source words that each model attends to as it
translates.</p>
<nav>{" ".join(links)} <a href="#sentences">Sentences</a></nav>
{"".join(one.html for one in sections)}
<section id="sentences"><h2>Sentences</h2>
<p>Choose a sentence. Each model shows a row for each word that it generates and a column for each source word: the
darker a cell (on a dark screen, the brighter), the more the model attends to that source word.</p>
<div class="controls"><select id="set" aria-label="Test set"></select>
<input id="search" type="search" placeholder="words or a number" aria-label="Search">
<button id="back">←</button><span id="count"></span><button id="on">→</button></div>
<div class="browser"><ol id="list"></ol><div id="sentence">This needs JavaScript.</div></div></section>
<script type="application/json" id="setup">{held}</script>
<script>
{SCRIPT.read_text(encoding="utf-8")}</script>"""
    return document(title, body)


class Section:
    """One table or figure of the page; one in a folder below the page's is of the test set of that name."""

    def __init__(self, file: Path, title: str, caption: str, folder: Path) -> None:
        path = Path(os.path.relpath(file, folder))
        self.anchor = path.with_suffix("").as_posix()
        self.title = title + (f" of {path.parent.as_posix()}" if path.parent.parts else "")
        text = escape("\n".join(read_lines(caption)).strip())
        if file.suffix in TABLES:
            shown = f"<p>{text}</p>\n{show_table(str(file), level=3)}"
        elif file.suffix in FIGURES:
            large, link = escape(path.with_suffix(".pdf").as_posix()), escape(path.as_posix())
            shown = (
                f'<figure><a href="{large}"><img src="{link}" alt="{escape(self.title)}"></a>'
                f"<figcaption>{text}</figcaption></figure>"
            )
        else:
            raise UserError(
                f"{file}: neither a table ({', '.join(TABLES)}) nor a figure ({', '.join(FIGURES)}); name one of them"
            )
        self.html = f'<section id="{escape(self.anchor)}"><h2>{escape(self.title)}</h2>\n{shown}</section>\n'
