"""Measure a GPU in a few minutes: whether it computes what the equations say, how fast, and where the time goes.

Sections run in order of importance within a time limit. Each prints its table when it ends. The JSON file is written
after every measurement, so that a killed run leaves its results so far. A failed measurement is reported and the rest
continue; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import pandas as pd
import torch

from bench.gpu.check import check
from bench.gpu.kernels import kernels, parts
from bench.gpu.measurement import Bench, Job, Row
from bench.gpu.speed import beam, steps, updates
from bench.machine import PAPER, name
from bench.table import one_line_mistakes, parse
from nmt.system.device import choose_device
from nmt.system.options import Output
from nmt.system.text import write_json


def versions(bench: Bench) -> Iterator[Job]:
    """The machine and its software."""

    def measure() -> list[Row]:
        row: Row = {
            "device": name(bench.device),
            "cores": os.cpu_count(),
            "Python": platform.python_version(),
            "torch": torch.__version__,
            "without": os.environ.get("NMT_WITHOUT", ""),
        }
        if bench.gpu:
            properties = torch.cuda.get_device_properties(bench.device)
            row |= {
                "Triton": triton_version(),
                "CUDA": torch.version.cuda,
                "driver": driver(),
                "GiB": properties.total_memory / 2**30,
                "capability": f"{properties.major}.{properties.minor}",
                "processors": properties.multi_processor_count,
            }
        return [row]

    yield Job({}, measure)


def triton_version() -> str | None:
    try:
        return version("triton")
    except PackageNotFoundError:
        return None


def driver() -> str | None:
    """The version of the GPU's driver; None where nvidia-smi cannot tell."""
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


class Section(NamedTuple):
    """A section: its seconds on a GPU, first compilation included, and its measurements."""

    seconds: float
    jobs: Callable[[Bench], Iterator[Job]]


SECTIONS = {
    "versions": Section(5, versions),
    "check": Section(50, check),
    "update": Section(40, updates),
    "beam": Section(30, beam),
    "step": Section(20, steps),
    "profile": Section(20, kernels),
    "parts": Section(10, parts),
}


def measured(job: Job, device: torch.device) -> list[Row]:
    """The rows of a measurement, or one with the error that ended it."""
    gc.collect()
    try:
        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
        rows = job.measure()
    except Exception as error:
        [line, *_] = "".join(traceback.format_exception_only(error)).splitlines()
        rows = [{"error": line, "traceback": traceback.format_exc()}]
    return [{**job.labels, **{key: in_json(value) for key, value in row.items()}} for row in rows]


def in_json(value: Any) -> Any:
    """`value`, or its name where JSON has no such number: nan, inf."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def show(title: str, section: Row) -> None:
    """Print a section: its table, its errors in lines of their own."""
    print(f"\n{title}: {section['status']}, {section['seconds']:.0f} s", flush=True)
    good = [row for row in section["rows"] if "error" not in row]
    if good:
        print(pd.DataFrame(good).to_string(index=False, float_format="{:.4g}".format, na_rep=""), flush=True)
    for row in section["rows"]:
        if "error" in row:
            labels = ", ".join(str(value) for key, value in row.items() if key not in ("error", "traceback"))
            print(f"{labels}: {row['error']}", flush=True)


@one_line_mistakes("gpu")
def main(arguments: list[str] | None = None) -> int:
    begun = time.monotonic()
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3, help="time limit (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=SECTIONS, help="the sections to run (all)")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where to compute (auto)")
    parser.add_argument("--dry-run", action="store_true", help="tiny sizes, which take seconds also on a CPU")
    output = Output("results/bench/gpu.json")
    parser.add_argument("--output", type=Output, default=output, help="JSON file (default: %(default)s)")
    chosen = parse(parser, arguments)
    bench = Bench(choose_device(chosen.device))
    if chosen.dry_run:
        tiny = replace(PAPER, embedding=6, hidden=8, alignment=7, maxout=5)
        lengths = ((3, 3), (5, 4))
        bench = Bench(bench.device, tiny, 50, batch=4, lengths=lengths, searched=(1, 2), repeats=2, product=64)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    sections: dict[str, Row] = {}
    for title in [title for title in SECTIONS if title in chosen.only]:
        section: Row = {"status": "done", "seconds": 0.0, "rows": []}
        sections[title] = section
        started = time.monotonic()
        left = begun + 60 * chosen.minutes - started
        if left < SECTIONS[title].seconds:
            section["status"] = "skipped: no time"
        else:
            for job in SECTIONS[title].jobs(bench):
                if time.monotonic() - started > left:
                    section["status"] = "stopped: no time"
                    break
                section["rows"] += measured(job, bench.device)
                section["seconds"] = time.monotonic() - started
                write_json(chosen.output, {"dry_run": chosen.dry_run, "sections": sections})
        show(title, section)
    write_json(chosen.output, {"dry_run": chosen.dry_run, "sections": sections})
    return int(any("error" in row for section in sections.values() for row in section["rows"]))


if __name__ == "__main__":
    sys.exit(main())
