"""BLEU against a count by hand, the sentences without unknown words, and files that do not belong together."""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter
from pathlib import Path
from urllib.error import URLError

import pytest

from nmt.__main__ import main
from nmt.evaluation import bleu
from nmt.evaluation.bleu import RUNNING_TEXT, corpus_bleu

SHORTLIST = ["<eos>\t9", "<unk>\t9", *(f"{word}\t1" for word in ["a", "b", "c", "d", "e", ",", "d&apos;"])]


def lines(path: Path, *texts: str) -> str:
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return str(path)


def multi_bleu(translations: list[str], references: list[str]) -> float:
    """BLEU-4 as multi-bleu.perl counts it, written down from its definition."""
    matched, total = [0] * 4, [0] * 4
    for translation, reference in zip(translations, references, strict=True):
        ours, theirs = translation.split(), reference.split()
        for order in range(4):
            grams, others = (
                Counter(tuple(words[i : i + order + 1]) for i in range(len(words) - order)) for words in (ours, theirs)
            )
            total[order] += sum(grams.values())
            matched[order] += sum(min(count, others[gram]) for gram, count in grams.items())
    if not all(matched):
        return 0.0
    length, reference_length = (sum(len(text.split()) for text in texts) for texts in (translations, references))
    brevity = min(0.0, 1 - reference_length / length)
    return 100 * math.exp(brevity + sum(math.log(m / t) for m, t in zip(matched, total, strict=True)) / 4)


def test_one_sentence_counted_by_hand() -> None:
    # 6 of 7 words, 4 of 6 pairs, 2 of 5 triples, 1 of 4 quadruples; the lengths are equal.
    bleu, _ = corpus_bleu(["the cat sat on the mat today"], ["the cat sat on a mat today"])
    assert bleu == pytest.approx(100 * (6 / 7 * 4 / 6 * 2 / 5 * 1 / 4) ** 0.25)


def test_brevity_by_hand() -> None:
    bleu, _ = corpus_bleu(["a b c d"], ["a b c d e"])
    assert bleu == pytest.approx(100 * math.exp(1 - 5 / 4))


@pytest.mark.parametrize("seed", range(5))
def test_corpus_equals_multi_bleu(seed: int) -> None:
    generator = random.Random(seed)
    references = [" ".join(generator.choices("abcD,", k=generator.randint(0, 12))) for _ in range(30)]
    translations = [
        " ".join(word for word in text.split() if generator.random() > 0.15) + generator.choice(["", " a", " d"])
        for text in references
    ]
    bleu, _ = corpus_bleu(translations, references)
    assert bleu == pytest.approx(multi_bleu(translations, references))
    assert bleu


def test_case_counts_and_nothing_is_smoothed() -> None:
    assert corpus_bleu(["A b c d"], ["a b c d"])[0] == 0.0
    assert corpus_bleu(["a b c"], ["a b c"])[0] == 0.0


def test_no_sentences_have_no_bleu_but_the_same_signature() -> None:
    for tokenizer in ("none", RUNNING_TEXT, "zh"):
        assert corpus_bleu([], [], tokenizer)[0] is None
        assert corpus_bleu([], [], tokenizer)[1] == corpus_bleu(["a"], ["a"], tokenizer)[1]


def test_running_text_has_one_score(arguments: list[str], tmp_path: Path) -> None:
    assert main([*arguments, "--language", "--bleu-tokenizer", "char"]) == 0
    score = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))["all"]
    assert "tok:char" in score["signature"]
    assert score["signature"] == score["detokenized_signature"]
    assert score["detokenized_ceiling"] > score["bleu"] > 0


