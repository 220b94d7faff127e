"""A digest of the code that a step runs: the workflow compares it, because Snakemake cannot see imported modules.

The digest covers the step's module and every `nmt` module that it imports or names in a string, directly or through
others, except those in `LEFT_OUT`. The package `nmt` itself counts as empty. A module counts by its syntax tree without
comments, docstrings and the text of messages, so that rewording any of them reruns nothing. Imports within functions
count; imports only for the type checker do not. A module whose name is not in the code must be named by the caller.

Results are cached in `MEMORY`; otherwise each start of Snakemake would take half a second to parse all modules.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from nmt.system.errors import UserError
from nmt.system.memory import recall, remember

ROOT = Path(__file__).resolve().parents[2]
MEMORY = Path(".snakemake/modules.json")  # in the working directory
RUN = "NMT_CODE"  # tells the jobs of a run the digests of its code
_NAME = re.compile(r"nmt(\.\w+)+")
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

#: Modules that cannot change what a step computes, each with the reason; `.*` stands for all modules of a package.
LEFT_OUT = {
    "nmt.settings.*": "Snakemake compares the settings themselves: every rule hands a step those that it uses.",
    "nmt.system.device": "Where a step runs, with how many threads: facts about a run, as its seconds are.",
    "nmt.system.gpu": "Which of several GPUs a process takes.",
    "nmt.system.options": "Which options are refused, and the options that say where a step runs.",
    "nmt.system.orphans": "When the jobs of a killed run end.",
    "nmt.system.programs": "How the programs of a step end when it ends.",
    "nmt.system.progress": "How a step shows its progress.",
    "nmt.system.stop": "When a step ends early; what it computes after that is the same.",
}

# Calls whose arguments are all read only by people, and the arguments of other calls that are.
_MESSAGES = {"UserError", "StoppedError", "warn", "Progress"}
_DESCRIBED = {"add_argument", "ArgumentParser"}
_DESCRIPTIONS = {"help", "metavar", "description", "epilog", "usage"}


def digest(modules: Iterable[str], exclude: Iterable[str] = ()) -> str:
    """Sixteen hexadecimal digits for the code of `modules` and their imports, without the modules in `exclude`.

    Raises UserError where a named module does not exist or is not Python.
    """
    known = dict(_memory())
    excluded = set(exclude)
    waiting, seen = sorted(set(modules) - excluded), set(excluded)
    trees: dict[str, str] = {}
    while waiting:
        module = waiting.pop()
        if module in seen or is_left_out(module):
            continue
        seen.add(module)
        trees[module], imported = _read(module)
        waiting.extend(_own(imported) | set(_packages(module)))
    if _memory() != known:
        remember(MEMORY, _memory())
    whole = "\n".join(f"{module} {trees[module]}" for module in sorted(trees))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def announce(modules: Iterable[str]) -> None:
    """Tell the jobs of this run the digests of the steps `modules`, with which Snakemake records what they make."""
    os.environ[RUN] = json.dumps({module: digest([module]) for module in modules})


def check_unchanged(module: str) -> None:
    """UserError in a job if the code of the step `module` has changed since the run began."""
    try:
        began_with = json.loads(os.environ.get(RUN, "")).get(module)
    except (AttributeError, ValueError):
        return
    if began_with not in (None, digest([module])):
        raise UserError("the code of this step has changed since the run began; start the run again")


def is_left_out(module: str) -> bool:
    """Whether `module` is in LEFT_OUT, by its own name or as part of a package."""
    return module in LEFT_OUT or any(f"{package}.*" in LEFT_OUT for package in _packages(module))


@cache
def _file(module: str) -> Path | None:
    """The file of an `nmt` module, __init__.py for a package; None where there is none."""
    path = ROOT.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _own(names: Iterable[str]) -> set[str]:
    """The `nmt` modules among imported names, which may also be those of functions and classes."""
    return {name for name in names if name.split(".")[0] == "nmt" and _file(name) is not None}


@cache
def _memory() -> dict[str, Any]:
    """For each module that was read: the hash of its file, the hash of its syntax tree, and what it imports."""
    return recall(MEMORY)


@cache
def _reader() -> bytes:
    """What a syntax tree and its hash depend on besides the module: Python's version and this file."""
    return sys.version.encode() + Path(__file__).read_bytes()


