"""What each kind of change reruns, and what it does not: the jobs that a dry run lists after the smoke experiment."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.workflow.tree import ROOT, VARIANTS, Job, Tree

ATTENTION = {variant for variant in VARIANTS if variant.startswith("RNNsearch")}
TABLE_2, TABLE_3 = (["table2", "sheet_table2"], ["table3", "sheet_table3"])
CURVES = ["gather_metrics", "learning_curves"]
TABLE_1 = ["table1", "sheet_table1", "significance", "sheet_significance"]  # and what its differences are worth
AFTER_TRANSLATION = [*TABLE_1, *TABLE_3, "bleu_by_length", "figure2", "sample_alignments", "figure3", "index"]


def each(rules: Iterable[str], variants: Iterable[str]) -> list[Job]:
    """Every rule for every variant."""
    return [(rule, variant) for rule in rules for variant in variants]


def check(plan: list[Job], *expected: Iterable[Job]) -> None:
    """That `plan` lists the expected jobs and no others, in whatever order."""
    assert sorted(plan) == sorted(job for jobs in expected for job in jobs)


def trained_again(variants: Iterable[str]) -> list[Job]:
    """The trainings of `variants` and all that follows, but for what shows single variants."""
    own = each(["train", "nll", "nll", "translate", "translate_no_unk", "evaluate"], variants)
    return own + each([*TABLE_1, *TABLE_2, *CURVES, "bleu_by_length", "figure2", "index"], [""])


def test_nothing_is_done_twice(done: Tree) -> None:
    assert done.plan() == []


def test_seeds_train_only_what_is_new(done: Tree) -> None:
    assert done.plan("seeds: 1") == []
    check(done.plan("seeds: [1234, 7]"), trained_again([f"{variant}-seed7" for variant in VARIANTS]))


def test_the_seed_of_a_model_that_continues_another_is_written_to_its_summary(done: Tree) -> None:
    """`train` finds the model, which does not depend on it; curves of seeds need it."""
    assert ("train", "RNNsearch-50star") in done.plan("variants: {RNNsearch-50star: {seed: 5}}")


@pytest.mark.parametrize("cores", ["1", "16"])
def test_the_number_of_cores_reruns_nothing(done: Tree, cores: str) -> None:
    assert done.plan(options=("--cores", cores, "--resources", f"gpu={cores}")) == []


def test_threads_batches_and_checkpoints_rerun_nothing(done: Tree) -> None:
    overlay = "threads: {train: 2, translate: 3}\ntranslate: {batch: 5}\n"
    overlay += "defaults: {checkpoint_minutes: 3, checkpoint_every: 7, device: cpu}\n"
    assert done.plan(overlay) == []


def test_results_are_made_again_without_models(done: Tree) -> None:
    """Another folder of results is one from which all are gone; what that leaves alone, no single loss reruns."""
    made = {rule for rule, _ in done.plan("results: results/elsewhere")}
    assert {"selection_table", "ratings", "table1", "index"} <= made
    assert not made & {"fetch", "extract", "tokenize", "clean", "train_lm", "score_pairs", "select", "shortlist"}
    assert not made & {"binarize", "train", "nll", "translate", "translate_no_unk", "evaluate"}
    assert not {rule for rule in made if rule.startswith("thot_")}


def test_deleted_data_are_made_again_for_what_must_be_made_again(done: Tree) -> None:
    """The tables' pages in the report lie beside the data, but are made from the tables."""
    data, away = done.folder / "data/smoke", done.folder / "away"
    data.rename(away)
    try:
        assert all(rule.startswith("sheet_") for rule, _ in done.plan())
        assert {"fetch", "train", "table1"} <= {rule for rule, _ in done.plan(options=("--forcerun", "table1"))}
    finally:
        away.rename(data)


def test_touched_files_rerun_nothing(done: Tree) -> None:
    """Every file, in the order that makes each input newer than what was made from it, as a careless copy may."""
    folders = [done.folder / name for name in ("data", "results", "nmt", "workflow", "config")]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    files.sort(key=lambda file: file.stat().st_mtime_ns, reverse=True)
    before = {file: file.stat() for file in files}
    now = time.time_ns()
    try:
        for age, file in zip(range(len(files), 0, -1), files, strict=True):
            os.utime(file, ns=(now, now - age * 10**7))
        assert done.plan() == []
    finally:
        for file, stat in before.items():
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_an_expected_number_of_pairs_reruns_nothing(done: Tree) -> None:
    """It is only compared: a number that is filled in or corrected changes no text."""
    header, *corpora = (done.folder / "data/demo.tsv").read_text().splitlines()
    with done.rewritten("data/demo.tsv", f"{header}\tpairs\n" + "".join(f"{one}\t99\n" for one in corpora)):
        assert done.plan() == []


