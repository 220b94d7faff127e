"""nmt moses_build: sources are those of the commits, a build that is ended continues, one line says what is wrong."""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.phrase_based.moses.moses_build import COMPILED, FAST_ALIGN, MGIZA, MOSES, Source, check_tools, unpack
from nmt.settings.experiment import MOSES_SCRIPTS
from nmt.system.errors import UserError
from tests.conftest import SmallDisk

# A cmake that "compiles" each program with one more object, slowly, and fails where the file `fault` says with what.
CMAKE = f"""\
#!{sys.executable}
import json, pathlib, sys, time
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
names = {sorted(COMPILED)!r}
if "-B" in words:
    folder = pathlib.Path(words[words.index("-B") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(names))
    (folder / "boost").write_text("1.83.0")
    (folder / "compiler").write_text("GNU 14.2.0")
    if (here / "no boost").exists():
        print("Could NOT find Boost (missing: Boost_INCLUDE_DIR)")
        sys.exit(1)
    sys.exit()
folder = pathlib.Path(words[1])
(folder / "bin").mkdir(exist_ok=True)
for name in names:
    made = folder / f"{{name}}.o"
    if not made.exists():
        print(f"[  1%] Building CXX object {{name}}.o", flush=True)
        made.write_text("object")
        time.sleep(0.02)
    if (here / "fault").exists():
        print((here / "fault").read_text(), flush=True)
        sys.exit(2)
    program = folder / "bin" / name
    program.write_text("#!/bin/sh\\necho Moses code version {MOSES.commit}\\n")
    program.chmod(0o755)
"""


def pack(path: Path, source: Source, files: dict[str, str], *, commit: str | None = None, comment: str = "") -> Path:
    """An archive of a source, as GitHub packs it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    headers = {"comment": comment} if comment else {}
    with tarfile.open(path, "w:gz", pax_headers=headers) as packed:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"{source.name}-{commit or source.commit}/{name}")
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with the three archives."""
    folder = tmp_path / "sources"
    pack(folder / "mosesdecoder.tar.gz", MOSES, {f"scripts/{name}": "" for name in MOSES_SCRIPTS}, comment=MOSES.commit)
    pack(
        folder / "mgiza.tar.gz",
        MGIZA,
        {"mgizapp/scripts/merge_alignment.py": "#!/usr/bin/env python\nprint('merged')\n"},
    )
    pack(folder / "fast_align.tar.gz", FAST_ALIGN, {"src/fast_align.cc": ""})
    return folder


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a stand-in for cmake, first on the path."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "cmake").write_text(CMAKE)
    (folder / "cmake").chmod(0o755)
    for name in ("make", "perl", "g++"):
        (folder / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))  # for the steps that are processes of their own
    return folder


OUTPUT = "data/tools/moses/built.json"


def words(sources: Path) -> list[str]:
    return ["moses_build", "--sources", str(sources), "--threads", "2", "--output", OUTPUT]


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.strip().split("\n")[-1]


def test_the_installation_has_what_the_steps_call(
    tools: Path, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(sources)) == 0
    folder = Path(OUTPUT).parent
    assert {path.name for path in (folder / "bin").iterdir()} == COMPILED | {"merge_alignment.py"}
    assert all((folder / "scripts" / name).is_file() for name in MOSES_SCRIPTS)
    made = json.loads(Path(OUTPUT).read_text())
    assert made["commits"] == {one.name: one.commit for one in (MOSES, MGIZA, FAST_ALIGN)}
    assert (made["compiler"], made["boost"]) == ("GNU 14.2.0", "1.83.0")
    assert {path.name for path in folder.iterdir()} == {"bin", "scripts", "build.log", "built.json", "lock"}
    run = subprocess.run([folder / "bin/merge_alignment.py"], capture_output=True, text=True, check=True)
    assert run.stdout == "merged\n"
    assert f"build Moses: {len(COMPILED)} files" in capsys.readouterr().err
    (tools / "fault").write_text("error: built again")
    assert main(words(sources)) == 0


