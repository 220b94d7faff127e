"""A digest of the code a step runs: what the workflow compares where Snakemake cannot see imported modules.

The digest of a module covers its syntax tree and those of the `nmt` modules it imports, directly or through
others. Comments, white space and docstrings are no part of the trees, so a change of them reruns nothing. Imports
inside functions count too, those for the type checker do not; a module that is chosen by name at run time must be
named by the caller.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from nmt.system.files import UserError

ROOT = Path(__file__).resolve().parents[2]
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def digest(modules: Iterable[str], exclude: Iterable[str] = ()) -> str:
    """Sixteen hexadecimal digits for the code of `modules` and their imports, less the modules in `exclude`.

    Raises UserError where a named module does not exist or is not Python.
    """
    excluded = set(exclude)
    waiting, seen = sorted(set(modules) - excluded), set(excluded)
    trees: dict[str, str] = {}
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        trees[module], imported = _read(module)
        waiting.extend(imported)
    whole = "\n".join(f"{module} {trees[module]}" for module in sorted(trees))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


@cache
def _file(module: str) -> Path | None:
    """The file of an `nmt` module, a package's being its __init__.py; None where there is none."""
    path = ROOT.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """The hash of a module's syntax tree and the `nmt` modules it imports."""
    path = _file(module)
    if path is None:
        raise UserError(f"{module}: no such module in {ROOT / 'nmt'}")
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        raise UserError(f"{path}: line {error.lineno} is not Python ({error.msg})") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
        elif isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            imported.add(base)
            imported.update(f"{base}.{alias.name}" for alias in node.names)
    own = {one for one in imported if one.split(".")[0] == "nmt" and _file(one) is not None}
    own.update(_packages(module))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), frozenset(own - {module})


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """The module that `from ... import` names, a relative one resolved within `package`."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _packages(module: str) -> list[str]:
    """The packages that Python runs before `module`: a.b.c has a and a.b."""
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]
