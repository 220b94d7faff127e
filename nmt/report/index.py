"""Make one page of all sentences, their translations and what each model attends to, and of all tables and figures.

The page needs no server. Sentences and weights lie beside it as scripts, in a folder of the same name: one script for
the texts of each set, and one for the weights of every CHUNK sentences, which is loaded on demand.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sacrebleu.metrics.chrf import CHRF

from nmt.corpora.pairs import split_words
from nmt.corpora.shortlist import EOS_SYMBOL
from nmt.evaluation.scores import check_alike, read_score
from nmt.evaluation.sentences import grouped, read_parallel
from nmt.report.markup import add_generated_argument
from nmt.report.page import JOINT, Reader, document, emphasized, escape, reader, script, shades, show_table
from nmt.report.summary import bleu_table, finding, read_comparisons
from nmt.search.alignments import read_alignments
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.text import read_lines, write_lines

METRIC = CHRF()
CHUNK = 50
APART = "~"  # of a set and the number of a chunk: no name of a corpus has it, and `index.js` writes it, too
TABLES, FIGURES = (".md", ".csv"), (".svg", ".png")
SIDES = ("source", "target")
CALL = "nmt."  # the beginning of every script
SENTENCES = """<div class="controls"><select id="set" aria-label="Test set"></select>
<input id="search" type="search" placeholder="words or a number" aria-label="Search">
<label>Sort: <select id="order"></select></label>
<select id="one" aria-label="System" hidden></select> <select id="other" aria-label="Another system" hidden></select>
<span><button id="back" aria-label="Earlier sentences">←</button> <span id="count" role="status"></span>
<button id="on" aria-label="Further sentences">→</button></span></div>
<div class="browser"><ol id="list" role="listbox" aria-label="Sentences"></ol>
<section id="sentence" aria-label="The chosen sentence">This needs JavaScript.</section>
<section id="alignments" aria-label="Alignments"></section></div>
<div class="faint help">
<p><span class="other">Marked</span> words are not in the reference. <span class="moved">Underlined</span> words are in
it, but in another order or not as often. <span class="missing" data-words="2"></span> stands where two words of the
reference are missing and no others stand in their place. <mark>Found</mark> is what the search finds.</p>
<p>A word under the mouse, or chosen by Tab and the arrow keys, says what it is, and shades the source words by how much
the model attends to them as it writes that word. <em>Alignment</em> shows this for all words: the darker a cell (on a
dark screen, the brighter), the larger the weight. Two alignments at a time are side by side.</p>
<p>Up and down in the list, and left and right anywhere, go from sentence to sentence. chrF says how much a translation
shares with its reference, from 0 to 100: it counts sequences of up to six characters. It is of this one sentence; BLEU
is of the whole test set.</p></div>
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--experiment", required=True, help="name of the experiment")
    parser.add_argument("--title", help="heading of the page, before the experiment's name (default: none)")
    parser.add_argument("--reference", help="the paper whose tables and figures these are, in Markdown (default: none)")
    parser.add_argument("--claim", help="what that paper claims, in a sentence (default: none)")
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
    parser.add_argument(
        "--languages",
        nargs="*",
        default=[],
        metavar="CODE",
        help="source and target language, such as en fr, whose rules of spacing are followed "
        "(default: none, the text came tokenized)",
    )
    parser.add_argument(
        "--pieces",
        nargs="*",
        default=[],
        choices=SIDES,
        help="which sides, translations by the models included, are in pieces of SentencePiece (default: none)",
    )
    parser.add_argument(
        "--labels",
        required=True,
        nargs="+",
        metavar="MODEL",
        help="names of the models; a model's seeds share its name, and the median one is shown",
    )
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
    parser.add_argument(
        "--scores",
        required=True,
        nargs="+",
        metavar="FILE",
        help="JSON of the step evaluate: all models and the system of --baseline on the first set, then on the next",
    )
    parser.add_argument(
        "--significance",
        nargs="?",
        metavar="CSV",
        help="table of the step significance on the first set (default: none)",
    )
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        default=[],
        metavar=("SYSTEM", "BASELINE"),
        help="a comparison of it that the summary names (default: none)",
    )
    parser.add_argument("--front", required=True, metavar="FILE", help="the figure of --shown that the summary shows")
    add_generated_argument(parser)
    parser.add_argument("--output", required=True, type=Output, metavar="HTML")


