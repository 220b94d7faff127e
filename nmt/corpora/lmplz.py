"""Provide lmplz, the program of KenLM that estimates language models, for data selection.

KenLM's wheel does not contain it, so it is compiled from KenLM's source distribution, with build tools that pip can
install and a C++ compiler (about a minute on 2 cores). If lmplz is on the PATH, the output is a link to it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from nmt.system.errors import UserError
from nmt.system.files import atomic
from nmt.system.options import Output
from nmt.system.stop import temporary_folder

KENLM = "kenlm==0.3.0"
# Later releases of cmeel-boost lack boost_system, which KenLM needs; cmake 4 rejects KenLM's scripts.
BUILD_TOOLS = ("cmeel-boost==1.88.0", "cmake<4", "ninja", "setuptools", "wheel")
BOOST_LIBRARIES = ("atomic", "chrono", "program_options", "system", "thread")
CORES = "2"
SHOWN_LINES = 20


def _call(what: str, command: list[str | Path], environment: dict[str, str]) -> None:
    """Run `command` quietly. If it fails, print the end of its output and raise UserError with its first error."""
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if done.returncode:
        lines = [line for line in done.stdout.split("\n") if line.strip()][-SHOWN_LINES:]
        print(*lines, sep="\n", file=sys.stderr)
        errors = [line for line in lines if "error" in line.lower()] or lines[-1:]
        reason = errors[0].strip() if errors else f"exit code {done.returncode}"
        raise UserError(f"lmplz: {what} failed ({reason}); fix that, or install KenLM so that lmplz is on the PATH")


def works(binary: str | os.PathLike[str]) -> bool:
    """Whether `binary` is an lmplz that runs here."""
    try:
        shown = subprocess.run([binary, "--help"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"--discount_fallback" in shown.stdout + shown.stderr


def linking(platform: str) -> tuple[str, str]:
    """How a program names the folder lib/ beside it, and how files of Boost's libraries are named, on `platform`."""
    if platform == "darwin":
        return "@loader_path/lib", "libboost_{}.dylib"
    return "$ORIGIN/lib", "libboost_{}.so.*"


def _compile(folder: Path) -> tuple[Path, list[Path]]:
    """Compile lmplz in `folder`; return the program and the Boost libraries that it loads from lib/ beside it."""
    tools, source, build = folder / "tools", folder / "source", folder / "build"
    environment = {**os.environ, "PYTHONPATH": str(tools), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    pip: list[str | Path] = [sys.executable, "-m", "pip"]
    print("lmplz: fetching KenLM and its build tools", file=sys.stderr, flush=True)
    # without dependencies: Boost's package requires numpy, which only its Python bindings need
    _call("pip install", [*pip, "install", "--no-deps", "--target", tools, *BUILD_TOOLS], environment)
    _call(
        "pip download",
        [*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", "kenlm", "--dest", source, KENLM],
        environment,
    )
    (archive,) = source.glob("kenlm-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # not in the first versions of Python 3.11
        packed.extractall(source)
    boost = tools / "cmeel.prefix"
    runtime_path, names = linking(sys.platform)
    print("lmplz: compiling", file=sys.stderr, flush=True)
    _call(
        "cmake",
        [
            tools / "bin" / "cmake",
            *("-S", archive.with_name(archive.name.removesuffix(".tar.gz")), "-B", build),
            *("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'bin' / 'ninja'}"),
            *(f"-DCMAKE_PREFIX_PATH={boost}", "-DBoost_USE_STATIC_LIBS=OFF"),
            *("-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF", "-DCMAKE_BUILD_TYPE=Release"),
            *("-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", f"-DCMAKE_INSTALL_RPATH={runtime_path}"),
        ],
        environment,
    )
    _call(
        "the C++ compiler",
        [tools / "bin" / "cmake", "--build", build, "--target", "lmplz", "--parallel", CORES],
        environment,
    )
    libraries = [library for name in BOOST_LIBRARIES for library in sorted((boost / "lib").glob(names.format(name)))]
    return build / "bin" / "lmplz", libraries


def provide(output: Path) -> None:
    """Put a working lmplz at `output`: a link to the one on the PATH, or a new one with libraries in lib/ beside it.

    A link that leads to a working one stays; another is replaced, and never what it leads to. Raises UserError if pip,
    cmake or the compiler fails, or if the result does not run.
    """
    if output.is_symlink():
        if works(output):
            return
        output.unlink()
    installed = shutil.which("lmplz")
    if installed and Path(installed).resolve() != output.resolve() and works(installed):
        with atomic(output) as partial:
            partial.symlink_to(Path(installed).resolve())
        return
    compilers = [os.environ.get("CXX", "").split(" ")[0], "c++", "g++", "clang++"]
    if not any(shutil.which(compiler) for compiler in compilers if compiler):
        raise UserError("lmplz: no C++ compiler is on the PATH; install g++ or clang++, or KenLM's lmplz itself")
    with temporary_folder("lmplz") as folder:
        program, libraries = _compile(folder)
        for library in libraries:
            with atomic(output.parent / "lib" / library.name) as partial:
                shutil.copyfile(library, partial)
        with atomic(output) as partial:
            shutil.copy(program, partial)
            # tested beside its libraries, before it gets its final name
            if not works(partial):
                raise UserError(f"{output}: lmplz was compiled but does not run on this machine")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Output, required=True, help="the program; its libraries go to lib/ beside it")


def run(arguments: argparse.Namespace) -> None:
    provide(arguments.output)
    print(f"lmplz: {arguments.output} is ready", file=sys.stderr)
