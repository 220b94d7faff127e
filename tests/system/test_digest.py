"""What changes a digest of code, and what does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import nmt.system.digest
from nmt.system.digest import digest
from nmt.system.files import UserError

SOURCES = {
    "nmt/__init__.py": '"""The package."""\n',
    "nmt/top.py": (
        '"""Top."""\nfrom nmt.part import inner\nimport numpy\n'
        "if TYPE_CHECKING:\n    from nmt.apart import run\n"
        'def run():\n    """Run."""\n    return 1\n'
    ),
    "nmt/part/__init__.py": "",
    "nmt/part/inner.py": "def inner():\n    from ..late import VALUE\n    return VALUE\n",
    "nmt/late.py": "VALUE = 1\n",
    "nmt/apart.py": "import nmt.top\n",
}


class Tree:
    """A package whose files can be replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in SOURCES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)

    def digest(self, *modules: str, exclude: tuple[str, ...] = ()) -> str:
        nmt.system.digest._read.cache_clear()
        nmt.system.digest._file.cache_clear()
        return digest(modules or ["nmt.top"], exclude)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tree]:
    monkeypatch.setattr(nmt.system.digest, "ROOT", tmp_path)
    yield Tree(tmp_path)
    nmt.system.digest._read.cache_clear()
    nmt.system.digest._file.cache_clear()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("nmt/top.py", "import numpy", "import numpy  # a remark"),
        ("nmt/top.py", "return 1", "return (\n        1\n    )"),
        ("nmt/top.py", '"""Run."""', '"""Run it."""'),
        ("nmt/top.py", '"""Top."""\n', ""),
        ("nmt/__init__.py", "The package", "A package"),
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
        ("nmt/__init__.py", '"""The package."""', "VALUE = 3"),
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


def test_a_missing_or_broken_module_is_one_line(tree: Tree) -> None:
    with pytest.raises(UserError, match=r"nmt\.none: no such module"):
        tree.digest("nmt.none")
    (tree.folder / "nmt/late.py").write_text("VALUE = \n")
    with pytest.raises(UserError, match=r"late.py: line 1 is not Python"):
        tree.digest()


def test_training_depends_on_its_own_context_alone() -> None:
    fixed = digest(["nmt.training.train", "nmt.model.attention.fixed"], ["nmt.model.attention.additive"])
    assert fixed == digest(["nmt.training.train", "nmt.model.attention.fixed"])
    assert fixed != digest(["nmt.training.train", "nmt.model.attention.additive"], ["nmt.model.attention.fixed"])
