"""Find the dimensions of fine-grained attention that specialize, for Figure 4.

For each class of words, such as articles, this is the dimension whose weights are highest on the words of the class:
A_t,d (Section 5.2) times the length of the source, averaged over the subwords of a word, is 1 for every word where a
dimension attends to all alike. The statistic is its mean over the words of the class, less its mean over all words, in
standard deviations over all words. For the alignment it is the mean weight that a dimension gives to the source symbol
to which another model, the aligner, attends most as it generates the same symbol.

With hundreds of dimensions the best one is good by chance, too: words are permuted within their sentence, the aligner's
symbols within their translation, and p is the share of these orders, the text's own included, whose best dimension is
as good.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

import numpy as np

from nmt.corpora.detokenize import unescape
from nmt.corpora.pieces import Pieces
from nmt.evaluation.bootstrap import holm
from nmt.evaluation.sentences import read_parallel
from nmt.papers.choi2017.settings import Figure4
from nmt.papers.choi2017.weights import add_model_arguments, encode, fine_grained, require_fine_grained
from nmt.papers.choi2017.word_classes import ALIGNMENT, read_word_classes
from nmt.report.markup import add_table_arguments, escape_markdown, heading, markdown_table
from nmt.search.alignments import alignments, word_means
from nmt.system.errors import UserError, warn
from nmt.system.files import check_apart
from nmt.system.progress import SILENT_SECONDS, Progress
from nmt.system.tables import number, write_csv
from nmt.system.text import write_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COLUMNS = ("class", "dimension", "statistic", "permuted", "p", "p_holm", "words")


class WordClasses:
    """Sums over all sentences from which the statistic of each class follows, for it and for its permutations.

    Shapes: P + 1 permutations, the first of which leaves the words as they are; C classes; D dimensions.
    """

    def __init__(self, classes: int, dimensions: int, permutations: int, generator: np.random.Generator) -> None:
        self._generator = generator
        self._permutations = permutations
        self._in_class = np.zeros((permutations + 1, classes, dimensions))
        self._sum, self._squares = np.zeros(dimensions), np.zeros(dimensions)
        self._words = 0
        self.counts = np.zeros(classes, dtype=int)

    def add(self, weights: Floats, labels: NDArray[np.bool_]) -> None:
        """A sentence: the weights (W, D) of its words, and which belong to each class (C, W)."""
        words = len(weights)
        orders = self._generator.permuted(np.tile(np.arange(words), (self._permutations, 1)), axis=1)
        permuted = np.concatenate([labels[None], labels[:, orders].transpose(1, 0, 2)])
        self._in_class += (permuted.reshape(-1, words).astype(weights.dtype) @ weights).reshape(self._in_class.shape)
        self._sum += weights.sum(axis=0)
        self._squares += np.square(weights).sum(axis=0)
        self._words += words
        self.counts += labels.sum(axis=1)

    def statistics(self) -> Floats:
        """(P + 1, C, D); not a number for a class without words, the least for a dimension whose weights never vary."""
        mean = self._sum / self._words
        deviation = np.sqrt(np.maximum(self._squares / self._words - np.square(mean), 0))
        with np.errstate(invalid="ignore", divide="ignore"):
            above = (self._in_class / self.counts[:, None] - mean) / deviation
        return np.where(deviation > 0, above, -np.inf)


class AlignedSymbols:
    """The weights (P + 1, D) of the source symbols that the aligner attends to, summed over all target symbols."""

    def __init__(self, dimensions: int, permutations: int, generator: np.random.Generator) -> None:
        self._generator = generator
        self._permutations = permutations
        self._sum = np.zeros((permutations + 1, dimensions))
        self.count = 0

    def add(self, weights: Floats, strongest: NDArray[np.intp]) -> None:
        """A sentence: alpha (Ty, Tx, D), and the aligner's source symbol for each target symbol (Ty,)."""
        targets, sources, dimensions = weights.shape
        permuted = self._generator.permuted(np.tile(strongest, (self._permutations, 1)), axis=1)
        chosen = np.concatenate([strongest[None], permuted])[..., None] == np.arange(sources)
        flat = weights.reshape(-1, dimensions)
        self._sum += chosen.reshape(-1, targets * sources).astype(weights.dtype) @ flat
        self.count += targets

    def statistics(self) -> Floats:
        """(P + 1, 1, D)."""
        return self._sum[:, None] / self.count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument(
        "--aligner", required=True, type=Path, metavar="DIR", help="folder of the model that says what aligns"
    )
    Figure4.add_argument(parser)
    parser.add_argument(
        "--labels", required=True, nargs=2, metavar=("MODEL", "ALIGNER"), help="the names of both models in the table"
    )
    parser.add_argument("--seed", required=True, type=int)
    add_table_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    # These import PyTorch, which takes seconds: too long for --help.
    from nmt.system.device import prepare
    from nmt.trained import load_trained

    settings: Figure4 = arguments.settings
    check_apart([arguments.output_csv, arguments.output_md], settings.files)
    device = prepare(arguments)
    trained, aligner = (load_trained(folder, device) for folder in (arguments.model, arguments.aligner))
    classes = read_word_classes(next(iter(settings.files), None), trained.normalize)
    require_fine_grained(trained, "Figure 4")
    aligner.require_attention("--aligner")
    if (trained.source.symbols, trained.target.symbols) != (aligner.source.symbols, aligner.target.symbols):
        raise UserError(f"{arguments.aligner}: its vocabularies are not those of {arguments.model}; name another model")
    is_running = isinstance(trained.source.codes, Pieces)
    dimensions = 2 * trained.model.architecture.hidden
    generator = np.random.default_rng(arguments.seed)
    of_words = WordClasses(len(classes), dimensions, settings.permutations, generator)
    aligned = AlignedSymbols(dimensions, settings.permutations, generator)
    sources, translations = read_parallel(arguments.source, arguments.translation)
    encoded = encode(trained, sources, translations, arguments.source)
    sentences = [one for one in encoded if one.source_ids and one.target_ids]
    with Progress("specialized_dimensions", len(sentences), "sentences", silent=SILENT_SECONDS) as progress:
        for sentence in progress.over(sentences):
            alpha = fine_grained(trained, sentence)[:-1]  # the end of sentence says nothing of words
            words = [spoken(word, is_running) for word in trained.source.join(sentence.source[:-1])]
            relative = alpha.mean(axis=0)[:-1] * alpha.shape[1]
            labels = np.array([[word in chosen for word in words] for chosen in classes.values()])
            of_words.add(word_means(relative, trained.source.owners(sentence.source[:-1])), labels)
            [attended] = alignments(aligner.model, [sentence.source_ids], [sentence.target_ids])
            aligned.add(alpha, attended[:-1].argmax(axis=1))
    rows: list[list[str]] = []
    if aligned.count:
        statistics = np.concatenate([of_words.statistics(), aligned.statistics()], axis=1)
        for name, count, own in zip(classes, of_words.counts, statistics[0], strict=False):
            if not count:
                warn(f"{arguments.source}: no word of the class {name}; it is left out")
            elif not np.isfinite(own).any():
                warn(f"{arguments.source}: the weights are the same on all words; the class {name} is left out")
        rows = best([*classes, ALIGNMENT], statistics, [*of_words.counts, aligned.count])
    else:
        warn(f"{arguments.translation}: no words in it; the table has no rows")
    write_csv(arguments.output_csv, COLUMNS, rows)
    page = markdown(rows, len(sentences), settings.permutations, arguments.labels, arguments.generated)
    write_lines(arguments.output_md, page)


