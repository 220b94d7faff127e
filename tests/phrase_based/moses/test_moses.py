"""The steps with Moses, run with stand-ins that check their arguments, and installations that do not fit."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.phrase_based.moses.files import work_folder
from nmt.phrase_based.moses.moses_language_model import sorting_memory
from nmt.system import programs
from nmt.system.programs import running

VERSION = "Moses version 4.0"
# Each stand-in writes what the real program would, and fails if an option that it needs is missing.
PROGRAMS = {
    "moses": f"""
if "--version" in sys.argv:
    print("{VERSION}")
    sys.exit()
ini = open(option("-f")).read()
assert option("-search-algorithm") == "1" and option("-cube-pruning-pop-limit")
assert option("-v") == "0" and option("-threads") and option("-cube-pruning-deterministic-search") == "true"
for line in sys.stdin:
    if not line.endswith("\\n"):
        break  # as Moses does
    line = line.rstrip("\\n")
    print("" if line == "nothing" else line.upper() if "good" in ini else line)
""",
    "lmplz": """
assert option("-o") == "3" and option("-T") and option("-S") == "256M"
open(option("--arpa"), "w").write(open(option("--text")).read())
""",
    "build_binary": "open(sys.argv[2], 'w').write(open(sys.argv[1]).read())",
    "fast_align": """
assert {"-d", "-o", "-v"} <= set(sys.argv)
for line in open(option("-i")):
    assert " ||| " in line and line.count("|") == 3
    print("0-0 1-1" if "-r" in sys.argv else "0-0")
""",
    "atools": """
assert option("-c") == "grow-diag-final-and" and "1-1" in open(option("-j")).read()
print(open(option("-i")).read(), end="")
""",
    **dict.fromkeys(["mert", "extractor", "evaluator", "pro", "kbmira"], ""),
    "train": """
from pathlib import Path
root = Path(option("-root-dir")) / "model"
for side in ("-f", "-e") if "-corpus" in sys.argv else ():
    assert "|" not in Path(option("-corpus") + "." + option(side)).read_text()
if option("-first-step") == "9":
    lm = option("-lm").split(":")
    assert lm[:2] == ["0", "3"] and Path(lm[2]).exists() and lm[3] == "8" and option("-last-step") == "9"
    Path(option("-config")).write_text(f"untuned path={root.resolve()}/phrase-table.gz\\nKENLM path={lm[2]}\\n")
elif option("-first-step") == "1":
    assert option("-last-step") == "3" and option("-external-bin-dir") and "-mgiza" in sys.argv
    root.mkdir()
    (root / "aligned.grow-diag-final-and").write_text("1-1\\n1-0\\n")
else:
    import gzip
    assert (option("-first-step"), option("-last-step")) == ("4", "8") and option("-max-phrase-length") == "5"
    links = (root / "aligned.grow-diag-final-and").read_text()
    for name in ("phrase-table.gz", "reordering-table.wbe-msd-bidirectional-fe.gz"):
        with gzip.open(root / name, "wt") as table:
            table.write("" if not links.strip() else "a ||| A ||| 1\\n")
""",
    "filter": """
import re
import shutil
import subprocess
from pathlib import Path
folder, ini, source = sys.argv[1:4]
assert Path(ini).is_absolute() and not set("|[]<>") & set(Path(source).read_text())
named = [Path(path) for path in re.findall(r" path=(\\S+)", Path(ini).read_text())]
assert len(named) == 2 and all(path.is_absolute() for path in named)
subprocess.run(["gzip", "-cd", named[0]], stdout=subprocess.DEVNULL)  # like the script, it does not heed a failure
Path(folder).mkdir()
shutil.copy(ini, Path(folder) / "moses.ini")
""",
    "tune": """
