"""The step translate: every line keeps its place, whatever it contains, and a user's mistakes get one line."""

from __future__ import annotations

import json
import math
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

from nmt.__main__ import main
from nmt.corpora.detokenize import detokenizer
from nmt.corpora.shortlist import UNK, Shortlist
from nmt.corpora.tokenize import Tokenizer
from nmt.search import text
from nmt.search.alignments import Alignment
from nmt.trained import TrainedModel, load_trained
from tests.model.models import TARGET_SYMBOLS, save_trained, sign, tiny_model
from tests.search.reference import Found, reference_fallback

LINES = ["s4 s2 s9", "", "s3", "s2 s2 s10 strange s3 s5", "s7 s8", "  ", "s5\u2028x s6"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a random model that ends its sentences, and a source text with empty lines."""
    save(tmp_path)
    write(tmp_path / "source.txt", *LINES)
    return tmp_path


def write(path: Path, *lines: str) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def save(folder: Path, raised: Any = 0, by: float = 6, **settings: Any) -> None:
    """Save a random model in which symbol `raised` is more probable than its weights make it."""
    model = tiny_model(dtype=torch.float32, **settings)
    with torch.no_grad():
        model.decoder.readout.b_o[raised] += by
    save_trained(folder / "model", model)


def step(folder: Path, *more: str) -> int:
    flags = ["--model", "model", "--source", "source.txt", "--output", "out/translation.txt"]
    flags += ["--scores", "out/scores.tsv", "--symbols", "out/symbols.txt", "--alignments", "out/alignments.jsonl"]
    paths = [flag if flag.startswith("--") else str(folder / flag) for flag in flags]
    return main(["translate", *paths, "--tokenized", "--beam", "4", "--device", "cpu", *more])


def lines_of(path: Path) -> list[str]:
    found = path.read_text(encoding="utf-8")
    assert found.endswith("\n")
    return found[:-1].split("\n")


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines_of(folder / "out/alignments.jsonl")]


def trained(folder: Path) -> TrainedModel:
    return load_trained(folder / "model", torch.device("cpu"))


def by_hand(folder: Path, words: list[str], **settings: Any) -> list[Found]:
    """The hypotheses of the one-sentence search with a beam of 4, and with its fallback."""
    found = trained(folder)
    return reference_fallback(found.model, found.source.ids(words), 4, **settings)


@pytest.mark.parametrize("batch", ["1", "2", "32"])
@pytest.mark.parametrize("options", [{}, {"forbid_unk": True}, {"normalize": True}])
def test_every_line_has_its_own_translations(folder: Path, batch: str, options: dict[str, bool]) -> None:
    """In batches of mixed lengths, with every hypothesis, its score and its alignment."""
    flags = [f"--{name.replace('_', '-')}" for name in options]
    assert step(folder, "--batch", batch, "--n-best", "4", *flags) == 0
    translations, scores = lines_of(folder / "out/translation.txt"), lines_of(folder / "out/scores.tsv")
    alignments = {(record["line"], record["rank"]): record for record in records(folder)}
    assert scores[0] == "log_probability\twords\tended"
    assert len(translations) == len(scores) - 1 == 4 * len(LINES)
    assert lines_of(folder / "out/symbols.txt") == translations
    target = trained(folder).target
    for number, line in enumerate(LINES):
        words = line.split()
        expected = by_hand(folder, words, **options) if words else []
        for rank in range(4):
            translation, score = translations[4 * number + rank], scores[1 + 4 * number + rank].split("\t")
            if rank >= len(expected):
                assert (translation, score) == ("", ["0", "0", "0"])
                assert (number, rank) not in alignments
                continue
            one, record = expected[rank], alignments[number, rank]
            assert translation == " ".join(target.words(one.words))
            assert float(score[0]) == pytest.approx(one.log_probability, abs=1e-5)
            assert score[1:] == [str(len(one.words) + one.ended), str(int(one.ended))]
            assert record["source"] == [*words, "<eos>"]
            assert record["target"] == [*translation.split(), *["<eos>"] * one.ended]
            np.testing.assert_allclose(record["weights"], np.stack(one.alignment), atol=6e-5)
    assert len(set(translations)) > 5  # otherwise a wrong order could not be seen


def test_bfloat16_finds_almost_the_same_probabilities(folder: Path) -> None:
    found = []
    for precision in ("float32", "bf16"):
        assert step(folder, "--precision", precision) == 0
        found.append([float(row.split("\t")[0]) for row in lines_of(folder / "out/scores.tsv")[1:]])
    assert found[0] != found[1]
    assert found[0] == pytest.approx(found[1], rel=0.05)


def test_an_unfinished_translation_is_marked(folder: Path) -> None:
    save(folder, by=-50)
    assert step(folder, "--no-fallback") == 0
    for line, score in zip(LINES, lines_of(folder / "out/scores.tsv")[1:], strict=True):
        words = len(line.split()) if line.strip() else 0
        assert score.split("\t")[1:] == [str(3 * (words + 1) if words else 0), "0"]
    for record in records(folder):
        assert "<eos>" not in record["target"]
        assert len(record["weights"]) == len(record["target"]) == 3 * len(record["source"])


@pytest.mark.parametrize("options", [{}, {"forbid_unk": True}])
def test_where_nothing_ends_the_fallback_is_written(folder: Path, options: dict[str, bool]) -> None:
    """No more than the translations asked for, with their scores and alignments, unless it is switched off."""
    save(folder, by=-1)
    flags = ["--n-best", "4", *(f"--{name.replace('_', '-')}" for name in options)]
    assert step(folder, *flags, "--no-fallback") == 0
    best = zip(LINES, lines_of(folder / "out/scores.tsv")[1::4], strict=True)
    assert [line for line, score in best if line.strip() and score.endswith("\t0")] == [LINES[0], LINES[3], LINES[6]]
    assert step(folder, *flags) == 0
    translations, scores = lines_of(folder / "out/translation.txt"), lines_of(folder / "out/scores.tsv")[1:]
    shapes = {(record["line"], record["rank"]): np.shape(record["weights"]) for record in records(folder)}
    assert len(translations) == len(scores) == 4 * len(LINES)
    for number, line in enumerate(LINES):
        words = line.split()
        for rank, one in enumerate(by_hand(folder, words, **options)[:4] if words else []):
            assert translations[4 * number + rank] == " ".join(trained(folder).target.words(one.words))
            assert scores[4 * number + rank].split("\t")[1:] == [str(len(one.words) + 1), "1"]
            assert shapes[number, rank] == (len(one.words) + 1, len(words) + 1)


def test_a_fixed_context_has_no_alignment(folder: Path) -> None:
    save(folder, attention="fixed")
    assert step(folder) == 0
    assert all(record["weights"] is None for record in records(folder))


def test_the_unknown_word_reads_unk_unless_forbidden(folder: Path) -> None:
    save(folder, raised=UNK)
    assert step(folder) == 0
    assert "UNK" in (folder / "out/translation.txt").read_text().split()
    assert step(folder, "--forbid-unk") == 0
    assert "UNK" not in (folder / "out/translation.txt").read_text().split()


@pytest.mark.parametrize("dictionary", [False, True])
def test_unknown_words_become_the_source_words_they_are_aligned_with(folder: Path, dictionary: bool) -> None:
    save(folder, raised=[0, UNK])
    said = {"s4": "four", "s9": "ni ne", "strange": "étrange"} if dictionary else {}
    write(folder / "words.tsv", *(f"{word}\t{translation}" for word, translation in said.items()), "s4\tother")
    flags = ["--replace-unk", str(folder / "words.tsv")] if dictionary else ["--replace-unk"]
    assert step(folder, "--n-best", "2", *flags) == 0
    translations = lines_of(folder / "out/translation.txt")
    replaced = []
    for number, line in enumerate(LINES):
        words = line.split()
        for rank, one in enumerate(by_hand(folder, words)[:2] if words else []):
            expected = trained(folder).target.words(one.words)
            for place, word in enumerate(one.words):
                if word == UNK:
                    source = words[int(one.alignment[place][:-1].argmax())]
                    expected[place] = said.get(source, source)
                    replaced.append(expected[place])
            assert translations[2 * number + rank] == " ".join(expected)
    assert len(set(replaced)) > 3
    assert not set(replaced) & {"UNK", "<eos>"}


def test_only_known_leaves_the_other_lines_out(folder: Path) -> None:
    write(folder / "reference.txt", "t2", "t2", "t2 other", "t3", "t4 t5", "", "t2")
    assert step(folder, "--only-known", str(folder / "reference.txt")) == 0
    translated = [bool(line) for line in lines_of(folder / "out/translation.txt")]
    assert translated == [True, False, False, False, True, False, False]


def test_running_text_in_and_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """From standard input to standard output, with entities, CRLF, separators and no newline at the end."""
    save(folder, raised=[0, 2, 3, 4])
    words = ["l&apos;", "&quot;", "été", ",", "&amp;", "(", ")", ".", "c&apos;", "est", "!"]
    Shortlist(("<eos>", "<unk>", *words), (1,) * TARGET_SYMBOLS).write(folder / "model/target.tsv")
    source = ["don", "&apos;t", "café", ",", "&quot;", "&amp;", ".", "x", "&lt;"]
    Shortlist(("<eos>", "<unk>", *source), (1,) * len(("<eos>", "<unk>", *source))).write(folder / "model/source.tsv")
    sign(folder / "model")
    lines = ['"don\'t," café.', "", " \t", "x & x < x\r", "\ufeffcafé\u2028x\x85\x0c.", "x &amp; don't"]
    (folder / "given").write_text("\n".join(lines), encoding="utf-8", newline="")
    with (folder / "given").open(encoding="ascii") as given:
        monkeypatch.setattr(sys, "stdin", given)
        assert main(["translate", "--model", str(folder / "model"), "--beam", "4", "--device", "cpu"]) == 0
    out, err = capfdbinary.readouterr()
    assert err == b""
    translations = out.decode().split("\n")
    assert translations.pop() == ""
    assert len(translations) == len(lines)
    tokenize, detokenize = Tokenizer("en").line, detokenizer("fr")
    assert tokenize(lines[4].lstrip("\ufeff")) == "café x ."
    for line, translation in zip(lines, translations, strict=True):
        tokens = tokenize(line.lstrip("\ufeff")).split()
        best = trained(folder).target.words(by_hand(folder, tokens)[0].words) if tokens else []
        assert translation == detokenize(" ".join(best))
    assert '"' in out.decode()


@pytest.mark.parametrize("option", ["--only-known", "--replace-unk"])
def test_standard_input_is_not_read_twice(folder: Path, option: str) -> None:
    command = [sys.executable, "-m", "nmt", "translate", "--model", str(folder / "model"), option, "/dev/stdin"]
    run = subprocess.run([*command, "--device", "cpu"], input=b"a\tb\n", capture_output=True, check=False)
    name = "standard input" if option == "--replace-unk" else "/dev/stdin"
    said = f"nmt translate: {name}: a pipe, which can be read only once; name a file\n"
    assert (run.returncode, run.stderr.decode()) == (1, said)


def test_a_line_is_answered_before_the_next_one_is_asked(folder: Path) -> None:
    """As a program does that writes into a pipe and waits."""
    flags = ["--model", str(folder / "model"), "--tokenized", "--beam", "4", "--n-best", "2", "--device", "cpu"]
    command = [sys.executable, "-m", "nmt", "translate", "--interactive", *flags]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for line in LINES:
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            answers = [process.stdout.readline().decode() for _ in range(2)]
            words = line.split()
            best = by_hand(folder, words)[:2] if words else []
            texts = [" ".join(trained(folder).target.words(one.words)) for one in best]
            assert answers == [f"{text}\n" for text in [*texts, "", ""][:2]]
        process.stdin.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")


def test_a_person_at_a_terminal_is_answered(folder: Path) -> None:
    """Without an option; what is not a translation goes to standard error."""
    person, terminal = pty.openpty()
    flags = ["--model", str(folder / "model"), "--tokenized", "--beam", "4", "--device", "cpu"]
    command = [sys.executable, "-m", "nmt", "translate", *flags]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(terminal)
        assert process.stdout is not None
        assert process.stderr is not None
        os.write(person, b"s4 s2 s9\n")
        best = by_hand(folder, ["s4", "s2", "s9"])[0]
        assert process.stdout.readline().decode() == f"{' '.join(trained(folder).target.words(best.words))}\n"
        os.write(person, b"\x04")
        assert process.wait(60) == 0
        assert process.stderr.read().decode() == "Type a sentence and Enter; Ctrl-D ends.\n"
    os.close(person)


@pytest.mark.parametrize("option", ["--source", "--output", "--scores", "--alignments", "--only-known"])
def test_interactive_takes_no_files(folder: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    words = ["translate", "--model", str(folder / "model"), "--interactive", option, str(folder / "file")]
    assert main(words) == 1
    said = "from standard input to standard output alone; leave out"
    assert capsys.readouterr().err == f"nmt translate: --interactive: {said} {option}\n"


@pytest.mark.parametrize(("flags", "policy"), [(["--interactive"], "PASSIVE"), (["--source", "none"], None)])
def test_threads_that_wait_for_a_line_sleep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], policy: str | None
) -> None:
    """As libgomp reads it before PyTorch computes: spinning takes more processor time than a short line."""
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")  # so that it is restored
    monkeypatch.delenv("OMP_WAIT_POLICY")
    assert main(["translate", "--model", str(tmp_path / "none"), *flags]) == 1
    assert os.environ.get("OMP_WAIT_POLICY") == policy


def test_a_reader_that_leaves_early_is_no_mistake(folder: Path) -> None:
    write(folder / "source.txt", *["s2 s3 s4"] * 20_000)
    reading, writing = os.pipe()
    os.close(reading)
    words = ["translate", "--model", str(folder / "model"), "--source", str(folder / "source.txt"), "--tokenized"]
    with os.fdopen(writing, "wb") as pipe:
        run = subprocess.run(
            [sys.executable, "-m", "nmt", *words, "--beam", "1", "--batch", "1000", "--threads", "1"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            timeout=100,
            check=False,
        )
    assert run.returncode != 0
    assert not [line for line in run.stderr.split(b"\n") if line and not line.startswith(b"translate ")]


def test_a_line_of_a_hundred_thousand_words_is_cut(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(text, "LONGEST", 20)
    (folder / "source.txt").write_text("s3 s4\n" + "s2 " * 100_000 + "\ns5\n")
    assert step(folder) == 0
    assert "line 2 has 100000 words" in capsys.readouterr().err
    assert len(lines_of(folder / "out/translation.txt")) == 3
    assert len(records(folder)[1]["source"]) == 21


def diverge(folder: Path) -> None:
    """A model that another program wrote: ours does not write such weights."""
    with mock.patch("nmt.trained._check_finite"):
        save(folder, raised=slice(None), by=math.inf)


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: (folder / "model/model.safetensors").unlink(), "model.safetensors"),
        (lambda folder: (folder / "model/source.tsv").unlink(), "source.tsv"),
        (lambda folder: (folder / "source.txt").unlink(), "source.txt"),
        (lambda folder: (folder / "source.txt").write_bytes(b"s2\ns3 \xff\n"), "line 2 is not UTF-8"),
        (lambda folder: (folder / "source.txt").write_bytes(b""), "source.txt: empty"),
        (diverge, "model.safetensors"),
    ],
    ids=["no model", "no shortlist", "no source", "not UTF-8", "empty", "diverged"],
)
def test_a_mistake_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], spoil: Any, named: str
) -> None:
    spoil(folder)
    assert_refused(folder, capsys, named)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--beam", "0"], "--beam 0"),
        (["--batch", "0"], "--batch 0"),
        (["--n-best", "0"], "--n-best 0: must be from 1 to 4"),
        (["--n-best", "5"], "--n-best 5: must be from 1 to 4"),
        (["--minimum-length-ratio", "nan"], "--minimum-length-ratio nan"),
        (["--minimum-length-ratio", "3"], "--minimum-length-ratio 3"),
        (["--threads", "0"], "--threads 0"),
        (["--source", "{folder}"], "a folder; name a file"),
        (["--scores", "{folder}"], "a folder; name a file"),
        (["--replace-unk", "{folder}/none.tsv"], "none.tsv: no such file"),
        (["--replace-unk", ""], "'': no such file"),
        (["--replace-unk", "{folder}/source.txt"], "source.txt: line 1 is not a source word, a tab and"),
        (["--only-known", "{folder}/one.txt"], "source.txt has 7 lines"),
    ],
)
def test_a_mistaken_option_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], named: str
) -> None:
    write(folder / "one.txt", "t2")
    assert_refused(folder, capsys, named, *(option.format(folder=folder) for option in options))


def test_all_outputs_are_replaced_or_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(one: Alignment) -> str:
        return "{}" if one.line < 2 else os.fsdecode(b"\xff")  # which cannot be written

    (folder / "out").mkdir()
    write(folder / "out/scores.tsv", "old")
    monkeypatch.setattr(Alignment, "to_json", broken)
    with pytest.raises(UnicodeEncodeError):
        step(folder)
    assert {path.name: lines_of(path) for path in (folder / "out").iterdir()} == {"scores.tsv": ["old"]}


def test_a_fixed_context_can_replace_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(folder, attention="fixed")
    assert_refused(folder, capsys, "its context is fixed", "--replace-unk")


def assert_refused(folder: Path, capsys: pytest.CaptureFixture[str], named: str, *options: str) -> None:
    capsys.readouterr()
    assert step(folder, *options) == 1
    error = capsys.readouterr().err
    assert error.startswith("nmt translate: ")
    assert error.count("\n") == 1
    assert named in error
    assert not (folder / "out").exists()
