"""What rules ask of an experiment: the digests of code, the options of steps, and what refuses to start."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nmt import papers
from nmt.corpora.registry import Archive, Corpus
from nmt.report.artefacts import collect
from nmt.settings.extends import read_experiment
from nmt.settings.variant import ATTENTIONS, UNITS
from nmt.system.errors import UserError
from nmt.workflow import (
    check_command,
    check_inputs,
    check_links,
    check_models,
    check_places,
    check_start,
    check_unchanged,
    code,
    compared_options,
    end,
    figure_options,
    find_files,
    last_lines,
    load_experiment,
    models_options,
    one_line_mistakes,
    sample_options,
    search_options,
    show_what_made,
    speed_options,
    step_of,
    train_priority,
    translations,
    warn_of_unrecorded,
)
from tests.papers.experiment import experiment

EXPERIMENT = experiment(
    translate={"beam": 5, "batch": 7, "fallback": False},
    evaluate={"train_sample": 9, "compare": [["search", "fixed"]]},
    seed=3,
)


@pytest.mark.parametrize("kind", ["output", "log", "benchmark"])
def test_places_that_take_no_files_are_known_before_the_jobs(tmp_path: Path, kind: str) -> None:
    """/proc takes no file of anybody."""
    job = {"output": [f"{tmp_path}/new/a"], "log": [f"{tmp_path}/b"], "benchmark": None}
    check_places([SimpleNamespace(**job)])
    job[kind] = "/proc/c" if kind == "benchmark" else ["/proc/c"]
    with pytest.raises(UserError, match=r"^/proc: cannot be written"):
        check_places([SimpleNamespace(**job)])


def test_a_benchmark_that_cannot_be_overwritten_is_known_before_the_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = tmp_path / "a.tsv"
    earlier.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (str(earlier), os.W_OK))  # root may write it
    with pytest.raises(UserError, match=r"a\.tsv: cannot be written; remove it"):
        check_places([SimpleNamespace(output=[], log=[], benchmark=str(earlier))])


MOUNTED = [
    "data",
    "data/open",
    "data/open/models",
    "data/open/models/x",
    "results",
    "results/open",
    "logs",
    "logs/train",
    "data/tools",
    ".snakemake",
]


def test_the_code_of_a_model_is_that_of_its_layers_and_score(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[set[str], set[str]]] = []
    monkeypatch.setattr("nmt.workflow.digest", lambda modules, others: str(seen.append((set(modules), set(others)))))
    code("train", [EXPERIMENT.variants["search"]])
    attention, unit = ATTENTIONS["additive"][0], UNITS["gated"][0]
    others = {module for module, _ in (*ATTENTIONS.values(), *UNITS.values())} - {attention, unit}
    others |= {"nmt.training.greedy", "nmt.training.dropout", "nmt.model.contextualization"}
    assert seen == [({"nmt.training.train", attention, unit}, others)]
    settings = {"updates": 1, "unit": "lstm", "stop_on": "bleu", "dropout": 0.1, "contextualization": 4}
    more = experiment(variants={"one": settings, "two": {"updates": 1, "attention": "fixed"}})
    code("nll", more.variants.values())
    used = {attention, unit, UNITS["lstm"][0], ATTENTIONS["fixed"][0]}
    assert seen[1] == ({"nmt.training.nll", *used}, {ATTENTIONS["fine_grained"][0]})


def test_a_figure_is_drawn_by_the_step_of_its_paper() -> None:
    assert step_of(EXPERIMENT, "figure2") == "figure2"
    paper = experiment(paper={"name": "bahdanau2015", "figure1": {}})
    assert step_of(paper, "figure1") == "bahdanau2015.figure1"
    assert step_of(paper, "learning_curves") == "learning_curves"


def test_trainings_that_continue_each_other_start_first() -> None:
    variants = {"first": {"updates": 1}, "second": {"updates": 1, "continues": "first"}, "other": {"updates": 1}}
    found = experiment(variants=variants)
    assert [train_priority(found, name) for name in variants] == [3, 3, 2]


def test_the_likelihood_of_training_pairs_is_that_of_a_sample() -> None:
    assert sample_options(EXPERIMENT, "short", "train") == ["--maximum-length", 30, "--sample", 9, "--seed", 3]
    assert sample_options(EXPERIMENT, "short", "development") == []


def test_what_a_search_finds_depends_on_the_beam_that_its_file_names() -> None:
    rest = ["--minimum-length-ratio", 0.5, "--no-fallback", "--precision", "float32"]
    assert search_options(EXPERIMENT, "") == ["--beam", 5, *rest]
    assert search_options(EXPERIMENT, ".beam12") == ["--beam", 12, *rest]
    assert search_options(experiment(), "") == ["--beam", 12, *rest[:2], *rest[3:]]
    assert speed_options(EXPERIMENT, "short") == ["--batch", 7, "--device", "auto"]


def test_systems_are_named_by_their_labels() -> None:
    assert compared_options(EXPERIMENT) == ["--pair", "RNNsearch*", "fixed"]
    found = models_options(EXPERIMENT)
    assert found[:3] == ["--model", "fixed", "data/x/models/fixed"]
    assert found[-3:] == ["--model", "RNNsearch*", "data/x/models/search"]
    variants = {"first": {"updates": 1}, "second": {"updates": 1, "continues": "first"}}
    folders = ["data/x/models/second-seed1235", "data/x/models/first-seed1235"]
    assert models_options(experiment(variants=variants, seeds=2))[-4:] == ["--model", "second", *folders]


def test_a_figure_with_a_line_for_each_system_is_told_all_of_them() -> None:
    variants = {"first": {"updates": 1, "label": "First*"}, "second": {"updates": 1, "continues": "first"}}
    found = experiment(variants=variants, paper={"name": "bahdanau2015", "figure1": {}, "figure2": {}})
    artefacts = collect(found, papers.artefacts(found))
    systems = ["--systems", "First*", "second"]
    assert figure_options(found, artefacts["figure2"]) == systems
    assert figure_options(found, artefacts["learning_curves"]) == [*systems, "--continues", "second", "First*"]
    assert figure_options(found, artefacts["figure1"]) == []
    paper = {"name": "bahdanau2015", "figure2": {}}
    for source, unit in {"en": [], "zh": ["--unit", "pieces"]}.items():
        languages = {"source": source, "target": "fr"}
        pieces = experiment(tokenizer="sentencepiece", languages=languages, paper=paper)
        options = figure_options(pieces, collect(pieces, papers.artefacts(pieces))["figure2"])
        assert options[options.index("RNNsearch*") + 1 :] == unit


def test_the_phrase_based_system_has_one_translation_for_all_purposes() -> None:
    found = translations(["search", "phrase-based"], "test", ".no_unk")
    assert found == ["<data>/translations/search/test.no_unk.txt", "<data>/translations/phrase-based/test.txt"]


def test_own_files_are_read_in_place_and_archives_are_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"train": ["a.en", "a.fr"], "development": ["d.en", "d.fr"], "test": ["t.en", "t.fr"]}
    config = {
        "experiment": "mine",
        "languages": {"source": "en", "target": "fr"},
        "files": texts,
        "select": {"rule": "all"},
        "variants": {"one": {"updates": 1}},
    }
    found, registry, artefacts = load_experiment(config)
    assert config["experiment"] == "mine"
    assert "learning_curves" in artefacts
    own, fetched = find_files(found, registry, registry)
    assert (set(own.values()), fetched) == ({one for pair in texts.values() for one in pair}, {})
    with pytest.raises(UserError, match=r"a\.en: no such file"):
        check_inputs(found, registry, own, fetched)


@pytest.mark.parametrize(
    ("paper", "message"),
    [
        ({"name": "bahdanau2015", "figure3": {"model": "one", "chosen": 3}}, "paper.figure3.chosen: test: .* 2, not 3"),
        (
            {"name": "choi2017", "sentence": 6, "figure2": {"models": ["one"]}},
            "paper.sentence: dev and dev-2: .* 5, not 6",
        ),
    ],
)
def test_a_figure_of_a_sentence_that_the_text_does_not_have_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paper: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("a", 4), ("d", 3), ("e", 2), ("t", 2)):
        for language in ("en", "fr"):
            Path(f"{name}.{language}").write_text("x\n" * (lines - 1) + "x")
    config = {
        "experiment": "mine",
        "languages": {"source": "en", "target": "fr"},
        "files": {
            "train": ["a.en", "a.fr"],
            "development": ["d.en", "d.fr", "e.en", "e.fr"],
            "test": ["t.en", "t.fr"],
        },
        "select": {"rule": "all"},
        "variants": {"one": {"updates": 1}},
        "paper": paper,
    }
    found, registry, _ = load_experiment(config)
    with pytest.raises(UserError, match=rf"config: {message}$"):
        check_inputs(found, registry, *find_files(found, registry, registry))
    for name, line in (("t", 2), ("e", 2)):
        Path(f"{name}.en").write_text("x\n" * (line - 1) + "\ufeff\u00a0\n")
    blank = {"figure3": {**paper.get("figure3", {}), "chosen": 2}} if "figure3" in paper else {"sentence": 5}
    found, registry, _ = load_experiment({**config, "paper": {**paper, **blank}})
    with pytest.raises(UserError, match=r"line \d is blank; choose another$"):
        check_inputs(found, registry, *find_files(found, registry, registry))
    found, registry, _ = load_experiment(config)
    Path("d.en").write_bytes(gzip.compress(b"x\n"))
    Path("t.en").write_bytes(gzip.compress(b"x\n"))
    check_inputs(found, registry, *find_files(found, registry, registry))  # how many they are is not known


def test_words_are_not_compared_where_no_spaces_separate_them() -> None:
    texts = {"train": ["a.en", "a.zh"], "development": ["d.en", "d.zh"], "test": ["t.en", "t.zh"]}
    config = {
        "experiment": "mine",
        "languages": {"source": "en", "target": "zh"},
        "files": {**texts, "in_domain": ["i.en", "i.zh"]},
        "variants": {"one": {"updates": 1}},
    }
    with pytest.raises(UserError, match=r"^config: select\.rule: ranking compares or counts words, and zh has no"):
        load_experiment(dict(config))
    load_experiment({**config, "tokenized": True})
    load_experiment({**config, "select": {"rule": "all"}})


def test_a_model_that_is_missing_is_not_named_for_want_of_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/demo/models/A").mkdir(parents=True)

    class Job:
        rule = SimpleNamespace(name="train")

        def __init__(self, variant: str) -> None:
            self.wildcards = SimpleNamespace(variant=variant)

    dag = SimpleNamespace(jobs=[Job("A"), Job("B")], needrun_jobs=list)
    workflow = SimpleNamespace(dag=dag, persistence=SimpleNamespace(has_metadata=lambda job: False))
    warn_of_unrecorded(workflow, read_experiment(["demo"]))
    assert "warning: data/demo/models/A: .snakemake does not record" in capsys.readouterr().err


@pytest.mark.parametrize("touch", [True, False])
def test_a_run_that_only_touches_files_has_no_results(touch: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("nmt.workflow.LOGGER.info", lambda line, extra: said.append(line))
    dag = SimpleNamespace(jobs=[SimpleNamespace(rule=SimpleNamespace(name="all"))])
    end(SimpleNamespace(touch=touch, dag=dag), read_experiment(["demo"]))
    assert bool(said) is not touch


def test_a_mistake_ends_the_run_with_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SystemExit) as end, one_line_mistakes():
        check_start([str(tmp_path / "none.yaml")], "/odd{folder}", [])
    assert end.value.code == 1
    [said] = caplog.messages
    assert said.startswith("snakemake: /odd{folder}: expected a path")
    with pytest.raises(SystemExit), one_line_mistakes():
        (tmp_path / "none").read_text()
    assert caplog.messages[1].startswith(f"snakemake: {tmp_path / 'none'}: No such file")


def test_a_folder_that_cannot_be_written_is_named_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/proc takes no file of anybody."""
    monkeypatch.chdir(tmp_path)
    for name in ("data", "logs", "benchmarks"):
        (tmp_path / name).symlink_to("/proc")
        with pytest.raises(UserError, match=rf"{name}: cannot be written \(No such file or directory\); make it writ"):
            check_start([], str(tmp_path), [])
        (tmp_path / name).unlink()


