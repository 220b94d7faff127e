"""Committed pictures are drawn from the points beside them by today's code, and none is left out of the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image

from nmt import papers
from nmt.__main__ import main
from nmt.report.artefacts import collect
from nmt.settings.experiment import Experiment
from nmt.settings.extends import read_experiment
from nmt.workflow import figure_options, step_of
from tests import demonstration
from tests.numbers import ROOT


def experiment(files: str) -> Experiment:
    """The experiment of one file of `config`, or of several."""
    return read_experiment([f"config/{file}" for file in files.split()])


CONFIGS = ("open.yaml", "bahdanau2015/open-large.yaml moses.yaml", "choi2017/open-en-de.yaml")
CONFIGS += ("choi2017/multi30k-choi.yaml", "multi30k.yaml")
CONFIGS += ("bahdanau2015/multi30k-en-fr.yaml moses.yaml", "bahdanau2015/multi30k-en-de.yaml")
CONFIGS += ("bahdanau2015/multi30k-words-en-fr.yaml", "bahdanau2015/multi30k-words-en-de.yaml")
DEMONSTRATIONS = {"demo": "demo.yaml", "demo-choi": "choi2017/demo-choi.yaml"}
CASES = {
    str(points.relative_to(ROOT)): (config, points.stem, points, points.with_suffix(".png"))
    for config in CONFIGS
    for name in ("figure2", "learning_curves")
    for points in sorted((ROOT / experiment(config).results).rglob(f"{name}.csv"))
}
CASES |= {
    name: (
        DEMONSTRATIONS[name.partition("/")[0]],
        Path(name).name,
        demonstration.COPIES / f"{name}.csv",
        demonstration.picture(name),
    )
    for name in demonstration.PICTURES
}


@pytest.mark.parametrize("case", CASES)
def test_a_committed_picture_is_that_of_its_points(case: str, tmp_path: Path) -> None:
    """Another version of matplotlib may set text a little differently, so a few pixels may differ."""
    config, name, points, picture = CASES[case]
    drawn_of = experiment(config)
    options = figure_options(drawn_of, collect(drawn_of, papers.artefacts(drawn_of))[name])
    drawn = str(tmp_path / "again.png")
    assert main([step_of(drawn_of, name), "--points", str(points), *options, "--outputs", drawn]) == 0
    one, other = image.imread(picture), image.imread(drawn)
    assert one.shape == other.shape
    assert float((np.abs(one - other) > 0.2).mean()) < 0.005


def test_the_pictures_that_are_shown_are_in_the_repository() -> None:
    text = demonstration.PAGE.read_text()
    for name in demonstration.PICTURES:
        picture = demonstration.picture(name)
        assert f"]({picture.relative_to(demonstration.PAGE.parent)})" in text
        ignored = subprocess.run(["git", "check-ignore", "--quiet", picture], cwd=ROOT, check=False)
        assert ignored.returncode != 0
