"""docs/model.md says what the code does: excerpts are the code's lines, numbers are computed again."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from textwrap import dedent, indent

import pytest
import torch

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/model.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"\]\(\.\./(nmt/[\w/]+\.py)\)")
INDENTS = range(0, 20, 4)


def pieces() -> list[tuple[str, str]]:
    """The module that the page named last and each unbroken piece of code of it, in the page's order."""
    found = []
    for block in BLOCK.finditer(PAGE):
        if not block[1].startswith(">>>"):
            module = NAMED.findall(PAGE, 0, block.start())[-1]
            found += [(module, dedent(piece)) for piece in block[1].split("...\n")]
    return found


def test_there_are_excerpts_of_every_part() -> None:
    modules = (
        "decoder",
        "encoder",
        "readout",
        "units/gated",
        "attention/additive",
        "attention/fine_grained",
        "fast/loop",
        "network",
    )
    assert {module for module, _ in pieces()} == {f"nmt/model/{name}.py" for name in modules}


@pytest.mark.parametrize(("module", "piece"), pieces(), ids=lambda text: text.split("\n")[0][:40])
def test_an_excerpt_is_the_code(module: str, piece: str) -> None:
    code = (ROOT / module).read_text(encoding="utf-8")
    assert any(indent(piece, " " * columns) in code for columns in INDENTS)


def test_numbers_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    sessions = [block for block in BLOCK.findall(PAGE) if block.startswith(">>>")]
    examples = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, "docs/model.md", None, None)
    said: list[str] = []
    grad = torch.is_grad_enabled()
    try:
        result = doctest.DocTestRunner().run(examples, out=said.append)
    finally:
        torch.set_grad_enabled(grad)
        torch.set_printoptions(profile="default")
    assert result.attempted > 20
    assert not result.failed, "".join(said)


@pytest.mark.parametrize(
    "word",
    [
        *("joined", "unjoined", "weights", "tensors", "inputs", "queries", "word_queries", "saved", "attended"),
        *("low", "present", "outside", "inner"),
    ],
)
def test_the_words_of_the_loop_are_explained(word: str) -> None:
    assert re.search(rf"^\| (`\w+`, )?`{word}`(, `\w+`)? \|", PAGE, re.MULTILINE)
    assert re.search(rf"\b{word}\b", (ROOT / "nmt/model/fast/loop.py").read_text(encoding="utf-8"))
