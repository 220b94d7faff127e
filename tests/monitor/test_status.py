"""What `status` shows of trainings that are finished, under way, silent, and not begun."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nmt.__main__ import main
from nmt.settings.ownership import record
from nmt.training.metrics import latest, read_metrics, values
from tests.training.toy import arguments

CONFIG = """
experiment: toy
languages: {source: en, target: fr}
registry: data/corpora.tsv
corpora: {train: [t], in_domain: [i], development: [d], test: [e]}
defaults: {batch: 20, sort_batches: 4, updates: 400, maximum_length: 50}
variants: {A: {}, B: {attention: fixed}, C: {patience: 3}, D: {continues: A, label: D*}}
"""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an experiment of four variants, none of which has begun, below the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/toy.yaml").write_text(CONFIG)
    return tmp_path / "data/toy"


def write(folder: Path, records: int, *, ago: float, end: str = "") -> None:
    """Metrics with a record every 10 updates and 5 seconds, the last one some seconds `ago`, and a half-written end."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(1, records + 1):
        line = {"updates": 10 * number, "seconds": 5.0 * number}
        lines.append(json.dumps(line | {"train_nll": 9.0, "gradient_norm": None, "words_per_second": 1000.0 + number}))
        if number % 4 == 0:
            lines.append(json.dumps(line | {"development_nll": 10.0 + abs(number - 8)}))
    (folder / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines) + end)
    os.utime(folder / "metrics.jsonl", (time.time() - ago,) * 2)


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """The row of each model by its name, with single spaces."""
    assert main(["status", "toy", *words]) == 0
    head, *rows = capsys.readouterr().out.rstrip("\n").split("\n")
    assert " ".join(head.split()) == "model state updates epochs words/s dev. NLL best, at update end"
    return {name: " ".join(row) for name, *row in map(str.split, rows)}


def clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def test_before_the_first_training(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys) == {"A": "not begun", "B": "not begun", "C": "not begun", "D*": "after A"}
    (experiment / "checkpoints/B").mkdir(parents=True)
    (experiment / "checkpoints/B/finished.pt").touch()
    assert shown(capsys)["B"] == "only a checkpoint"