@pytest.mark.parametrize("path", MOUNTED)
def test_a_disk_that_is_not_mounted_is_no_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = read_experiment(["config/open.yaml"])
    check_links(chosen)
    (tmp_path / "disk").mkdir()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).symlink_to(tmp_path / "disk")
    check_links(chosen)
    (tmp_path / "disk").rmdir()
    with pytest.raises(UserError, match=rf"^{path}: a link that leads nowhere; mount its disk, or remove the link$"):
        check_links(chosen)


def test_a_command_that_no_shell_takes_is_refused() -> None:
    check_command("select", "x" * 128_000)
    message = "^select: its command names too many files, in 128,001 characters of at most 128,000; join corpora"
    with pytest.raises(UserError, match=message):
        check_command("select", "x" * 128_001)
    command = ["bash", "-c", f": {'x' * 131_000}"]
    subprocess.run(command, check=True)


def test_the_model_of_a_training_that_was_ended_early_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    experiment = read_experiment(["config/demo.yaml"])
    summary = tmp_path / "data/demo/models/RNNsearch-50/summary.json"
    summary.parent.mkdir(parents=True)
    for text in ("[]", "{", "{}", '{"finished": true}'):
        summary.write_text(text)
        check_models(experiment)
    summary.write_text('{"finished": false}')
    with pytest.raises(
        UserError, match=r"^data/demo/models/RNNsearch-50: from a training that --minutes has ended early"
    ):
        check_models(experiment)