from pathlib import Path
source, reference, moses, ini = sys.argv[1:5]
assert len(open(source).readlines()) == len(open(reference).readlines()) and "--return-best-dev" in sys.argv
assert not set("|[]<>") & set(open(source).read() + open(reference).read())
assert Path(moses).exists() and Path(option("--mertdir"), "mert").exists() and "-threads" in option("--decoder-flags")
Path(option("--working-dir")).mkdir()
good = "good" if "A" in open(reference).read() else "bad"
Path(option("--working-dir"), "moses.ini").write_text(Path(ini).read_text().replace("untuned", good))
""",
}
START = "import sys\n\n\ndef option(name):\n    return sys.argv[sys.argv.index(name) + 1]\n\n\n"
SCRIPTS = {"train": "train-model.perl", "tune": "mert-moses.pl", "filter": "filter-model-given-input.pl"}


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of stand-ins, and a `perl` on the PATH that runs their scripts with Python."""
    for name, code in PROGRAMS.items():
        path = tmp_path / "scripts/training" / SCRIPTS[name] if name in SCRIPTS else tmp_path / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable}\n{START}{code}")
        path.chmod(0o755)
    (tmp_path / "path").mkdir()
    (tmp_path / "path/perl").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "path"), prepend=":")
    (tmp_path / "train.en").write_text("a b\nc d\n")
    (tmp_path / "train.fr").write_text("A B\nC D\n")
    return tmp_path


def words(folder: Path, step: str, version: str = "") -> list[str]:
    """The command of a step."""
    texts = ["--texts", str(folder / "train.en"), str(folder / "train.fr")]
    threads = ["--threads", "1"]
    settings = {"version": version, "order": 3, "phrase_length": 5, "tune_sentences": 2}
    options = {
        "moses_align": [*texts, *threads, "--output", "links/links.txt"],
        "moses_language_model": [*("--texts", str(folder / "train.fr"), "--memory", "1000", "--output", "lm/model")],
        "moses_phrases": [
            *(*texts, "--links", "links/links.txt", *threads, "--output", "phrases"),
        ],
        "moses_tune": [
            *(*texts, "--model", "phrases", "--language-model", "lm/model", "--seed", "1234", *threads),
            *("--work", "work"),
            *("--configuration", "tuned/moses.ini", "--output", "tuning.json"),
        ],
        "moses_translate": ["--configuration", "tuned/moses.ini", "--source", "source", *threads, "--output", "output"],
    }
    return [step, "--bin", str(folder / "bin"), "--settings", json.dumps(settings), *options[step]]


STEPS = ["moses_align", "moses_language_model", "moses_phrases", "moses_tune", "moses_translate"]


