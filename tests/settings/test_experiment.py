"""An experiment: what is loaded, how variants are resolved, and that every mistake is one line that names the key."""

from __future__ import annotations

import os
import sys
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nmt import papers
from nmt.corpora.own import read_corpora
from nmt.corpora.registry import read_registry
from nmt.settings import sections
from nmt.settings.experiment import (
    KEYS,
    MOSES_ALIGNERS,
    MOSES_PROGRAMS,
    MOSES_SCRIPTS,
    MOSES_TRAINERS,
    OPTIONAL,
    SECTIONS,
    Experiment,
    check_moses,
    load,
    moses_files,
)
from nmt.settings.extends import PAPER, merge, read_experiment, resolve
from nmt.settings.variant import SETTINGS, Architecture, Optimization, RunTime, Variant
from nmt.system.errors import UserError
from nmt.workflow import check_corpora

ROOT = Path(__file__).parents[2]
NO_EXPERIMENT = ROOT / "config/moses.yaml"  # but settings for any of them
SHIPPED = [str(file.relative_to(ROOT)) for file in sorted({*(ROOT / "config").rglob("*.yaml")} - {NO_EXPERIMENT})]


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def read(file: str) -> dict[str, Any]:
    mapping = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    assert isinstance(mapping, dict)
    return mapping


WHOLE = read(str(ROOT / PAPER))
REGISTRY = read_registry(ROOT / "data/corpora.tsv")


def paper(overlay: str = "{}") -> Experiment:
    """The paper's experiment under an overlay in YAML."""
    return load(resolve(merge(read(PAPER), yaml.safe_load(overlay))))


def test_layers_that_a_continued_model_lacks_may_have_any_size() -> None:
    """The alignment of a model without attention."""
    base, more = "{attention: fixed, updates: 1}", "{attention: fixed, updates: 1, continues: base, alignment: 7}"
    assert paper(f"{{variants: {{base: {base}, more: {more}}}}}").variants["more"].continues == "base"


def test_the_paper_has_the_five_variants_of_table_1() -> None:
    variants = paper().variants
    labels = [variant.label for variant in variants.values()]
    assert labels == ["RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*"]
    trained = [variant.optimization for variant in variants.values()]
    assert [one.updates for one in trained[:4]] == [846_000, 471_000, 600_000, 288_000]
    assert trained[3].updates + trained[4].updates == 667_000
    assert [one.maximum_length for one in trained] == [30, 30, 50, 50, 50]
    assert [one.sort_batches for one in trained] == [10, 20, 20, 20, 20]
    attentions = [variant.architecture.attention for variant in variants.values()]
    assert attentions == ["fixed", "additive", "fixed", "additive", "additive"]
    assert variants["RNNsearch-50star"].continues == "RNNsearch-50"


def test_the_papers_model_is_the_default() -> None:
    expected = Variant("RNNsearch-50", "RNNsearch-50", None, Architecture(), Optimization(updates=288_000), RunTime())
    assert paper().variants["RNNsearch-50"] == expected


@pytest.mark.parametrize("file", SHIPPED)
def test_shipped_experiments_are_whole(file: str) -> None:
    experiment = read_experiment([file])
    assert experiment.name == Path(file).stem
    check_corpora(experiment, read_corpora(experiment))
    assert papers.artefacts(experiment)


def test_no_two_experiments_share_a_folder() -> None:
    experiments = [read_experiment([file]) for file in SHIPPED]
    assert len({one.name for one in experiments}) == len({one.results for one in experiments}) == len(SHIPPED)


@pytest.mark.parametrize("name", ["demo", "open"])
def test_the_small_experiments_train_the_papers_variants(name: str) -> None:
    assert list(read_experiment([name]).variants) == list(paper().variants)


def test_only_the_papers_show_the_printed_numbers() -> None:
    shown = {file for file in SHIPPED if (chosen := read_experiment([file]).paper) and chosen.settings.get("printed")}
    assert shown == {PAPER, "config/choi2017/wmt15-ende.yaml", "config/choi2017/wmt15-enfi.yaml"}


