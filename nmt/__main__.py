"""The command line: `nmt COMMAND ...`, or `python -m nmt COMMAND ...`; each step of the workflow is a command."""

from __future__ import annotations

import sys

try:
    import argparse
    import errno
    import importlib
    import os
    import shutil
    import signal
    import textwrap
    from collections.abc import Callable, Iterator
    from contextlib import contextmanager
    from types import FrameType

    from nmt import __version__, commands
    from nmt.system import digest, options
    from nmt.system.errors import UserError
    from nmt.system.files import DISK_FULL
    from nmt.system.orphans import end_with_run
    from nmt.system.stop import STOPPED, StoppedError, handling
    from nmt.system.streams import discard_output, lasting_errors, open_closed
except KeyboardInterrupt:
    sys.exit(130)

WRONG_USAGE = 2  # the exit code, as argparse has it
# Packages that some steps import, and the extra of pyproject.toml that installs each.
EXTRAS = {
    "kenlm": "workflow",
    "markdown_it": "workflow",
    "matplotlib": "figures",
    "sacrebleu": "workflow",
    "tensorboard": "tensorboard",
    "thot": "phrase-based",
    "yaml": "workflow",
}
NARROWEST = 20  # columns of a help text

HELP = """\
usage: {program} COMMAND [OPTION ...]

Neural machine translation that learns to align and translate jointly.

{listed}

`{program} COMMAND --help` explains a command. `{program} --help-all` lists the steps of the workflow as well, and
`{program} --version` says the version. `snakemake --cores 8 --use-conda all` runs the workflow.
New here? `make demo` trains and shows a small model in minutes, and `{program} new` begins an experiment on your files.
"""


def main(words: list[str] | None = None, program: str = "nmt") -> int:
    """Run one command and return the exit code; `program` is how the help names this command.

    0: done. 1: a mistake; one line says how to correct it. 2: wrong usage. 75: stopped, and the same command resumes.
    130: interrupted.
    """
    open_closed()
    end_with_run()
    with lasting_errors():
        try:
            return _main(sys.argv[1:] if words is None else words, program)
        except KeyboardInterrupt:
            return 130


def _main(words: list[str], program: str) -> int:
    if not words:
        return _refuse("name a command", program)
    if words[0] in ("-h", "--help"):
        return _guarded(program, lambda: print(_help(program, commands.typed()), end=""))
    if words[0] == "--help-all":
        return _guarded(program, lambda: print(_help(program, commands.groups()), end=""))
    if words[0] == "--version":
        return _guarded(program, lambda: print(f"nmt {__version__}"))
    try:
        module = commands.module(words[0])
    except UserError as error:
        return _refuse(str(error), program)
    return _guarded(f"nmt {words[0]}", lambda: _run(words[0], module, words[1:], program))


def _refuse(reason: str, program: str) -> int:
    print(f"nmt: {reason}; `{program} --help` lists the commands", file=sys.stderr)
    return WRONG_USAGE


def _help(program: str, groups: dict[str, dict[str, str]]) -> str:
    """The commands of `groups`, one a line."""
    width = max(len(name) for listed in groups.values() for name in listed)
    paragraphs = (
        "\n".join([f"{group}:", *(f"  {name:{width}}  {line}" for name, line in listed.items())])
        for group, listed in groups.items()
    )
    return HELP.format(program=program, listed="\n\n".join(paragraphs))


def _run(step: str, module: str, words: list[str], program: str) -> None:
    """Run `step` with the options `words`."""
    # matplotlib reads both variables; figures are drawn to files and hold no date.
    os.environ.pop("MPLBACKEND", None)
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    digest.check_unchanged(module)
    code = importlib.import_module(module)
    parser = argparse.ArgumentParser(
        prog=f"{program} {step}",
        description=_wrap((code.__doc__ or "").split("\n\n")[0]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    code.add_arguments(parser)
    parser.epilog = _wrap(parser.epilog or "")
    arguments = parser.parse_args(words)
    options.check(arguments)
    code.run(arguments)


def _guarded(name: str, work: Callable[[], None]) -> int:
    """Do `work` and return the exit code; an error becomes one line that begins with `name`."""
    interruptions: list[int] = []
    try:
        with _noted(interruptions):
            try:
                work()
            except SystemExit:  # the help was shown
                sys.stdout.flush()
                raise
            sys.stdout.flush()
    except UserError as error:
        if interruptions:  # a library reports an interruption as its own error
            return 130
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except StoppedError as stopped:
        if str(stopped):
            print(f"{name}: {stopped}", file=sys.stderr)
        return STOPPED
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        print(f"{name}: {package} is not installed; pip install 'nmt[{EXTRAS[package]}]'", file=sys.stderr)
        return 1
    except UnicodeEncodeError as error:
        if error.encoding.startswith("utf"):
            raise
        discard_output()
        lacking = error.object[error.start]
        print(f"{name}: {error.encoding} lacks the character {lacking}; set PYTHONIOENCODING=utf-8", file=sys.stderr)
        return 1
    except BrokenPipeError:
        discard_output()  # its reader has left
        return 1
    except OSError as error:
        discard_output()
        where, what = error.filename, error.strerror or error
        temporary = os.environ.get("TMPDIR") or "/tmp"
        if error.errno == errno.EBADF:
            where, what = None, "standard input or output is closed; open it or name a file"
        elif error.errno in DISK_FULL:
            where, what = where or f"the disk of the output or of {temporary}", "no space left; free some and repeat"
        print(f"{name}: {f'{where}: ' if where else ''}{what}", file=sys.stderr)
        return 1
    except (MemoryError, RuntimeError) as error:
        if not _lacks_memory(error):
            raise
        print(f"{name}: not enough memory; a smaller batch, beam or model takes less", file=sys.stderr)
        return 1
    return 0


@contextmanager
def _noted(interruptions: list[int]) -> Iterator[None]:
    """Add each SIGINT that raises KeyboardInterrupt to `interruptions`."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        interruptions.append(number)
        signal.default_int_handler(number, frame)

    with handling(signal.SIGINT, interrupt):
        yield


def _lacks_memory(error: MemoryError | RuntimeError) -> bool:
    """Whether Python, NumPy or PyTorch got no memory, in main memory or on a GPU, or was asked for an absurd amount."""
    said = str(error)
    return isinstance(error, MemoryError) or any(
        words in said for words in ("can't allocate memory", "out of memory", "Storage size calculation overflowed")
    )


def _wrap(text: str) -> str:
    """`text` as wide as the terminal; a paragraph with indented lines, such as examples, stays as it is."""
    width = max(NARROWEST, shutil.get_terminal_size().columns - 2)
    return "\n\n".join(one if "\n " in one else textwrap.fill(one, width) for one in text.split("\n\n"))


if __name__ == "__main__":
    sys.exit(main(program="python -m nmt"))
