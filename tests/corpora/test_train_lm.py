"""nmt.corpora.train_lm: two models of each side, over one vocabulary, trained on equally many words."""

from __future__ import annotations

import re
from pathlib import Path

import kenlm
import pytest

from nmt.corpora import train_lm as training
from nmt.corpora.clean import CleanedText, read_cleaned
from nmt.corpora.train_lm import draw, load_model, vocabulary
from tests.conftest import SmallDisk
from tests.corpora.selection import Case, last_line, make_case, source_words

FILES = ["meta.json", *sorted(training.FILES)]


@pytest.fixture
def case(tmp_path: Path, lmplz: Path) -> Case:
    return make_case(tmp_path, lmplz)


def text_of(case: Case, drop_duplicates: bool = True) -> CleanedText:
    parts = [part for _, part, _ in case.parts()]
    files = [(case.folder / f"{part}.en", case.folder / f"{part}.fr") for part in parts]
    records = [case.folder / f"{part}.npy" for part in parts]
    return read_cleaned([corpus for corpus, _, _ in case.parts()], files, records, drop_duplicates)


def test_both_models_of_a_side_know_the_same_words(case: Case) -> None:
    assert (case.clean(), case.train_lm()) == (0, 0)
    assert sorted(path.name for path in (case.folder / "models").iterdir()) == FILES
    for side in ("source", "target"):
        words = (case.folder / f"models/{side}.words").read_text().split("\n")[:-1]
        assert "minister" in [word.removesuffix("e") for word in words]
        for kind in ("in-domain", "general"):
            arpa = (case.folder / f"models/{side}.{kind}.arpa").read_text()
            unigrams = re.findall(r"^-[\d.]+\t(\S+)(?:\t|$)", arpa.split("\\2-grams")[0], re.MULTILINE)
            assert set(unigrams) - {"<s>", "</s>", "<unk>", "<unknown>"} <= set(words)
        assert "ngram 4=" in arpa


def test_both_models_of_a_side_are_distributions_over_one_vocabulary(case: Case) -> None:
    """Also where the general text lacks words of the in-domain text."""
    case.in_domain += [("the summit failed", "thee summite failede")] * 3
    assert (case.clean(), case.train_lm()) == (0, 0)
    for side, suffix in (("source", ""), ("target", "e")):
        words = (case.folder / f"models/{side}.words").read_text().split("\n")[:-1]
        general = (case.folder / f"models/{side}.general.arpa").read_text()
        assert f"summit{suffix}" in words
        assert f"summit{suffix}" not in general
        contexts = [[], ["the"], ["unions", "minister"], ["summit"], ["of", "this", "act"], ["<unknown>"]]
        for kind in ("in-domain", "general"):
            model = load_model(case.folder / f"models/{side}.{kind}.arpa")
            for context in contexts:
                state, following = kenlm.State(), kenlm.State()
                model.BeginSentenceWrite(state)
                for word in context:
                    model.BaseScore(state, word if word == "<unknown>" else word + suffix, following)
                    state, following = following, state
                symbols = [*words, "<unknown>", "</s>", "<unk>"]
                total = sum(10 ** model.BaseScore(state, symbol, following) for symbol in symbols)
                assert total == pytest.approx(1, abs=1e-4)


def test_the_vocabulary_has_the_words_that_occur_twice() -> None:
    assert vocabulary([b"a b  c", b"a b\n", b"<s> <s> <unknown> <unknown> x\0 x\0"]) == {b"a", b"b"}


def test_the_general_sample_has_as_many_words_as_asked(case: Case) -> None:
    case.corpora["acts"] += case.corpora["web"][:50]
    assert case.clean() == 0
    text = text_of(case)
    sample = draw(text, 300, seed=1)
    assert 300 <= source_words([(source.decode(), "") for source, _ in sample]) < 310
    assert sample != draw(text, 300, seed=2)
    every = [(s.encode(), t.encode()) for s, t in [*case.corpora["web"], *case.corpora["acts"][:200]]]
    assert draw(text, 10**6, seed=1) == every  # repetitions are not drawn
    assert len(draw(text_of(case, drop_duplicates=False), 10**6, seed=1)) == len(every) + 50


def test_shards_change_nothing(case: Case) -> None:
    assert (case.clean(), case.train_lm()) == (0, 0)
    whole = [(case.folder / "models" / name).read_bytes() for name in FILES]
    case.shards = 3
    assert (case.clean(), case.train_lm()) == (0, 0)
    assert [(case.folder / "models" / name).read_bytes() for name in FILES] == whole