@pytest.fixture
def folder(installation: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(installation)
    (installation / "source").write_text("a b\n\nnothing\n")
    return installation


def test_all_steps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in STEPS:
        assert main(words(folder, step)) == 0
    assert (folder / "links/links.txt").read_text() == "0-0\n0-0\n"
    tuning = json.loads((folder / "tuning.json").read_text())
    assert tuning["system"] == VERSION
    assert tuning["kept"] == 1
    system = (folder / "tuned/moses.ini").read_text()
    assert system.startswith("good path=../phrases/model/phrase-table.gz\nKENLM path=../lm/model\n\n# SHA-256 ")
    assert (folder / "output").read_text() == "A B\n\nnothing\n"
    assert "source: line 3: the translation is empty; the source is copied" in capsys.readouterr().err


def test_an_alignment_of_a_pipe_is_refused_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    assert main([*words(folder, "moses_align"), "--texts", f"/dev/fd/{reading}", str(folder / "train.fr")]) == 1
    assert f"/dev/fd/{reading}: a pipe or a device; name a file" in capsys.readouterr().err
    os.close(reading)


def test_mgiza_is_preferred(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mgiza", "mkcls", "snt2cooc", "merge_alignment.py", "symal"):
        (folder / "bin" / name).write_text("#!/bin/sh\n")
        (folder / "bin" / name).chmod(0o755)
    assert main(words(folder, "moses_align")) == 0
    assert (folder / "links/links.txt").read_text() == "1-1\n1-0\n"
    (folder / "bin/merge_alignment.py").chmod(0o644)
    capsys.readouterr()
    assert main(words(folder, "moses_align")) == 1
    assert "bin/merge_alignment.py: cannot be executed; run chmod +x " in capsys.readouterr().err
    (folder / "bin/merge_alignment.py").unlink()
    assert main(words(folder, "moses_align")) == 1
    assert "bin/merge_alignment.py: no such program" in capsys.readouterr().err


@pytest.mark.parametrize(("step", "name"), [("moses_phrases", "phrases"), ("moses_tune", "work")])
def test_a_folder_of_something_else_is_not_emptied(
    folder: Path, capsys: pytest.CaptureFixture[str], step: str, name: str
) -> None:
    for one in STEPS[: STEPS.index(step)]:
        assert main(words(folder, one)) == 0
    (folder / name / "model").mkdir(parents=True)
    (folder / name / "model/thesis.tex").write_text("years of work")
    assert main(words(folder, step)) == 1
    error = capsys.readouterr().err.split("\n")[-2]
    where, what = (name, "model") if step == "moses_tune" else (f"{name}/model", "thesis.tex")
    assert f"{folder / where}: exists and is not " in error
    assert f"because it holds {what}; move that, or name another folder" in error
    (folder / name / "model/thesis.tex").unlink()  # an empty folder is what Snakemake makes
    for _ in range(2):
        assert main(words(folder, step)) == 0


@pytest.mark.parametrize(("step", "output"), [("moses_phrases", "--output"), ("moses_tune", "--work")])
def test_what_a_step_reads_is_not_removed(
    folder: Path, capsys: pytest.CaptureFixture[str], step: str, output: str
) -> None:
    """The folder that the step replaces has been made by it before."""
    for one in STEPS[:4]:
        assert main(words(folder, one)) == 0
    place = Path(words(folder, step)[words(folder, step).index(output) + 1])
    (folder / place / "model").mkdir(exist_ok=True)
    texts = [folder / place / "model" / f"train.{language}" for language in ("en", "fr")]
    for path in texts:
        path.write_text("a b\n")
    assert main([*words(folder, step), "--texts", *map(str, texts)]) == 1
    error = capsys.readouterr().err.split("\n")[-2]
    assert error.endswith(f"train.en: lies in {place}, which is replaced as a whole; name another output")
    assert [path.read_text() for path in texts] == ["a b\n", "a b\n"]


def test_a_translation_does_not_replace_its_system(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for one in STEPS[:4]:
        assert main(words(folder, one)) == 0
    table = folder / "phrases/model/phrase-table.gz"
    before = table.read_bytes()
    assert main([*words(folder, "moses_translate"), "--output", str(table)]) == 1
    assert capsys.readouterr().err.endswith("phrase-table.gz: is read too; name another output\n")
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tuned/moses.ini", "moses.ini: damaged, changed or not from the step moses_tune"),
        ("lm/model", "model: damaged or replaced"),
        ("phrases/model/phrase-table.gz", "filter-model-given-input.pl: a program that it has called failed (gzip: "),
    ],
    ids=["ini", "language-model", "phrases"],
)
def test_a_system_that_is_not_whole_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    for one in STEPS[:4]:
        assert main(words(folder, one)) == 0
    path = folder / name
    content = path.read_bytes()
    for damaged in (content[:-5], content[:-5] + b"\xff" + content[-4:]):
        path.write_bytes(damaged)
        assert main(words(folder, "moses_translate")) == 1
        assert said in capsys.readouterr().err.split("\n")[-2]
    path.unlink()
    assert main(words(folder, "moses_translate")) == 1
    assert f"{path.name}: no such file" in capsys.readouterr().err.lower()
    assert not (folder / "output").exists()


def test_tables_are_made_again_where_the_link_is_a_file_or_the_folder_is_half_removed(folder: Path) -> None:
    for one in STEPS[:3]:
        assert main(words(folder, one)) == 0
    link = next(folder.glob("phrases/model/aligned.*"))
    link.unlink()
    link.write_text("0-0\n")  # as in a copy
    assert main(words(folder, "moses_phrases")) == 0
    assert link.is_symlink()
    (folder / "phrases/model/extract.sorted.gz").touch()
    link.unlink()
    assert main(words(folder, "moses_phrases")) == 0
    (folder / "phrases/model/thesis.tex").write_text("years of work")
    assert main(words(folder, "moses_phrases")) == 1
    (folder / "phrases/model/thesis.tex").unlink()
    (folder / "phrases/.moses_phrases").unlink()  # as in an earlier version
    (folder / "phrases/.snakemake_timestamp").touch()
    assert main(words(folder, "moses_phrases")) == 0


def test_tables_that_the_training_script_made_for_its_user_are_not_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for one in STEPS[:3]:
        assert main(words(folder, one)) == 0
    (folder / "phrases/.moses_phrases").unlink()
    link = next(folder.glob("phrases/model/aligned.*"))
    link.unlink()
    link.write_text("0-0\n")
    table = folder / "phrases/model/phrase-table.gz"
    before = table.read_bytes()
    assert main(words(folder, "moses_phrases")) == 1
    assert f"{folder / 'phrases'}: exists and is not a folder of moses_phrases, because it" in capsys.readouterr().err
    assert table.read_bytes() == before


def test_a_tuning_knows_its_own_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a mark and not by names of files, except in a folder of an earlier version; a killed tuning is repeated."""
    for step in STEPS[:3]:
        assert main(words(folder, step)) == 0
    work = folder / "work"
    (work / "mert").mkdir(parents=True)
    for name in ("source", "reference", "mert/thesis.tex"):
        (work / name).write_text("mine")
    assert main(words(folder, "moses_tune")) == 1
    assert "because it holds mert; move that, or name another folder" in capsys.readouterr().err
    assert all((work / name).read_text() == "mine" for name in ("source", "reference", "mert/thesis.tex"))
    (work / "mert/filterphrases.out").touch()
    assert main(words(folder, "moses_tune")) == 0
    assert not (work / "mert/thesis.tex").exists()
    (work / ".source.1.partial").touch()
    shutil.rmtree(work / "mert")
    assert main(words(folder, "moses_tune")) == 0


def test_worse_weights_are_not_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in STEPS[:3]:
        assert main(words(folder, step)) == 0
    (folder / "bin/moses").write_text(
        (folder / "bin/moses").read_text().replace("line.upper()", "'x'").replace("else line)", "else line.upper())")
    )
    # sentences of four words, for BLEU to be more than 0
    (folder / "train.en").write_text("a b c d e\n")
    (folder / "train.fr").write_text("A B C D E\n")
    assert main(words(folder, "moses_tune")) == 0
    assert json.loads((folder / "tuning.json").read_text())["kept"] == 0
    assert (folder / "tuned/moses.ini").read_text().startswith("untuned ")
    assert "the earlier weights are kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "missing", "message"),
    [
        ("moses_align", "bin/moses", "bin/moses: no such program"),
        ("moses_align", "bin/fast_align", "neither mgiza nor fast_align"),
        ("moses_align", "bin/atools", "bin/atools: no such program"),
        ("moses_language_model", "bin/lmplz", "bin/lmplz: no such program"),
        ("moses_phrases", "scripts/training/train-model.perl", "train-model.perl: no such script"),
        ("moses_tune", "bin/mert", "bin/mert: no such program"),
        ("moses_tune", "phrases/model/phrase-table.gz", "table.gz: no such file; run the step moses_phrases"),
        ("moses_translate", "bin/moses", "bin/moses: no such program"),
    ],
)
def test_a_missing_program_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], step: str, missing: str, message: str
) -> None:
    for before in STEPS[: STEPS.index(step)]:
        assert main(words(folder, before)) == 0
    capsys.readouterr()
    (folder / missing).unlink()
    assert main(words(folder, step)) == 1
    error = [line for line in capsys.readouterr().err.split("\n") if line.startswith("nmt ")]
    assert len(error) == 1
    assert message in error[0]


def test_another_version_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(folder, "moses_align", "version 3.0")) == 1
    error = capsys.readouterr().err
    assert f"bin/moses: {VERSION}, not version 3.0" in error
    assert error.count("\n") == 1
    assert main(words(folder, "moses_align", "version 4.0")) == 0
    (folder / "bin/moses").write_text("#!/bin/sh\necho something else\n")
    assert main(words(folder, "moses_align")) == 1
    assert "does not identify itself as Moses" in capsys.readouterr().err


def test_an_empty_phrase_table_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in STEPS[:2]:
        assert main(words(folder, step)) == 0
    (folder / "links/links.txt").write_text("\n\n")
    assert main(words(folder, "moses_phrases")) == 1
    assert "phrases: the phrase table is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a {##} b {##} 0-0\n0-0\n", "line 1 is not a list of links such as 0-0"),
        ("0-0\n0-2\n", "line 2 has links that are not between words of pair 2; check that the aligner and symal are"),
        ("0-0\n0-0\n0-0\n", "line 3 has links that are not between words of pair 3"),
        ("0-0\n", "1 lines for 2 pairs; check that the aligner and symal are"),
    ],
)
def test_links_are_read_back(folder: Path, capsys: pytest.CaptureFixture[str], written: str, said: str) -> None:
    """mgiza's own symal writes another format, which nine minutes later was an empty phrase table."""
    (folder / "bin/atools").write_text(f"#!{sys.executable}\nprint({written!r}, end='')\n")
    assert main(words(folder, "moses_align")) == 1
    error = capsys.readouterr().err.split("\n")[-2]
    assert error.startswith("nmt moses_align: ")
    assert said in error
    assert not (folder / "links/links.txt").exists()


def test_what_has_a_meaning_for_moses_is_a_word_like_others(folder: Path) -> None:
    """The separators of a word and of columns, symbols of a grammar and markup; the stand-ins refuse them."""
    (folder / "train.en").write_text("a |\nc ||| d\n")
    (folder / "train.fr").write_text("A | B\n||| |C|\n")
    for step in STEPS[:4]:
        assert main(words(folder, step)) == 0
    (folder / "source").write_text("a | b\n||| &#124; [laughter] [1][2] <s>\n")
    assert main(words(folder, "moses_translate")) == 0
    assert (folder / "output").read_text() == "A | B\n||| &#124; [LAUGHTER] [1][2] <S>\n"


def test_a_copy_of_a_project_has_its_own_system(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in STEPS[:4]:
        assert main(words(folder, step)) == 0
    copy = folder / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("copy"), symlinks=True)
    shutil.rmtree(folder / "phrases")
    monkeypatch.chdir(copy)
    assert main(words(copy, "moses_translate")) == 0
    assert (copy / "output").read_text() == "A B\n\nnothing\n"


@pytest.mark.parametrize("name", ["phrase-table.gz", "reordering-table.wbe-msd-bidirectional-fe.gz"])
@pytest.mark.parametrize(
    ("written", "said"),
    [(gzip.compress(b"a\nb\n"), "a program was ended"), (gzip.compress(b"a\n")[:-4], "cannot be read")],
    ids=["longer", "damaged"],  # what gzip writes holds the time
)
def test_a_table_that_is_cut_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, written: bytes, said: str
) -> None:
    for step in STEPS[:2]:
        assert main(words(folder, step)) == 0
    script = folder / "scripts/training/train-model.perl"
    script.write_text(f"{script.read_text()}    (root / {name!r}).write_bytes({written!r})\n")
    assert main(words(folder, "moses_phrases")) == 1
    assert said in capsys.readouterr().err.split("\n")[-2]


