"""What the figures show: symbols as the model wrote them, also where its words would be cut into others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from nmt.corpora.shortlist import Shortlist
from nmt.corpora.subwords import Codes
from nmt.papers.choi2017.weights import encode


def test_a_translation_is_not_segmented_again() -> None:
    shortlist = Shortlist(("<eos>", "<unk>", "a@@", "b", "ab"), (1,) * 5, Codes((("a", "b</w>"),)))
    trained: Any = SimpleNamespace(source=shortlist, target=shortlist, normalize="nfc")
    assert shortlist.split(["ab"]) == ["ab"]
    whole, cut, unknown = encode(trained, ["ab", "ab", "b"], ["ab", "a@@ b", "b UNK a@@"], "source.txt")
    assert (whole.source_ids, whole.target, whole.target_ids) == ([4], ["ab", "<eos>"], [4])
    assert (cut.source_ids, cut.target, cut.target_ids) == ([4], ["a@@", "b", "<eos>"], [2, 3])
    assert unknown.target_ids == [3, 1, 2]
