"""Shards in the DAG: they do not show in the text, and a fault in one is that one's alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workflow.tree import Tree, jobs

CONFIG = """\
extends: tests/workflow/smoke.yaml
experiment: {name}
registry: data/shards.tsv
shard: {{pairs: {pairs}}}
corpora:
  train: [toy-parliament, toy-manuals]
  in_domain: [toy-dev-1]
  development: [toy-dev-1]
"""
SHARDS = 4  # of toy-parliament, which has 75 of the 300 pairs
LINE = 30  # of toy-parliament, in its second shard


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("tree"))
    lines = [line.split("\t") for line in (tree.folder / "data/demo.tsv").read_text().split("\n")[:-1]]
    pairs = {"name": "pairs", "toy-parliament": "75", "toy-manuals": "60"}
    lines = [[*line, pairs.get(line[0], "")] for line in lines]
    (tree.folder / "data/shards.tsv").write_text("".join("\t".join(line) + "\n" for line in lines))
    for name, size in (("whole", 1000), ("sharded", 20)):
        (tree.folder / f"{name}.yaml").write_text(CONFIG.format(name=name, pairs=size))
    return tree


def command(name: str) -> list[str]:
    """The words that make the encoded text of an experiment."""
    return [f"data/{name}/binarized/meta.json", "--configfile", f"{name}.yaml", "--cores", "2", "--keep-going"]


def made(folder: Path) -> dict[str, bytes]:
    """The selected text and the ids."""
    paths = [*(folder / "selected").glob("train.*"), *(folder / "binarized").iterdir()]
    return {path.name: path.read_bytes() for path in paths if not path.name.startswith(".")}


@pytest.mark.long
def test_a_fault_fails_its_shard_alone_which_is_then_done_alone(tree: Tree) -> None:
    data, words = tree.folder / "data/sharded", command("sharded")
    run = tree.snakemake(*words, "--until", "extract", configs=[])
    assert run.returncode == 0, run.stdout[-4000:]

    extracted = data / "extracted/toy-parliament.fr"
    whole, written = extracted.read_bytes(), extracted.stat()
    lines = whole.split(b"\n")
    lines[LINE - 1] += b"\xe9"
    extracted.write_bytes(b"\n".join(lines))
    os.utime(extracted, ns=(written.st_atime_ns, written.st_mtime_ns))
    run = tree.snakemake(*words, configs=[])
    assert run.returncode == 1
    said = [line for line in run.stdout.split("\n") if "nmt tokenize:" in line]
    fault = f"toy-parliament.fr (shard 2 of {SHARDS}): line {LINE} is not UTF-8"
    assert len(said) == 1, run.stdout[-4000:]
    assert fault in said[0]
    parts = {path.name for path in (data / "tokenized").glob("toy-parliament.*.fr")}
    assert parts == {f"toy-parliament.{number}-of-{SHARDS}.fr" for number in (1, 3, 4)}

    extracted.write_bytes(whole)
    os.utime(extracted, ns=(written.st_atime_ns, written.st_mtime_ns))
    plan = [rule for rule, _ in jobs(tree.snakemake(*words, "--dry-run", configs=[]))]
    assert plan.count("tokenize") == 1
    run = tree.snakemake(*words, configs=[])
    assert run.returncode == 0, run.stdout[-4000:]

    run = tree.snakemake(*command("whole"), configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    assert len(list((tree.folder / "data/whole/tokenized").glob("toy-parliament.*"))) == 2
    assert made(data) == made(tree.folder / "data/whole")