def test_text_that_came_tokenized_has_one_score(arguments: list[str], tmp_path: Path) -> None:
    assert main([*arguments, "--language"]) == 0
    score = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))["all"]
    assert "tok:none" in score["signature"]
    assert score["signature"] == score["detokenized_signature"]


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Three pairs; x is unknown in the second's source, in the third's reference."""
    return [
        "evaluate",
        *("--source", lines(tmp_path / "source", "a b c d", "a x", "a b")),
        *("--reference", lines(tmp_path / "reference", "a b c d&apos; e", "a b c d e", "a x")),
        *("--raw-reference", lines(tmp_path / "raw", "a b c d'e", "a b c d e", "a x")),
        *("--language", "fr"),
        *("--shortlists", lines(tmp_path / "s", *SHORTLIST), lines(tmp_path / "t", *SHORTLIST)),
        *("--translation", lines(tmp_path / "free", "UNK", "a b c d e", "a x")),
        *("--translation-no-unk", lines(tmp_path / "forbidden", "a b c d&apos; e", "e", "e")),
        *("--output", str(tmp_path / "evaluation.json")),
    ]


def test_both_scores(arguments: list[str], tmp_path: Path) -> None:
    assert main(arguments) == 0
    score = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert score["all"]["sentences"] == 3
    assert score["all"]["bleu"] == pytest.approx(
        multi_bleu(["UNK", "a b c d e", "a x"], ["a b c d&apos; e", "a b c d e", "a x"])
    )
    assert (score["no_unk"]["sentences"], score["no_unk"]["bleu"]) == (1, pytest.approx(100))
    assert score["no_unk"]["detokenized_bleu"] == pytest.approx(100)
    assert "tok:none|smooth:none" in score["all"]["signature"]
    assert "tok:13a" in score["all"]["detokenized_signature"]


def test_the_ceiling_is_the_score_of_the_references(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    score = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert score["all"]["detokenized_ceiling"] == pytest.approx(100)
    assert "perfect" not in capsys.readouterr().err
    lines(tmp_path / "raw", "a b c d'e", "a (b) c - d e", "a x")
    lines(tmp_path / "reference", "a b c d&apos; e", "a ( b ) c-d e", "a x")
    assert main(arguments) == 0
    score = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert 0 < score["all"]["detokenized_ceiling"] < 99
    assert score["all"]["detokenized_ceiling"] != score["all"]["detokenized_bleu"]
    error = capsys.readouterr().err
    assert f"would score {score['all']['detokenized_ceiling']:.1f} BLEU" in error
    assert error.endswith("'a (b) c - d e' becomes 'a (b) c-d e'\n")


def test_lines_that_are_too_short_for_bleu_are_no_fault_of_detokenization(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("raw", "reference"):
        lines(tmp_path / name, "a b", "a", "a x")
    assert main(arguments) == 0
    assert json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))["all"]["detokenized_ceiling"] == 0
    assert "perfect" not in capsys.readouterr().err


def test_text_that_comes_tokenized_is_scored_as_it_is(arguments: list[str], tmp_path: Path) -> None:
    lines(tmp_path / "raw", "a b c d&apos; e", "a b c d e", "a x")
    del arguments[arguments.index("--language") + 1]
    assert main(arguments) == 0
    score = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert score["no_unk"]["detokenized_bleu"] == pytest.approx(100)


def test_without_a_translation_that_avoids_unknown_words(arguments: list[str], tmp_path: Path) -> None:
    assert main(arguments) == 0
    both = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    del arguments[arguments.index("--translation-no-unk") + 1]
    assert main(arguments) == 0
    assert json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8")) == {"all": both["all"]}


def test_no_sentence_without_unknown_words(arguments: list[str], tmp_path: Path) -> None:
    lines(tmp_path / "source", "x", "x", "x")
    assert main(arguments) == 0
    score = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert score["no_unk"]["bleu"] is None
    assert score["no_unk"]["detokenized_bleu"] is None
    assert score["no_unk"]["sentences"] == 0


def test_line_separators_inside_a_line_end_nothing(arguments: list[str], tmp_path: Path) -> None:
    lines(tmp_path / "free", "a\u2028b", "a\x85 b\x0c", "a x")
    assert main(arguments) == 0


@pytest.mark.parametrize(
    ("name", "texts", "message"),
    [
        ("free", ["a", "b"], "free: 2 lines, but"),
        ("raw", ["a", "b", "c", "d"], "raw: 4 lines, but"),
        ("s", ["a\t1"], "s: "),
    ],
)
def test_bad_files_get_one_line(
    arguments: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    texts: list[str],
    message: str,
) -> None:
    lines(tmp_path / name, *texts)
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "evaluation.json").exists()


def test_missing_and_empty_files(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "free").unlink()
    assert main(arguments) == 1
    assert "free: no such file" in capsys.readouterr().err
    for name in ("source", "reference", "raw", "free", "forbidden"):
        lines(tmp_path / name)
    assert main(arguments) == 1
    assert "source: no sentences" in capsys.readouterr().err


def test_a_tokenizer_that_is_not_installed_is_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "MeCab", None)
    for name in [name for name in sys.modules if "tokenizer_ja_mecab" in name]:
        monkeypatch.delitem(sys.modules, name)
    assert main([*arguments, "--language", "--bleu-tokenizer", "ja-mecab"]) == 1
    error = capsys.readouterr().err
    assert "--bleu-tokenizer ja-mecab: what sacreBLEU needs for it is not installed" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (URLError("no route"), "sacreBLEU cannot fetch its model (<urlopen error no route>)"),
        (RuntimeError("INTERNAL: cut"), "sacreBLEU's model of it is damaged (INTERNAL: cut); remove "),
    ],
    ids=["unreachable", "damaged"],
)
def test_a_tokenizer_that_cannot_be_read_is_one_line(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    said: str,
) -> None:
    class Unusable(bleu.BLEU):
        def __init__(self, **_: str) -> None:
            raise error

    monkeypatch.setattr(bleu, "BLEU", Unusable)
    assert main([*arguments, "--language", "--bleu-tokenizer", "flores200"]) == 1
    shown = capsys.readouterr().err
    assert f"--bleu-tokenizer flores200: {said}" in shown
    assert shown.count("\n") == 1
