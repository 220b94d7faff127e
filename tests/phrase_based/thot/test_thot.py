"""The steps with Thot on a few hundred pairs: their outputs, reproducibility, and bad input."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest
from thot.common import NGramLanguageModel

from nmt.__main__ import main
from nmt.evaluation.bleu import corpus_bleu
from nmt.phrase_based.links import read_links
from nmt.phrase_based.text import ESCAPED
from nmt.phrase_based.thot import thot_tune
from nmt.phrase_based.thot.decoder import LONGEST, WEIGHTS, Decoders, Hypothesis
from nmt.phrase_based.thot.thot_symmetrize import symmetrize
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from tests.conftest import SmallDisk
from tests.phrase_based.conftest import PAIRS, SEED, System, settings, step

PHRASE = "A ||| a ||| 1 1\n"


def all_weights(value: object) -> str:
    """The file of the weights, with the same one everywhere."""
    return json.dumps({"weights": dict.fromkeys(WEIGHTS, value)})


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.json"
    path.write_text(all_weights(1.0))
    return path


def test_every_target_word_has_at_most_one_source_word(system: System) -> None:
    found = list(read_links(system.folder / "direct/links.txt"))
    assert len(found) == PAIRS
    for links, source, target in zip(found, *map(lines, system.texts), strict=True):
        targets = [j for _, j in links]
        assert len(set(targets)) == len(targets)
        assert all(i < len(source.split()) and j < len(target.split()) for i, j in links)


def test_alignment_is_reproducible(system: System, tmp_path: Path) -> None:
    step("thot_word_align", "--texts", *system.texts, *SEED, "--output", tmp_path / "direct")
    for path in (system.folder / "direct").iterdir():
        assert (tmp_path / "direct" / path.name).read_bytes() == path.read_bytes()


def test_a_full_disk_is_noticed_although_thot_ignores_it(
    system: System,
    tmp_path: Path,
    small_disk: SmallDisk,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk.folder))
    words = [
        "thot_word_align",
        "--texts",
        *map(str, system.texts),
        *map(str, SEED),
        "--output",
        str(tmp_path / "direct"),
    ]
    small_disk.limit(20_000)
    assert main(words) == 1
    assert "no space left" in capsys.readouterr().err
    assert not (tmp_path / "direct/digests.json").exists()
    small_disk.free()
    assert main(words) == 0
    for path in (system.folder / "direct").iterdir():
        assert (tmp_path / "direct" / path.name).read_bytes() == path.read_bytes()


def test_every_step_draws_the_same_pairs(system: System, tmp_path: Path) -> None:
    drawn = ["--texts", *system.texts, *settings(pairs=50), "--seed", 3]
    step("thot_word_align", *drawn, "--output", tmp_path / "direct")
    step("thot_word_align", *drawn, "--inverse", "--output", tmp_path / "inverse")
    sides = ["--direct", tmp_path / "direct/links.txt", "--inverse", tmp_path / "inverse/links.txt"]
    step("thot_symmetrize", *sides, "--output", tmp_path / "links.txt")
    step("thot_phrase_table", *drawn, "--links", tmp_path / "links.txt", "--output", tmp_path / "phrases.txt")
    assert len(lines(tmp_path / "links.txt")) == 50
    assert 0 < len(lines(tmp_path / "phrases.txt")) < len(lines(system.folder / "phrases.txt"))


def test_a_word_that_separates_columns_is_a_word(system: System, tmp_path: Path) -> None:
    texts = [tmp_path / "source", tmp_path / "target"]
    for path, word in zip(texts, ("a", "b"), strict=True):
        path.write_text(f"{word} ||| {word}\n" * 5)
    (tmp_path / "links").write_text("0-0 1-1 2-2\n" * 5)
    step("thot_phrase_table", "--texts", *texts, *SEED, "--links", tmp_path / "links", "--output", tmp_path / "phrases")
    assert {len(line.split(" ||| ")) for line in lines(tmp_path / "phrases")} == {3}
    assert f"b {ESCAPED} b ||| a {ESCAPED} a ||| 5 5" in lines(tmp_path / "phrases")


def test_symmetrized_links_lie_between_intersection_and_union(system: System) -> None:
    direct = list(read_links(system.folder / "direct/links.txt"))
    inverse = [[(i, j) for j, i in links] for links in read_links(system.folder / "inverse/links.txt")]
    joined = list(read_links(system.folder / "links.txt"))
    for one, other, both in zip(direct, inverse, joined, strict=True):
        assert set(one) & set(other) <= set(both) <= set(one) | set(other)
    assert symmetrize([], []) == []


def test_language_model_is_read_by_thot(system: System) -> None:
    model = NGramLanguageModel()
    assert model.load(str(system.folder / "language_model/model"))
    known, *_ = (line.split() for line in lines(system.texts[1]))
    shuffled = sorted(known, reverse=True)
    score = {name: model.get_sentence_log_probability(words) for name, words in (("a", known), ("b", shuffled))}
    assert -math.inf < score["b"] < score["a"] < 0


def test_tuning_and_decoding(system: System, tmp_path: Path) -> None:
    tuning, source, output = tmp_path / "tuning.json", tmp_path / "source", tmp_path / "output"
    options = [*settings(**system.search, tune_sentences=20, tune_rounds=2, n_best=20), *SEED]
    step("thot_tune", *system.parts, "--texts", *system.development, *options, "--output", tuning)
    said = json.loads(tuning.read_text())
    assert len(said["bleu"]) == 3
    assert said["bleu"][said["kept"]] == max(said["bleu"])
    assert set(said["weights"]) == set(WEIGHTS)
    again = tmp_path / "again.json"
    step("thot_tune", *system.parts, "--texts", *system.development, *options, "--output", again)
    assert again.read_bytes() == tuning.read_bytes()

    sources = [*lines(system.texts[0])[:30], "", "Zyxomma the Qwertz |||"]
    source.write_text("".join(f"{line}\n" for line in sources), encoding="utf-8")
    step("thot_translate", *system.parts, "--weights", tuning, "--source", source, "--output", output)
    translations = lines(output)
    assert len(translations) == len(sources)
    assert translations[30] == ""
    assert {"Zyxomma", "Qwertz", "|||"} <= set(translations[31].split())
    bleu, _ = corpus_bleu(translations[:30], lines(system.texts[1])[:30])
    assert bleu is not None
    assert bleu > 60  # on training sentences


def decode_to(answers: Callable[[int], str]) -> Callable[..., object]:
    """A `decode` that gives `answers` of the number of the round, with equal scores."""
    rounds = iter(range(100))

    def decode(self: Decoders, sentences: list[list[str]], weights: list[float], best: int = 1) -> object:
        words = answers(next(rounds)).split()
        return ([Hypothesis(tuple(words), (-1.0,) * len(WEIGHTS))] for _ in sentences)

    return decode


def test_equal_weights_are_kept_if_tuned_weights_are_worse(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "en").write_text("a b c d e\n")
    (tmp_path / "fr").write_text("A B C D E\n")
    monkeypatch.setattr(Decoders, "decode", decode_to(lambda number: "A B C D F" if number == 0 else "B A D C E"))
    words = ["thot_tune", *system.parts, "--texts", tmp_path / "en", tmp_path / "fr", *SEED]
    words += settings(**system.search, tune_rounds=2)
    assert main([*map(str, words), "--output", str(tmp_path / "tuning.json")]) == 0
    said = json.loads((tmp_path / "tuning.json").read_text())
    assert said["kept"] == 0
    assert said["weights"] == dict.fromkeys(WEIGHTS, 1.0)
    assert [line for line in capsys.readouterr().err.split("\n") if "equal weights are kept" in line]


def test_a_line_with_an_empty_translation_is_copied_with_a_warning(
    system: System, tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "source").write_text("a b\n\n")
    monkeypatch.setattr(Decoders, "decode", lambda *_: iter([[], []]))
    words = ["thot_translate", *system.parts, "--weights", weights, "--source", tmp_path / "source"]
    assert main([*map(str, words), "--output", str(tmp_path / "output")]) == 0
    assert (tmp_path / "output").read_text() == "a b\n\n"
    said = [line for line in capsys.readouterr().err.split("\n") if "warning" in line]
    assert said == [f"nmt: warning: {tmp_path / 'source'}: line 1: the translation is empty; the source is copied"]


def test_sentences_that_are_too_long_for_thot(
    system: System, tmp_path: Path, weights: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are copied, and tuning does without them: as empty translations they would count in BLEU."""
    source, target = system.development
    longest, longer = ("the " * words for words in (LONGEST, LONGEST + 1))
    texts = [tmp_path / "en", tmp_path / "fr"]
    for text, path in zip(texts, (source, target), strict=True):
        text.write_text("".join(f"{line}\n" for line in [longest, longer, *lines(path)[:20]]))
    words = ["thot_translate", *system.parts, "--weights", weights, "--source", texts[0]]
    step(*words, "--output", tmp_path / "output")
    found = lines(tmp_path / "output")
    assert found[0] != longest.strip()
    assert found[1] == longer.strip()
    said = capfd.readouterr().err
    assert f"nmt: warning: {texts[0]}: sentences of more than 200 words, which Thot does not translate: 1" in said
    assert "too long" not in said  # Thot's own words
    options = [*settings(**system.search, tune_rounds=1), *SEED]
    step("thot_tune", *system.parts, "--texts", *texts, *options, "--output", tmp_path / "tuning.json")
    tuning = json.loads((tmp_path / "tuning.json").read_text())
    assert (tuning["sentences"], tuning["pairs"]) == (21, PAIRS)
    assert (
        "en: sentences of more than 200 words, which Thot does not translate, are left out: 1" in capfd.readouterr().err
    )
    texts[0].write_text(f"{longer}\n" * 22)
    words = ["thot_tune", *system.parts, "--texts", *texts, *options, "--output", tmp_path / "tuning.json"]
    assert main(list(map(str, words))) == 1
    assert "en: no sentence has at most 200 words; give another development set" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda path: (path / "phrases.txt").write_text(""), "phrases.txt: an empty phrase table"),
        (lambda path: (path / "phrases.txt").write_text(f"{PHRASE}A ||| a\n"), "phrases.txt: line 2 is no phrase pair"),
        (lambda path: (path / "phrases.txt").write_text("A ||| a ||| 1 x\n"), "phrases.txt: line 1 is no phrase pair"),
        (lambda path: (path / "phrases.txt").write_bytes(bytes(range(256))), "phrases.txt: line 1 is"),
        (lambda path: (path / "weights.json").write_text("{}"), "weights.json: not the weights"),
        *(
            (
                lambda path, odd=odd: (path / "weights.json").write_text(all_weights(odd)),
                "weights.json: not the weights",
            )
            for odd in ("x", None, [], math.nan, math.inf, True, 10**400)
        ),
        (lambda path: (path / "weights.json").unlink(), "weights.json: no such file"),
        (lambda path: (path / "source").unlink(), "source: no such file"),
    ],
)
def test_bad_input(
    system: System,
    tmp_path: Path,
    weights: Path,
    capsys: pytest.CaptureFixture[str],
    break_it: Callable[[Path], object],
    message: str,
) -> None:
    (tmp_path / "source").write_text("a\n")
    (tmp_path / "phrases.txt").write_text(PHRASE)
    break_it(tmp_path)
    words = ["thot_translate", *system.parts, "--phrase-table", tmp_path / "phrases.txt", "--weights", weights]
    words += ["--source", tmp_path / "source", "--output", tmp_path / "output"]
    assert main([str(word) for word in words]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "output").exists()


