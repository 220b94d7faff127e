"""Snakemake's records of how files were made: it compares them with what is planned, and makes again what has changed.

A job that fails, or is killed, leaves no outputs, and Snakemake makes a missing file only where another job needs it.
The next run may find nothing else to do, because the record of the failed job is that of its new settings, or because
they have been set back. Then whatever was made from the earlier outputs stays, and with it the results of another
setting or text.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

METHODS = ("incomplete", "_filter_incomplete_keys", "_get_key", "_io_read", "_io_write", "_mark_incomplete")
REMOVED = "removed"  # whether a failed job has left no such output
IMMEDIATE = "NMT_IMMEDIATE_SUBMIT"  # tells jobs that their run ends before them, and removes no marks


def remember_failures(job: Any, persistence: Any) -> None:
    """Let every job that began and did not end well be run again, by runs that repeat incomplete jobs.

    If an output is there that a failed job has not left, such as a model that was trained elsewhere, somebody has put
    it there, and it is used.

    `job` and `persistence` are Snakemake's classes; those that have other methods are left alone.
    """
    if not (hasattr(job, "postprocess") and all(hasattr(persistence, name) for name in METHODS)):
        return
    postprocess, incomplete = job.postprocess, persistence.incomplete

    async def mark_failed(self: Any, *arguments: Any, error: bool = False, **options: Any) -> None:
        failed = True
        try:
            await postprocess(self, *arguments, error=error, **options)
            failed = error
        finally:
            records = self.dag.workflow.persistence
            for output in self.output if failed and isinstance(records, persistence) else ():
                mark = {"external_jobid": None, REMOVED: not os.path.lexists(output)}
                with suppress(OSError):  # on a full disk the mark of its start is still there
                    records._io_write(records._incomplete_path, mark, records._get_key(output))

    async def also_missing(self: Any, job: Any) -> list[Any]:
        if not self.dag.workflow.dag_settings.force_incomplete:
            return await incomplete(self, job)  # they would be an error
        keys = {output: self._get_key(output) for output in job.output}
        marked = self._filter_incomplete_keys(keys.values())
        if any([await output.exists() for output in keys]):
            marked = {key for key in marked if not _removed(self, key)}
        return [output for output, key in keys.items() if key in marked]

    job.postprocess, persistence.incomplete = mark_failed, also_missing


def leave_marks(persistence: Any) -> None:
    """On a cluster, let the Snakemake that runs a job leave the mark that the job has begun.

    The main Snakemake removes it once it knows that the job has ended well. If it is dead by then, the next run sees
    the mark and runs the job again. So it does if a later run has meanwhile given up a job for the same outputs: they
    are not files that somebody has put there.
    """
    if IMMEDIATE in os.environ or not all(hasattr(persistence, name) for name in (*METHODS, "_unmark_incomplete")):
        return

    def leave(self: Any, key: str) -> None:
        if _removed(self, key) is not False:
            self._mark_incomplete(key, None)

    persistence._unmark_incomplete = leave


def _removed(persistence: Any, key: str) -> bool | None:
    """Whether a failed job has left no such output; None if there is no mark, or one that is damaged."""
    try:
        mark = persistence._io_read(persistence._incomplete_path, key)
    except (OSError, ValueError):
        return None
    return bool(mark.get(REMOVED)) if mark and isinstance(mark, dict) else None
