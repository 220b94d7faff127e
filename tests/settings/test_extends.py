"""The files of an experiment: what they inherit, and how they are merged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from snakemake.common.configfile import load_configfile
from snakemake.utils import update_config

from nmt.settings.experiment import load
from nmt.settings.extends import PAPER, check_layers, read_experiment, resolve
from nmt.system.errors import UserError

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(
    ("names", "files"),
    [
        ([], [PAPER]),
        (["demo"], ["config/demo.yaml"]),
        (["demo", "config/moses.yaml"], ["config/demo.yaml", "config/moses.yaml"]),
        (["moses", "tests/workflow/smoke.yaml"], ["config/moses.yaml", "tests/workflow/smoke.yaml"]),
    ],
)
def test_several_files_are_merged_as_by_snakemake(names: list[str], files: list[str]) -> None:
    merged: dict[str, object] = {}
    for file in files:
        update_config(merged, load_configfile(file))
    assert read_experiment(names) == load(resolve(merged))


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (
            "experiment: a",
            "experiment: b",
            "one.yaml and {other}other.yaml: each sets experiment; run one after the other",
        ),
        ("extends: config/demo.yaml", "extends: config/open.yaml", "each sets extends; leave it out of one of them"),
        (
            "variants: {RNNsearch: {}}",
            "variants: {RNNsaerch: null}",
            "config: variants.RNNsaerch: null leaves out an inherited variant, and none has this name; the nearest is "
            "RNNsearch; write {{}} for a variant that sets nothing",
        ),
        (
            "extends: config/demo.yaml",
            "variants: {RNNencdec-5: null}",
            "and none has this name; the nearest is RNNencdec-50",
        ),
    ],
)
def test_files_that_are_not_one_experiment_are_refused(tmp_path: Path, one: str, other: str, said: str) -> None:
    """Snakemake would take the name, and so the models, of the last."""
    files = [str(tmp_path / name) for name in ("one.yaml", "other.yaml")]
    for file, content in zip(files, (one, other), strict=True):
        Path(file).write_text(f"{content}\n")
    with pytest.raises(UserError, match=re.escape(said.format(other=f"{tmp_path}/"))):
        check_layers(files)


def test_a_variant_that_is_null_and_inherits_nothing_gets_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The settings in provenance.json have those that were left out."""
    (tmp_path / "plain.yaml").write_text("variants: {plain: null, other: {}}\n")
    check_layers([str(tmp_path / "plain.yaml")])
    said = "config: variants.plain: null leaves out the variant; write {} for a variant that sets nothing\n"
    assert capsys.readouterr().err == f"nmt: warning: {said}"


def test_files_of_one_experiment_are_merged(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("one.yaml", "other.yaml")]
    Path(files[0]).write_text("{extends: config/demo.yaml, experiment: a, variants: {plain: {}}}\n")
    Path(files[1]).write_text("{experiment: a, variants: {plain: null, RNNsearch-50: null}}\n")
    assert read_experiment(files).left_out == {"plain", "RNNsearch-50", "RNNsearch-50star"}


def test_a_file_extends_one_that_extends_another(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("{extends: config/bahdanau2015/open-random.yaml, experiment: mine, select: {words: 5}}")
    experiment, random = read_experiment([str(mine)]), read_experiment(["config/bahdanau2015/open-random.yaml"])
    assert (experiment.select.rule, experiment.select.words) == ("random", 5)
    assert experiment.corpora == random.corpora
    assert experiment.results == "results/mine"


def test_a_file_in_the_users_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "below.yaml").write_text("{extends: config/demo.yaml, experiment: below, seed: 3}")
    (tmp_path / "mine.yaml").write_text("{extends: ~/below.yaml, experiment: mine}")
    assert read_experiment([str(tmp_path / "mine.yaml")]).seed == 3


def test_the_folders_are_not_inherited(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("{extends: config/demo.yaml, translate: {beam: 3}}")
    with pytest.raises(UserError, match="config: experiment is missing; give every experiment a name of its own"):
        read_experiment([str(mine)])


@pytest.mark.parametrize("name", ["''", '"a\\0b"', '"\\ud800"', "x" * 2000])
def test_a_file_that_extends_nothing_is_told_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"{{extends: {name}, experiment: mine}}")
    with pytest.raises(UserError, match=r"config: extends: expected the path of a configuration, .*, not '"):
        read_experiment([str(tmp_path / "mine.yaml")])


def test_files_that_extend_one_another_are_refused(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.yaml").write_text(f"{{extends: {tmp_path / other}.yaml, experiment: {name}}}")
    with pytest.raises(UserError, match="config: extends: a circle"):
        read_experiment([str(tmp_path / "a.yaml")])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "no such file"),
        ("a: [", "not YAML"),
        ("- a", "not a configuration"),
        ("a: 1", "unknown"),
        ("{extends: nothing.yaml, experiment: a}", "nothing.yaml: no such file"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, text: str | None, line: str) -> None:
    file = tmp_path / "mine.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=line) as error:
        read_experiment([str(file)])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "seed: !!timestamp 2001-99-99",
        f"seed: 1{'0' * 5000}",
        "x: !!float abc",
        "x: !!int abc",
        "x: !!bool abc",
        "x: !!timestamp abc",
        "x: &a {y: *a}",
        f"x: {'[' * 5000}{']' * 5000}",
        "x: \x00",
    ],
)
def test_what_is_not_yaml_is_one_line(tmp_path: Path, text: str) -> None:
    """Of the constructors too, which raise errors of many kinds."""
    (tmp_path / "odd.yaml").write_text(f"extends: config/demo.yaml\nexperiment: x\n{text}\n")
    with pytest.raises(UserError, match=r"odd\.yaml: not YAML \(.*\)$"):
        read_experiment([str(tmp_path / "odd.yaml")])


def test_a_prototype_that_is_no_name_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text(
        "extends: config/demo.yaml\nexperiment: x\nvariants: {RNNsearch-50: {prototype: [1]}}\n"
    )
    with pytest.raises(UserError, match=r"prototype: unknown prototype \[1\]; the nearest is "):
        read_experiment([str(tmp_path / "odd.yaml")])