def test_the_two_thirds_of_the_open_text_differ_in_the_rule_alone() -> None:
    drawn, chosen = (read_experiment([f"config/bahdanau2015/open-{name}.yaml"]) for name in ("random", "third"))
    assert (chosen.select.rule, drawn.select.rule) == ("ranking", "random")
    names = {"name": "", "results": ""}
    assert replace(drawn, select=chosen.select, **names) == replace(chosen, **names)
    assert drawn.select.words == chosen.select.words


def test_hansard_is_one_more_corpus_of_the_open_text() -> None:
    with_hansard = read_experiment(["config/bahdanau2015/open-hansard.yaml"])
    assert with_hansard.corpora.train == (*read_experiment(["open"]).corpora.train, "hansard36")


def manual() -> dict[str, Any]:
    return read("config/manual.yaml")


def test_the_manual_names_every_setting() -> None:
    mapping = manual()
    assert set(mapping) == set(KEYS) - {"extends"}
    for key, kind in SECTIONS.items():
        assert set(mapping[key]) == {one.name for one in fields(kind)}, key
    of_a_variant = set(SETTINGS) - {"name", "label", "continues", "updates", "seed"}
    assert set(mapping["defaults"]) == of_a_variant
    named = {key for variant in mapping["variants"].values() for key in variant}
    assert {"label", "continues", "updates"} <= named


def test_the_values_of_the_manual_are_the_defaults() -> None:
    """Those of the paper's section are held to its own classes by tests/papers."""
    mapping, experiment = manual(), read_experiment(["manual"])
    for one in fields(Experiment):
        own = ("registry", "results", *OPTIONAL, "paper")
        if one.default is not MISSING and one.name in mapping and one.name not in own:
            assert mapping[one.name] == one.default, one.name
    for key, kind in SECTIONS.items():
        for one in fields(kind):
            if one.default is not MISSING and one.name != "in_domain":
                assert getattr(getattr(experiment, key), one.name) == one.default, f"{key}.{one.name}"
    assert experiment.results == f"results/{experiment.name}"
    standard = asdict(Architecture()) | asdict(Optimization(updates=1)) | asdict(RunTime())
    assert mapping["defaults"] == {key: standard[key] for key in mapping["defaults"]}


def test_an_experiment_of_its_own_needs_little() -> None:
    corpora = "{train: [a], development: [b], test: [c]}"
    text = "{experiment: mine, languages: {source: de, target: en}, registry: mine.tsv, select: {rule: all},"
    experiment = load(yaml.safe_load(f"{text} corpora: {corpora}, variants: {{small: {{updates: 5}}}}}}"))
    assert experiment.results == "results/mine"
    assert list(experiment.variants) == ["small"]
    assert (experiment.paper, experiment.phrase_based, experiment.evaluate.no_unk) == (None, None, False)
    assert experiment.shortlist == sections.Shortlist()


def test_files_stand_for_a_registry_and_its_corpora() -> None:
    files = "{train: [a.en, a.fr, b.en, b.fr], development: [~/c.en, ../c.fr], test: [d.en, d.fr]}"
    experiment = paper(f"{{select: {{rule: all}}, phrase_based: null, mirror: m, files: {files}}}")
    assert (experiment.registry, experiment.mirror) == ("", None)
    assert experiment.corpora == sections.Corpora(("train", "train-2"), ("dev",), ("test",))
    corpora = read_corpora(experiment)
    check_corpora(experiment, corpora)
    addresses = {name: [one.address for one in corpus.archives] for name, corpus in corpora.items()}
    assert addresses["train-2"] == ["b.en", "b.fr"]
    assert addresses["dev"] == ["~/c.en", "../c.fr"]
    assert paper("{files: null}").registry == "data/corpora.tsv"


def test_the_vocabulary_has_as_many_symbols_as_subwords_are_asked_for() -> None:
    experiment = paper("{bpe: {symbols: 8000, joint: true}}")
    assert (experiment.bpe, experiment.shortlist.size) == (sections.BytePairs(8000, joint=True), 8000)
    assert paper("{bpe: null}").bpe is None


