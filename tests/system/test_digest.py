"""What changes a digest of code, and what does not."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from inspect import isfunction
from pathlib import Path

import pytest

import nmt.system.digest
from nmt.settings.variant import Architecture, Optimization
from nmt.system.digest import LEFT_OUT, RUN, announce, check_unchanged, digest, is_left_out
from nmt.system.errors import UserError

ROOT = Path(__file__).parents[2]
TRAIN = (
    *("nmt.training.train", "nmt.model.attention.additive", "nmt.model.attention.fine_grained"),
    *("nmt.model.units.gated", "nmt.model.units.lstm"),
)

SOURCES = {
    "nmt/__init__.py": '"""The package."""\n',
    "nmt/top.py": (
        '"""Top."""\nfrom nmt.part import inner\nimport numpy\n'
        "if TYPE_CHECKING:\n    from nmt.apart import run\n"
        'def run():\n    """Run."""\n    return 1\n'
    ),
    "nmt/part/__init__.py": '"""The part."""\n',
    "nmt/part/inner.py": "def inner():\n    from nmt.late import VALUE\n    return VALUE\n",
    "nmt/late.py": "VALUE = 1\n",
    "nmt/apart.py": "import nmt.top\n",
}


def forget() -> None:
    made = nmt.system.digest
    for kept in (made._read, made._file, made._memory, made._reader):
        kept.cache_clear()


class Tree:
    """A package whose files can be replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def digest(self, *modules: str, exclude: tuple[str, ...] = ()) -> str:
        """What a new process finds."""
        forget()
        return digest(modules or ["nmt.top"], exclude)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def append(self, name: str, text: str) -> None:
        with open(self.folder / name, "a") as file:
            file.write(text)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which digests are made."""
    monkeypatch.setattr(nmt.system.digest, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    forget()


@pytest.fixture
def tree(root: Path) -> Tree:
    """A small package."""
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Tree(root)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the whole package nmt and what is kept of it after a digest, which is slow without."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "nmt", folder / "nmt", ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nmt.system.digest, "ROOT", folder)
        patch.chdir(folder)
        Tree(folder).digest(*TRAIN)
    forget()
    return folder


@pytest.fixture
def copy(package: Path, root: Path) -> Tree:
    """A copy of `package`."""
    shutil.copytree(package, root, dirs_exist_ok=True)
    return Tree(root)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("nmt/top.py", "import numpy", "import numpy  # a remark"),
        ("nmt/top.py", "return 1", "return (\n        1\n    )"),
        ("nmt/top.py", '"""Run."""', '"""Run it."""'),
        ("nmt/top.py", '"""Top."""\n', ""),
        ("nmt/__init__.py", '"""The package."""', "import nmt.apart"),  # it is for Python programs
        ("nmt/part/__init__.py", "The part", "A part"),
        ("nmt/apart.py", "import", "A = 1\nimport"),
    ],
)
def test_the_same_code_has_the_same_digest(tree: Tree, name: str, old: str, new: str) -> None:
    before = tree.digest()
    tree.replace(name, old, new)
    assert tree.digest() == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("nmt/top.py", "return 1", "return 2"),
        ("nmt/part/inner.py", "return VALUE", "return -VALUE"),
        ("nmt/late.py", "1", "2"),
        ("nmt/part/__init__.py", '"""The part."""', "VALUE = 3"),
    ],
)
def test_other_code_has_another_digest(tree: Tree, name: str, old: str, new: str) -> None:
    before = tree.digest()
    tree.replace(name, old, new)
    assert tree.digest() != before


def test_an_excluded_module_does_not_count(tree: Tree) -> None:
    before = tree.digest(exclude=("nmt.late",))
    tree.replace("nmt/late.py", "1", "2")
    assert tree.digest(exclude=("nmt.late",)) == before


def test_a_module_counts_once_named(tree: Tree) -> None:
    assert tree.digest("nmt.top", "nmt.apart") != tree.digest("nmt.top")
    assert tree.digest("nmt.top", "nmt.late") == tree.digest("nmt.top")


def test_a_job_refuses_code_that_its_run_did_not_begin_with(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake records the digests of the beginning, so a model of other code would pass for one of that."""
    monkeypatch.delenv(RUN, raising=False)
    check_unchanged("nmt.top")  # started by hand
    monkeypatch.setenv(RUN, "")
    announce(["nmt.top", "nmt.apart"])
    tree.append("nmt/apart.py", "VALUE = 2\n")
    forget()
    check_unchanged("nmt.top")
    refused = r"^the code of this step has changed since the run began; start the run again$"
    with pytest.raises(UserError, match=refused):
        check_unchanged("nmt.apart")
    for odd in ("{", "[]", "1", '{"nmt.apart": null}'):
        monkeypatch.setenv(RUN, odd)
        check_unchanged("nmt.apart")


