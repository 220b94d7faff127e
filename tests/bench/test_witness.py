"""JoeyNMT as a second witness: its ids and ours, and the comparison of the translations."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from bench.contender import BOS, EOS, PAD, UNK
from bench.joey import SHIFT, ours, theirs
from bench.witness import SEARCHES, choose, main, rows
from nmt.corpora import shortlist
from nmt.corpora.padding import pad
from nmt.settings.extends import read_experiment

ROOT = Path(__file__).parents[2]
MULTI30K = ["--config", "config/bahdanau2015/multi30k-words-en-fr.yaml", "--python", sys.executable]


def test_the_special_symbols_change_places_and_the_words_move_up() -> None:
    ids, mask = pad([[2, shortlist.UNK, 9], [3]])
    assert theirs(ids, mask).tolist() == [[2 + SHIFT, UNK, 9 + SHIFT, EOS], [3 + SHIFT, EOS, PAD, PAD]]
    assert not {UNK, PAD, BOS, EOS} & {2 + SHIFT, 9 + SHIFT}


def test_a_translation_ends_at_the_end_of_sentence_or_at_padding() -> None:
    sentence = [2, shortlist.UNK, 9]
    row = theirs(*pad([sentence]))[0].tolist()
    assert list(ours(row)) == list(ours([*row[:-1], PAD])) == list(ours([*row, 7, 7])) == sentence
    assert list(ours([EOS, 7])) == []
    assert list(ours(torch.tensor([BOS]).tolist())) == [shortlist.UNK]


def test_ours_is_compared_with_joeynmt_on_every_set_by_either_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    experiment = read_experiment(["config/open.yaml"])
    reference = [f"le mot {number} est ici ." for number in range(20)]
    worse = [*reference[:10], *["mot"] * 10]
    (tmp_path / "tokenized").mkdir()
    sets = [(name, search) for name in experiment.corpora.test for search in SEARCHES]
    outputs = [{key: tmp_path / f"{system}.{'.'.join(key)}" for key in sets} for system in ("ours", "JoeyNMT")]
    for name in experiment.corpora.test:
        (tmp_path / "tokenized" / f"{name}.fr").write_text("".join(f"{line}\n" for line in reference))
    for lines, paths in zip((reference, worse), outputs, strict=True):
        for path in paths.values():
            path.write_text("".join(f"{line}\n" for line in lines))
    found = list(rows(experiment, "RNNsearch-50", tmp_path, *([one] * 2 for one in outputs)))
    assert [(row["set"], row["search"]) for row in found] == sets
    for row in found:
        assert [row[key] for key in ("variant", "sentences", "seeds")] == ["RNNsearch-50", 20, 2]
        assert row["bleu"] == pytest.approx(100)
        assert row["baseline_bleu"] < 100
        assert row["p_value"] < 0.05


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--config", "none.yaml"], "none.yaml: no such file"),
        (["--python", "none"], "none: no such interpreter; make .venv-peers/made makes one"),
        (["--python", sys.executable], "data/open/models/RNNsearch-50/summary.json: no such model; train it"),
        (["--variant", "RNNsearch-51"], "--variant: unknown variant RNNsearch-51; the nearest is RNNsearch-50"),
        (["--variant", "RNNencdec-50"], "RNNencdec-50 has attention: fixed, JoeyNMT additive"),
        (["--variant", "RNNsearch-50star"], "--variant: RNNsearch-50star "),
        (["--config", "config/bahdanau2015/open-bpe.yaml"], "--config: open-bpe has subwords"),
        (["--config", "config/multi30k.yaml", "--variant", "RNNsearch"], "--config: multi30k has subwords"),
        ([*MULTI30K, "--variant", "RNNsearch"], "models/RNNsearch/summary.json: no such model; train it"),
    ],
)
def test_what_is_missing_is_named(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["witness", *words])
    with pytest.raises(SystemExit, match=message):
        main()


def test_a_variant_comes_with_its_seeds() -> None:
    experiment = read_experiment([str(ROOT / MULTI30K[1])])
    assert [one.optimization.seed for one in choose(experiment, "RNNsearch")] == [1234, 1235, 1236, 1237, 1238]
