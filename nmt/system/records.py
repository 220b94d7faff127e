"""Snakemake's records of how files were made: it compares them with what is planned, and makes again what has changed.

Snakemake records a job that fails like one that ends well, and removes its outputs. A missing file is made only where
another job needs it; with the new record nothing seems to have changed, so whatever was made from the earlier outputs
would stay, and with it the results of an earlier setting or text.
"""

from __future__ import annotations

from typing import Any


def keep_records(job: Any) -> None:
    """Let a job that fails leave the records of its outputs as they were, so that the next run makes them again.

    `job` is Snakemake's class; one that has other methods is left alone.
    """
    postprocess = getattr(job, "postprocess", None)
    if postprocess is None:
        return

    async def keep(self: Any, *arguments: Any, error: bool = False, **options: Any) -> None:
        records = self.dag.workflow.persistence
        if not all(hasattr(records, name) for name in ("_get_key", "_read_record", "_write_record", "_delete_record")):
            return await postprocess(self, *arguments, error=error, **options)
        before = {key: records._read_record(key) for key in map(records._get_key, self.output)}
        failed = True
        try:
            await postprocess(self, *arguments, error=error, **options)
            failed = error
        finally:
            for key, record in before.items() if failed else ():
                if record is None:
                    records._delete_record(key)
                else:
                    records._write_record(key, record)
            if failed:
                records._clear_cache()

    job.postprocess = keep
