"""The options that the benchmarks share: which implementations take part, and mistakes in one line."""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from bench import data, decode, machine, memory, precision, processes, profile, train
from bench.gpu import __main__ as gpu
from bench.precision import course, sides
from bench.table import make_parser
from nmt.system.errors import UserError

FIGURES = {"seconds": 2.0, "forward": 0.5, "backward": 1.0, "optimizer": 0.5, "peak_mb": 9.0}
FIGURES["sentences_per_second"] = 4.0


def test_all_take_part_unless_some_are_chosen() -> None:
    parser = make_parser("train", None, 3, ["eager", "ours", "ours"])
    assert parser.parse_args([]).only == ["eager", "ours"]
    assert parser.parse_args(["--only", "ours"]).only == ["ours"]


def test_an_unknown_name_is_one_line() -> None:
    parser = make_parser("train", None, 3, ["eager", "eager, heap kept", "ours"])
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(["--only", "ours", "theirs"])
    assert caught.value.code == "bench.train: theirs: no such implementation; there are: eager 'eager, heap kept' ours"


def test_a_measurement_is_made_at_least_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_parser("machine", None, 3).parse_args(["--rounds", "0"])
    assert "argument --rounds: 0: must be at least 1" in capsys.readouterr().err


@pytest.mark.parametrize("module", [data, decode, machine, memory, precision, processes, profile, train])
def test_an_output_that_cannot_be_written_is_one_line_before_anything_is_measured(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--output", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == f"{module.__name__}: {tmp_path}: a folder; name a file"


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device")
@pytest.mark.parametrize("module", [decode, gpu, machine, train])
def test_a_device_that_is_not_there_is_one_line(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--output", str(tmp_path / "x"), "--device", "cuda"])
    name = module.__name__.removesuffix(".__main__")
    with pytest.raises(SystemExit, match=rf"^{name}: device: cuda is not available here"):
        module.main()


def test_text_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--output", str(tmp_path / "x"), "--data", str(tmp_path / "none")])
    with pytest.raises(SystemExit, match=r"^bench\.train: .*none"):
        train.main()


def test_a_folder_without_an_experiments_data_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no shortlists of two languages; run the experiment"):
        course(tmp_path, "float32", 10, 1)


def test_the_training_text_says_which_language_is_the_source(toy: Path, tmp_path: Path) -> None:
    (tmp_path / "shortlist").mkdir()
    (tmp_path / "binarized").symlink_to(toy / "binarized")
    for side, language in (("source", "en"), ("target", "de")):
        shutil.copy(toy / f"shortlist.{side}", tmp_path / f"shortlist/{language}.tsv")
    assert [path.stem for path in sides(tmp_path)] == ["en", "de"]


def table_of(module: Any, only: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pd.DataFrame:
    """The table that a benchmark of some implementations writes if each measurement gives FIGURES."""

    def medians(name: str, jobs: Sequence[dict[str, object]], rounds: int, warm_up: int) -> list[dict[str, float]]:
        return [FIGURES] * len(jobs)

    output = tmp_path / "table.csv"
    monkeypatch.setattr(module, "medians", medians)
    monkeypatch.setattr(sys, "argv", ["bench", "--device", "cpu", "--output", str(output), "--only", *only])
    module.main()
    return pd.read_csv(output)


@pytest.mark.parametrize("module", [train, decode])
def test_only_the_chosen_take_part(module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "product_rate", lambda *arguments: 1.0)
    table = table_of(module, ["ours", "eager"], monkeypatch, tmp_path)
    assert set(table["implementation"]) == {"ours", "eager"}
    assert table["ratio_to_eager"].max() == 1
    table = table_of(module, ["ours"], monkeypatch, tmp_path)
    assert set(table["implementation"]) == {"ours"}
    assert table["ratio_to_eager"].isna().all()


def test_a_machine_has_a_rate_with_and_without_prepared_weights(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    output = tmp_path / "machine.csv"
    rate = machine.product_rate
    sizes = []

    def small(device: torch.device, dtype: torch.dtype, size: None, repeats: int, prepared: bool) -> float:
        sizes.append((dtype, repeats, prepared))
        assert rate(device, dtype, 16, repeats, prepared) > 0
        return (2e9 if prepared else 1e9) * (1 + torch.get_num_threads())

    monkeypatch.setattr(machine, "product_rate", small)
    monkeypatch.setattr(sys, "argv", ["bench", "--device", "cpu", "--rounds", "3", "--output", str(output)])
    machine.main()
    table = pd.read_csv(output)
    assert set(sizes) == set(itertools.product((torch.float32, torch.bfloat16), (3,), (False, True)))
    assert list(table["precision"]) == ["float32", "bf16"] * (len(table) // 2)
    assert (table["prepared_gflop_per_second"] == 2 * table["gflop_per_second"]).all()
    assert table["device"].iloc[-1].endswith(", 1 thread")
    assert table["gflop_per_second"].iloc[-1] == 2


def test_the_time_of_a_step_of_translation_follows_from_the_committed_rates() -> None:
    root = Path(__file__).parents[2]
    page = " ".join((root / "docs/performance.md").read_text().split())
    rate = pd.read_csv(root / "results/bench/machine.csv").set_index(["device", "precision"])["gflop_per_second"]
    found = pd.read_csv(root / "results/bench/decode.csv").query("implementation == 'ours' and batch == 64")
    own, whole = zip(
        *(
            (1e3 * 40 / rate[row.device, row.precision], 1e3 * 64 / decode.LENGTH / row.sentences_per_second)
            for row in found.itertuples()
        ),
        strict=True,
    )
    assert "they would take {:.0f} ms in float32 and {:.0f} in bfloat16".format(*own) in page
    assert "takes some {:.0f} and {:.0f},".format(*(5 * round(time / 5) for time in whole)) in page
