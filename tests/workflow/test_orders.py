"""What a change of order makes again: Snakemake compares inputs and params as sets."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nmt.settings.extends import resolve
from nmt.settings.strict import parse
from tests.workflow.tree import ROOT, Tree, in_fork

Settings = dict[str, Any]


@dataclass(frozen=True)
class Planned:
    """A job: its files, its command without the label that a training only shows, and what else Snakemake compares."""

    inputs: list[str]
    outputs: list[str]
    command: str
    compared: list[Any]


def write_plan(words: list[str], folder: Path, environment: dict[str, str], said: str, file: str) -> None:
    """Write what Snakemake would do, and how it would record it, to `file`."""
    from snakemake.dag import DAG

    plan = DAG.postprocess

    async def and_write(dag: Any, *arguments: Any, **options: Any) -> None:
        await plan(dag, *arguments, **options)
        records = dag.workflow.persistence
        jobs = [
            (
                records._input(job),
                [str(output) for output in job.output],
                re.sub('"label": "[^"]*"', "", job.shellcmd or ""),
                [job.rule.shellcmd, sorted(set(records._params(job)))],
            )
            for job in dag.jobs
            if job.output
        ]
        Path(file).write_text(json.dumps(jobs))

    DAG.postprocess = and_write
    in_fork(words, folder, environment, said)


def planned(tree: Tree, settings: Settings) -> list[Planned]:
    """The jobs of an experiment of which nothing has been made."""
    config, file = tree.folder / "ordered.yaml", tree.folder / "plan.json"
    config.write_text(json.dumps(settings))
    file.unlink(missing_ok=True)
    run = tree.snakemake("--dry-run", configs=[config.name], run=partial(write_plan, file=str(file)))
    assert run.returncode == 0, run.stdout
    return [Planned(*job) for job in json.loads(file.read_text())]


def stale(before: list[Planned], after: list[Planned]) -> set[str]:
    """What a run of `before` has made in another way than a run of `after` would, and would not make again."""
    known = {file: job for job in before for file in job.outputs}
    makers = {file: job for job in after for file in job.outputs}
    again: dict[str, bool] = {}

    def runs(file: str) -> bool:
        if file not in again:
            job, old = makers[file], known.get(file)
            changed = old is None or (old.inputs, old.compared) != (job.inputs, job.compared)
            again[file] = changed or any(runs(one) for one in job.inputs if one in makers)
        return again[file]

    return {file for file, job in makers.items() if not runs(file) and known[file].command != job.command}


def exchanged(settings: Settings, one: str, other: str) -> Settings:
    """Two variants in each other's place: the labels stay in their order, and go to the other variant."""
    variants = settings["variants"]
    place = {one: other, other: one}
    labels = {name: (variants[name] or {}).get("label", name) for name in place}
    moved = {place.get(name, name): variants[place.get(name, name)] for name in variants}
    for name in place:
        moved[name] = moved[name] | {"label": labels[place[name]]}
    return settings | {"variants": moved}


def reversed_lists(settings: Any) -> Any:
    """The settings with every list but that of the pairs of compared systems in another order."""
    if isinstance(settings, dict):
        return {key: value if key in ("compare", "pairs") else reversed_lists(value) for key, value in settings.items()}
    return [*reversed(settings)] if isinstance(settings, list) else settings


@pytest.fixture(params=["tests/workflow/smoke.yaml", "config/choi2017/demo-choi.yaml"])
def settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(ROOT)
    found = resolve(parse(Path(request.param).read_text(), request.param))
    if "phrase_based" in found:
        found["phrase_based"]["monolingual"] = found["corpora"]["train"][:2]
    return found


def test_what_is_made_otherwise_is_made_again(settings: Settings, tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    before = planned(tree, settings)
    assert stale(before, before) == set()
    names = [name for name, variant in settings["variants"].items() if variant is not None]
    changes = [exchanged(settings, *pair) for pair in pairwise(names)]
    changes += [settings | {key: reversed_lists(one)} for key, one in settings.items() if reversed_lists(one) != one]
    for change in changes:
        after = planned(tree, change)
        assert len(after) == len(before)
        found = stale(before, after)
        # Counts, and the sentences that are held out, do not depend on the order of the corpora.
        assert not {file for file in found if not re.search("/(language_models|cleaned)/", file)}