def test_a_missing_or_broken_module_is_one_line(tree: Tree) -> None:
    with pytest.raises(UserError, match=r"nmt\.none: no such module"):
        tree.digest("nmt.none")
    (tree.folder / "nmt/late.py").write_text("VALUE = \n")
    with pytest.raises(UserError, match=r"late.py: line 1 is not Python"):
        tree.digest()


def test_a_second_process_parses_only_what_changed(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree.digest()
    parsed: list[str] = []
    parse = nmt.system.digest._parse

    def recorded(module: str, path: Path, source: bytes) -> tuple[str, list[str]]:
        parsed.append(module)
        return parse(module, path, source)

    monkeypatch.setattr(nmt.system.digest, "_parse", recorded)
    assert tree.digest() == before
    assert parsed == []
    tree.replace("nmt/late.py", "1", "2")
    changed = tree.digest()
    assert parsed == ["nmt.late"]
    (tree.folder / nmt.system.digest.MEMORY).unlink()
    assert tree.digest() == changed


@pytest.mark.parametrize("damaged", ["", "{", "[]", "\n[]", '{"nmt.late": 1}', "[" * 100_000, "\n" + "[" * 100_000])
def test_a_damaged_memory_is_made_again(tree: Tree, damaged: str) -> None:
    before = tree.digest()
    memory = tree.folder / nmt.system.digest.MEMORY
    whole = memory.read_text()
    memory.write_text(damaged)
    assert tree.digest() == before
    assert memory.read_text() == whole


def test_a_changed_digit_of_the_memory_is_noticed(tree: Tree) -> None:
    before = tree.digest()
    memory = tree.folder / nmt.system.digest.MEMORY
    whole = memory.read_text()
    for place in range(0, len(whole), 7):
        memory.write_text(f"{whole[:place]}{'1' if whole[place] == '0' else '0'}{whole[place + 1 :]}")
        assert tree.digest() == before


def test_a_memory_of_another_python_is_not_used(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree.digest()
    memory = tree.folder / nmt.system.digest.MEMORY
    kept = json.loads(memory.read_text().split("\n")[1])
    kept["nmt.late"][1] = "0"
    content = json.dumps(kept)
    memory.write_text(f"{hashlib.sha256(content.encode()).hexdigest()}\n{content}")
    assert tree.digest() != before  # the memory is believed
    monkeypatch.setattr("sys.version", "another")
    assert tree.digest() == before


def test_every_version_of_python_finds_the_same(tree: Tree) -> None:
    (tree.folder / "nmt/late.py").write_text(
        """
class VALUE(list):
    @property
    def first(self, *, width: int = 0) -> str:
        return f"{self[0]:{width}}" "..." f"{width!r}"


async def run(*names, **others):
    with open(names[0]) as file:
        return [lambda: line for line in file if line] or None
"""
    )
    assert tree.digest() == "fc5b8d4715f3dee5"  # found by 3.11, 3.12 and 3.13, whose ast.dump differ


def test_a_memory_that_cannot_be_written_changes_nothing(tree: Tree) -> None:
    (tree.folder / ".snakemake").write_text("a file where the folder should be")
    assert tree.digest() == tree.digest()


MESSAGES = """
import argparse, sys
from nmt.system.errors import UserError, warn
def add_arguments(parser):
    parser.add_argument("--size", default="8", metavar=("A", "B"), help="how large" " it is")
    argparse.ArgumentParser(prog="p", description=f"about {parser}")
def run(names, size):
    warn(f"{size:.2f} is small" if size else "nothing")
    with Progress("count " + f"{size}", size, "lines"):
        print(f"{', '.join(names)} done", file=sys.stderr, flush=True)
    print("done", size)
    if not names:
        raise UserError("no names: " + ", ".join(f"{name} is unknown" for name in names) + "; name others") from None
    raise StoppedError("stopped" if size else "")
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("how large", "size"),
        ('("A", "B")', '("C", "D")'),
        ("about {", "on {"),
        ("is small", "is little"),
        (":.2f", ":.3f"),
        ("nothing", "none at all"),
        ("count ", "counting "),
        ("lines", "rows"),
        (" done", " finished"),
        ('("done', '("finished'),
        ("no names: ", "nameless: "),
        ("is unknown", "is not known"),
        ("; name others", "; give others"),
        ('"stopped"', '"has stopped"'),
    ],
)
def test_reworded_messages_do_not_count(tree: Tree, old: str, new: str) -> None:
    (tree.folder / "nmt/late.py").write_text(MESSAGES)
    before = tree.digest()
    tree.replace("nmt/late.py", old, new)
    assert tree.digest() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("--size", "--sizes"),
        ('"8"', '"9"'),
        ("if size", "if not size"),
        ("(names, size)", "(size, names)"),
        ("raise UserError", "raise ValueError"),
        ("file=sys.stderr", "file=output"),
        ("from None", "from names"),
    ],
)
def test_what_stands_beside_a_message_counts(tree: Tree, old: str, new: str) -> None:
    (tree.folder / "nmt/late.py").write_text(MESSAGES)
    before = tree.digest()
    tree.replace("nmt/late.py", old, new)
    assert tree.digest() != before


@pytest.mark.parametrize(
    "call",
    [
        "print('text', file=output)",
        "model.print('text')",
        "warn(translate('text'))",
        "warn(names['text'])",
        "parser.add_argument('--name', dest='text')",
        "parser.add_argument('--name', choices=['text'])",
        "write('text')",
    ],
)
def test_text_that_is_no_message_counts(tree: Tree, call: str) -> None:
    (tree.folder / "nmt/late.py").write_text(call)
    before = tree.digest()
    tree.replace("nmt/late.py", "text", "words")
    assert tree.digest() != before


def test_what_is_left_out_exists_and_has_a_reason() -> None:
    for name, reason in LEFT_OUT.items():
        path = ROOT.joinpath(*name.removesuffix(".*").split("."))
        assert (path / "__init__.py").is_file() or (path.with_suffix(".py").is_file() and not name.endswith(".*"))
        assert reason.endswith(".")


def left_out_files() -> list[str]:
    names = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "nmt").rglob("*.py"))]
    return [name for name in names if is_left_out(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))]


@pytest.mark.parametrize("name", left_out_files())
def test_a_left_out_module_does_not_count(copy: Tree, name: str) -> None:
    before = copy.digest(*TRAIN)
    copy.append(name, "CHANGED = 'in any way'\n")
    assert copy.digest(*TRAIN) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("nmt/training/train.py", "Train one variant", "Learn one variant"),  # its docstring is the help of the step
        ("nmt/training/train.py", "the settings of the variant", "settings"),
        ("nmt/training/train.py", "needed by a variant that continues another", "only for a variant that goes on"),
        ("nmt/training/loop.py", "resumes from the checkpoint of update", "goes on after update"),
        ("nmt/training/loop.py", '"updates", shown', '"steps", shown'),
        ("nmt/training/loop.py", "stopped; ", "has stopped; "),
        ("nmt/training/loop.py", "its cost or gradient is not finite", "cost or gradient is infinite"),
        ("nmt/training/loop.py", "and start again with a lower", "without a checkpoint so far"),
        ("nmt/training/loop.py", "updates in a row were not finite", "updates were not finite"),
        ("nmt/training/checkpoint.py", "another process trains there", "somebody trains there"),
        ("nmt/training/checkpoint.py", "is damaged and was renamed", "has been damaged and renamed"),
        ("nmt/training/checkpoint.py", "set it back to resume", "change it back"),
        ("nmt/training/batches.py", "no training pair has at most", "all training pairs have more than"),
        ("nmt/system/errors.py", "nmt: warning: ", "nmt: "),
        ("nmt/system/files.py", "a folder; name a file", "is a folder; give a file"),
    ],
)
def test_a_reworded_message_trains_nothing_again(copy: Tree, name: str, old: str, new: str) -> None:
    before = copy.digest(*TRAIN)
    copy.replace(name, old, new)
    assert copy.digest(*TRAIN) == before


TRAINING = [
    f"nmt/training/{name}.py"
    for name in ("batches", "checkpoint", "likelihood", "loop", "metrics", "optimizer", "parallel", "update")
]
MODEL = [
    f"nmt/model/{name}.py"
    for name in ("attention/additive", "embedding", "encoder", "initialization", "network", "readout", "units/gated")
]
SEARCHING = ["nmt/model/fast/kernels/words.py", "nmt/model/fast/words.py"]  # no training needs them
FAST = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "nmt/model/fast").rglob("*.py"))]
FAST = [name for name in FAST if name not in SEARCHING]


@pytest.mark.parametrize("name", [*TRAINING, *MODEL, *FAST, "nmt/trained.py"])
def test_a_module_that_computes_counts(copy: Tree, name: str) -> None:
    before = copy.digest(*TRAIN)
    copy.append(name, "CHANGED = 'in any way'\n")
    assert copy.digest(*TRAIN) != before


def constants(name: str) -> list[ast.Constant]:
    """The numbers within the functions of a module."""
    tree = ast.parse((ROOT / name).read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inner = [node for function in functions for statement in function.body for node in ast.walk(statement)]
    return [node for node in inner if isinstance(node, ast.Constant) and type(node.value) in (int, float)]


@pytest.mark.parametrize("name", [name for name in [*TRAINING, *MODEL, *FAST] if constants(name)])
def test_a_changed_constant_of_a_function_trains_again(copy: Tree, name: str) -> None:
    before = copy.digest(*TRAIN)
    constant = constants(name)[0]
    lines = copy.read(name).split("\n")
    line = lines[constant.lineno - 1]
    lines[constant.lineno - 1] = f"{line[: constant.col_offset]}12345{line[constant.end_col_offset :]}"
    (copy.folder / name).write_text("\n".join(lines))
    assert copy.digest(*TRAIN) != before


def test_the_mathematics_depends_on_nothing_left_out_but_settings_and_names() -> None:
    """What is left out must not compute: the model uses only a type and tables of names from it."""
    allowed = {"nmt.settings.variant"}
    for path in (ROOT / "nmt/model").rglob("*.py"):
        imported = set(re.findall(r"^\s*from (nmt[\w.]*) import", path.read_text(), re.MULTILINE))
        assert {module for module in imported if is_left_out(module)} <= allowed, path


def test_no_setting_of_a_training_computes() -> None:
    """A change of what is left out would train nothing again."""
    for kind in (Architecture, Optimization):
        assert not [name for name, value in vars(kind).items() if isfunction(value) and not name.startswith("__")]


def test_training_depends_on_its_own_unit_alone(copy: Tree) -> None:
    gated, lstm = (("nmt.training.train", f"nmt.model.units.{unit}") for unit in ("gated", "lstm"))
    before = copy.digest(*gated), copy.digest(*lstm)
    for name in ("units/lstm", "fast/lstm", "fast/kernels/lstm"):
        copy.append(f"nmt/model/{name}.py", "CHANGED = 'in any way'\n")
    assert copy.digest(*gated) == before[0]
    assert copy.digest(*lstm) != before[1]


@pytest.mark.parametrize(
    "name", [*SEARCHING, "nmt/search/beam.py", "nmt/evaluation/bleu.py", "nmt/evaluation/evaluate.py"]
)
def test_no_training_depends_on_the_search_or_the_scores_of_tables(copy: Tree, name: str) -> None:
    before = copy.digest(*TRAIN)
    copy.append(name, "CHANGED = 'in any way'\n")
    assert copy.digest(*TRAIN) == before


def test_training_depends_on_the_greedy_search_where_it_stops_on_bleu(copy: Tree) -> None:
    greedy = ("nmt.training.greedy",)
    before = copy.digest(*TRAIN), copy.digest(*TRAIN, exclude=greedy)
    copy.append("nmt/training/greedy.py", "CHANGED = 'in any way'\n")
    assert copy.digest(*TRAIN) != before[0]
    assert copy.digest(*TRAIN, exclude=greedy) == before[1]


def test_training_depends_on_its_own_attention_alone() -> None:
    fixed = digest(["nmt.training.train", "nmt.model.attention.fixed"], ["nmt.model.attention.additive"])
    assert fixed == digest(["nmt.training.train", "nmt.model.attention.fixed"])
    assert fixed != digest(["nmt.training.train", "nmt.model.attention.additive"], ["nmt.model.attention.fixed"])