def test_what_is_inherited_can_be_left_out() -> None:
    experiment = paper("{variants: {RNNencdec-30: null}, phrase_based: null, paper: null}")
    assert list(experiment.variants) == ["RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50star"]
    assert (experiment.paper, experiment.phrase_based) == (None, None)
    pairs = "evaluate: {compare: [[RNNencdec-30, RNNsearch-30], [RNNsearch-50, phrase-based]]}"
    for without in ("phrase_based: null", "phrase_based: {system: null}"):
        assert paper(f"{{{pairs}, {without}}}").evaluate.compare == (["RNNencdec-30", "RNNsearch-30"],)


def test_own_settings_override_prototype_and_defaults() -> None:
    experiment = paper(
        "{defaults: {hidden: 1, maxout: 1, alignment: 1}, prototypes: {RNNsearch: {hidden: 2, maxout: 2}},"
        " variants: {RNNsearch-30: {hidden: 3}}}"
    )
    layers = experiment.variants["RNNsearch-30"].architecture
    assert (layers.hidden, layers.maxout, layers.alignment) == (3, 2, 1)


def test_the_seed_of_the_experiment_is_that_of_its_variants_unless_they_have_their_own() -> None:
    experiment = paper("{seed: 7, variants: {RNNsearch-30: {seed: 8}}}")
    assert experiment.variants["RNNsearch-30"].optimization.seed == 8
    assert experiment.variants["RNNsearch-50"].optimization.seed == 7


def test_seeds_add_replicas_of_each_variant() -> None:
    """They count on from its own, or are listed; a model continues the one of its own place among the seeds."""
    alone = paper()
    experiment = paper("{seeds: 2, variants: {RNNsearch-30: {seed: 8}}}")
    assert experiment.models.keys() == alone.variants.keys()
    assert [*experiment.variants][:4] == ["RNNencdec-30", "RNNencdec-30-seed1235", "RNNsearch-30", "RNNsearch-30-seed9"]
    star = experiment.variants["RNNsearch-50star-seed1235"]
    assert (star.continues, star.label, star.optimization.seed) == (
        "RNNsearch-50-seed1235",
        "RNNsearch-50*, seed 1235",
        1235,
    )
    assert experiment.systems["RNNsearch-50star-seed1235"] == "RNNsearch-50*"
    assert {name: one for name, one in experiment.models.items() if name != "RNNsearch-30"} == {
        name: one for name, one in alone.variants.items() if name != "RNNsearch-30"
    }
    listed = paper("{seeds: [5, 3]}")
    assert [one.optimization.seed for one in listed.variants.values()] == [5, 3] * 5
    assert listed.replicas["RNNsearch-30-seed3"] == "RNNsearch-30"
    assert paper("{seeds: 1}").variants == alone.variants


BEYOND = [
    ("learning_rate", "1.0e+39"),
    ("learning_rate", "1.0e-320"),
    ("epsilon", "1.0e-46"),
    ("clip_norm", "1.0e+300"),
    ("initialization_scale", "1.0e-39"),
    ("forget_bias", "1.0e+39"),
]
LAYERS = ["embedding", "hidden", "alignment", "maxout", "output_rank", "contextualization", "batch", "sort_batches"]


def test_a_tilde_is_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    read_back = paper("{results: ~/a, registry: ~/b.tsv, phrase_based: {system: moses, bin: ~/moses/bin}}")
    assert (read_back.results, read_back.registry) == ("/home/me/a", "/home/me/b.tsv")
    assert read_back.phrase_based is not None
    assert read_back.phrase_based.bin == "/home/me/moses/bin"


@pytest.mark.parametrize("name", ["a folder", "a'b", "$a", "a(b", "a:b", "a#b", "a.gz"])
def test_moses_is_not_run_where_its_scripts_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    built = paper("{phrase_based: {system: moses}}")
    installed = paper(f'{{phrase_based: {{system: moses, bin: "{name}/bin"}}}}')
    check_moses(built)
    with pytest.raises(UserError, match="Moses's scripts do not understand "):
        check_moses(installed)
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    with pytest.raises(UserError, match="in the name of a folder, as in /"):
        check_moses(built)


