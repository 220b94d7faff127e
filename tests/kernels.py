"""How tests run Triton kernels: in processes of their own, for Triton reads its settings when it is imported.

The functions of a test file that are called check_... run in Triton's interpreter, which takes tensors of the CPU, and
on a GPU where there is one; compile_... compile for GPUs that need not be there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

triton = pytest.importorskip("triton")

DEVICE = "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"


def run(file: str, functions: str, **environment: str) -> None:
    """Run the functions of a test file that are called so, with these variables set."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", f"python_functions={functions}"]
    inherited = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    result = subprocess.run([*command, file], env=inherited | environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def stacks(call: Callable[[], None], capability: int, monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, int]:
    """The bytes that each kernel of `call` spills, by its name, compiled to machine code and not run."""
    compiled: dict[str, Any] = {}
    plain = triton.JITFunction.run

    def compile_only(self: Any, *args: Any, warmup: bool, **settings: Any) -> None:
        compiled[self.fn.__name__] = plain(self, *args, warmup=True, **settings)

    monkeypatch.setattr(triton.JITFunction, "run", compile_only)
    triton.runtime.driver.set_active(AbsentGPU(capability))
    call()
    return {name: _stack(name, kernel.asm["cubin"], folder) for name, kernel in compiled.items()}


def _stack(name: str, binary: bytes, folder: Path) -> int:
    (folder / name).write_bytes(binary)
    command = [triton.knobs.nvidia.cuobjdump.path, "--dump-resource-usage", folder / name]
    usage = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spilt = re.search(rf"Function {name}:\s+REG:\d+ STACK:(\d+) ", usage)
    assert spilt is not None, usage
    return int(spilt[1])


class AbsentGPU:
    """What Triton asks of a driver in order to compile."""

    def __init__(self, capability: int) -> None:
        self.capability = capability

    def get_current_target(self) -> Any:
        return triton.backends.compiler.GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> int:
        return self.capability

    def get_current_stream(self, device: int) -> int:
        return 0