def test_each_state(experiment: Path, toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(toy / "binarized", experiment / "binarized")
    write(experiment / "models/A", 12, ago=7200)
    (experiment / "models/A/summary.json").write_text('{"updates_best": 80, "pairs_seen_best": 4000}')
    write(experiment / "checkpoints/B", 20, ago=10, end='{"updates": 210, "sec')
    write(experiment / "checkpoints/C", 20, ago=3 * 3600)
    write(experiment / "checkpoints/D", 12, ago=10)
    now = time.time()
    rows = shown(capsys)
    assert rows["A"] == f"finished 120 1.20 1,012 14.00 10.00 at 80 {clock(now - 7200)}"
    # 200 of 400 updates, half a second each, from what was written 10 seconds ago; 20 of 2000 pairs an update
    ends = {f"running 200 of 400 2.00 1,020 22.00 10.00 at 80 {clock(now - 10 + late + 100)}" for late in (0, 1)}
    assert rows["B"] in ends
    end = "at the latest 100 seconds of work left"
    assert rows["C"] == f"silent for 3.0 hours 200 of 400 2.00 1,020 22.00 10.00 at 80 {end}"
    # Its updates continue those of A's best model: 80 of 50 pairs, then 40 of 20.
    assert rows["D*"].startswith("running 120 of 480 2.40 1,012 ")


def test_records_of_a_clock_that_is_ahead_say_nothing_of_now(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(experiment / "checkpoints/B", 20, ago=-3600)
    assert shown(capsys)["B"] == "its clock is ahead 200 of 400 1,020 22.00 10.00 at 80"


def test_a_training_that_was_ended_early_is_not_finished(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(experiment / "models/A", 12, ago=7200)
    (experiment / "models/A/summary.json").write_text('{"finished": false}')
    assert shown(capsys)["A"].startswith("ended early 120 1,012 14.00 10.00 at 80 ")


def test_bleu_has_a_column_where_a_training_stops_on_it(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(experiment / "models/A", 4, ago=10)
    write(experiment / "models/B", 4, ago=10)
    with open(experiment / "models/B/metrics.jsonl", "a") as file:
        for updates, bleu in ((50, 11.5), (60, 20.25), (70, 20.25), (80, 19.0)):
            scores = {"development_nll": 90.0 - updates, "development_bleu": bleu}
            file.write(json.dumps({"updates": updates, "seconds": 30.0, **scores}) + "\n")
    assert main(["status", "toy"]) == 0
    head, *rows = (line.split("  ") for line in capsys.readouterr().out.split("\n"))
    cells = [[cell.strip() for cell in row if cell.strip()] for row in (head, *rows)]
    assert cells[0][-4:] == ["dev. NLL", "dev. BLEU", "best, at update", "end"]
    assert cells[1][-3:-1] == ["14.00", "14.00 at 40"]
    assert cells[2][-4:-1] == ["10.00", "19.00", "20.25 at 70"]


def test_the_phrase_based_system_is_named_and_once_it_is_tuned_its_version(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = Path("config/toy.yaml")
    config.write_text(f"{CONFIG}phrase_based: {{system: moses}}\n")
    assert main(["status", "toy"]) == 0
    assert capsys.readouterr().out.endswith("\n\nMoses in data/tools/moses/bin\n")
    (experiment / "phrase_based").mkdir(parents=True)
    (experiment / "phrase_based/tuning.json").write_text('{"system": "Moses code version 3445289"}')
    config.write_text(f"{CONFIG}phrase_based: {{system: moses, bin: tools/bin}}\n")
    assert main(["status", "toy"]) == 0
    assert capsys.readouterr().out.endswith("\n\nMoses in tools/bin: Moses code version 3445289\n")
    config.write_text(f"{CONFIG}phrase_based: {{system: null}}\n")
    assert main(["status", "toy"]) == 0
    assert "Moses" not in capsys.readouterr().out


def test_an_epoch_is_the_whole_text_as_in_table_2(
    experiment: Path, toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also for a model that trains on the short pairs only, and one meaning while it trains and after it."""
    (experiment.parents[1] / "config/toy.yaml").write_text(CONFIG.replace("maximum_length: 50", "maximum_length: 2"))
    shutil.copytree(toy / "binarized", experiment / "binarized")
    write(experiment / "models/A", 12, ago=0)
    write(experiment / "checkpoints/B", 12, ago=0)
    rows = shown(capsys)
    assert rows["A"].startswith("finished 120 1.20 ")  # 20 of 2000 pairs an update
    assert rows["B"].startswith("running 120 of 400 1.20 ")


def test_what_is_not_known_is_left_out(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (experiment / "checkpoints/A").mkdir(parents=True)
    (experiment / "checkpoints/A/metrics.jsonl").write_text("")  # a training that has just begun or resumed
    write(experiment / "checkpoints/B", 1, ago=0)
    write(experiment / "checkpoints/D", 1, ago=0)
    rows = shown(capsys)
    assert rows["A"] == "running 0 of 400"
    assert rows["B"] == "running 10 of 400 1,001"
    assert rows["D*"] == "running 10 1,001"


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.just(10**400),
    st.text(max_size=3),
    st.just([]),
    st.just({}),
)
LINES = st.lists(
    st.one_of(
        ODD,
        st.dictionaries(
            st.sampled_from(["updates", "seconds", "words_per_second", "development_nll"]), st.one_of(ODD, st.just(10))
        ),
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, updates=ODD, pairs=ODD)
@example(lines=[{"updates": 10, "seconds": 1}, {"updates": 11, "seconds": 1e300}], updates=0, pairs=0)
@example(lines=[], updates=10**400, pairs=1)
@example(lines=[{"updates": "10", "seconds": None, "words_per_second": {}}, "[" * 5000], updates="1", pairs="2")
def test_odd_records_and_summaries_are_left_out(
    experiment: Path, lines: list[object], updates: object, pairs: object
) -> None:
    for folder in ("checkpoints/A", "checkpoints/D", "models/A", "binarized"):
        (experiment / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("checkpoints/A", "checkpoints/D"):
        text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        (experiment / folder / "metrics.jsonl").write_text(text + '{"updates": 20, "seconds": 5.0}\n')
    (experiment / "models/A/summary.json").write_text(json.dumps({"updates_best": updates, "pairs_seen_best": updates}))
    (experiment / "binarized/meta.json").write_text(json.dumps({"pairs": pairs}))
    assert main(["status", "toy"]) == 0


def test_a_real_training_is_read(toy: Path, experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(toy, experiment / "A")) == 0
    (experiment / "models").mkdir()
    (experiment / "A/model").rename(experiment / "models/A")
    shutil.copytree(toy / "binarized", experiment / "binarized")
    capsys.readouterr()
    row = shown(capsys)["A"].split()
    assert row[:3] == ["finished", "30", "0.30"]
    file = latest("toy", "A")
    assert file is not None
    score = json.loads((experiment / "models/A/summary.json").read_text())["development_nll"]
    assert values(read_metrics(file), "development_nll")[-1] == (30, score)


def test_watch_ends_with_the_last_training(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ABCD":
        write(experiment / f"models/{name}", 12, ago=0)
    assert main(["status", "toy", "--watch", "0.01"]) == 0
    assert capsys.readouterr().out.count("finished") == 4


def test_watch_looks_again(
    experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(seconds: float) -> None:
        assert seconds == 10
        for name in "ABCD":
            write(experiment / f"models/{name}", 12, ago=0)

    monkeypatch.setattr(time, "sleep", later)
    assert main(["status", "toy", "--watch"]) == 0
    text = capsys.readouterr().out
    assert text.index("not begun") < text.index("finished")


def test_the_module_is_imported_without_what_computes() -> None:
    """So that the help is there at once."""
    code = "import sys, nmt.monitor.status, nmt.report.tensorboard; "
    code += "print({'numpy', 'torch', 'yaml', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    "words", [["none"], ["toy", "--watch", "0"], ["toy", "--watch", "inf"], ["toy", "--watch", "nan"]]
)
def test_a_mistake_is_one_line(experiment: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["status", *words]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_without_a_name_it_is_the_experiment_that_ran_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(Path(__file__).parents[2] / "config")
    (tmp_path / "mine.yaml").write_text(
        "{extends: config/demo.yaml, experiment: mine, paper: null, variants: {only-mine: {updates: 3}}}"
    )
    record("mine", ["mine.yaml"], "results/mine")
    assert main(["status"]) == 0
    assert "only-mine" in capsys.readouterr().out


def test_without_a_name_it_says_which_experiment_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(CONFIG)
    for expected in ("wmt14: the default, as no experiment ran here", "toy: the last that ran here and has its file"):
        assert main(["status"]) == 0
        assert capsys.readouterr().err == f"{expected}\n"
        record("toy", ["mine.yaml"], "results/toy")
    (tmp_path / "mine.yaml").unlink()
    assert main(["status"]) == 0
    assert capsys.readouterr().err == "wmt14: the default, as no experiment that ran here has its file\n"
