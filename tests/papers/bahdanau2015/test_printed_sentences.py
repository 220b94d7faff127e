"""The sentences that the paper prints: found by line and letters."""

from __future__ import annotations

import pytest

from nmt.papers.bahdanau2015 import printed_sentences as module
from nmt.papers.bahdanau2015.printed_sentences import fingerprint, printed_sentences


def test_sentences_are_known_by_line_and_letters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = {"Table 3": ((2, fingerprint('He said "No"')), (9, "0")), "Figure 3": ((1, fingerprint("X")),)}
    monkeypatch.setattr(module, "PRINTED", {"set": sentences})
    assert printed_sentences("set", "Table 3", ["x", "He said “no”."]) == [1]
    assert "line 9 of set is not the paper's sentence; Table 3 leaves it out" in capsys.readouterr().err
    assert printed_sentences("set", "Figure 3", ["x", "He said “no”."]) == [0]
    assert printed_sentences("other", "Table 3", ["x", "He said “no”."]) == []
    assert printed_sentences("set", "Table 3", ["x", "y"]) == []


def test_the_lines_of_the_paper() -> None:
    lines = {place: [line for line, _ in found] for place, found in module.PRINTED["newstest2014"].items()}
    assert lines == {"Table 3": [939, 120, 2443], "Figure 3": [2409, 1884, 2716]}
