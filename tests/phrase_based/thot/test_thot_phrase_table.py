"""Phrase extraction compared with its definition and with Thot's own, the counts of the table, and empty tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thot.translation import PhraseExtractParameters, PhraseModel

from nmt.__main__ import main
from nmt.phrase_based.links import Links, read_links
from nmt.phrase_based.thot import thot_phrase_table
from nmt.phrase_based.thot.thot_phrase_table import spans, table
from nmt.system.errors import UserError
from tests.phrase_based.conftest import SEED, System

SIZE = 6


def consistent(sources: int, targets: int, links: Links, longest: int) -> set[tuple[int, int, int, int]]:
    """The definition: all pairs of spans of at most `longest` words with a link between them and none across."""
    found = set()
    for a in range(sources):
        for b in range(a + 1, min(sources, a + longest) + 1):
            for c in range(targets):
                for d in range(c + 1, min(targets, c + longest) + 1):
                    inside = [a <= i < b and c <= j < d for i, j in links]
                    across = [(a <= i < b) != (c <= j < d) for i, j in links]
                    if any(inside) and not any(across):
                        found.add((a, b, c, d))
    return found


@given(
    st.integers(1, SIZE),
    st.integers(1, SIZE),
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))),
    st.integers(1, 7),
)
def test_spans_follow_the_definition(sources: int, targets: int, drawn: Links, longest: int) -> None:
    links = [(i, j) for i, j in drawn if i < sources and j < targets]
    found = list(spans(sources, targets, links, longest))
    assert len(set(found)) == len(found)
    assert set(found) == consistent(sources, targets, links, longest)


def test_table_counts() -> None:
    pairs = [((["a"], ["A"]), [(0, 0)])] * 3 + [((["a"], ["B"]), [(0, 0)])] * 2 + [((["b"], ["A"]), [(0, 0)])]
    assert list(table(pairs, 7, 20)) == ["A ||| a ||| 4 3", "B ||| a ||| 2 2", "A ||| b ||| 4 1"]
    assert list(table(pairs, 7, 1)) == ["A ||| a ||| 4 3", "A ||| b ||| 4 1"]


def test_of_equally_frequent_translations_the_phrase_extracted_first_is_kept() -> None:
    both, other = (["c", "a"], ["A", "B"]), (["a"], ["A"])
    assert list(table([(both, [(0, 0), (1, 1)]), (other, [(0, 0)])], 1, 1)) == ["A ||| c ||| 2 1", "A ||| a ||| 2 1"]
    assert list(table([((["a"], ["B"]), [(0, 0)]), (other, [(0, 0)])], 1, 1)) == ["B ||| a ||| 1 1"]


def test_no_phrase_joins_two_sentences() -> None:
    pairs = [((["a", "b"], ["A", "B"]), [(0, 0), (1, 1)]), ((["b", "c"], ["B", "C"]), [(0, 0), (1, 1)])]
    assert {line.split(" ||| ")[1] for line in table(pairs, 7, 20)} == {"a", "b", "c", "a b", "b c"}


def test_table_agrees_with_thots_own(system: System, tmp_path: Path) -> None:
    """Thot limits the length of one side only; within both limits it leaves out very few phrases."""
    longest = 4
    links = list(read_links(system.folder / "links.txt"))
    texts = [path.read_text(encoding="utf-8").split("\n")[:-1] for path in system.texts]
    pairs = [(source.split(), target.split()) for source, target in zip(*texts, strict=True)]
    with open(tmp_path / "alignment", "w", encoding="utf-8") as file:
        for (source, target), linked in zip(pairs, links, strict=True):
            shown = " ".join(
                f"{word} ({{ {''.join(f'{i + 1} ' for i, k in linked if k == j)}}})" for j, word in enumerate(target)
            )
            alone = "".join(f"{i + 1} " for i in range(len(source)) if i not in {k for k, _ in linked})
            file.write(f"# 1\n{' '.join(source)}\nNULL ({{ {alone}}}) {shown}\n")
    model, parameters = PhraseModel(), PhraseExtractParameters()
    parameters.max_target_phrase_length = longest
    assert model.build(str(tmp_path / "alignment"), parameters, False)
    assert model.print_phrase_table(str(tmp_path / "table"), -1)

    def counts(lines: list[str]) -> Counter[tuple[str, str]]:
        rows = [line.split(" ||| ") for line in lines]
        return Counter({(row[1], row[0]): int(float(row[2].split()[1])) for row in rows})

    theirs = counts((tmp_path / "table").read_text(encoding="utf-8").split("\n")[:-1])
    ours = counts(list(table(zip(pairs, links, strict=True), longest, 10**6)))
    short = {pair: number for pair, number in theirs.items() if len(pair[1].split()) <= longest}
    assert len(ours) > 500
    more = set(ours) - set(short)
    assert short.items() <= {pair: number for pair, number in ours.items() if pair not in more}.items()
    assert len(more) < len(ours) / 200


def test_texts_that_are_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [((["a"], ["A"]), [(0, 0)])] * 3
    monkeypatch.setattr(thot_phrase_table, "MOST", 21)
    assert list(table(pairs, 7, 1)) == ["A ||| a ||| 3 3"]
    monkeypatch.setattr(thot_phrase_table, "MOST", 20)
    with pytest.raises(UserError, match="too much text for the phrase table"):
        list(table(pairs, 7, 1))


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("\n\n", "the phrase table is empty"),
        ("0-0\n", "1 lines for 2 pairs"),
        ("0-0\n0:0\n", "line 2 is not a list of links"),
        ("0-0\n0--1\n", "line 2 is not a list of links"),
        ("0-0\n0-1\n", "line 2 has links that are not between words of pair 2; align the words again"),
    ],
)
def test_bad_links(tmp_path: Path, capsys: pytest.CaptureFixture[str], links: str, message: str) -> None:
    for name, text in (("en", "a\nb\n"), ("fr", "A\nB\n"), ("links", links)):
        (tmp_path / name).write_text(text)
    words = ["thot_phrase_table", "--texts", tmp_path / "en", tmp_path / "fr", "--links", tmp_path / "links", *SEED]
    assert main([*map(str, words), "--output", str(tmp_path / "table")]) == 1
    error = [line for line in capsys.readouterr().err.split("\n") if line.startswith("nmt")]
    assert len(error) == 1
    assert message in error[0]
    assert not (tmp_path / "table").exists()