@cache
def _read(module: str) -> tuple[str, list[str]]:
    """The hash of a module's syntax tree and the names it imports, from `_memory` if its file is still the same."""
    path = _file(module)
    if path is None:
        raise UserError(f"{module}: no such module in {ROOT / 'nmt'}; name one that is there")
    source = path.read_bytes()
    found = hashlib.sha256(_reader() + source).hexdigest()
    match _memory().get(module):
        case [kept, str(tree), [*imported]] if kept == found:
            return tree, imported
    tree, imported = _parse(module, path, source)
    _memory()[module] = [found, tree, imported]
    return tree, imported


def _parse(module: str, path: Path, source: bytes) -> tuple[str, list[str]]:
    """The hash of the syntax tree of `source` and the names it imports."""
    try:
        tree = ast.parse(source, str(path))
    except SyntaxError as error:
        raise UserError(f"{path}: line {error.lineno} is not Python ({error.msg}); correct it") from None
    if module == "nmt":  # which every module has above it, and which only names `load` for Python programs
        tree.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
        elif isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        elif isinstance(node, ast.Call):
            for message in _messages(node):
                _remove_text(message)
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise UserError(f"{path}: line {node.lineno} is a relative import; name the module in full")
            imported.update([str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME.fullmatch(node.value):
            imported.add(node.value)
    return hashlib.sha256(_dump(tree).encode()).hexdigest(), sorted(imported)


def _dump(node: Any) -> str:
    """`node` in the same words for every version of Python; ast.dump shows fields that some versions do not have."""
    if isinstance(node, list):
        return f"[{', '.join(map(_dump, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):
        node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    fields = (f"{name}={_dump(value)}" for name, value in ast.iter_fields(node) if value is not None and value != [])
    return f"{type(node).__name__}({', '.join(fields)})"


def _messages(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of `call` that are only read by people."""
    name = call.func.id if isinstance(call.func, ast.Name) else None
    if name in _MESSAGES or (name == "print" and _prints_to_terminal(call)):
        yield from call.args
        yield from (keyword.value for keyword in call.keywords)
    elif (call.func.attr if isinstance(call.func, ast.Attribute) else name) in _DESCRIBED:
        yield from (keyword.value for keyword in call.keywords if keyword.arg in _DESCRIPTIONS)


def _prints_to_terminal(call: ast.Call) -> bool:
    """Whether a call of print names no file, or standard error."""
    files = [keyword.value for keyword in call.keywords if keyword.arg in ("file", None)]
    return all(ast.unparse(file) == "sys.stderr" for file in files)


def _remove_text(node: ast.expr) -> None:
    """Remove the literal text of a message, in place; what is inserted into it, such as a call, stays as it is."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node.value = ""
    elif isinstance(node, ast.JoinedStr):
        node.values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
    elif isinstance(node, ast.FormattedValue):
        node.format_spec = None
    for part in _parts(node):
        _remove_text(part)


def _parts(node: ast.expr) -> list[ast.expr]:
    """The expressions that `node` puts together to a text."""
    match node:
        case ast.JoinedStr(values=parts) | ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
            return parts
        case ast.FormattedValue(value=part) | ast.Starred(value=part) | ast.GeneratorExp(elt=part):
            return [part]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.Call(func=ast.Attribute(value=ast.Constant() as separator, attr="join"), args=parts):
            return [separator, *parts]
    return []


def _packages(module: str) -> list[str]:
    """The packages that Python runs before `module`: a.b.c has a and a.b."""
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]