def spoken(word: str, is_running: bool) -> str:
    """`word` in lower case, without the tokenizer's escapes; in running text, without the punctuation around it."""
    word = unescape(word).lower()
    if not is_running:
        return word
    letters = [place for place, character in enumerate(word) if not category(character).startswith("P")]
    return word[letters[0] : letters[-1] + 1] if letters else ""


def best(classes: Iterable[str], statistics: Floats, counts: Iterable[int]) -> list[list[str]]:
    """A row of COLUMNS for each class with a statistic; statistics (P + 1, classes, D), dimensions counted from 1.

    `permuted` is the mean of the best statistics of the permutations; `p_holm` corrects p for all classes.
    """
    rows: list[list[str]] = []
    for place, (name, count) in enumerate(zip(classes, counts, strict=True)):
        own, *others = statistics[:, place].max(axis=1)
        if np.isfinite(own):
            p = (1 + sum(other >= own for other in others)) / (1 + len(others))
            dimension = int(statistics[0, place].argmax()) + 1
            figures = (number(float(own), 3), number(float(np.mean(others)), 3), number(p, 4))
            rows.append([name, str(dimension), *figures, str(count)])
    corrected = holm([float(row[4]) for row in rows])
    return [[*row[:5], number(p, 4), row[5]] for row, p in zip(rows, corrected, strict=True)]


def markdown(
    rows: list[list[str]], sentences: int, permutations: int, labels: Iterable[str], generated: bool
) -> list[str]:
    """The table, and how it is to be read; `labels` are those of the model and of the aligner."""
    model, aligner = map(escape_markdown, labels)
    lines = [[escape_markdown(name), *others] for name, *others in rows]
    titles = ["Class", "Dimension", "Statistic", "By chance", "p", "p (Holm)", "Count"]
    return [
        *heading("Specialized dimensions", generated),
        *markdown_table(titles, lines),
        "",
        f"Of {model}, over {sentences:,} sentences and their translations. The dimension that attends most to the "
        "words of a class: the statistic is the mean of its weights on these words above that on all words, in "
        "standard deviations. The alignment's is the mean weight on the source symbol to which "
        f"{aligner} attends most. By chance: the statistic of the best dimension, averaged over {permutations:,} "
        f"permutations of the words within their sentences, for the alignment of {aligner}'s source symbols within "
        "their translation. p: the share of these orders, the text's own included, in which the best dimension is as "
        f"good. p (Holm): the same, corrected by Holm's method for all {len(rows)} comparisons. Count: the words of "
        "the class; for the alignment, the symbols of the translations.",
    ]
