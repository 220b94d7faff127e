"""nmt.corpora.select: in-domain pairs are kept, others are not, and nothing else is lost."""

from __future__ import annotations

import csv
import os
import random
import re
import signal
from dataclasses import dataclass, field
from math import log10
from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.corpora import select as module
from nmt.corpora.select import Models, State, keep_best, survey, vocabulary

NEWS = [
    "minister",
    "said",
    "the",
    "new",
    "government",
    "will",
    "vote",
    "on",
    "reform",
    "today",
    "after",
    "long",
    "talks",
    "with",
    "unions",
]
LAW = [
    "pursuant",
    "to",
    "paragraph",
    "article",
    "section",
    "of",
    "this",
    "act",
    "shall",
    "apply",
    "where",
    "thereof",
    "regulation",
]


def sentences(words: list[str], number: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of the words, in French each word with a suffix; all are different."""
    draw = random.Random(seed)
    lines = []
    for index in range(number):
        start = draw.randrange(len(words))
        chosen = [words[(start + step) % len(words)] for step in range(draw.randint(4, 9))] + [f"n{seed}-{index}"]
        lines.append((" ".join(chosen), " ".join(f"{word}e" for word in chosen)))
    return lines


@dataclass
class Case:
    """Files and flags of one selection."""

    folder: Path
    lmplz: Path
    corpora: dict[str, list[tuple[str, str]]]
    in_domain: list[tuple[str, str]]
    held_out: list[tuple[str, str]] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)

    def files(self, name: str, pairs: list[tuple[str, str]]) -> list[str]:
        paths = [self.folder / f"{name}.{language}" for language in ("en", "fr")]
        for side, path in enumerate(paths):
            path.write_text("".join(f"{pair[side]}\n" for pair in pairs), newline="\n")
        return [str(path) for path in paths]

    def run(self, words: int, threads: int = 1) -> int:
        corpora = [self.files(name, pairs) for name, pairs in self.corpora.items()]
        in_domain, held_out = self.files("news", self.in_domain), self.files("held-out", self.held_out)
        command = ["select", "--names", *self.corpora]
        command += ["--sources", *(files[0] for files in corpora), "--targets", *(files[1] for files in corpora)]
        command += ["--in-domain-sources", in_domain[0], "--in-domain-targets", in_domain[1]]
        command += ["--held-out-sources", held_out[0], "--held-out-targets", held_out[1]]
        command += ["--outputs", *(str(self.folder / f"out/train.{language}") for language in ("en", "fr"))]
        command += ["--audit", str(self.folder / "out/audit.csv")]
        settings = {"lmplz": str(self.lmplz), "words": str(words), "seed": "1", "threads": str(threads)}
        for flag, value in (settings | self.flags).items():
            command += [f"--{flag}", value]
        return main(command)

    def kept(self) -> list[tuple[str, str]]:
        texts = [(self.folder / f"out/train.{language}").read_text() for language in ("en", "fr")]
        return list(zip(*(text.split("\n")[:-1] for text in texts), strict=True))

    def audit(self) -> dict[str, dict[str, str]]:
        with open(self.folder / "out/audit.csv", newline="") as file:
            return {row["corpus"]: row for row in csv.DictReader(file)}

    def left(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "out").glob("*"))


@pytest.fixture
def case(tmp_path: Path, lmplz: Path) -> Case:
    mixed = sentences(NEWS, 150, 1) + sentences(LAW, 150, 2)
    random.Random(3).shuffle(mixed)
    return Case(tmp_path, lmplz, {"web": mixed, "acts": sentences(LAW, 200, 4)}, sentences(NEWS, 300, 5))


def source_words(pairs: list[tuple[str, str]]) -> int:
    return sum(len(source.split()) for source, _ in pairs)


def test_in_domain_pairs_are_kept_in_the_order_of_the_text(case: Case) -> None:
    news = [pair for pair in case.corpora["web"] if pair[0].split()[0] in NEWS]
    budget = source_words(news)
    assert case.run(budget, threads=2) == 0
    assert case.kept() == news
    rows = case.audit()
    assert list(rows) == ["web", "acts", "total"]
    assert rows["total"]["pairs"] == "500"
    assert rows["web"]["pairs_kept"] == rows["total"]["pairs_kept"] == "150"
    assert rows["total"]["words_kept"] == str(budget)
    assert rows["acts"]["pairs_kept"] == "0"
    assert float(rows["web"]["mean_score"]) < float(rows["total"]["mean_score"]) < float(rows["acts"]["mean_score"])
    assert case.left() == ["audit.csv", "train.en", "train.fr"]


def test_either_side_can_give_a_pair_away(case: Case) -> None:
    good, bad = sentences(NEWS, 200, 6), sentences(LAW, 200, 7)
    crossed = [(source, target) for (source, _), (_, target) in zip(good[:100], bad, strict=False)]
    case.corpora = {"web": good[100:] + crossed + bad}
    assert case.run(source_words(good[100:])) == 0
    assert case.kept() == good[100:]


def test_number_of_processes_and_chunks_change_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert case.run(700, threads=1) == 0
    kept, table = case.kept(), case.audit()
    monkeypatch.setattr(module, "PAIRS_A_CHUNK", 7)
    assert case.run(700, threads=3) == 0
    assert (case.kept(), case.audit()) == (kept, table)
    assert source_words(kept) <= 700 < source_words(kept) + 10


def test_empty_held_out_and_repeated_pairs_are_counted_and_dropped(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.corpora = {
        "first": [("a b", "x y"), ("", "x"), ("c", " "), ("held", "h"), ("h2", "retenu"), ("\u2028", "z")],
        "second": [("a b", "x y"), ("a b", "x z"), ("held", "h"), ("retenu", "held"), ("", "")],
    }
    case.held_out = [("held", "retenu"), ("", "")]
    assert case.run(0) == 0
    assert case.kept() == [("a b", "x y"), ("\u2028", "z"), ("a b", "x z"), ("retenu", "held")]
    rows = case.audit()
    columns = ("pairs", "words", "duplicates", "held_out", "empty", "pairs_kept", "words_kept", "mean_score")
    assert [rows["first"][column] for column in columns] == ["6", "6", "0", "2", "2", "2", "3", ""]
    assert [rows["second"][column] for column in columns] == ["5", "6", "1", "1", "1", "2", "3", ""]
    assert [rows["total"][column] for column in columns] == ["11", "12", "1", "3", "3", "4", "6", ""]
    assert "all 6 words of the clean text are kept" in capsys.readouterr().err


def test_a_budget_beyond_the_text_keeps_all_and_warns(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    assert case.run(10**9) == 0
    assert case.kept() == case.corpora["web"] + case.corpora["acts"]
    assert "are kept, unranked" in capsys.readouterr().err


def test_odd_characters_pass_unharmed(case: Case) -> None:
    odd = [("minister\u2028said \x0c the \x85 \x00 new", "ministere\u2028\x00"), ("<s> </s> <unk>", "<unknown> <s>")]
    long = " ".join(["vote"] * 100_000)
    case.corpora["web"] += [*odd, (long, long)]
    case.in_domain += odd * 2
    assert case.run(source_words(case.corpora["web"] + case.corpora["acts"]) - 20) == 0
    assert (long, long) in case.kept()


def test_score_is_the_formula() -> None:
    class Unigrams:
        def __init__(self, table: dict[str, float]) -> None:
            self.table = table

        def score(self, line: bytes) -> float:
            return sum(log10(self.table[word]) for word in [*line.decode().split(), "</s>"])

    known = frozenset({b"a"})
    models = Models(
        [known, known],
        [Unigrams({"a": 0.5, "<unknown>": 0.25, "</s>": 0.25}), Unigrams({"a": 0.5, "</s>": 0.5})],
        [Unigrams({"a": 0.125, "<unknown>": 0.25, "</s>": 0.5}), Unigrams({"a": 0.25, "</s>": 0.25})],
    )
    # bits a word, the end counted: source (1 + 2 + 2) / 3 - (3 + 2 + 1) / 3, target (1 + 1 + 1) / 3 - (2 + 2 + 2) / 3
    assert models.score((b"a b", b"a a")) == pytest.approx(-1 / 3 - 1)


def test_the_vocabulary_holds_words_seen_twice() -> None:
    assert vocabulary([b"a b  c", b"a b\n", b"<s> <s> <unknown> <unknown> x\0 x\0"]) == {b"a", b"b"}


def test_ties_go_by_the_text_and_the_budget_is_not_exceeded() -> None:
    scores = np.array([1, 0, 1, 1, -9], np.float32)
    words = np.array([2, 2, 2, 2, 50], np.int32)
    clean = np.array([True, True, True, True, False])
    assert keep_best(scores, words, clean, 5).tolist() == [True, True, False, False, False]
    assert keep_best(scores, words, clean, 6).tolist() == [True, True, True, False, False]
    assert keep_best(scores, words, clean, 1).tolist() == [False] * 5


def test_the_general_sample_has_as_many_words_as_asked(case: Case) -> None:
    files = case.files("web", case.corpora["web"])
    text = survey(["web"], [(Path(files[0]), Path(files[1]))], [])
    assert (text.states == State.CLEAN).all()
    sample = module.draw(text, 300, seed=1)
    assert 300 <= source_words([(source.decode(), "") for source, _ in sample]) < 310
    assert sample != module.draw(text, 300, seed=2)
    assert module.draw(text, 10**6, seed=1) == [(s.encode(), t.encode()) for s, t in case.corpora["web"]]


# ---- bad input


def failure(case: Case, capsys: pytest.CaptureFixture[str], words: int = 100) -> str:
    assert case.run(words) == 1
    assert not (case.folder / "out").exists() or case.left() == []
    *_, last = capsys.readouterr().err.strip().split("\n")
    assert last.startswith("nmt select: ")
    return last


def test_unequal_sides(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.corpora["web"][3:5] = [("one\ntwo", "un"), ("three", "trois")]
    assert re.search(r"web\.en has 301 lines, .*web\.fr has 300;", failure(case, capsys))


def test_unequal_in_domain_sides(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.in_domain.append(("one", "un\ndeux"))
    assert re.search(r"news\.en has 301 lines, .*news\.fr has 302;", failure(case, capsys))


@pytest.mark.parametrize("in_domain", [[], [("", ""), ("one", " ")]])
def test_empty_in_domain_text(case: Case, in_domain: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    case.in_domain = in_domain
    assert re.search(r"news\.en, .*no in-domain text", failure(case, capsys))


def test_nothing_clean(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.corpora = {"web": [("held", "x"), ("", "")]}
    case.held_out = [("held", "y")]
    assert "web: no clean pair" in failure(case, capsys)


def test_a_budget_below_one_pair(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    assert "selection words 1:" in failure(case, capsys, words=1)


@pytest.mark.parametrize(("flag", "value"), [("order", "1"), ("order", "7"), ("words", "-1"), ("seed", "-1")])
def test_settings_out_of_range(case: Case, flag: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    case.flags[flag] = value
    assert f"{flag} {value}" in failure(case, capsys)


def test_names_and_files_that_do_not_match(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.flags["names"] = "web"
    assert "1 names for 2 corpora" in failure(case, capsys)
    del case.flags["names"]
    case.flags["targets"] = "only.fr"
    assert "--sources names 2 files, --targets 1" in failure(case, capsys)


def test_lmplz_that_fails_is_quoted(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.lmplz = case.folder / "lmplz"
    assert "lmplz: cannot be run" in failure(case, capsys)
    case.lmplz.write_text("#!/bin/sh\necho counting\necho out of memory >&2\nexit 3\n")
    case.lmplz.chmod(0o755)
    assert "no in-domain-source model could be estimated: out of memory" in failure(case, capsys)


def test_a_killed_scoring_process_is_no_hang(
    case: Case, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Models, "score", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    assert "a scoring process was killed" in failure(case, capsys)
