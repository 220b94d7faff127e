"""The command line: exit codes, the help, and one line for what a user can mend."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, version
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt
from nmt import commands, papers
from nmt.__main__ import main
from nmt.corpora import shortlist
from nmt.settings.sections import Select
from nmt.system.errors import UserError
from nmt.system.options import Output, OutputFolder, ReplacedFolder, check_numbers
from nmt.system.stop import StoppedError

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "numpy", "matplotlib", "pandas", "sacremoses", "sacrebleu")
USERS = ["new", "schema", "translate", "score", "align", "serve", "status", "tensorboard", "export"]


def fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """Run a step that raises `error`."""

    def run(arguments: Any) -> None:
        raise error

    monkeypatch.setattr(shortlist, "run", run)
    return main(["shortlist", "--input", "a", "--settings", '{"size": 3}', "--output", "b"])


@pytest.mark.parametrize("step", commands.names())
def test_every_step_explains_itself(step: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([step, "--help"])
    assert stop.value.code == 0
    said = capsys.readouterr().out
    assert f"usage: nmt {step}" in said
    assert len(said.split("\n\n")) > 2  # a description between usage and options


@pytest.mark.parametrize(("option", "expected"), [("--help", USERS), ("--help-all", commands.names())])
def test_the_help_lists_what_people_type_and_on_request_all_steps(
    option: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([option]) == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: nmt COMMAND [OPTION ...]\n")
    listed = {words[0]: words[1:] for line in said.split("\n") if line.startswith("  ") and (words := line.split())}
    assert list(listed) == expected
    assert all(listed.values())
    assert max(map(len, said.split("\n"))) <= 120
    last = said.rstrip("\n").split("\n")[-1]
    assert "`make demo`" in last
    assert "`nmt new`" in last


def test_the_version_is_that_of_the_package_also_where_it_is_not_installed(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from nmt.__main__ import main; main(['--version'])"
    words = [sys.executable, "-S", "-c", code]  # without site-packages
    run = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.stdout == f"nmt {nmt.__version__}\n", run.stderr
    assert version("nmt") == nmt.__version__


@pytest.mark.parametrize(
    "setting", ["COLUMNS=1", "COLUMNS=0", "NMT_RUN=", "NMT_RUN=x", f"NMT_RUN={'9' * 30}", f"NMT_RUN={'9' * 5000}"]
)
def test_an_odd_environment_is_no_obstacle(setting: str) -> None:
    words = [sys.executable, "-m", "nmt", "translate", "--help"]
    name, _, value = setting.partition("=")
    run = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {name: value})
    assert (run.returncode, run.stderr) == (0, "")


def test_figures_do_not_depend_on_the_environment(tmp_path: Path) -> None:
    drawn = []
    for number, more in enumerate(({}, {"MPLBACKEND": "module://x.y", "SOURCE_DATE_EPOCH": "x"})):
        outputs = [str(tmp_path / f"{number}.{kind}") for kind in ("pdf", "svg", "png")]
        words = [sys.executable, "-m", "nmt", "bahdanau2015.figure1", "--outputs", *outputs]
        subprocess.run(words, check=True, cwd=ROOT, env=os.environ | more)
        drawn.append([Path(output).read_bytes() for output in outputs])
    assert drawn[0] == drawn[1]


def parser_of(step: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    importlib.import_module(commands.module(step)).add_arguments(parser)
    return parser


@pytest.mark.parametrize("step", ["new", "status", "translate", "score", "align", "serve"])
def test_examples_of_a_command_are_ones_that_it_takes(step: str) -> None:
    parser = parser_of(step)
    examples = re.findall(r"%\(prog\)s(?: (.*))?", parser.epilog or "")
    assert examples
    for line in examples:
        parser.parse_args(shlex.split(re.sub(r" [<>|].*", "", line)))


@pytest.mark.parametrize("step", commands.names())
def test_every_default_is_told_in_the_same_way(step: str) -> None:
    for action in parser_of(step)._actions:
        told = action.help or ""
        assert not re.search(r"\((?!default: )(?:%\(default\)s|none|all|[\d.]+)\)", told), told
        if action.option_strings and action.default not in (None, False, [], argparse.SUPPRESS):
            assert "(default: " in told or isinstance(action, argparse._StoreFalseAction), action.option_strings


def test_the_options_of_translate_are_in_groups() -> None:
    groups = {one.title: len(one._group_actions) for one in parser_of("translate")._action_groups}
    assert {"text", "search", "unknown words", "further output", "speed"} <= groups.keys()
    assert max(groups.values()) <= 5


def test_the_papers_bring_their_own_steps() -> None:
    for name in papers.names():
        steps = papers.paper(name).STEPS
        assert {f"{name}.{step}" for step in steps} <= set(commands.names())
        for step in steps:
            assert commands.module(f"{name}.{step}") == f"nmt.papers.{name}.{step}"


@pytest.mark.parametrize("words", [["--help"], *([step, "--help"] for step in ("translate", "score"))])
def test_help_answers_at_once(words: list[str]) -> None:
    """Imports are nearly all the time it takes, and those of libraries are slow."""
    code = "\n".join(
        [
            "import contextlib, sys",
            "from nmt.__main__ import main",
            f"with contextlib.suppress(SystemExit): main({words})",
            f"print(*sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)",
        ]
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "usage: " in run.stdout
    assert run.stderr == "\n"


@pytest.mark.parametrize(
    ("step", "nearest"),
    [
        ("tranlate", "translate"),
        ("table1", "choi2017.table1"),  # of the steps of this name, that with the shortest
        ("bahdanau.figure2", "bahdanau2015.figure2"),
    ],
)
def test_an_unknown_step_names_the_nearest(step: str, nearest: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([step, "--output", "x"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"nmt: unknown command {step}; the nearest is {nearest}; `nmt --help` lists the commands\n"


def test_no_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == "nmt: name a command; `nmt --help` lists the commands\n"


def test_the_installed_command_is_this_one() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert {name: EntryPoint(name, value, "console_scripts").load() for name, value in scripts.items()} == {"nmt": main}


def test_as_a_module_it_names_itself_so() -> None:
    words = [sys.executable, "-m", "nmt", "tranlate"]
    run = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 2
    assert run.stderr.endswith("`python -m nmt --help` lists the commands\n")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UserError("a: no such file"), 1, "nmt shortlist: a: no such file\n"),
        (StoppedError("stopped; repeat to go on"), 75, "nmt shortlist: stopped; repeat to go on\n"),
        (StoppedError(""), 75, ""),
        (KeyboardInterrupt(), 130, ""),
        (
            OSError(errno.ENOSPC, "No space left on device", "results/x"),
            1,
            "nmt shortlist: results/x: no space left; free some and repeat\n",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 1, "nmt shortlist: x: Permission denied\n"),
        (FileNotFoundError(errno.ENOENT, "No usable folder"), 1, "nmt shortlist: No usable folder\n"),
        (OSError("no cache"), 1, "nmt shortlist: no cache\n"),
        (
            UnicodeEncodeError("latin-1", "Größe 中", 6, 7, "ordinal not in range(256)"),
            1,
            "nmt shortlist: latin-1 lacks the character 中; set PYTHONIOENCODING=utf-8\n",
        ),
    ],
)
def test_mistakes_get_one_line(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail(monkeypatch, error) == code
    assert capsys.readouterr().err == said


def test_a_mistaken_setting_gets_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings are checked while the options are parsed."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        Select.add_argument(parser)

    monkeypatch.setattr(shortlist, "add_arguments", add_arguments)
    assert main(["shortlist", "--settings", '{"rulle": "all"}']) == 1
    assert capsys.readouterr().err == "nmt shortlist: --settings: unknown setting rulle; the nearest is rule\n"


BINARIZE = ["binarize", "--shortlists", "other", "other", "--seed", "1", "--texts"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shortlist", "--settings", "{}", "--input", "text", "--output", "text"], "text: is read too"),
        (["shortlist", "--settings", "{}", "--input", "text", "--output", "link"], "link: is read too"),
        (["translate", "--model", "folder", "--source", "text", "--output", "folder/../link"], "link: is read too"),
        (["translate", "--model", "folder", "--output", "folder/out"], "folder/out: lies in folder, which is read"),
        (["tokenize", "--input", "text", "--output", "model/summary.json"], "lies in the folder of a model, "),
        (["score", "text", "other", "--model", "folder", "--output", "text"], "text: is read too"),
        (["nll", "--model", "folder", "--texts", "other", "text", "--output", "text"], "text: is read too"),
        (["clean", "--texts", "text", "other", "--output", "text"], "text: is read too"),
        (["learn_bpe", "--settings", '{"symbols": 9}', "--inputs", "text", "--output", "text"], "text: is read too"),
        (["export", "--model", "folder", "--output", "folder"], "folder: is read too"),
        ([*BINARIZE, "folder/text", "other", "--output", "folder"], "folder/text: lies in folder, which is replaced"),
        ([*BINARIZE, "text", "folder/link", "--output", "folder"], "folder/link: lies in folder, which is replaced"),
        ([*BINARIZE, "text", "other", "--output", "link to all"], "text: lies in link to all, which is replaced"),
    ],
)
def test_an_output_that_is_an_input_is_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("text", "other"):
        (tmp_path / name).write_text("words\n")
    (tmp_path / "model").mkdir()
    for name in ("model.safetensors", "summary.json"):
        (tmp_path / "model" / name).touch()
    (tmp_path / "link").symlink_to("text")
    (tmp_path / "folder/link").symlink_to("../text")
    (tmp_path / "link to all").symlink_to(".")
    assert main(words) == 1
    last = capsys.readouterr().err.split("\n")[-2]
    assert said in last
    assert last.endswith("; name another output")
    assert (tmp_path / "text").read_text() == "words\n"


def test_a_file_that_is_standard_input_is_no_output(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("words\n")
    run = shell(f"nmt translate --model folder --output ../{tmp_path.name}/text < text", tmp_path)
    assert (run.returncode, run.stderr) == (
        1,
        f"nmt translate: ../{tmp_path.name}/text: is read too; name another output\n",
    )
    assert (tmp_path / "text").read_text() == "words\n"


@pytest.mark.parametrize(
    "words",
    [
        ["learn_bpe", "--settings", '{"symbols": 9}', "--inputs", "text", "pipe", "--output", "out"],
        ["score", "text", "link", "--model", "folder"],
        ["status", "./pipe"],
    ],
)
def test_a_pipe_in_place_of_a_file_is_not_waited_for(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("words\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    assert main(words) == 1
    assert ": a named pipe, which might block forever; name a file or /dev/stdin\n" in capsys.readouterr().err


def test_a_pipe_of_the_shell_is_read(tmp_path: Path) -> None:
    """As `<(...)` and /dev/stdin are."""
    command = [sys.executable, "-m", "nmt", "shortlist", "--input", "/dev/stdin", "--settings", "{}"]
    output = tmp_path / "shortlist.tsv"
    subprocess.run([*command, "--output", str(output)], cwd=ROOT, input=b"a b a\n", check=True)
    assert "a\t2" in output.read_text()


def test_a_pipe_of_the_shell_is_not_read_twice(tmp_path: Path) -> None:
    """Nothing would come the second time."""
    text, output = str(tmp_path / "text"), str(tmp_path / "out")
    Path(text).write_text("a\n")
    command = [sys.executable, "-m", "nmt", "evidence", "--lmplz", sys.executable, "--output", output]
    command += ["--labels", "one", "--sources", text, "--targets", text, "--test", "/dev/stdin", text]
    run = subprocess.run(command, cwd=ROOT, input=b"a b a\n", capture_output=True, check=False)
    assert run.returncode == 1
    assert run.stderr.endswith(b"nmt evidence: /dev/stdin: a pipe, which can be read only once; name a file\n")


def test_wrong_usage_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["shortlist", "--output", "a"])
    assert stop.value.code == 2
    assert "usage: nmt shortlist" in capsys.readouterr().err


def test_what_is_no_users_mistake_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        fail(monkeypatch, ZeroDivisionError())


@pytest.mark.parametrize("step", commands.names())
def test_outputs_are_known_before_the_work(step: str) -> None:
    names = {action.option_strings[0]: action.type for action in parser_of(step)._actions if action.option_strings}
    for name, kind in names.items():
        assert not name.startswith("--output") or kind in (Output, OutputFolder, ReplacedFolder), name


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("text/below", "cannot be written (Not a directory); name another file"),
        ("n" * 250, "cannot be written (File name too long); name another file"),
        ("loop/below", "cannot be written (Too many levels of symbolic links); name another file"),
        ("/proc/shortlist", "cannot be written (No such file or directory); name another file"),
        ("folder", "a folder; name a file"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    output: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("a b\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shortlist, "run", lambda arguments: pytest.fail("it has begun"))
    assert main(["shortlist", "--input", "text", "--settings", '{"size": 3}', "--output", output]) == 1
    assert capsys.readouterr().err == f"nmt shortlist: {output}: {said}\n"
    assert {path.name for path in tmp_path.iterdir()} == {"text", "folder", "loop"}


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_too_little_memory_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail(monkeypatch, error) == 1
    said = "nmt shortlist: not enough memory; a smaller batch, beam or model takes less\n"
    assert capsys.readouterr().err == said


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the shell's `command`, in which `nmt` is ours."""
    words = ["bash", "-c", f'nmt() {{ "{sys.executable}" -m nmt "$@"; }}; {command}']
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_closed_standard_streams(tmp_path: Path) -> None:
    """A warning does not go to standard output, nor into a file; what has no place to go is an error."""
    (tmp_path / "text").write_text("a b\n")
    (tmp_path / "config").symlink_to(ROOT / "config")
    shortlist = "nmt shortlist --input text --settings '{\"size\": 30}' --output made"
    for closed in ("2>&-", "<&- >&- 2>&-"):
        run = shell(f"{shortlist} {closed}", tmp_path)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
        assert (tmp_path / "made").read_text() == "<eos>\t1\n<unk>\t0\na\t1\nb\t1\n"
    run = shell("nmt status demo >&-", tmp_path)
    closed = "standard input or output is closed; open it or name a file\n"
    assert (run.returncode, run.stderr) == (1, f"nmt status: {closed}")
    for command, name in (("nmt --help", "python -m nmt"), ("nmt status --help", "nmt status")):
        run = shell(f"{command} >&-", tmp_path)
        assert (run.returncode, run.stderr) == (1, f"{name}: {closed}")
    run = shell("nmt status demo > /dev/full", tmp_path)
    temporary = os.environ.get("TMPDIR", "/tmp")
    said = f"nmt status: the disk of the output or of {temporary}: no space left; free some and repeat\n"
    assert (run.returncode, run.stderr) == (1, said)