def test_a_single_sentence_is_enough_if_its_words_occur_twice(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.corpora = {"web": [("No", "Non")]}
    case.in_domain = [("yes yes", "oui oui")]
    assert (case.clean(), case.train_lm(), case.score_pairs()) == (0, 0, 0)
    case.in_domain = [("yes yes", "oui mais non")]
    assert case.train_lm() == 1
    said = "the in-domain text of the target language has 1 sentences, and of its words none occurs twice"
    assert said in last_line(capsys)
    case.in_domain = [("yes yes", "oui mais non , oui")]
    assert case.train_lm() == 0
    assert "of its words only 40% occur twice; the others are unknown to the models" in capsys.readouterr().err


def test_models_of_two_runs_are_never_mixed(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that is killed while it gives the models their names leaves some of the former run."""
    assert (case.clean(), case.train_lm()) == (0, 0)
    former = {name: (case.folder / "models" / name).read_bytes() for name in FILES}
    assert case.train_lm(seed="2") == 0
    changed = [name for name in training.FILES if (case.folder / "models" / name).read_bytes() != former[name]]
    assert changed
    (case.folder / "models" / changed[0]).write_bytes(former[changed[0]])
    assert case.score_pairs() == 1
    assert f"{changed[0]}: damaged or replaced, it does not agree with meta.json; train the" in last_line(capsys)


def test_a_run_that_fails_leaves_the_models_of_the_former_one(case: Case) -> None:
    assert (case.clean(), case.train_lm()) == (0, 0)
    former = {name: (case.folder / "models" / name).read_bytes() for name in FILES}
    program = case.folder / "lmplz"
    program.write_text(f'#!/bin/sh\ncase "$*" in *target.general*) exit 3;; esac\nexec {case.lmplz} "$@"\n')
    program.chmod(0o755)
    case.lmplz = program
    assert case.train_lm(seed="2") == 1
    assert {path.name: path.read_bytes() for path in (case.folder / "models").iterdir()} == former


def test_lmplz_in_the_working_folder(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    (case.folder / "lmplz").symlink_to(case.lmplz)
    monkeypatch.chdir(case.folder)
    assert (case.clean(), case.train_lm(lmplz="./lmplz")) == (0, 0)


def test_lmplz_that_dies_says_of_what(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.lmplz = case.folder / "lmplz"
    case.lmplz.write_text("#!/bin/sh\necho === 1/5 Counting ===\nkill -9 $$\n")
    case.lmplz.chmod(0o755)
    assert (case.clean(), case.train_lm()) == (0, 1)
    assert "could not be estimated: it was ended by Killed; give it more memory, and repeat" in last_line(capsys)
    case.lmplz.write_text("#!/bin/sh\nkill -XFSZ $$\n")
    assert case.train_lm() == 1
    assert "ended by File size limit exceeded; allow larger files (ulimit -f), and repeat" in last_line(capsys)


# ---- bad input


@pytest.mark.parametrize("in_domain", [[], [("", ""), ("one", " ")]])
def test_empty_in_domain_text(case: Case, in_domain: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    case.in_domain = in_domain
    assert (case.clean(), case.train_lm()) == (0, 1)
    assert re.search(r"news\.en, .*no in-domain text", last_line(capsys))


def test_unequal_in_domain_sides(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.in_domain.append(("one", "un\ndeux"))
    assert (case.clean(), case.train_lm()) == (0, 1)
    assert re.search(r"news\.en has 301 lines, .*news\.fr has 302;", last_line(capsys))


def test_nothing_clean(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.corpora = {"web": [("held", "x"), ("", "")]}
    case.held_out = [("held", "y")]
    assert (case.clean(), case.train_lm()) == (0, 1)
    assert "web: no clean pair" in last_line(capsys)


@pytest.mark.parametrize("order", [1, 7])
def test_an_order_out_of_range(case: Case, order: int, capsys: pytest.CaptureFixture[str]) -> None:
    case.order = order
    assert (case.clean(), case.train_lm()) == (0, 1)
    assert f"order: expected a whole number, from 2 to 6, not {order}" in last_line(capsys)


def test_a_negative_seed(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    assert (case.clean(), case.train_lm(seed="-1")) == (0, 1)
    assert "seed -1" in last_line(capsys)


def test_lmplz_that_fails_is_quoted(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.lmplz = case.folder / "lmplz"
    assert (case.clean(), case.train_lm()) == (0, 1)
    said = last_line(capsys)
    assert "lmplz: cannot be run" in said
    assert said.endswith(f"; make it with `python -m nmt lmplz --output {case.lmplz}`")
    case.lmplz.write_text("#!/bin/sh\necho counting\necho out of memory >&2\nexit 3\n")
    case.lmplz.chmod(0o755)
    assert case.train_lm() == 1
    assert "source.in-domain.arpa could not be estimated: out of memory" in last_line(capsys)
    assert list((case.folder / "models").iterdir()) == []
    case.lmplz.write_text("#!/bin/sh\necho x.cc:1: No space left on device\necho a thread ended early\nexit 3\n")
    assert case.train_lm() == 1
    assert "could not be estimated: x.cc:1: No space left on device" in last_line(capsys)


@pytest.mark.parametrize("room", [4096, 40_000])
def test_a_full_disk_is_one_line_and_freeing_space_fixes_it(
    case: Case, small_disk: SmallDisk, room: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert case.clean() == 0
    small_disk.limit(room)
    models = str(small_disk.folder / "models")
    assert case.train_lm(output=models) == 1
    assert re.search("no space left|No space left|File too large", last_line(capsys))
    assert not [path for path in Path(models).iterdir() if path.name not in FILES]
    small_disk.free()
    assert case.train_lm(output=models) == 0