def run(arguments: argparse.Namespace) -> None:
    sets, labels = arguments.sets, arguments.labels
    systems = [*labels, *arguments.baseline[:1]]
    wanted = {"--sources": 1, "--references": 1, "--alignments": len(labels), "--scores": len(systems)}
    for option, number in wanted.items():
        given = len(getattr(arguments, option[2:]))
        if given != number * len(sets):
            raise UserError(f"{option}: {given} files for {len(sets)} sets; give {number} for each")
    for option in ("titles", "captions"):
        if len(getattr(arguments, option)) != len(arguments.shown):
            raise UserError(f"--{option}: give one for each of the {len(arguments.shown)} files of --shown")
    if len(arguments.baseline) not in (0, 1 + len(sets)):
        raise UserError(f"--baseline: {len(arguments.baseline) - 1} files for {len(sets)} sets; give {len(sets)}")
    if len(arguments.languages) not in (0, 2):
        raise UserError("--languages: give those of source and target, or none")
    if arguments.front not in arguments.shown:
        raise UserError(f"--front: {arguments.front} is not among the files of --shown; name one of them")
    if arguments.pair and not arguments.significance:
        raise UserError("--pair: needs --significance; name the table")
    if arguments.output.suffix != ".html":
        raise UserError(f"--output: {arguments.output} does not end in .html; name a file that does")
    arguments = with_median_seeds(arguments)
    labels = arguments.labels
    folder = arguments.output.with_suffix("")
    written = set()
    languages = arguments.languages or (None, None)
    read_source, read = (
        reader(language, pieces=side in arguments.pieces) for side, language in zip(SIDES, languages, strict=True)
    )
    readers = (read_source, read, reader(languages[1]))
    texts = [
        read_parallel(*sides, *arguments.baseline[number + 1 :][:1])
        for number, sides in enumerate(zip(arguments.sources, arguments.references, strict=True))
    ]
    html = page(arguments, folder.name, [len(source) for source, *_ in texts])
    for number, name in enumerate(sets):
        of_set = arguments.alignments[number * len(labels) : (number + 1) * len(labels)]
        for file, line in scripts(name, texts[number], of_set, readers):
            if (folder / file).exists() and not is_script(folder / file):
                raise UserError(f"{folder / file}: exists and is not a script of this page; move it elsewhere")
            write_lines(folder / file, [line])
            written.add(file)
    write_lines(arguments.output, [html])
    for path in folder.iterdir():
        if path.name not in written and is_script(path):
            path.unlink()


def with_median_seeds(arguments: argparse.Namespace) -> argparse.Namespace:
    """The options with one training of each model: of several seeds, the one with the median BLEU on the first set."""
    labels, sets = arguments.labels, range(len(arguments.sets))
    seeds = grouped(labels, "--labels", range(len(labels)))
    if len(seeds) == len(labels):
        return arguments
    chosen = [
        sorted(found, key=lambda place: _score(arguments.scores[place])["bleu"])[(len(found) - 1) // 2]
        for found in seeds.values()
    ]
    systems = len(arguments.scores) // len(sets)
    scored = [*chosen, *range(len(labels), systems)]
    changed = {
        "labels": [*seeds],
        "alignments": [arguments.alignments[number * len(labels) + place] for number in sets for place in chosen],
        "scores": [arguments.scores[number * systems + place] for number in sets for place in scored],
        "seeds": max(map(len, seeds.values())),
    }
    return argparse.Namespace(**vars(arguments) | changed)


def is_script(path: Path) -> bool:
    """Whether a file is one that `scripts` gives."""
    if path.suffix != ".js" or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(CALL)) == CALL.encode()


