"""What several tests share."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from filelock import FileLock

from nmt.__main__ import main
from nmt.corpora.lmplz import KENLM, provide, works

torch.set_num_threads(1)  # the models of the tests are too small to share among cores

LMPLZ = Path(__file__).parents[1] / "data" / "tools" / "lmplz"


# `make test` gives each module to one of several processes. The longest begin first, but those that would wait for the
# experiment that test_reruns runs come last.
LONGEST = [
    *("test_slurm", "test_reruns", "test_data", "test_own_text", "test_wmt15", "test_interruptions"),
    *("test_shards", "test_experiments", "test_documents", "test_elsewhere", "test_workflow", "test_report"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest modules first."""
    places = {f"tests/workflow/{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.location[0], len(places)))


@pytest.fixture(scope="session")
def for_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of a test run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def lmplz(for_all: Path) -> Path:
    """KenLM's lmplz where the workflow builds it, built once a checkout."""
    with FileLock(for_all / "lmplz.lock"):
        if not works(LMPLZ):
            provide(LMPLZ)
        LMPLZ.with_suffix(".version").write_text(f"{KENLM}\n")
    return LMPLZ


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the toy language on which tiny models are trained."""
    from tests.training.toy import make_toy

    folder = tmp_path_factory.mktemp("toy")
    make_toy(folder)
    return folder


class SmallDisk:
    """A folder in which only so many bytes can be written: a file system of its own where the test may mount one.

    Elsewhere the size of every file that this process and its children write is limited, which fails alike.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", str(folder)]
        self.mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
        self._free = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(self, size: int) -> None:
        """Leave room for `size` bytes."""
        if self.mounted:
            used = sum(path.stat().st_blocks * 512 for path in self.folder.rglob("*"))
            self._remount(used + size)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, self._free[1]))

    def free(self) -> None:
        """Make room."""
        if self.mounted:
            self._remount(1 << 30)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, self._free)

    def refuse_then_take(self, words: list[str], output: Path, room: int, capsys: pytest.CaptureFixture[str]) -> None:
        """That the step `words` says in one line that `room` bytes are too few, leaves nothing, and then has room."""
        self.limit(room)
        assert main(words) == 1
        said = capsys.readouterr().err.strip().split("\n")[-1]
        assert said == f"nmt {words[0]}: {output}: no space left; free some and repeat"
        assert list(self.folder.iterdir()) == []
        self.free()
        assert main(words) == 0

    def remove(self) -> None:
        self.free()
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def _remount(self, size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk that is full when the test says so: `small_disk.folder`, `.limit(BYTES)`, `.free()`."""
    disk = SmallDisk(tmp_path / "disk")
    yield disk
    disk.remove()


@pytest.fixture
def sigint() -> Iterator[None]:
    """SIGINT as at a terminal: in the background of a script, tests and all that they start would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