def write(file: str, value: object) -> None:
    Path(file).parent.mkdir(parents=True)
    Path(file).write_text(json.dumps(value))


def test_the_best_model_translates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for system, bleu in (("RNNsearch-50star", 91.14), ("RNNencdec-50", 20), ("phrase-based", 95.26)):
        write(f"data/demo/evaluation/{system}/toy-test.json", {"all": {"bleu": bleu}})
    said = [
        "BLEU on toy-test: RNNencdec-50 20.0, RNNsearch-50* 91.1, Phrase-based (Thot) 95.3.",
        "The page with all results: results/demo/index.html",
    ]
    assert last_lines(read_experiment(["demo"])) == said  # models may have been deleted since
    for system in ("RNNsearch-50star", "RNNencdec-50"):
        write(f"data/demo/models/{system}/model.safetensors", "")
    assert last_lines(read_experiment(["demo"])) == [
        *said,
        "The models: data/demo/models",
        "To translate: python -m nmt translate --model data/demo/models/RNNsearch-50star < FILE",
    ]


def test_seeds_of_a_model_are_named_by_their_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for system, bleu in (("search", 10.0), ("search-seed1235", 14.0)):
        write(f"data/x/evaluation/{system}/d.json", {"all": {"bleu": bleu}})
        write(f"data/x/models/{system}/model.safetensors", "")
    first, *_, last = last_lines(experiment(seeds=2))
    assert first == "BLEU on d: RNNsearch* 12.0."
    assert "models/search-seed1235 " in last


