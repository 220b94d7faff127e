"""`nmt.model` is mathematics: it imports nothing for files, options, messages or processes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import nmt.model

FOLDER = Path(nmt.model.__file__).parent
MODULES = sorted(FOLDER.rglob("*.py"))
ALLOWED = {
    "abc",
    "collections",
    "contextlib",
    "dataclasses",
    "functools",
    "importlib",
    "itertools",
    "math",
    "types",
    "typing",
}
OURS = ("nmt.model.", "nmt.settings.variant.")
SWITCH = FOLDER / "fast/choice.py"  # asks what is switched off


def imports(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_module_imports_mathematics_alone(path: Path) -> None:
    ours = (*OURS, "nmt.system.device") if path == SWITCH else OURS
    others = {name for name in imports(path) if not name.startswith(ours)}
    allowed = ALLOWED | {"__future__", "torch", "triton"}
    assert {name.split(".")[0] for name in others} <= allowed


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(FOLDER).as_posix())
@pytest.mark.parametrize("attention", ["additive", "fine_grained"])
def test_a_model_depends_only_on_the_attention_that_it_uses(attention: str, path: Path) -> None:
    """An attention is imported by itself alone, from wherever in the package its parts lie."""
    if path.stem != attention:
        assert not [name for name in imports(path) if attention in name.split(".")]
