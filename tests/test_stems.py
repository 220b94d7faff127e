"""One stem everywhere: a rule, the step that it runs, its module, its log, its benchmark and its test have one name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from nmt import commands, papers
from nmt.papers.choi2017.paper import points
from nmt.report.artefacts import collect
from nmt.settings.extends import read_experiment
from nmt.system.errors import UserError
from nmt.workflow import step_of

ROOT = Path(__file__).parents[1]
RULE = re.compile(r"^ *(?:rule|checkpoint|use rule (\w+) as)(?: (\w+))?(?: with)?:$", re.MULTILINE)
NAME = re.compile(r"^ +name:\s+f?\"([^\"]+)\"", re.MULTILINE)

# Rules whose name is not that of their step, and why.
OTHER_STEP = {
    "translate_no_unk": "translate",  # the same step on other sentences, with other options
    "extract_monolingual": "extract",  # the same step on one side
    "sheet_{table}": "sheet",  # a rule for each table, because a caption of Snakemake's report belongs to a rule
}
NO_STEP = {
    "all": "names the targets",
    "development": "joins files with cat",
}
# Rules without a benchmark file, and why.
NO_BENCHMARK = {
    "verify": "Snakemake would take the file for an output, and not verify again",
}
# Steps of the workflow that no rule runs, and why.
NO_RULE = {
    "evidence": "a study that a developer runs by hand, results/open/README.md",
    "choi2017.join": "joins tables of several experiments, each of which is one run of the workflow",
}
# Steps whose test is not in a module of their own: one test takes several steps.
TESTED_TOGETHER = {
    "choi2017.figure4": "papers/choi2017/test_figure2.py",
    "thot_word_align": "phrase_based/thot/test_thot.py",
    "thot_symmetrize": "phrase_based/thot/test_thot.py",
    "thot_tune": "phrase_based/thot/test_thot.py",
    "thot_translate": "phrase_based/thot/test_thot.py",
    "moses_align": "phrase_based/moses/test_moses.py",
    "moses_language_model": "phrase_based/moses/test_moses.py",
    "moses_phrases": "phrase_based/moses/test_moses.py",
    "moses_tune": "phrase_based/moses/test_moses.py",
    "moses_translate": "phrase_based/moses/test_moses.py",
}


@dataclass(frozen=True)
class Rule:
    """What a rule file, FILE.smk, says of a rule."""

    file: str
    name: str
    steps: frozenset[str]
    coded: frozenset[str]
    logs: frozenset[str]
    benchmarks: frozenset[str]


def read_rules() -> list[Rule]:
    """The rules of the workflow, in the order of the files."""
    rules = []
    for path in [ROOT / "workflow/Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]:
        # What comes before the first rule; then for each rule the name, where its header has one, and the body.
        _, *parts = RULE.split(path.read_text())
        for repeated, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            given = NAME.search(body)
            assert name or given, f"{path}: a rule without a name"
            steps = next((rule.steps for rule in rules if rule.name == repeated), frozenset())
            rules.append(
                Rule(
                    path.stem,
                    given[1] if given else name,
                    steps | frozenset(re.findall(r"python -m nmt ([\w.]+)", body)),
                    frozenset(re.findall(r"code\(\"([\w.]+)\"\)", body)),
                    frozenset(re.findall(r"\"logs/([^/\"]+)/", body)),
                    frozenset(re.findall(r"\"benchmarks/([^/\"]+)/", body)),
                )
            )
    return rules


RULES = read_rules()
EXPERIMENTS = [read_experiment([str(ROOT / one)]) for one in ("config/demo.yaml", "config/choi2017/demo-choi.yaml")]
# Rules that a loop makes under the names of their steps, and those steps in two experiments that have all of them.
LOOPS = {
    "{figure}": {
        step_of(experiment, name)
        for experiment in EXPERIMENTS
        for name, artefact in collect(experiment, papers.artefacts(experiment)).items()
        if artefact.is_figure and name != "ratings"
    },
    "{step}": {f"choi2017.{step}" for step, *_ in points(papers.settings(EXPERIMENTS[1]), EXPERIMENTS[1])},
}
STEPS_OF_WORKFLOW = [
    step for group, steps in commands.groups().items() if group.startswith("Workflow") for step in steps
]


def named(step: str) -> str:
    """The name of the rule that runs `step`: the rules of a paper, in a file of their own, do not repeat its name."""
    return step.rpartition(".")[2]


def test_the_rules_are_found() -> None:
    """No two have one name but those of two papers, of which a run of the workflow includes one."""
    for paper in papers.names():
        included = [rule.name for rule in RULES if rule.file == paper or rule.file not in papers.names()]
        assert len(set(included)) == len(included) > 30
    names = [rule.name for rule in RULES]
    assert set(OTHER_STEP) | set(NO_STEP) <= set(names)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_runs_the_step_of_its_name(rule: Rule) -> None:
    if rule.name in NO_STEP:
        assert not rule.steps
        assert rule.logs | rule.benchmarks <= {rule.name}
        return
    if rule.name in LOOPS:
        assert rule.logs == rule.benchmarks == {rule.name}
        assert LOOPS[rule.name] <= set(commands.names())
        return
    [step] = rule.steps
    assert named(step) == OTHER_STEP.get(rule.name, rule.name)
    assert rule.coded <= {step}
    assert rule.logs in ({rule.name}, {named(step)})
    assert rule.benchmarks == (frozenset() if rule.name in NO_BENCHMARK else rule.logs)
    assert commands.module(step).rpartition(".")[2] == step.rpartition(".")[2]


@pytest.mark.parametrize("step", STEPS_OF_WORKFLOW)
def test_a_step_of_the_workflow_has_a_rule(step: str) -> None:
    run = set().union(*LOOPS.values(), *(rule.steps for rule in RULES))
    assert (step in run) == (step not in NO_RULE)


@pytest.mark.parametrize("step", commands.names())
def test_a_step_has_a_module_and_a_test(step: str) -> None:
    *packages, stem = commands.module(step).split(".")[1:]
    assert (ROOT / "nmt" / "/".join(packages) / f"{stem}.py").is_file()
    own = ROOT / "tests" / "/".join(packages) / f"test_{stem}.py"
    if step in TESTED_TOGETHER:
        assert not own.exists()
        together = (ROOT / "tests" / TESTED_TOGETHER[step]).read_text()
        assert re.search(rf"\b{step.rpartition('.')[2]}\b", together)
    else:
        assert own.is_file(), f"{own.relative_to(ROOT)}: no such test"


def test_exceptions_are_of_steps_that_exist() -> None:
    for step in [*OTHER_STEP.values(), *NO_RULE, *TESTED_TOGETHER]:
        try:
            commands.module(step)
        except UserError as error:
            pytest.fail(str(error))
