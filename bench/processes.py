"""Compare one process on two cores with two processes on one core each, which share a batch of twice the size.

Writes the target words that an update of the paper's RNNsearch takes in a second, in float32.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import pandas as pd
import torch

from bench.machine import name
from bench.table import make_parser, one_line_mistakes, parse, write
from bench.train import BATCH, made_up, our_update
from bench.turns import Figures, medians
from nmt.system.device import keep_memory
from nmt.training.batches import Batch
from nmt.training.parallel import joined

CPU = torch.device("cpu")
WORDS = 20


def work(rank: int, world: int, port: int, core: int, turns: multiprocessing.connection.Connection) -> None:
    """Run one of several processes: make an update for every message until the connection closes."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "TORCHELASTIC_RUN_ID": "bench"}
    os.sched_setaffinity(0, {core})
    torch.set_num_threads(1)
    keep_memory()
    with joined(CPU) as processes:
        update = our_update(CPU, processes=processes)
        batch = processes.share(Batch(*(torch.cat([part] * world) for part in made_up(WORDS, WORDS))))
        turns.send("ready")
        with suppress(EOFError):
            while turns.recv():
                update(batch)
                turns.send("done")


def prepare(processes: int) -> Callable[[], Figures]:
    """A function that measures an update of `processes` processes once: target words per second."""
    words = processes * BATCH * WORDS
    if processes == 1:
        keep_memory()
        update, batch = our_update(CPU), made_up(WORDS, WORDS)

        def step() -> None:
            update(batch)
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = multiprocessing.get_context("spawn")
        ends = []
        for rank, core in zip(range(processes), sorted(os.sched_getaffinity(0)), strict=False):
            ours, theirs = context.Pipe()
            context.Process(target=work, args=(rank, processes, port, core, theirs), daemon=True).start()
            ends.append(ours)
        for end in ends:
            end.recv()

        def step() -> None:
            for end in ends:
                end.send(True)
            for end in ends:
                end.recv()

    def turn() -> Figures:
        begun = time.perf_counter()
        step()
        return {"target_words_per_second": words / (time.perf_counter() - begun)}

    return turn


@one_line_mistakes("processes")
def main() -> None:
    arguments = parse(make_parser("processes", __doc__, rounds=7))
    jobs = [{"processes": processes} for processes in (1, 2)]
    results = [figures["target_words_per_second"] for figures in medians("bench.processes", jobs, arguments.rounds, 4)]
    table = pd.DataFrame(
        {
            "device": name(CPU),
            "processes": job["processes"],
            "threads_each": torch.get_num_threads() if job["processes"] == 1 else 1,
            "global_batch": job["processes"] * BATCH,
            "target_words_per_second": rate,
            "ratio_to_one": rate / results[0],
        }
        for job, rate in zip(jobs, results, strict=True)
    )
    write(table, arguments.output)


if __name__ == "__main__":
    main()