def scripts(
    name: str, texts: Sequence[Sequence[str]], alignments: Sequence[str], readers: tuple[Reader, Reader, Reader]
) -> Iterator[tuple[str, str]]:
    """(file, line) of each script of a set: its texts, then the weights of all models, CHUNK sentences at a time.

    `texts` are its source, its reference and, if there is a baseline, the baseline's translations, which are words
    always; `readers` are those of source, target and baseline.
    """
    read_source, read, read_baseline = readers
    source, reference, *baseline = texts
    models = [
        {one.line: (one.target, one.weights and shades(one.weights)) for one in read_alignments(path, source)}
        for path in alignments
    ]
    lines = range(len(source))
    systems = [[read(_without_end(model[line][0])) if line in model else None for line in lines] for model in models]
    systems += [[read_baseline(split_words(line)) for line in text] for text in baseline]
    shown = {"source": [read_source(split_words(line)) for line in source]}
    shown["reference"] = [read(split_words(line)) for line in reference]
    pairs = [zip(system, shown["reference"], strict=True) for system in systems]
    scores = [[None if one is None else round(sentence_chrf(one, other), 1) for one, other in part] for part in pairs]
    yield f"{name}.js", _call("text", name, {**shown, "systems": systems, "scores": scores})
    for number, first in enumerate(range(0, len(source), CHUNK)):
        weights = [[model[line][1] if line in model else None for model in models] for line in lines[first:][:CHUNK]]
        yield f"{name}{APART}{number}.js", _call("chunk", name, number, weights)


def sentence_chrf(translation: str, reference: str) -> float:
    """chrF in percent: what a translation shares with its reference, in sequences of up to six characters."""
    return float(METRIC.sentence_score(translation.replace(JOINT, ""), [reference.replace(JOINT, "")]).score)


def _without_end(words: list[str]) -> list[str]:
    return words[:-1] if words[-1:] == [EOS_SYMBOL] else words


def _call(function: str, *values: Any) -> str:
    """A line of JavaScript, in ASCII."""
    return f"{CALL}{function}({', '.join(json.dumps(value, separators=(',', ':')) for value in values)});"


def page(arguments: argparse.Namespace, folder: str, sentences: Sequence[int]) -> str:
    """The page, whose scripts lie in `folder`; `sentences` are those of each set. Raises UserError."""
    shown = zip(arguments.shown, arguments.titles, arguments.captions, strict=True)
    sections = [Section(Path(file), title, caption, arguments.output.parent) for file, title, caption in shown]
    systems = [*arguments.labels, *arguments.baseline[:1]]
    bleu = {}
    for number, name in enumerate(arguments.sets):
        files = arguments.scores[number * len(systems) : (number + 1) * len(systems)]
        scores = {path: _score(path) for path in files}
        check_alike({arguments.sources[number]: {"sentences": sentences[number]}, **scores}, "sentences")
        check_alike(scores, "signature")
        bleu[name] = [float(scores[path]["bleu"]) for path in files]
    setup = {"folder": folder, "chunk": CHUNK, "sets": arguments.sets, "systems": systems, "bleu": bleu}
    held = json.dumps({**setup, "models": len(arguments.labels)}).replace("<", "\\u003c")
    title = ": ".join(part for part in (arguments.title, arguments.experiment) if part)
    results = f"{emphasized(arguments.reference)}, reproduced: the" if arguments.reference else "The"
    tabs = {"Summary": summary(arguments, sections, bleu, sentences[0]), "Sentences": SENTENCES}
    for tab, endings in (("Tables", TABLES), ("Figures", FIGURES)):
        if chosen := [one for one in sections if one.file.suffix in endings]:
            tabs[tab] = f"{links(tab, chosen)}\n{''.join(one.html for one in chosen)}"
    body = f"""<h1>{escape(title)}</h1>
<p>{results} translations of the test sets, word by word, and the tables and figures.</p>
<nav class="tabs" aria-label="Parts of the page">{" ".join(f'<a href="#{tab.lower()}">{tab}</a>' for tab in tabs)}</nav>
{"".join(f'<section class="tab" id="{tab.lower()}">{html}</section>' for tab, html in tabs.items())}
<script type="application/json" id="setup">{held}</script>
{script("index.js")}"""
    return document(title, body, generated=arguments.generated)