def test_closed_standard_input_is_an_error() -> None:
    code = "from nmt.system.streams import open_closed; open_closed(); import sys; sys.stdin.buffer.read()"
    assert "Bad file descriptor" in shell(f"{sys.executable} -c '{code}' <&-", ROOT).stderr


@pytest.mark.parametrize(
    ("module", "step"),
    [
        *((name, "binarize") for name in ("argparse", "nmt.commands", "nmt.corpora.binarize", "numpy")),
        ("nmt.papers.choi2017.paper", "choi2017.table1"),
    ],
)
def test_ctrl_c_during_imports_is_silent(module: str, step: str) -> None:
    code = f"""
import runpy, sys
class Interrupt:
    def find_spec(self, name, *rest):
        if name == "{module}":
            raise KeyboardInterrupt
sys.modules.pop("{module}", None)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["nmt", "{step}", "--help"]
runpy.run_module("nmt", run_name="__main__")
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


@pytest.mark.usefixtures("sigint")
def test_an_interruption_that_a_library_takes_for_an_error_is_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As safetensors does, whose error then says that the model is damaged."""

    def run(arguments: argparse.Namespace) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise UserError("model.safetensors: not a whole model; train it again") from None

    monkeypatch.setattr(shortlist, "run", run)
    before = signal.getsignal(signal.SIGINT)
    assert main(["shortlist", "--settings", "{}", "--input", "text", "--output", "none"]) == 130
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is before


