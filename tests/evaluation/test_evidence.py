"""nmt.evaluation.evidence: the text nearer to the test set has the lower perplexity, over one closed vocabulary."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.evaluation.evidence import closed_model, perplexity
from tests.corpora.selection import LAW, NEWS, sentences, write_pairs


@pytest.fixture
def words(tmp_path: Path, lmplz: Path) -> list[str]:
    """The command line: texts of news and of laws, tested on news."""
    texts = [
        write_pairs(tmp_path, "near", sentences(NEWS, 200, 1)),
        write_pairs(tmp_path, "far", sentences(LAW, 200, 3)),
    ]
    test = write_pairs(tmp_path, "test", sentences(NEWS, 50, 2))
    words = ["evidence", "--lmplz", str(lmplz), "--order", "3", "--labels", "near", "far", "--test", *test]
    words += ["--sources", *(source for source, _ in texts), "--targets", *(target for _, target in texts)]
    return [*words, "--output", str(tmp_path / "evidence.csv")]


def table(folder: Path) -> dict[str, dict[str, str]]:
    with open(folder / "evidence.csv", newline="") as file:
        return {row["text"]: row for row in csv.DictReader(file)}


def test_the_nearer_text_is_worth_more(tmp_path: Path, words: list[str]) -> None:
    assert main(words) == 0
    near, far = table(tmp_path).values()
    for side in ("source", "target"):
        assert float(near[f"{side}_perplexity"]) < 0.2 * float(far[f"{side}_perplexity"])
        assert float(near[f"{side}_unseen_percent"]) < 20 < 80 < float(far[f"{side}_unseen_percent"])
        assert near[f"{side}_vocabulary"] == far[f"{side}_vocabulary"] == str(len({*NEWS, *LAW}))
    assert (near["pairs"], near["bleu"]) == ("200", "")
    assert near["source_words"] == str(sum(len(source.split()) for source, _ in sentences(NEWS, 200, 1)))


def evaluation(path: Path, bleu: float, count: int = 50, signature: str = "tok:none") -> str:
    score = {"bleu": bleu, "sentences": count, "signature": signature}
    score |= {"detokenized_bleu": bleu, "detokenized_ceiling": 99.5, "detokenized_signature": "tok:13a"}
    path.write_text(json.dumps({"all": score}))
    return str(path)


def test_bleu_is_that_of_the_evaluations(tmp_path: Path, words: list[str]) -> None:
    near, far = evaluation(tmp_path / "near.json", 12.345), evaluation(tmp_path / "far.json", 6.5)
    assert main([*words, "--evaluations", near, far]) == 0
    assert [row["bleu"] for row in table(tmp_path).values()] == ["12.35", "6.50"]


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"count": 60}, 'far.json: "sentences" is 60, but 50 in {}/test.en; name scores of one set'),
        ({"signature": "tok:char"}, 'far.json: "signature" is tok:char, but tok:none in {}/near.json; name scores'),
    ],
)
def test_evaluations_are_of_the_test_set_in_one_way(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str], odd: dict[str, Any], said: str
) -> None:
    near, far = evaluation(tmp_path / "near.json", 12.345), evaluation(tmp_path / "far.json", 6.5, **odd)
    assert main([*words, "--evaluations", near, far]) == 1
    assert said.format(tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "evidence.csv").exists()


@pytest.mark.parametrize(("lines", "lacking"), [("a b\nb a a\na x\ny b\n", ["c", "d"]), ("c b\nb a d\na x\ny b\n", [])])
def test_the_probabilities_of_the_vocabulary_add_up_to_one(
    tmp_path: Path, lmplz: Path, lines: str, lacking: list[str]
) -> None:
    (tmp_path / "text").write_text(lines * 5)
    known = frozenset({b"a", b"b", b"c", b"d"})  # x and y are one unknown word
    model = closed_model(lmplz, 2, tmp_path / "text", known)
    words = ["a", "b", "c", "d", "<unknown>", "</s>", "<unk>"]
    probabilities = {word: 10 ** model.score(word, bos=True, eos=False) for word in words}
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
    least = min(probabilities.values())
    assert [word for word in words if probabilities[word] == least] == [*lacking, "<unk>"]
    (tmp_path / "test").write_text("a z\n")
    expected = 10 ** -(model.score("a <unknown>") / 3)
    assert perplexity(model, known, tmp_path / "test") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--sources", "one"], "2 labels for 1 files of --sources"),
        (["--evaluations", "one"], "2 labels for 1 files of --evaluations"),
        (["--labels", "near", "near"], "--labels: near is given twice"),
    ],
)
def test_files_and_labels_go_together(
    words: list[str], given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *given]) == 1
    assert said in capsys.readouterr().err


def test_an_empty_test_set(tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test.en").write_text("\n" * 50)
    assert main(words) == 1
    assert "test.en: holds no words" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a\n", "far.en has 1 lines, .*far.fr has 200"),
        (b"\n" * 200, "far.en: holds no words to train a language model on; name another text"),
        (gzip.compress(b"a\n" * 200, mtime=0), "far.en: compressed; decompress it"),
    ],
)
def test_texts_that_are_no_pairs(
    tmp_path: Path, words: list[str], text: bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(words[words.index("--sources") + 2]).write_bytes(text)
    assert main(words) == 1
    assert re.search(said, capsys.readouterr().err)


@pytest.mark.parametrize("order", ["0", "1", "7"])
def test_an_order_that_kenlm_does_not_have(words: list[str], order: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--order", order]) == 1
    assert capsys.readouterr().err == f"nmt evidence: --order: expected a whole number, from 2 to 6, not {order}\n"