def summary(
    arguments: argparse.Namespace, sections: Sequence[Section], bleu: Mapping[str, Sequence[float]], sentences: int
) -> str:
    """What the paper claims and what the numbers say about it, BLEU, a small figure, and links to all that is shown.

    `sentences` is how many the first set has.
    """
    systems, first = [*arguments.labels, *arguments.baseline[:1]], arguments.sets[0]
    compared = read_comparisons(arguments.significance, arguments.pair, sentences) if arguments.pair else []
    found = finding(first, dict(zip(systems, bleu[first], strict=True)), compared)
    claim = f"<p>The paper’s claim: {emphasized(arguments.claim)}</p>\n" if arguments.claim else ""
    [figure] = [one for one in sections if one.file == Path(arguments.front)]
    seeds = (
        f"<p>Each model was trained with up to {arguments.seeds} seeds. Its BLEU and translations here are those of "
        f"the seed with the median BLEU on {escape(first)}. Scores in tables and figures cover all seeds; "
        "sentences, attention weights and translation times there are of the first.</p>\n"
        if "seeds" in arguments
        else ""
    )
    return f"""{claim}<p class="finding">{escape(found)}</p>
{seeds}<div class="front"><div>{bleu_table(systems, bleu)}</div>
<figure><a href="#{escape(figure.anchor)}"><img src="{escape(figure.link)}" alt="{escape(figure.title)}"></a>
<figcaption>{escape(figure.title)}</figcaption></figure></div>
{links("Tables and figures", sections)}"""


def _score(path: str) -> dict[str, Any]:
    """The score of all sentences. Raises UserError where there are none."""
    found = read_score(path)["all"]
    if found["bleu"] is None:
        raise UserError(f"{path}: has no score; evaluate a set with sentences")
    return found


def links(label: str, sections: Iterable[Section]) -> str:
    """Links to the sections; `label` names them to those who hear the page."""
    items = (f'<a href="#{escape(one.anchor)}">{escape(one.title)}</a>' for one in sections)
    return f'<nav aria-label="{label}">{" ".join(items)}</nav>'


class Section:
    """One table or figure of the page; one in a folder below the page's is of the test set of that name."""

    def __init__(self, file: Path, title: str, caption: str, folder: Path) -> None:
        self.file = file
        path = Path(os.path.relpath(file, folder))
        self.anchor, self.link = path.with_suffix("").as_posix(), quote(path.as_posix())
        self.title = title + (f" of {path.parent.as_posix()}" if path.parent.parts else "")
        text = escape("\n".join(read_lines(caption)).strip())
        if file.suffix in TABLES:
            shown = f"<p>{text}</p>\n{show_table(str(file), is_section=True)}"
        elif file.suffix in FIGURES:
            large = escape(quote(path.with_suffix(".pdf").as_posix()))
            shown = (
                f'<figure><a href="{large}"><img src="{escape(self.link)}" alt="{escape(self.title)}"></a>'
                f"<figcaption>{text}</figcaption></figure>"
            )
        else:
            raise UserError(
                f"{file}: neither a table ({', '.join(TABLES)}) nor a figure ({', '.join(FIGURES)}); name one of them"
            )
        self.html = f'<section id="{escape(self.anchor)}"><h2>{escape(self.title)}</h2>\n{shown}</section>\n'
