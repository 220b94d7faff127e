"""The configuration as Snakemake would have it, from the names of its files."""

from __future__ import annotations

from pathlib import Path

import pytest
from snakemake.common.configfile import load_configfile
from snakemake.utils import update_config

from nmt.settings.experiment import load
from nmt.settings.extends import BASE, read_config
from nmt.system.files import UserError

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(
    ("overlays", "files"),
    [
        ([], []),
        (["demo"], ["config/demo.yaml"]),
        (["open", "open-third", "open-random"], [f"config/open{end}.yaml" for end in ("", "-third", "-random")]),
        (["demo", "tests/workflow/smoke.yaml"], ["config/demo.yaml", "tests/workflow/smoke.yaml"]),
    ],
)
def test_overlays_are_merged_as_by_snakemake(overlays: list[str], files: list[str]) -> None:
    merged = load_configfile(BASE)
    for file in files:
        update_config(merged, load_configfile(file))
    assert read_config(overlays) == load(merged)


@pytest.mark.parametrize(
    ("text", "line"),
    [(None, "no such file"), ("a: [", "not YAML"), ("- a", "not a configuration"), ("a: 1", "unknown")],
)
def test_a_mistake_is_one_line(tmp_path: Path, text: str | None, line: str) -> None:
    file = tmp_path / "mine.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=line) as error:
        read_config([str(file)])
    assert "\n" not in str(error.value)
