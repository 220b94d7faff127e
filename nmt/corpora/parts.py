"""Cut corpora into parts: a large training corpus into shards; any other corpus is a single part.

Standard library only, because the workflow cuts the corpora whenever it is parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nmt.corpora.registry import Corpus
from nmt.settings.sections import Corpora, Shard


@dataclass(frozen=True)
class Part:
    """A corpus, or one shard of it.

    `name` is that of its files; `options` make `nmt tokenize` read only this shard and are empty for a whole corpus.
    """

    name: str
    corpus: str
    options: tuple[str | int, ...] = ()


def held_out_sets(corpora: Corpora) -> list[str]:
    """The corpora whose sentences are kept out of training, each once: development, test and further held-out sets."""
    return list(dict.fromkeys([*corpora.development, *corpora.test, *corpora.held_out]))


def cut(corpus: str, pairs: int | None, shard: Shard) -> list[Part]:
    """The shards of a corpus that should hold `pairs` pairs; a single part where the number is small or not known."""
    shards = shard.count(pairs or 0)
    if shards == 1:
        return [Part(corpus, corpus)]
    return [
        Part(f"{corpus}.{number}-of-{shards}", corpus, ("--shard", number, shards, shard.pairs))
        for number in range(1, shards + 1)
    ]


def cut_corpora(
    corpora: Corpora, monolingual: Iterable[str], registry: Mapping[str, Corpus], shard: Shard
) -> dict[str, list[Part]]:
    """The parts of every corpus of an experiment, by corpus: training, in-domain, held-out and `monolingual` ones.

    A training corpus that is also an in-domain or held-out set is not cut.
    """
    large = {*corpora.train} - {*corpora.in_domain, *held_out_sets(corpora)}
    names = dict.fromkeys([*corpora.train, *corpora.in_domain, *held_out_sets(corpora), *monolingual])
    return {name: cut(name, registry[name].pairs, shard) if name in large else [Part(name, name)] for name in names}