@pytest.mark.parametrize(
    "said",
    [
        "Killed",
        "Exit code: 137",
        "gzip: stdin: unexpected end of file",
        "gzip: stdin: invalid compressed data--crc error",
        "gzip: stdin: not in gzip format",
    ],
)
def test_what_a_script_does_not_heed_is_an_error(folder: Path, capfd: pytest.CaptureFixture[str], said: str) -> None:
    for step in STEPS[:2]:
        assert main(words(folder, step)) == 0
    script = folder / "scripts/training/train-model.perl"
    script.write_text(f"{script.read_text()}    print({said!r})\n")
    assert main(words(folder, "moses_phrases")) == 1
    assert f"train-model.perl: a program that it has called failed ({said}); the log says why" in capfd.readouterr().err


def test_what_a_killed_step_left_is_removed_by_the_next(folder: Path) -> None:
    left = folder / "links/.links.txt.work"
    (left / "model").mkdir(parents=True)
    (left / "text").write_text("a b\n")
    assert main(words(folder, "moses_align")) == 0
    assert not left.exists()


def test_two_steps_do_not_work_in_one_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with work_folder(folder / "links/links.txt"):
        assert main(words(folder, "moses_align")) == 1
    assert ".links.txt.work: another process works there; repeat when it has ended" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("links/links.txt", "0-0\n", "links/links.txt: 1 lines for 2 pairs; "),
        ("links/links.txt", "0-0\n0-0\n0-0\n", "line 3 has links that are not between words of pair 3; align these"),
        ("links/links.txt", "0-0\n0-99999999999999999999\n", "line 2 has links that are not between words of pair 2; "),
        ("links/links.txt", "-1-0\n0-0\n", "line 1 is not a list of links such as 0-0"),
        ("links/links.txt", "0-0\n\u0661-0\n", "line 2 is not a list of links such as 0-0"),
        ("train.fr", "A B\n", "train.en has 2 lines, "),
    ],
)
def test_phrases_are_those_of_whole_files(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, written: str, said: str
) -> None:
    """What cannot be right is said before a model of earlier files is removed."""
    for step in STEPS[:3]:
        assert main(words(folder, step)) == 0
    (folder / name).write_text(written)
    assert main(words(folder, "moses_phrases")) == 1
    assert said in capsys.readouterr().err.split("\n")[-2]
    assert (folder / "phrases/model/phrase-table.gz").exists()


