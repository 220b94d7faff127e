"""A training of the smoke experiment on a real Grid Engine, through profiles/cluster: cancelled, it goes on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

import pytest

from tests.waiting import wait_until
from tests.workflow.grid_engine import GridEngine, missing
from tests.workflow.tree import SMOKE, Tree

VARIANT, UPDATES = "RNNsearch-50", 1500
OVERLAY = f"""\
corpora: {{train: [toy-parliament, toy-manuals], in_domain: [toy-dev-1], development: [toy-dev-1]}}
variants: {{{VARIANT}: {{updates: {UPDATES}, checkpoint_every: 10, evaluate_every: 500}}}}
"""
MODEL = f"data/smoke/models/{VARIANT}/model.safetensors"
RESUMED = re.compile(r": resumes from the checkpoint of update ([\d,]+)")

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"Grid Engine is not installed here: no {', '.join(missing())}"),
    pytest.mark.skipif(
        find_spec("snakemake_executor_plugin_cluster_generic") is None, reason="no plugin cluster-generic"
    ),
]


@dataclass
class Run:
    """What came of it: what Snakemake said, and what was seen on the way."""

    tree: Tree
    code: int | None = None
    said: str = ""
    asked: list[str] = field(default_factory=list)  # the resources of both attempts at the training

    def log(self) -> str:
        """What the training has said so far."""
        log = self.tree.folder / f"logs/train/smoke/{VARIANT}.log"
        return log.read_text() if log.exists() else ""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "long.yaml").write_text(OVERLAY)
    profile = tree.folder / "profiles/cluster/profile.yaml"
    text = profile.read_text()
    assert "memory=mem_free" in text
    profile.write_text(text.replace("memory=mem_free", "memory=ram"))  # what its users are asked to do
    with GridEngine(tmp_path_factory.mktemp("engine")) as engine, pytest.MonkeyPatch.context() as patch:
        for name, value in engine.environment.items():
            patch.setenv(name, value)
        words = ["--workflow-profile", "cluster", "--seconds-between-status-checks", "2"]
        words += ["--configfile", *SMOKE, "long.yaml", "--", MODEL]
        run = Run(tree)
        ended = tree.snakemake_beside(lambda alive: interrupt(run, engine, alive), *words, configs=[])
    run.code, run.said = ended.returncode, ended.stdout
    return run


def interrupt(run: Run, engine: GridEngine, alive: Callable[[], bool]) -> None:
    """Cancel the training once it has a checkpoint, and wait until its second attempt goes on."""

    def training() -> str:
        """The number of the training's job, "" where there is none."""
        return next((number for number, name in engine.jobs().items() if name == "nmt.train"), "")

    def until(done: Callable[[], object], what: str) -> None:
        wait_until(done, what, 0.5, alive)

    def note() -> None:
        asked = re.search(r"hard resource_list: +(\S+)", engine.ask("qstat", "-j", training()))
        assert asked is not None
        run.asked.append(asked[1])

    until((run.tree.folder / f"data/smoke/checkpoints/{VARIANT}/latest.pt").exists, "the training has a checkpoint")
    note()
    engine.ask("qdel", training())
    until(lambda: RESUMED.search(run.log()), "the cancelled training goes on")
    note()


def test_the_model_is_trained(run: Run) -> None:
    assert run.code == 0, run.said[-8000:]
    assert (run.tree.folder / MODEL).stat().st_size > 0


def test_every_attempt_asks_for_a_gpu_and_for_more_memory_and_time(run: Run) -> None:
    assert [set(one.split(",")) for one in run.asked] == [
        {"gpu=1", "h_rt=172800", "ram=16000M"},
        {"gpu=1", "h_rt=345600", "ram=32000M"},
    ]


def test_a_cancelled_training_goes_on_from_its_checkpoint(run: Run) -> None:
    found = RESUMED.search(run.log())
    assert found is not None
    assert 0 < int(found[1].replace(",", "")) < UPDATES
    assert "Trying to restart job" in run.said
