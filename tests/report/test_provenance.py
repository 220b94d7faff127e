"""The record of how results were made, and which committed results an earlier version of the code made."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.report.provenance import PACKAGES, commit
from nmt.settings.experiment import load
from nmt.system.checksums import sha256
from nmt.workflow import codes

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "results").glob("**/provenance.json"))
EARLIER = re.compile(r"Made by earlier code: ([^.]+)\.")


def test_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.en").write_text("a b\n")
    kept = {"hours": 0.5, "torch": "2.13.0", "device": "CPU, 1 thread", "seed": 3}
    summary = {"variant": "A", **kept, "parameters": 7}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    for path, times in {
        "train/one/A": [2.5, 1],
        "train/one/removed": [9],
        "tokenize/one/en/a": [0.25],
        "evaluate/one/phrase-based.test": [1],
        "train/two/A": [9],
        "thot_tune/one/thot_tune": [9],
    }.items():
        (tmp_path / "benchmarks" / path).parent.mkdir(parents=True, exist_ok=True)
        lines = ["s\th:m:s", *(f"{time}\t0:00:00" for time in times)]
        (tmp_path / "benchmarks" / f"{path}.tsv").write_text("".join(line + "\n" for line in lines))
    words = ["--experiment", "one", "--command", os.fsdecode(b"snakemake \xff"), "--configuration", '{"seed": 3}']
    words += ["--code", '{"evaluate": "ab"}', "--summaries", "summary.json", "--texts", "train.en"]
    words += ["--rules", "evaluate", "provenance", "tokenize", "train"]
    assert main(["provenance", *words, "--output", "record.json"]) == 0
    record = json.loads((tmp_path / "record.json").read_text())
    assert record.pop("versions")["python"] == platform.python_version()
    assert re.fullmatch("[0-9a-f]{40}[+]?", record.pop("commit"))
    assert record == {
        "experiment": "one",
        "command": os.fsdecode(b"snakemake \xff"),
        "seconds": {"evaluate": 1.0, "train": 3.5, "tokenize": 0.2},
        "models": {"A": kept},
        "texts": {"train.en": sha256(tmp_path / "train.en")},
        "code": {"evaluate": "ab"},
        "configuration": {"seed": 3},
    }


def test_two_texts_of_one_name_and_two_summaries_of_one_variant_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other"):
        (folder / "summary.json").write_text('{"variant": "A"}')
    words = ["--experiment", "one", "--command", "c", "--configuration", "{}", "--code", "{}", "--rules", "all"]
    words += ["--output", "record.json"]
    files = ["summary.json", "other/summary.json"]
    assert main(["provenance", *words, "--summaries", "summary.json", "--texts", *files]) == 1
    assert "other/summary.json: a second text of this name; name one of each" in capsys.readouterr().err
    assert main(["provenance", *words, "--summaries", *files, "--texts", "summary.json"]) == 1
    assert "other/summary.json: a second summary of A; name one of each variant" in capsys.readouterr().err


def test_packages_are_those_that_are_installed() -> None:
    required = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert set(PACKAGES) <= set(required)


def test_the_commit_says_whether_files_have_changed(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    assert commit(tmp_path) is None
    git("init", "--quiet")
    (tmp_path / "results").mkdir()
    for name in ("file", "results/table"):
        (tmp_path / name).write_text("1\n")
        git("add", name)
    git("commit", "--quiet", "--message", "one")
    clean = commit(tmp_path)
    assert clean
    (tmp_path / "results/table").write_text("2\n")  # which the run itself writes
    assert commit(tmp_path) == clean
    (tmp_path / "file").write_text("2\n")
    assert commit(tmp_path) == f"{clean}+"


def test_the_commit_is_that_of_the_folder_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = commit(ROOT)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert found
    assert commit(ROOT) == found


def test_the_commit_of_a_repository_around_the_project_is_not_its_own(tmp_path: Path) -> None:
    words = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message", "one"]
    for one in (["init", "--quiet"], words):
        subprocess.run(["git", *one], cwd=tmp_path, check=True)
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    assert commit(tmp_path / "link")
    assert commit(tmp_path / "project") is None


@pytest.mark.parametrize("summary", ["[]", "{}", "5", "null", '"x"', '{"variant": [1]}', '{"variant": {}}'])
def test_a_summary_of_something_else_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], summary: str
) -> None:
    (tmp_path / "summary.json").write_text(summary)
    words = ["--experiment", "one", "--command", "c", "--configuration", "{}", "--code", "{}", "--texts", __file__]
    words += [
        "--summaries",
        str(tmp_path / "summary.json"),
        "--output",
        str(tmp_path / "record.json"),
        "--rules",
        "all",
    ]
    assert main(["provenance", *words]) == 1
    assert re.search(
        r'summary\.json: "variant": expected a name of .*; make the file again\n$', capsys.readouterr().err
    )


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.parent.name)
def test_an_account_says_which_code_has_changed_since(path: Path) -> None:
    record = json.loads(path.read_text())
    today = codes(load(record["configuration"]))
    changed = {step.split()[0]: None for step, digest in record["code"].items() if today.get(step) != digest}
    said = EARLIER.search((path.parent / "README.md").read_text())
    assert (said[1].split(", ") if said else []) == list(changed)
