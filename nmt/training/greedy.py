"""BLEU of greedy translations of the development set, for training runs that stop on it.

This module is separate from the beam search and from the scores of the tables, so that changing those retrains nothing.
Its score equals theirs at beam 1 without the fallback. Runs that stop on the likelihood do not use it, and their digest
leaves it out.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from sacrebleu.metrics.bleu import BLEU

from nmt.corpora.languages import TOKENIZED
from nmt.corpora.padding import by_length, pad
from nmt.corpora.pairs import LONGEST, read_pairs, split_words
from nmt.corpora.shortlist import EOS, Shortlist
from nmt.model.network import Network
from nmt.training.likelihood import Sentences
from nmt.training.parallel import Processes

BATCH = 80
MAXIMUM_LENGTH_RATIO = 3  # of a translation's steps to the words of its source, EOS counted


class GreedyBLEU:
    """The score of a model: cased BLEU-4 in percent.

    `texts` are the two sides of the development set. Every pair counts, even one with an empty side. Words are scored,
    even if the model translates into subwords. If sacreBLEU's `tokenizer` is "none", the text is tokenized and the
    score is not smoothed, like that of multi-bleu.perl.
    """

    def __init__(self, texts: Sequence[str], shortlists: Sequence[Shortlist], tokenizer: str = TOKENIZED) -> None:
        source, self.target = shortlists
        pairs = list(read_pairs(*texts))
        self.sources = [source.ids(source.split(split_words(line))[:LONGEST]) for line, _ in pairs]
        self.references = [line for _, line in pairs]
        smoothing = "none" if tokenizer == TOKENIZED else "exp"
        self.metric = BLEU(tokenize=tokenizer, smooth_method=smoothing, force=True)

    def __call__(self, model: Network, processes: Processes) -> float:
        """The score of `model`; each process translates its share of the sentences."""
        share = slice(processes.rank, None, processes.world)
        translated = translate_greedily(model, self.sources[share])
        found = [" ".join(self.target.join(self.target.words(symbols))) for symbols in translated]
        counts = [0] * 10
        if found:
            score = self.metric.corpus_score(found, [self.references[share]])
            counts = [*score.counts, *score.totals, score.sys_len, score.ref_len]
        *counts, length, reference_length = processes.sum(torch.tensor(counts)).tolist()
        score = self.metric.compute_bleu(
            counts[:4], counts[4:], length, reference_length, smooth_method=self.metric.smooth_method
        )
        return float(score.score)


@torch.no_grad()
def translate_greedily(model: Network, sources: Sequence[Sequence[int]]) -> Sentences:
    """The translation of each source, as word ids without EOS: at each step the most probable word.

    A translation ends with EOS, or when it is three times as long as its source. An empty source has an empty one.
    """
    device = next(model.parameters()).device
    translations: Sentences = [[] for _ in sources]
    given = [number for number, source in enumerate(sources) if source]
    for batch in by_length([len(sources[number]) for number in given], BATCH):
        left = [given[place] for place in batch]
        memory = model.encode(*pad([sources[number] for number in left], device))
        state, previous = model.initial_state(memory), None
        while True:
            prediction = model.predict(memory, state, previous)
            carry, previous = prediction.carry, prediction.logits.argmax(dim=-1)
            going = []
            for row, (number, word) in enumerate(zip(left, previous.tolist(), strict=True)):
                if word != EOS:
                    translations[number].append(word)
                    if len(translations[number]) < MAXIMUM_LENGTH_RATIO * (len(sources[number]) + 1):
                        going.append(row)
            if not going:
                break
            if len(going) < len(left):
                left = [left[row] for row in going]
                index = torch.tensor(going, dtype=torch.int64, device=device)
                memory, carry, previous = memory.select(index), carry.select(index), previous[index]
            state = model.advance(carry, previous)
    return translations