@pytest.mark.parametrize("linked", ["data", "data/tools", "bin", "bin/moses", "scripts"])
def test_moses_is_not_run_where_a_link_leads_to_such_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: str
) -> None:
    bin = ", bin: bin" if linked in ("bin", "bin/moses", "scripts") else ""
    experiment = paper(f"{{phrase_based: {{system: moses{bin}}}}}")
    monkeypatch.chdir(tmp_path)
    place = Path("my disk", Path(linked).name if linked == "bin/moses" else ".")
    Path("my disk/training").mkdir(parents=True)
    for name in ("moses", "training/train-model.perl"):
        Path("my disk", name).touch()
    for folder in (Path(linked).parent, Path("bin") if linked != "bin" else Path()):
        folder.mkdir(exist_ok=True)
    Path(linked).symlink_to(place.absolute())
    with pytest.raises(UserError, match=r"do not understand ' ' in the name of a folder, as in /.*/my disk"):
        check_moses(experiment)


def test_scripts_of_moses_call_the_programs_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = paper("{phrase_based: {system: moses, bin: bin}}")
    monkeypatch.chdir(tmp_path)
    names = [f"bin/{name}" for name in (*MOSES_PROGRAMS, "fast_align", *MOSES_ALIGNERS["fast_align"])]
    for name in [*names, *(f"share/scripts/{script}" for script in MOSES_SCRIPTS)]:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch(0o755)
    Path("scripts").symlink_to("share/scripts")
    with pytest.raises(UserError, match=r"the scripts beside bin call extract, .*-score in /.*/share/bin; name a"):
        check_moses(experiment)
    Path("share/bin").mkdir()
    for name in MOSES_TRAINERS:
        Path("share/bin", name).touch(0o755)
    monkeypatch.setattr("shutil.which", lambda name: name)
    check_moses(experiment)
    assert f"{tmp_path}/share/bin/score" in moses_files("bin")
    Path("share/bin/score").chmod(0o644)
    with pytest.raises(UserError, match=r"cannot be executed; run chmod \+x /.*/share/bin/score$"):
        check_moses(experiment)
    Path("share/bin/score").chmod(0o755)
    with monkeypatch.context() as other_user:
        other_user.setattr("os.access", lambda path, mode: mode == os.X_OK or not str(path).endswith("/moses"))
        with pytest.raises(UserError, match=r"cannot be read; run chmod \+r bin/moses$"):
            check_moses(experiment)
    for name in ("mgiza", *MOSES_ALIGNERS["mgiza"]):
        Path("bin", name).touch(0o755)
    with pytest.raises(UserError, match=r"the scripts beside bin call symal in /.*/share/bin; name a"):
        check_moses(experiment)


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ("{experimnt: a}", "config: unknown setting experimnt; the nearest is experiment"),
        (
            "{seeds: 0}",
            "config: seeds: expected how many seeds, a whole number, from 1 to 1000, or a list of different",
        ),
        ("{seeds: [1, 1]}", "config: seeds: expected how many seeds"),
        (
            "{seed: 4294967295, seeds: 2}",
            "seeds, counted up: expected a whole number, from 0 to 4294967295, not 4294967296",
        ),
        ("{seeds: []}", "config: seeds: expected how many seeds"),
        (
            "{seeds: 2, variants: {RNNsearch-30-seed1235: {updates: 1}}}",
            "RNNsearch-30-seed1235 is the name of a variant",
        ),
        (
            f"{{seeds: 2, variants: {{{'a' * 92}: {{updates: 1}}}}}}",
            f"config: variants.{'a' * 92}: its name with a seed: expected a name of letters, digits, - and _, at most "
            f"100, not '{'a' * 92}-seed1235'",
        ),
        (
            f"{{seeds: 2, variants: {{a: {{updates: 1, label: {'b' * 990}}}}}}}",
            "config: variants.a.label, with a seed: expected text in the locale's characters, 1000 at most",
        ),
        (
            "{seeds: 2, evaluate: {compare: [[RNNsearch-30-seed1235, RNNsearch-50]]}}",
            "unknown system RNNsearch-30-seed",
        ),
        ("{translate: {beem: 3}}", "config: translate: unknown setting beem; the nearest is beam"),
        ("{defaults: {hiden: 3}}", "config: defaults: unknown setting hiden; the nearest is hidden"),
        ("{prototypes: {RNNsearch: {attenton: fixed}}}", "unknown setting attenton; the nearest is attention"),
        ("{variants: {RNNsearch-30: {update: 3}}}", "unknown setting update; the nearest is updates"),
        ("{variants: {A: {prototype: RNNserch}}}", "unknown prototype RNNserch; the nearest is RNNsearch"),
        ("{variants: {A: {maximum_length: 3}}}", "config: variants.A.updates is missing; expected a whole number"),
        ("{variants: {A: {prototype: RNNsearch}}}", "config: variants.A.updates is missing"),
        ("{select: {order: 7}}", "config: select.order: expected a whole number, from 2 to 6, not 7"),
        ("{corpora: {in_domain: []}}", "corpora.in_domain is empty"),
        ("{paper: {name: 3}}", "config: paper.name: expected a name"),
        ("{paper: 3}", "config: paper: expected a section"),
        ("{languages: null}", "config: languages is missing"),
        ("{languages: {target: en}}", "config: languages: en is source and target"),
        ("{extends: 3}", "config: extends: expected the path of a configuration, in the"),
        ("{variants: {RNNsearch-30: 3}}", "config: variants.RNNsearch-30: expected a section"),
        ("{variants: {a/b: {prototype: RNNsearch}}}", "expected a name of letters, digits"),
        ("{defaults: {hidden: 0}}", "hidden: expected a whole number, from 1 to 100000, not 0"),
        ("{defaults: {hidden: 1.5}}", "hidden: expected a whole number"),
        ("{defaults: {hidden: true}}", "hidden: expected a whole number"),
        *(
            (
                f"{{{section}: {text}}}",
                "; it is in quotes, or within --config, where Snakemake reads it as text: write it without",
            )
            for section, text in (
                ("translate", "{beam: '3'}"),
                ("translate", "{fallback: 'false'}"),
                ("defaults", "{dropout: '0.5'}"),
                ("phrase_based", "'null'"),
                ("seeds", "['1234', '7']"),
            )
        ),
        (
            "{defaults: {epsilon: 1e-6}}",
            "epsilon: expected a number above 0, not '1e-6'; YAML reads 1e-6 as text, write 1.0e-6",
        ),
        ("{defaults: {epsilon: 1.5e3}}", "YAML reads 1.5e3 as text, write 1.5e+3"),
        ("{defaults: {epsilon: 1e3}}", "YAML reads 1e3 as text, write 1.0e+3"),
        (
            "{experiment: 2024}",
            "config: experiment: expected a name of letters, digits, - and _, at most 100, not 2024; put it in quotes",
        ),
        ("{variants: {RNNsearch-30: {label: true}}}", "; put it in quotes"),
        *(
            (f"{{defaults: {{{key}: {value}}}}}", "; float32 holds numbers from 1.2e-38 to 3.4e+38")
            for key, value in BEYOND
        ),
        *(
            (f"{{defaults: {{{key}: 100000000000000}}}}", f"{key}: expected a whole number, from 1 to ")
            for key in LAYERS
        ),
        ("{translate: {beam: 1001}}", "config: translate.beam: expected a whole number, from 1 to 1000, not 1001"),
        ("{shortlist: {size: 100000000000000}}", "shortlist.size: expected a whole number, from 2 to "),
        ("{threads: {train: 100000}}", "threads.train: expected a whole number, from 1 to 1024"),
        ("{defaults: {rho: 1}}", "rho: expected a number above 0 and below 1"),
        ("{defaults: {dropout: 1}}", "dropout: expected 0, or a number from 1/65536 to 65535/65536, not 1"),
        ("{defaults: {learning_rate: .nan}}", "learning_rate: expected a number"),
        ("{defaults: {optimizer: sgd}}", "optimizer: expected one of adadelta, adam, not 'sgd'"),
        ("{defaults: {embedding_bias: 1}}", "embedding_bias: expected true or false"),
        ("{translate: {minimum_length_ratio: 2}}", "expected a number from 0 to 1"),
        ("{select: {rule: best}}", "config: select.rule: expected one of ranking, shares, random, all, not 'best'"),
        ("{select: {rule: shares}}", "config: select.shares: expected the share of one corpus or more"),
        ("{select: {shares: {un: 1.5}}}", "config: select.shares: expected a number from 0 to 1 for each"),
        ("{select: {shares: {unn: 0.5}}}", "config: select.shares: unknown training corpus unn; the nearest is un"),
        ("{files: {train: [a, b], test: [a, b]}}", "config: files.development is missing; expected a list of files"),
        ("{files: {train: [a]}}", "config: files.train: expected a list of files, source and target"),
        ("{files: {train: [a, b, c]}}", "config: files.train: expected a list of files, source and target"),
        ("{files: {train: [a, a]}}", "config: files.train: expected a list of files, source and target, two different"),
        (
            "{files: {train: [a, ./a]}}",
            "config: files.train: expected a list of files, source and target, two different",
        ),
        ("{files: {train: [a, 'b{c}']}}", "config: files.train: expected a list of files, source and target"),
        ("{files: {train: [a, 'http://b/c']}}", "config: files.train: expected a list of files, source and target"),
        ("{files: {train: []}}", "for each corpus, as [a.en, a.de] or [a.tsv:1, a.tsv:2], one corpus or more, "),
        ("{bpe: {symbols: 1}}", "config: bpe.symbols: expected a whole number, from 2 to"),
        ("{bpe: {joint: 1}}", "config: bpe.joint: expected true or false"),
        ("{evaluate: {compare: [RNNsearch-50]}}", "evaluate.compare: expected a list of pairs of different names"),
        (
            "{evaluate: {compare: [[RNNsearch-50, RNNsearch-30], [RNNsearch-30, RNNsearch-50]]}}",
            "evaluate.compare: expected a list of pairs of different names, such as [[a, b]], each pair once",
        ),
        ("{evaluate: {compare: [[RNNsearch-50, A]]}}", "config: evaluate.compare: unknown system A; the nearest is"),
        ("{seed: -1}", "config: seed: expected a whole number, from 0 to"),
        ("{results: a/}", "config: results: expected a folder"),
        (
            "{mirror: 3}",
            "config: mirror: expected text in the locale's characters, ",
        ),
        ("{corpora: {test: []}}", "config: corpora.test: expected a list of different names, 1 or more"),
        ("{corpora: {train: [un, un]}}", "config: corpora.train: expected a list of different names"),
        ("{languages: {source: english}}", "config: languages.source: expected a language code"),
        ("{variants: {RNNsearch-30: {label: RNNsearch-50}}}", "is taken by"),
        ("{variants: {RNNsearch-30: {continues: RNNsearch-5}}}", "unknown variant RNNsearch-5"),
        ("{variants: {RNNsearch-50: {continues: RNNsearch-50star}}}", "a circle"),
        ("{variants: {RNNsearch-50: {hidden: 5}}}", "RNNsearch-50 has another hidden"),
        ("{phrase_based: {system: joshua}}", "config: phrase_based.system: expected one of moses, thot"),
        ("{phrase_based: {stak: 3}}", "config: phrase_based: unknown setting stak; the nearest is stack"),
        ("{phrase_based: {n_best: 1}}", "config: phrase_based.n_best: expected a whole number, from 2 to"),
        ("{phrase_based: {pairs: 9, system: moses}}", "phrase_based.pairs: Moses is trained on all selected pairs"),
        (
            "{phrase_based: {bin: a}}",
            "phrase_based.bin: names Moses, which is not run; set phrase_based.system to moses",
        ),
        ("{phrase_based: {system: moses, order: 8}}", "phrase_based.order: Moses is built for up to 7; choose that"),
        ("{phrase_based: {system: moses, order: 1}}", "phrase_based.order: expected 2 or more with Moses, not 1"),
        (
            "{phrase_based: {bin: 3}}",
            "config: phrase_based.bin: expected text in the locale's characters, ",
        ),
        ("{variants: {phrase-based: {updates: 3}}}", "the name of the phrase-based system"),
        ("{variants: {RNNsearch-30: {label: Moses}}}", "Moses is taken by the phrase-based system"),
        ("{variants: null}", "config: variants is missing"),
        ("{variants: 3}", "config: variants: expected a section of settings"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(overlay: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        paper(overlay)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# Where an experiment has free text, and how the rest of the section must be for it to matter.
TEXTS = {
    "experiment": lambda text: {"experiment": text},
    "registry": lambda text: {"registry": text},
    "results": lambda text: {"results": text},
    "mirror": lambda text: {"mirror": text},
    "label": lambda text: {"variants": {"RNNsearch-30": {"label": text}}},
    "variant": lambda text: {"variants": {text: {"updates": 3}}},
    "continues": lambda text: {"variants": {"RNNsearch-30": {"continues": text}}},
    "prototype": lambda text: {"variants": {"RNNsearch-30": {"prototype": text}}},
    "language": lambda text: {"languages": {"source": text}},
    "corpus": lambda text: {"corpora": {"test": [text]}},
    "share": lambda text: {"select": {"shares": {text: 0.5}}},
    "bin": lambda text: {"phrase_based": {"bin": text}},
    "version": lambda text: {"phrase_based": {"version": text}},
    "monolingual": lambda text: {"phrase_based": {"monolingual": [text]}},
    "paper": lambda text: {"paper": {"name": text}},
    "key": lambda text: {text: 1},
}
HOSTILE = [
    "$(touch x)",
    "; x",
    "'",
    "{x}",
    "<data>",
    "\\",
    "-",
    "/",
    "..",
    " ",
    "\x1b",
    "\x00",
    "\n",
    "\u2028",
    "\ud800",
    "é",
]


@pytest.mark.parametrize("place", TEXTS)
@hypothesis.settings(max_examples=30, derandomize=True, deadline=None)
@given(text=st.lists(st.one_of(st.sampled_from(HOSTILE), st.text("aZ0", max_size=3))).map("".join))
def test_hostile_text_is_refused_or_harmless(place: str, text: str) -> None:
    mapping, said = merge(WHOLE, TEXTS[place](text)), ""
    try:
        experiment = load(mapping)
        check_corpora(experiment, REGISTRY)
        papers.settings(experiment)
    except UserError as error:
        said = str(error)
    assert said.isprintable()
    if said:
        return
    assert not set(text) & set("{}<>\\\x00\x1b\n\u2028\ud800")
    assert not text.startswith("-")
    if place == "results":
        assert not text.endswith("/")
        assert ".." not in text.split("/")


@pytest.mark.parametrize(
    ("label", "code", "fine"), [("Modèle", "latin-1", True), ("模型", "latin-1", False), ("模型", "utf-8", True)]
)
def test_a_label_is_one_that_the_locale_can_write(
    label: str, code: str, fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: code)
    mapping = merge(WHOLE, TEXTS["label"](label))
    if fine:
        assert load(mapping).variants["RNNsearch-30"].label == label
    else:
        with pytest.raises(UserError, match=r"variants\.RNNsearch-30\.label: expected text in the locale's characters"):
            load(mapping)


def test_a_missing_key_is_named() -> None:
    mapping = read(PAPER)
    del mapping["registry"]
    with pytest.raises(UserError, match="config: registry is missing; expected text"):
        load(mapping)


def test_an_unknown_corpus_is_named_with_the_nearest() -> None:
    experiment = paper("{corpora: {train: [europarl-v8]}}")
    with pytest.raises(UserError, match=r"unknown corpus .*europarl-v8; the nearest is europarl-v7"):
        check_corpora(experiment, read_registry(experiment.registry))


def test_a_test_set_is_not_trained_on() -> None:
    experiment = paper("{corpora: {test: [newstest2013]}}")
    with pytest.raises(UserError, match="newstest2013 is also used in training"):
        check_corpora(experiment, read_registry(experiment.registry))


def test_a_language_model_is_not_trained_on_unknown_corpora_or_test_sets() -> None:
    for corpus, message in (
        ("news-crawl", "phrase_based.monolingual: unknown corpus"),
        ("newstest2014", "newstest2014 is a test set"),
        ("newstest2013", "newstest2013 is a development set"),
        ("newstest2012", "newstest2012 is a held-out set"),
    ):
        sets = "{development: [newstest2013], held_out: [newstest2012]}"
        experiment = paper(f"{{corpora: {sets}, phrase_based: {{monolingual: [{corpus}]}}}}")
        with pytest.raises(UserError, match=message):
            check_corpora(experiment, read_registry(experiment.registry))


def test_corpora_in_the_other_direction_are_refused_where_they_are_used(tmp_path: Path) -> None:
    """A registry may serve several experiments."""
    registry = tmp_path / "my.tsv"
    rows = [
        f"{name}{one}\t{name}.{one}\t{name}.{other}" for name in "abc" for one, other in (("en", "fr"), ("fr", "en"))
    ]
    registry.write_text("\n".join(["name\tsource_address\ttarget_address", *rows]) + "\n")

    def check(direction: str) -> None:
        corpora = {
            use: [f"{name}{direction}"] for use, name in zip(("train", "development", "test"), "abc", strict=True)
        }
        sets = sections.Corpora(**corpora, in_domain=[], held_out=[])
        check_corpora(
            replace(paper(), registry=str(registry), corpora=sets, phrase_based=None), read_registry(registry)
        )

    check("en")
    with pytest.raises(
        UserError, match=r"^a\.fr: is in fr by its name; give en first in each pair, or exchange the lang"
    ):
        check("fr")


@pytest.mark.parametrize("use", ["development", "test", "in_domain", "held_out"])
def test_a_corpus_train_is_for_training_alone(use: str, tmp_path: Path) -> None:
    """Elsewhere its files would be those of the selected text."""
    registry = tmp_path / "my.tsv"
    rows = [f"{name}\t{name}.en\t{name}.fr" for name in ("train", "dev", "tst")]
    registry.write_text("\n".join(["name\tsource_address\ttarget_address", *rows]) + "\n")
    corpora = {"train": ["train"], "development": ["dev"], "test": ["tst"], "in_domain": ["dev"], "held_out": []}
    one = replace(paper(), registry=str(registry), corpora=sections.Corpora(**corpora), phrase_based=None)
    check_corpora(one, read_registry(registry))
    said = f"train is the name of the selected training text; give the corpus another name in {registry}"
    with pytest.raises(UserError, match=f"^config: corpora.{use}: {said}$"):
        check_corpora(
            replace(one, corpora=replace(one.corpora, train=["dev"], **{use: ["train"]})), read_registry(registry)
        )
    with pytest.raises(UserError, match=f"^config: phrase_based.monolingual: {said}$"):
        check_corpora(replace(one, phrase_based=sections.PhraseBased(monolingual=("train",))), read_registry(registry))


@pytest.mark.parametrize("use", ["train", "development", "test", "in_domain", "held_out"])
def test_a_monolingual_corpus_is_for_the_language_model_alone(use: str) -> None:
    experiment = paper(f"{{corpora: {{{use}: [news-crawl-2007]}}}}")
    with pytest.raises(UserError, match=rf"^config: corpora\.{use}: news-crawl-2007 is monolingual; only [^\n]*$"):
        check_corpora(experiment, read_registry(experiment.registry))


@pytest.mark.parametrize("file", ["demo.yaml", "open.yaml", "bahdanau2015/wmt14.yaml", "bahdanau2015/open-large.yaml"])
def test_moses_takes_the_place_of_thot_by_a_second_file(file: str) -> None:
    experiment = read_experiment([str(ROOT / "config" / file), str(NO_EXPERIMENT)])
    system, default = experiment.phrase_based, sections.PhraseBased()
    assert system is not None
    assert (system.system, system.pairs) == ("moses", 0)
    for key in ("order", "stack", "distortion_limit", "n_best"):
        assert getattr(system, key) == getattr(default, key)


def test_the_paper_runs_a_phrase_based_system_where_one_is_named() -> None:
    assert not paper().runs_phrase_based
    assert "phrase-based" not in paper().systems
    for overlay, label in (
        ("phrase_based: {system: moses}", "Moses"),
        ("phrase_based: {system: thot}", "Phrase-based (Thot)"),
    ):
        experiment = paper(f"{{{overlay}}}")
        assert experiment.runs_phrase_based
        assert experiment.systems["phrase-based"] == label