def test_threads_are_limited_in_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    found = 0
    for step in commands.names():
        parser = argparse.ArgumentParser()
        importlib.import_module(commands.module(step)).add_arguments(parser)
        for action in parser._actions:
            if "--threads" in action.option_strings:
                found += 1
                for odd in ("0", "-1", "100000", "1" * 5000, "x", "", "1.5"):
                    with pytest.raises(UserError, match=r"--threads .*: must be a whole number from 1 to 1024"):
                        action.type(odd)
                assert action.type("8") == 8
    assert found > 8


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"seed": -1}, "--seed -1: must not be negative"),
        ({"n_best": 10**30}, f"--n-best {10**30}: must be below {10**15}"),
        ({"shard": [1, -2, 3]}, "--shard -2: must not be negative"),
    ],
)
def test_whole_numbers_out_of_range_are_one_line(numbers: dict[str, Any], said: str) -> None:
    check_numbers(argparse.Namespace(seed=0, n_best=1, tokenized=True, ratio=-0.5, source=None, shard=[1, 2, 3]))
    with pytest.raises(UserError) as told:
        check_numbers(argparse.Namespace(**numbers))
    assert str(told.value) == said


def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """/dev/full refuses every byte, as a full disk does."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    (tmp_path / "text").write_text("a b\n")
    output = tmp_path / "shortlist"
    (tmp_path / "partial").symlink_to(full)
    monkeypatch.setattr("nmt.system.files.partial_name", lambda final: tmp_path / "partial")
    flags = ["--input", tmp_path / "text", "--settings", '{"size": 3}', "--output", output]
    assert main(["shortlist", *map(str, flags)]) == 1
    assert "no space left" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize("words", ["/dev/stdout >> text", "text >> text", "text 2>> text", "/dev/fd/3 3>> text"])
def test_a_file_that_a_shell_writes_to_is_not_replaced(tmp_path: Path, words: str) -> None:
    """The shell's stream would lead to a file that is gone."""
    (tmp_path / "text").write_text("a b\n")
    (tmp_path / "source").write_text("a\n")
    command = f"{sys.executable} -m nmt shortlist --settings '{{}}' --input source --output {words}"
    run = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    said = run.stderr + (tmp_path / "text").read_text().removeprefix("a b\n")
    assert said == f"nmt shortlist: {words.split()[0]}: output is redirected to this file, too; name another file\n"
    assert (tmp_path / "text").read_text().startswith("a b\n")


def test_an_output_may_be_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a\n")
    words = [sys.executable, "-m", "nmt", "shortlist", "--settings", "{}", "--input", "source"]
    run = subprocess.run([*words, "--output", "/dev/stdout"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "a\t" in run.stdout