def with_remarks(name: str, text: str) -> str:
    """`text` with remarks, blank lines and spaces wherever they mean nothing."""
    if name.endswith((".yaml", ".yml")):
        return "\n" + re.sub(r"^([a-z_]+):", r"\n# A remark.\n\1: ", text, flags=re.MULTILINE)
    text = re.sub(r"^(def|class|rule|@)", r"\n# A remark.\n\1", text, flags=re.MULTILINE)
    if name.endswith(".smk"):
        text = text.replace("    params:\n", "    params:\n        # A remark.\n")
        text = text.replace('"python -m nmt ', '"python  -m  nmt  ').replace(" --output ", "   --output  ")
    return text + "\n\n# A remark.\n"


@pytest.mark.parametrize("options", [(), ("--use-conda",)])
def test_remarks_and_white_space_anywhere_rerun_nothing(done: Tree, conda: Path, options: tuple[str, ...]) -> None:
    """In every module, configuration, rule and shell command at once, and in the environment."""
    files = [*done.folder.glob("nmt/**/*.py"), *done.folder.glob("workflow/rules/*.smk")]
    files += [*done.folder.glob("config/*.yaml"), *done.folder.glob("profiles/*/*.yaml")]
    names = [str(file.relative_to(done.folder)) for file in files]
    names += ["Snakefile", "workflow/Snakefile", "environment.yml", "tests/workflow/smoke.yaml"]
    assert len(names) > 80
    with ExitStack() as edits:
        for name in names:
            text = (done.folder / name).read_text()
            edits.enter_context(done.rewritten(name, with_remarks(name, text)))
        assert done.plan(options=options, path=str(conda / "bin")) == []


WORDING = [
    ("nmt/system/progress.py", " in {seconds:.1f} s", " done within {seconds:.1f} s"),
    ("nmt/training/train.py", "the settings of the variant, by name", "what the variant sets"),
    ("nmt/training/loop.py", "resumes from the checkpoint of update", "goes on from update"),
    ("nmt/training/checkpoint.py", "waiting for it to end", "this one waits"),
    ("nmt/system/text.py", "no such file", "there is no such file"),
    ("nmt/search/translate.py", "text to translate, one sentence per line", "the text"),
]


def test_rewording_reruns_nothing(done: Tree) -> None:
    """A line of progress, help texts, a log message, a warning and an error, all at once."""
    with ExitStack() as edits:
        for name, old, new in WORDING:
            edits.enter_context(done.edited(name, old, new))
        assert done.plan() == []


def test_a_new_setting_at_its_neutral_value_reruns_nothing(done: Tree) -> None:
    field = '    precision: Annotated[str, choice(*PRECISIONS), Neutral("float32")] = "float32"\n'
    new = '    averaging: Annotated[str, choice("none", "ema"), Neutral("none")] = "none"\n'
    with done.edited("nmt/settings/variant.py", field, field + new):
        assert done.plan() == []
        check(
            done.plan("variants: {RNNencdec-30: {averaging: ema}}"),
            trained_again(["RNNencdec-30"]),
            each(TABLE_3, [""]),
        )


def test_a_constant_of_a_recurrence_trains_all_models_again(done: Tree) -> None:
    with done.edited("nmt/model/fast/__init__.py", "tensor(-1.0)", "tensor(-1.01)"):
        assert {variant for rule, variant in done.plan() if rule == "train"} == VARIANTS


def test_a_tool_that_is_made_again_hides_no_other_job(done: Tree) -> None:
    """Snakemake would pass over whatever lies behind a job whose output is an `ancient` input."""
    plan = done.plan("defaults: {learning_rate: 0.5}", options=("--forcerun", "lmplz"))
    assert {"lmplz", "train_lm", "train", "index"} <= {rule for rule, _ in plan}
    for file in (done.folder / "workflow/rules").glob("*.smk"):
        assert "ancient(" not in file.read_text()


def test_no_output_is_a_folder() -> None:
    """Snakemake compares the bytes of files that are newer, but not those of folders."""
    for file in (ROOT / "workflow/rules").glob("*.smk"):
        assert "directory(" not in file.read_text()


@pytest.mark.parametrize(
    ("file", "rules"),
    [
        ("corpora", ["train_lm", "score_pairs", "select", "binarize"]),
        ("thot", ["thot_word_align", "thot_phrase_table", "thot_tune"]),
        ("moses", ["moses_align", "moses_phrases", "moses_tune"]),
        ("evaluation", ["coverage"]),
    ],
)
def test_rules_that_tell_source_from_target_compare_the_languages(file: str, rules: list[str]) -> None:
    """Their inputs are the same files when the languages are exchanged, and so are their bytes once those are made."""
    text = (ROOT / f"workflow/rules/{file}.smk").read_text()
    for rule in rules:
        [block] = re.findall(rf"^rule {rule}:$.*?(?=^\S|\Z)", text, re.DOTALL | re.MULTILINE)
        assert "languages=LANGUAGES," in block, rule


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("nmt/report/index.js", {"index"}),
        ("nmt/report/captions/coverage.rst", {"index"}),
        ("nmt/report/page.css", {"index", "sheet_coverage", "sheet_table1"}),
    ],
)
def test_an_update_that_keeps_old_dates_is_noticed(done: Tree, file: str, expected: set[str]) -> None:
    path = done.folder / file
    content, stat = path.read_bytes(), path.stat()
    try:
        path.write_bytes(content + b"\n")
        os.utime(path, (1, 1))
        assert expected <= {rule for rule, _ in done.plan()}
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_the_papers_numbers_are_compared_by_content() -> None:
    texts = [path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk")]
    rules = [rule for text in texts for rule in re.split(r"^ *rule ", text, flags=re.MULTILINE) if "printed=" in rule]
    assert len(rules) == 6
    for rule in rules:
        [name] = re.findall(r'printed=ARTEFACTS\["(\w+)"\]', rule)
        assert f'contents=contents(ARTEFACTS["{name}"].printed)' in rule


def test_another_sacrebleu_scores_again_what_tables_compare(done: Tree) -> None:
    """Its version is part of a signature, and a table has one signature."""
    installed = done.folder / "sacrebleu-99.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: sacrebleu\nVersion: 99\n")
    try:
        again = [job for job in done.plan() if job[0] == "evaluate"]
    finally:
        shutil.rmtree(installed)
    check(again, each(["evaluate"], [*VARIANTS, "phrase-based"]))