def test_an_empty_language_model_is_not_tuned_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in STEPS[:3]:
        assert main(words(folder, step)) == 0
    (folder / "lm/model").write_text("")
    assert main(words(folder, "moses_tune")) == 1
    assert "lm/model: empty; train it with the step moses_language_model" in capsys.readouterr().err


def test_a_source_without_a_last_newline_is_translated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in STEPS[:4]:
        assert main(words(folder, step)) == 0
    (folder / "source").write_text("a b\nc d")
    assert main(words(folder, "moses_translate")) == 0
    assert (folder / "output").read_text() == "A B\nC D\n"
    (folder / "source").write_bytes(b"a b\nc\xe9\n")
    assert main(words(folder, "moses_translate")) == 1
    assert capsys.readouterr().err.endswith(
        "nmt moses_translate: source: line 2 is not UTF-8 (invalid continuation byte); convert the file\n"
    )


def test_memory_follows_the_text_and_the_machine() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    assert sorting_memory(10, 64_000) == 256
    assert sorting_memory(10**9, 64_000) == min(256 + (20 * 10**9 >> 20), machine // 2)
    assert sorting_memory(10**12, 10 * machine) == machine // 2
    assert sorting_memory(10**12, 1000) == 800


def test_a_language_model_is_not_made_of_held_out_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "held_out").write_text("C D\nx\n")
    assert main([*words(folder, "moses_language_model"), "--held-out", "held_out"]) == 0
    assert (folder / "lm/model").read_text() == "A B\n"
    assert "lines of the held-out sets dropped: 1\n" in capsys.readouterr().err


