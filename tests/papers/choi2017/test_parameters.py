"""The table of parameters: sizes counted by hand, percentages, and labels that do not fit."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import torch

from nmt.__main__ import main
from nmt.model.network import Network
from nmt.report.markup import MADE_UP
from nmt.settings.extends import read_experiment
from tests.model.models import SOURCE_SYMBOLS, TARGET_SYMBOLS, save_trained, tiny_model

ROOT = Path(__file__).parents[3]
PRINTED = str(ROOT / "nmt/papers/choi2017/printed.tsv")
M, N, ALIGNMENT, MAXOUT = 5, 6, 7, 3  # those of tests.model.models


def parameters(folder: Path) -> list[str]:
    models = []
    for unit in ("gated", "lstm"):
        save_trained(folder / unit, tiny_model(unit=unit, decoder_order="printed"))
        models.append(str(folder / unit / "model.safetensors"))
    words = ["choi2017.parameters", "--pair", "En-De", "--models", *models, "--labels", "AttY", "AttY2D"]
    outputs = [f"--output-csv={folder / 'parameters.csv'}", f"--output-md={folder / 'parameters.md'}"]
    return [*words, *outputs, "--compare", "AttY2D", "AttY", "--printed"]


def sizes(gates: int, state: int) -> dict[str, int]:
    """The sizes of the parts by Appendix A.2; a unit has `gates` blocks, of which each reads input and state."""
    return {
        "encoder.embedding": M * SOURCE_SYMBOLS + M,
        "encoder.forwards": gates * (N * M + N * N),
        "encoder.backwards": gates * (N * M + N * N),
        "decoder.attention": ALIGNMENT * (N + 2 * N + 1),
        "decoder.embedding": M * TARGET_SYMBOLS + M,
        "decoder.unit": gates * (N * M + N * N + 2 * N * N),
        "decoder": state * (N + 1),
        "decoder.readout": 2 * MAXOUT * (N + M + 2 * N + 1) + TARGET_SYMBOLS * (MAXOUT + 1),
    }


def test_counts_by_part(tmp_path: Path) -> None:
    assert main([*parameters(tmp_path), PRINTED]) == 0
    gated, lstm = sizes(3, N), sizes(4, 2 * N)
    for part in ("encoder.forwards", "encoder.backwards", "decoder.unit"):
        gated[part] += N  # the gated unit has a bias for its candidate alone
        lstm[part] += 4 * N
    with (tmp_path / "parameters.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    for label, expected in (("AttY", gated), ("AttY2D", lstm)):
        assert {row["part"]: int(row["parameters"]) for row in found if row["model"] == label} == expected
    page = (tmp_path / "parameters.md").read_text(encoding="utf-8")
    whole = [sum(gated.values()), sum(lstm.values())]
    lines = [" ".join(line.split()) for line in page.split("\n")]
    assert f"| All | {whole[0]:,} | {whole[1]:,} |" in lines
    assert f"| More than the baseline | – | {100 * (whole[1] / whole[0] - 1):+.2f} % (+3.5 %) |" in lines
    assert "no proof" in page


@pytest.mark.parametrize(("pair", "printed"), [("En-De", []), ("En-Fr", [PRINTED])])
def test_without_the_papers_numbers(tmp_path: Path, pair: str, printed: list[str]) -> None:
    words = [pair if word == "En-De" else word for word in parameters(tmp_path)]
    assert main([*words, *printed]) == 0
    page = (tmp_path / "parameters.md").read_text(encoding="utf-8")
    assert "3.5" not in page
    assert "paper" not in page


def test_without_a_baseline(tmp_path: Path) -> None:
    *words, _compare, _label, _baseline, _printed = parameters(tmp_path)
    assert main([*words, "--printed"]) == 0
    assert "More than" not in (tmp_path / "parameters.md").read_text(encoding="utf-8")


def test_a_baseline_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*parameters(tmp_path), PRINTED, "--compare", "C", "AttY"]) == 1
    assert "--compare: C is not among --labels; name one of them" in capsys.readouterr().err


def test_the_papers_models_have_the_sizes_that_the_table_of_fidelity_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours; with a second LSTM cell, which has recurrent weights and biases; with a tanh layer, half a maxout layer."""
    monkeypatch.chdir(ROOT)
    experiment = read_experiment(["config/choi2017/wmt15-ende.yaml"])
    assert experiment.bpe is not None
    readings = ("ours: one", "two LSTM cells and a tanh", "one LSTM cell and a tanh")
    rows: dict[str, dict[str, float]] = {one: {} for one in readings}
    for name, variant in experiment.variants.items():
        with torch.device("meta"):
            model = Network(variant.architecture, experiment.bpe.symbols, experiment.bpe.symbols)
        count = sum(parameter.numel() for parameter in model.parameters())
        hidden, readout = model.architecture.hidden, model.decoder.readout
        halved = count - sum(part.numel() for part in (readout.U_o, readout.V_o, readout.C_o, readout.b_t)) / 2
        for row, size in zip(rows, (count, halved + 4 * hidden * (hidden + 1), halved), strict=True):
            rows[row][name] = size
    lines = (ROOT / "docs/fidelity.md").read_text().split("\n")
    for begins, sizes in rows.items():
        shown = [f"{sizes[name] / 1e6:.2f}" for name in ("Baseline", "AttY", "AttY2D", "C", "CAttY", "CAttY2D")]
        shown += [f"+{100 * (sizes[f'{name}2D'] / sizes[name] - 1):.2f} %" for name in ("AttY", "CAttY")]
        (line,) = [line for line in lines if line.startswith(f"| {begins} ")]
        assert [cell.strip() for cell in line.split("|")[2:-1]] == shown


def test_a_made_up_language_is_named_first(tmp_path: Path) -> None:
    assert main([*parameters(tmp_path), PRINTED, "--generated"]) == 0
    assert (tmp_path / "parameters.md").read_text(encoding="utf-8").split("\n")[2] == f"**{MADE_UP}**"