def test_a_figure_that_is_drawn_again_does_not_hide_a_caption(done: Tree) -> None:
    with done.edited("nmt/papers/bahdanau2015/captions/table1.rst", "\n", " More words.\n"):
        assert ("index", "") in done.plan("paper: {figure2: {bin_width: 5}}")


def test_the_conda_flag_reruns_nothing(done: Tree, conda: Path) -> None:
    assert done.plan(options=("--use-conda",), path=str(conda / "bin")) == []


def test_the_settings_of_the_search_translate_again_and_train_nothing(done: Tree) -> None:
    searched = each(["translate", "translate_no_unk", "evaluate"], VARIANTS)
    check(done.plan("translate: {beam: 3, fallback: true}"), searched, each(AFTER_TRANSLATION, [""]))


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("papers/bahdanau2015/figure1", 'edgecolor="black"', 'edgecolor="blue"'),
        ("papers/bahdanau2015/figure2", 'edgecolor="0.3"', 'edgecolor="0.4"'),
        ("report/heatmap", 'cmap="gray"', 'cmap="viridis"'),
        ("report/ratings", 'color="black"', 'color="red"'),
        ("report/learning_curves", 'color="0.5"', 'color="0.6"'),
    ],
)
def test_a_colour_draws_that_figure(done: Tree, module: str, old: str, new: str) -> None:
    figure = "figure3" if module == "report/heatmap" else Path(module).name
    with done.edited(f"nmt/{module}.py", old, new):
        check(done.plan(), [(figure, ""), ("index", "")])


def test_an_edit_of_a_table_reruns_that_table(done: Tree) -> None:
    with done.edited("nmt/papers/bahdanau2015/table2.py", "def run", "REMARK = 1\n\n\ndef run"):
        check(done.plan(), each([*TABLE_2, "index"], [""]))


@pytest.mark.parametrize(
    ("module", "trained", "follows"),
    [
        ("additive", ATTENTION, [*TABLE_3, "sample_alignments", "figure3"]),
        ("fixed", VARIANTS - ATTENTION, TABLE_3),
    ],
)
def test_an_edit_of_an_attention_trains_the_models_that_have_it(
    done: Tree, module: str, trained: set[str], follows: list[str]
) -> None:
    """A figure of RNNsearch-50 alone follows only from that."""
    with done.edited(f"nmt/model/attention/{module}.py", "\nclass ", "\nREMARK = 1\n\n\nclass "):
        check(done.plan(), trained_again(trained), each(follows, [""]))


def test_only_a_training_that_stops_on_bleu_depends_on_the_greedy_search(done: Tree) -> None:
    with done.edited("nmt/training/greedy.py", "\nclass ", "\nREMARK = 1\n\n\nclass "):
        assert done.plan() == []


def test_another_variant_adds_its_own_jobs(done: Tree) -> None:
    plan = done.plan("variants: {RNNsearch-20: {prototype: RNNsearch, maximum_length: 20, updates: 10}}")
    check(plan, trained_again(["RNNsearch-20"]))


def test_a_setting_of_one_variant_trains_it_again_and_what_continues_it(done: Tree) -> None:
    plan = done.plan("variants: {RNNsearch-50: {updates: 31}}")
    check(
        plan,
        trained_again(["RNNsearch-50", "RNNsearch-50star"]),
        each([*TABLE_3, "sample_alignments", "figure3"], [""]),
    )


def test_another_selection_scores_nothing_again(done: Tree) -> None:
    for overlay in (
        "select: {words: 1000}",
        "select: {rule: random}",
        "select: {rule: shares, shares: {toy-web: 0.5}}",
    ):
        rules = {rule for rule, _ in done.plan(overlay)}
        assert {"select", "selection_table", "ratings", "shortlist", "coverage", "binarize", "train"} <= rules
        assert not {"fetch", "extract", "tokenize", "clean", "train_lm", "score_pairs"} & rules
