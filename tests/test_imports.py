"""Imports point one way, in the order that CONTRIBUTING.md states, and no modules import each other in a circle."""

from __future__ import annotations

import ast
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARROW = " <- "


@cache
def order() -> dict[str, frozenset[str]]:
    """What each package may import, by the chains `a, b <- c` of CONTRIBUTING.md: c may import a, b and what they may.

    The parts are packages, or modules as `package.module`; only packages import.
    """
    lines = [line.strip() for line in (ROOT / "CONTRIBUTING.md").read_text().split("\n") if line.startswith("    ")]
    before: dict[str, set[str]] = {}
    for chain in (line.split(ARROW) for line in lines if ARROW in line):
        places = [place.split(", ") for place in chain]
        for place in places:
            for part in place:
                before.setdefault(part, set())
        for earlier, later in pairwise(places):
            for part in later:
                before[part].update(earlier)

    def all_before(part: str, path: tuple[str, ...] = ()) -> frozenset[str]:
        assert part not in path, f"CONTRIBUTING.md: {part} comes before itself"
        return frozenset(before[part]).union(*(all_before(one, (*path, part)) for one in before[part]))

    return {part: all_before(part) for part in before}


def name_of(path: Path) -> str:
    """The dotted name of a module within nmt: `nmt.` is left out."""
    parts = path.relative_to(ROOT / "nmt").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted((ROOT / "nmt").rglob("*.py"))}


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of nmt that `module` imports anywhere: at its top, in functions and for the type checker."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import"
            # `from package import name` names a module or something in the package itself.
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one.removeprefix("nmt.") in MODULES else str(node.module) for one in named}
    own = {one.removeprefix("nmt.") for one in found if one.startswith("nmt.")}
    assert own <= MODULES.keys(), f"{module}: imports {own - MODULES.keys()}"
    return frozenset(own - {module})


def within(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def test_the_order_has_every_room() -> None:
    packages = {module.split(".")[0] for module in MODULES} - {""}
    assert {part.split(".")[0] for part in order()} == packages


@pytest.mark.parametrize("module", [module for module in MODULES if module])
def test_a_package_imports_only_what_comes_before_it(module: str) -> None:
    package = module.split(".")[0]
    allowed = order()[package] | {package}
    assert [one for one in sorted(imports(module)) if not any(within(one, part) for part in allowed)] == []


def test_no_circle() -> None:
    """Leave out modules that import nothing of what is left, again and again: a circle, and what needs it, stays."""
    left = {module: set(imports(module)) for module in MODULES}
    while done := [module for module, needed in left.items() if not needed & left.keys()]:
        for module in done:
            del left[module]
    # Also from the other end, for what only uses the circle.
    while unused := [module for module in left if not any(module in needed for needed in left.values())]:
        for module in unused:
            del left[module]
    assert {module: sorted(needed & left.keys()) for module, needed in left.items()} == {}


def test_papers_do_not_know_one_another() -> None:
    for module in MODULES:
        if module.count(".") >= 1 and module.startswith("papers."):
            paper = ".".join(module.split(".")[:2])
            others = {one for one in imports(module) if one.startswith("papers.") and not within(one, paper)}
            assert not others, f"{module} imports {sorted(others)}"