def test_a_build_that_is_killed_continues(tools: Path, sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "nmt", *words(sources)]
    process = subprocess.Popen(
        command, stderr=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    objects = Path(OUTPUT).parent / "build/objects"
    while len(list(objects.glob("*.o"))) < 5:
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    lock = Path(OUTPUT).parent / "lock"
    with open(lock) as file:  # until its compiler has ended, too
        fcntl.flock(file, fcntl.LOCK_EX)
    early = sorted(objects.glob("*.o"))[0]
    os.utime(early, (1, 1))
    assert main(words(sources)) == 0
    assert f"build Moses: {len(COMPILED)} files in " in capsys.readouterr().err
    log = (Path(OUTPUT).parent / "build.log").read_text()
    assert f"Building CXX object {early.name}" not in log
    assert log.count("Building") == len(COMPILED) - 1  # what may have been written in half is compiled again


def test_the_second_of_two_builds_waits_for_the_first(tools: Path, sources: Path) -> None:
    command = [sys.executable, "-m", "nmt", *words(sources)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    first, second = sorted(said, key=lambda one: "waiting for another process" in one)
    assert "build Moses" in first
    assert second.count("\n") == 1
    assert "moses_build: waiting for another process, which builds in " in second


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ("/nowhere", "phrase_based.sources: /nowhere: no such folder; set `phrase_based.sources` in the config to one"),
        ("ftp://a/b", "ftp://a/b: not an http, https or file URL; correct it, or `phrase_based.sources` in the config"),
    ],
)
def test_wrong_sources_are_said_to_be_those(
    tools: Path, capsys: pytest.CaptureFixture[str], sources: str, said: str
) -> None:
    command = words(Path())
    command[command.index("--sources") + 1] = sources
    assert main(command) == 1
    assert f"nmt moses_build: {said}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("a.cpp:3: error: no such thing", "cmake failed: a.cpp:3: error: no such thing; "),
        ("c++: fatal error: Killed signal terminated program cc1plus", "Killed signal terminated program cc1plus; "),
        (
            "cc1plus: fatal error: a.o: No space left on device",
            "no space left; free some and repeat, and the build continues",
        ),
    ],
)
def test_what_fails_is_one_line_and_nothing_is_lost(
    tools: Path, sources: Path, capsys: pytest.CaptureFixture[str], fault: str, said: str
) -> None:
    (tools / "fault").write_text(fault)
    assert main(words(sources)) == 1
    line = last_line(capsys)
    assert line.startswith("nmt moses_build: ")
    assert said in line
    assert not Path(OUTPUT).exists()
    (tools / "fault").unlink()
    assert main(words(sources)) == 0