def test_one_model_without_a_score_and_of_tokenized_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = experiment(variants={"search": {"updates": 1}}, tokenized=True)
    write(f"data/{one.name}/models/search/model.safetensors", "")
    assert last_lines(one) == [
        f"The page with all results: {one.results}/index.html",
        f"The model: data/{one.name}/models/search",
        f"To translate: python -m nmt translate --model data/{one.name}/models/search --tokenized < FILE",
    ]


def test_a_job_refuses_an_experiment_that_is_not_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a cluster a job reads the files again, but Snakemake records the settings of the run's beginning."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NMT_EXPERIMENTS", "")
    own, settings = tmp_path / "a.en", {"experiment": "mine", "seed": 1, "variants": {"one": {}}}
    corpora = [Corpus("news", (Archive("a.en"), Archive("a.fr")), ("", ""))]
    own.write_text("a\n")
    check_unchanged(False, settings, corpora, [str(own)])
    check_unchanged(False, {"experiment": "beside it"}, [], [])
    check_unchanged(True, dict(reversed(settings.items())), list(corpora), [str(own)])
    for changed, registered in (({**settings, "seed": 2}, corpora), (settings, [])):
        with pytest.raises(UserError, match=r"^config: changed since the run began; start the run again$"):
            check_unchanged(True, changed, registered, [str(own)])
    own.write_text("b\n")
    with pytest.raises(UserError, match=r"a\.en: changed since the run began"):
        check_unchanged(True, settings, corpora, [str(own)])
    own.unlink()
    check_unchanged(True, settings, corpora, [str(own)])  # a machine that does not have it
    monkeypatch.delenv("NMT_EXPERIMENTS")
    check_unchanged(True, settings, [], [])  # a job of another workflow


def test_the_report_shows_the_settings_that_made_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config: dict[str, Any] = {"seed": 2, "names": ("a", "b")}
    show_what_made(str(tmp_path), config)  # nothing is made
    made = tmp_path / "provenance.json"
    for text, shown in (
        ("[]", {"seed": 2, "names": ("a", "b")}),
        ('{"configuration": {"seed": 2, "names": ["a", "b"]}}', {"seed": 2, "names": ("a", "b")}),
        ('{"configuration": {"seed": 1}}', {"seed": 1}),
    ):
        made.write_text(text)
        show_what_made(str(tmp_path), config)
        assert config == shown
        said = "the last complete run had other settings than today's; the report shows those of that run"
        assert (said in capsys.readouterr().err) == (shown == {"seed": 1})


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--config", "a=1", "-C", "b=2"], "--config"),
        (["-Ca=1", "-nC", "b=2"], "--config"),
        (["--configfile=a.yaml", "-n", "--configfiles", "b.yaml"], "--configfile"),
        (["--configfile", "a.yaml", "b.yaml", "--config", "a=1", "b=2", "--", "--config", "-C"], None),
    ],
)
def test_an_option_of_which_snakemake_reads_only_the_last_is_refused(
    tmp_path: Path, words: list[str], option: str | None
) -> None:
    with pytest.raises(UserError, match=f"^{option}: Snakemake reads only the last") if option else nullcontext():
        check_start([], str(tmp_path), words)