def test_a_program_that_fails_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bin/lmplz").write_text("#!/bin/sh\nexit 3\n")
    assert main(words(folder, "moses_language_model")) == 1
    assert "bin/lmplz: failed with exit code 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("echo 'write: No space left on device' >&2; exit 1", "bin/lmplz: No space left on device; free some and"),
        ("echo 'Cannot allocate memory' >&2; kill -ABRT $$", "bin/lmplz: Cannot allocate memory; free some and repeat"),
        ("kill -KILL $$", "was killed (SIGKILL); repeat with more memory"),
    ],
)
def test_what_a_program_lacks_is_said(folder: Path, capfd: pytest.CaptureFixture[str], code: str, said: str) -> None:
    (folder / "bin/lmplz").write_text(f"#!/bin/sh\n{code}\n")
    assert main(words(folder, "moses_language_model")) == 1
    assert said in capfd.readouterr().err.strip().split("\n")[-1]
    assert list((folder / "lm").iterdir()) == []


def test_a_script_ends_when_a_program_of_it_finds_no_room(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Moses's script begins to extract phrases from texts that its `split` has cut short, and does not end."""
    for step in STEPS[:2]:
        assert main(words(folder, step)) == 0
    code = "print('split: align.0000001: No space left on device', flush=True)\nimport time\ntime.sleep(1000)\n"
    (folder / "scripts/training/train-model.perl").write_text(code)
    assert main(words(folder, "moses_phrases")) == 1
    assert "train-model.perl: No space left on device; free some and repeat" in capfd.readouterr().err


def test_a_script_that_fills_the_disk_ends(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moses's `extract` writes for ever then, and says nothing."""
    for step in STEPS[:2]:
        assert main(words(folder, step)) == 0
    (folder / "scripts/training/train-model.perl").write_text("import time\ntime.sleep(1000)\n")
    monkeypatch.setattr(programs, "INTERVAL", 0.01)
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=0))
    assert main(words(folder, "moses_phrases")) == 1
    assert f"{folder / 'phrases'}: no space left; free some and repeat" in capsys.readouterr().err