def test_a_full_disk_is_one_line(
    tools: Path, sources: Path, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    small_disk.limit(200)
    command = [*words(sources)[:-1], str(small_disk.folder / "moses/built.json")]
    assert main(command) == 1
    assert last_line(capsys).endswith(": no space left; free some and repeat")
    small_disk.free()
    assert main(command) == 0


def test_what_is_missing_is_named_with_what_to_install(
    tools: Path, sources: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_tools()
    (tools / "no boost").touch()
    assert main(words(sources)) == 1
    line = last_line(capsys)
    assert line.startswith(
        "nmt moses_build: Moses cannot be built without Boost; install cxx-compiler cmake make perl "
    )
    assert "on Debian g++ cmake make perl libboost-all-dev zlib1g-dev; " in line
    monkeypatch.setenv("PATH", str(tools / "none"))
    assert main(words(sources)) == 1
    assert "cannot be built without a C++ compiler, cmake, make, perl; " in last_line(capsys)


def test_a_source_of_another_commit_is_refused(sources: Path, tmp_path: Path) -> None:
    archive = sources / "fast_align.tar.gz"
    assert unpack(archive, FAST_ALIGN, tmp_path).name == FAST_ALIGN.folder
    shutil.rmtree(tmp_path / FAST_ALIGN.folder)
    pack(archive, FAST_ALIGN, {"a": ""}, comment="f" * 40)
    with pytest.raises(UserError, match=f"holds the commit {'f' * 40}, not fast_align-cab1e9"):
        unpack(archive, FAST_ALIGN, tmp_path)
    pack(archive, FAST_ALIGN, {"a": ""}, commit="master")
    with pytest.raises(UserError, match="holds fast_align-master, not fast_align-cab1e9"):
        unpack(archive, FAST_ALIGN, tmp_path)
    archive.write_bytes(archive.read_bytes()[:50])
    with pytest.raises(UserError, match="truncated or damaged"):
        unpack(archive, FAST_ALIGN, tmp_path)
    with tarfile.open(archive, "w:gz"):
        pass
    with pytest.raises(UserError, match="holds nothing, not fast_align-cab1e9"):
        unpack(archive, FAST_ALIGN, tmp_path)


def test_a_source_may_be_packed_from_within_a_folder(sources: Path, tmp_path: Path) -> None:
    """As `tar -C FOLDER .` does, which names the folder itself, too."""
    (tmp_path / "tree" / FAST_ALIGN.folder).mkdir(parents=True)
    (tmp_path / "tree" / FAST_ALIGN.folder / "a.cc").touch()
    with tarfile.open(sources / "fast_align.tar.gz", "w:gz") as packed:
        packed.add(tmp_path / "tree", ".")
    assert (unpack(sources / "fast_align.tar.gz", FAST_ALIGN, tmp_path) / "a.cc").is_file()


def test_a_source_that_is_a_pipe_is_not_waited_for(
    tools: Path, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sources / "mgiza.tar.gz").unlink()
    os.mkfifo(sources / "mgiza.tar.gz")
    assert main(words(sources)) == 1
    assert last_line(capsys).endswith("mgiza.tar.gz: a pipe or a device; name a file")


def test_a_build_begins_anew_from_other_sources(tools: Path, sources: Path) -> None:
    """What a damaged archive had is not kept beside that of the right one."""
    (tools / "fault").write_text("error: no such script")
    assert main(words(sources)) == 1
    (tools / "fault").unlink()
    pack(sources / "mosesdecoder.tar.gz", MOSES, {"scripts/right.perl": ""}, comment=MOSES.commit)
    assert main(words(sources)) == 0
    assert [path.name for path in (Path(OUTPUT).parent / "scripts").iterdir()] == ["right.perl"]


@pytest.mark.parametrize("name", ["bin", "scripts", "build", "sources"])
def test_a_folder_of_something_else_is_left_as_it_is(
    tools: Path, sources: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = Path(OUTPUT).parent
    (folder / name).mkdir(parents=True)
    (folder / name / "mine.txt").write_text("mine")
    (folder / "build.log").write_text("mine")
    assert main(words(sources)) == 1
    line = last_line(capsys)
    assert f"{folder}: exists and is not a folder of moses_build, because it holds " in line
    assert line.endswith("; move that, or name another folder")
    assert {path.name for path in folder.iterdir()} == {name, "build.log"}
    assert (folder / name / "mine.txt").read_text() == (folder / "build.log").read_text() == "mine"


def test_files_beside_a_build_are_not_its_own(tools: Path, sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A build that Snakemake repeats, whose output it has removed, is known by its lock."""
    assert main(words(sources)) == 0
    Path(OUTPUT).unlink()
    assert main(words(sources)) == 0
    Path(OUTPUT).unlink()
    (Path(OUTPUT).parent / "thesis.tex").touch()
    assert main(words(sources)) == 1
    assert "because it holds thesis.tex; move that, or name another folder" in last_line(capsys)


def test_a_mirror_has_the_paths_of_github(tools: Path, sources: Path, tmp_path: Path) -> None:
    for one in (MOSES, MGIZA, FAST_ALIGN):
        place = tmp_path / "mirror" / one.owner / one.name / f"archive/{one.commit}.tar.gz"
        place.parent.mkdir(parents=True)
        (sources / f"{one.name}.tar.gz").rename(place)
    assert main(words(tmp_path / "mirror")) == 0
    kept = {path.name for path in (Path(OUTPUT).parent / "sources").iterdir()}
    assert kept == {f"{one.folder}.tar.gz" for one in (MOSES, MGIZA, FAST_ALIGN)}
    Path(OUTPUT).unlink()
    assert main([*words(tmp_path / "nowhere")]) == 1


def test_without_sources_one_line_names_the_setting(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(words(tmp_path / "empty")) == 1
    line = last_line(capsys)
    assert f"moses-smt/mosesdecoder/archive/{MOSES.commit}.tar.gz: No such file or directory" in line
    assert "name a folder that has the sources in phrase_based.sources" in line
    assert "`mirror`" not in line
