"""The command line: `nmt STEP ...`, or `python -m nmt STEP ...`, runs one step."""

from __future__ import annotations

import sys

try:
    import argparse
    import errno
    import importlib
    import shutil
    import textwrap
    from collections.abc import Callable

    from nmt import commands
    from nmt.system import options
    from nmt.system.files import DISK_FULL, UserError
    from nmt.system.orphans import end_with_run
    from nmt.system.stop import STOPPED, StoppedError
    from nmt.system.streams import discard_output, open_closed
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

HELP = """\
usage: {program} STEP [OPTION ...]

Neural machine translation that learns to align and translate jointly.

{steps}

`{program} STEP --help` explains a step. `snakemake --cores 8 --use-conda all` runs the workflow.
"""


def main(words: list[str] | None = None, program: str = "nmt") -> int:
    """Run one step and return the exit code; `program` is how the help names this command.

    0: done. 1: a mistake that one line tells the user how to correct. 2: wrong usage. 75: stopped, and the same command
    resumes. 130: interrupted.
    """
    open_closed()
    end_with_run()
    words = sys.argv[1:] if words is None else words
    if not words:
        return _refuse("name a step", program)
    if words[0] in ("-h", "--help"):
        return _guarded(program, lambda: print(_help(program), end=""))
    try:
        module = commands.module(words[0])
    except UserError as error:
        return _refuse(str(error), program)
    return _guarded(f"nmt {words[0]}", lambda: _run(words[0], module, words[1:], program))


def _refuse(reason: str, program: str) -> int:
    print(f"nmt: {reason}; `{program} --help` lists the steps", file=sys.stderr)
    return WRONG_USAGE


def _help(program: str) -> str:
    """All steps by group, one a line."""
    width = max(map(len, commands.names()))
    groups = (
        "\n".join([f"{group}:", *(f"  {step:{width}}  {line}" for step, line in steps.items())])
        for group, steps in commands.groups().items()
    )
    return HELP.format(program=program, steps="\n\n".join(groups))


def _run(step: str, module: str, words: list[str], program: str) -> None:
    """Run `step` with the options `words`."""
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
    """Do `work` and return the exit code; what goes wrong is a line that begins with `name`."""
    try:
        try:
            work()
        except SystemExit:  # the help was shown
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except UserError as error:
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
    except BrokenPipeError:
        discard_output()  # its reader has left
        return 1
    except OSError as error:
        discard_output()
        where, what = error.filename, error.strerror or error
        if error.errno == errno.EBADF:
            where, what = None, "standard input or output is closed; open it or name a file"
        elif error.errno in DISK_FULL:
            where, what = where or "the disk of the output", "no space left; free some and repeat"
        print(f"{name}: {f'{where}: ' if where else ''}{what}", file=sys.stderr)
        return 1
    except (MemoryError, RuntimeError) as error:
        if not _lacks_memory(error):
            raise
        print(f"{name}: not enough memory; a smaller batch, beam or model takes less", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _lacks_memory(error: MemoryError | RuntimeError) -> bool:
    """Whether Python, NumPy or PyTorch got no memory, in main memory or on a GPU, or was asked for absurdly much."""
    said = str(error)
    return isinstance(error, MemoryError) or any(
        words in said for words in ("can't allocate memory", "out of memory", "Storage size calculation overflowed")
    )


def _wrap(text: str) -> str:
    """`text` as wide as the terminal; a paragraph with indented lines, such as examples, stays as it is."""
    width = shutil.get_terminal_size().columns - 2
    return "\n\n".join(one if "\n " in one else textwrap.fill(one, width) for one in text.split("\n\n"))


if __name__ == "__main__":
    sys.exit(main(program="python -m nmt"))