@pytest.mark.parametrize("late", [False, True])
def test_a_direction_that_fails_ends_the_other(
    folder: Path, late: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also one whose program starts later."""

    def start(command: list[str], *arguments: Any, **options: Any) -> Any:
        if late and "-r" not in command:
            time.sleep(0.5)
        return running(command, *arguments, **options)

    monkeypatch.setattr("nmt.phrase_based.moses.installation.running", start)
    (folder / "bin/fast_align").write_text('#!/bin/sh\ncase "$*" in *-r) exit 3;; esac\nsleep 1000\n')
    assert main([*words(folder, "moses_align"), "--threads", "2"]) == 1
    assert "bin/fast_align: " in capfd.readouterr().err


def test_a_script_that_fails_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in STEPS[:2]:
        assert main(words(folder, step)) == 0
    (folder / "scripts/training/train-model.perl").write_text("raise SystemExit(3)\n")
    assert main(words(folder, "moses_phrases")) == 1
    assert "scripts/training/train-model.perl: failed with exit code 3" in capsys.readouterr().err


def test_a_program_that_cannot_be_run_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for program, step in (("lmplz", "moses_language_model"), ("moses", "moses_align")):
        (folder / "bin" / program).write_bytes(b"\x7fELF of another machine")
        assert main(words(folder, step)) == 1
        error = capsys.readouterr().err.split("\n")[-2]
        assert error.startswith("nmt ")
        assert f"bin/{program}: cannot be run (Exec format error)" in error


def test_without_perl_one_line_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in STEPS[:2]:
        assert main(words(folder, step)) == 0
    monkeypatch.setenv("PATH", str(folder / "bin"))
    assert main(words(folder, "moses_phrases")) == 1
    error = capsys.readouterr().err.split("\n")[-2]
    assert "perl: cannot be run (No such file or directory); Moses's scripts need perl on the PATH" in error