def test_missing_parts_are_named(
    system: System, tmp_path: Path, weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "source").write_text("a\n")
    (tmp_path / "empty").mkdir()
    for option, step_name in (("--direct", "thot_word_align"), ("--language-model", "thot_language_model")):
        words = [
            "thot_translate",
            *system.parts,
            option,
            tmp_path / "empty",
            "--weights",
            weights,
            "--source",
            tmp_path / "source",
        ]
        assert main([*map(str, words), "--output", str(tmp_path / "output")]) == 1
        assert f"run the step {step_name}" in capsys.readouterr().err


def test_the_two_directions_are_not_exchanged(
    system: System, tmp_path: Path, weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "source").write_text("a\n")
    words = ["thot_translate", *system.parts, "--weights", weights, "--source", tmp_path / "source"]
    words += ["--direct", system.folder / "inverse", "--output", tmp_path / "output"]
    assert main([*map(str, words)]) == 1
    assert f"{system.folder / 'inverse/direct.yml'}: no such file; run the step" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["direct/direct.fa_lexnd", "language_model/model", "inverse/digests.json"])
def test_a_damaged_model_is_one_line(
    system: System, tmp_path: Path, weights: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Thot itself reads it without a word, or never ends."""
    (tmp_path / "source").write_text("a\n")
    for folder in ("direct", "inverse", "language_model"):
        shutil.copytree(system.folder / folder, tmp_path / folder)
    words = ["thot_translate", *system.parts, "--direct", tmp_path / "direct", "--inverse", tmp_path / "inverse"]
    words += ["--language-model", tmp_path / "language_model", "--weights", weights]
    words += ["--source", tmp_path / "source", "--output", tmp_path / "output"]
    for content in (b"", np.random.default_rng(1).bytes(3000), b'{"model": 1}', (tmp_path / name).read_bytes()[:-9]):
        (tmp_path / name).write_bytes(content)
        assert main([*map(str, words)]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"nmt thot_translate: {tmp_path / name}: ")
        assert error.count("\n") == 1
    assert not (tmp_path / "output").exists()


def test_what_a_decoding_process_refuses_is_told(tmp_path: Path) -> None:
    """An error of the process's own, where there is one, and not that it died."""
    with (
        Decoders(tmp_path, PhraseBased(stack=5, distortion_limit=0), 1) as decoders,
        pytest.raises(UserError, match="tm: Thot cannot read it; train the phrase-based system again"),
    ):
        list(decoders.decode([["a"]], [1.0] * len(WEIGHTS)))


def test_which_weights_may_be_negative(system: System) -> None:
    assert [WEIGHTS[index] for index in thot_tune.FREE] == ["words", "target_phrase_lengths"]


@contextmanager
def ending(decoders: Decoders) -> Iterator[None]:
    """One of the processes ends by itself."""
    decoders._executor.submit(os._exit, 1)
    yield


def test_a_decoding_process_that_dies_is_one_line(tmp_path: Path) -> None:
    with (
        Decoders(tmp_path, PhraseBased(stack=5, distortion_limit=0), 1) as decoders,
        ending(decoders),
        pytest.raises(UserError, match="a decoding process died"),
    ):
        list(decoders.decode([["a"]], [1.0] * len(WEIGHTS)))


@contextmanager
def translating(decoders: Decoders) -> Iterator[None]:
    """One of the processes is at a long sentence."""
    sentence = decoders._executor.submit(time.sleep, 600)
    while not sentence.running():
        time.sleep(0.01)
    yield


def test_a_step_that_ends_does_not_wait_for_a_sentence(tmp_path: Path) -> None:
    """As at SIGTERM; its translation may take minutes."""
    started = time.monotonic()
    with (
        pytest.raises(SystemExit),
        Decoders(tmp_path, PhraseBased(stack=5, distortion_limit=0), 1) as decoders,
        translating(decoders),
    ):
        raise SystemExit
    assert time.monotonic() - started < 60


def test_a_killed_decoder_leaves_no_process(system: System, tmp_path: Path, weights: Path) -> None:
    source = tmp_path / "source"
    source.write_text("the house .\n" * 20_000)
    words = ["thot_translate", *system.parts, "--weights", weights, "--source", source, "--output", tmp_path / "output"]
    with subprocess.Popen([sys.executable, "-m", "nmt", *map(str, words)], stderr=subprocess.DEVNULL) as process:
        children = []
        end = time.monotonic() + 60
        while len(children) < 3 and time.monotonic() < end:  # two decoders and the resource tracker of Python
            children = psutil.Process(process.pid).children(recursive=True)
            time.sleep(0.1)
        process.kill()
    assert len(children) == 3
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive
