"""Options of several steps that are checked as the settings are."""

from __future__ import annotations

import argparse

import pytest

from nmt.corpora import tokenize
from nmt.system.errors import UserError
from nmt.training import export, train


@pytest.mark.parametrize(("step", "option"), [(tokenize, "language"), (train, "languages"), (export, "languages")])
@pytest.mark.parametrize("code", ["e\udcff", "EN", "english", ""])
def test_a_language_that_no_file_could_hold_is_refused_at_once(step: object, option: str, code: str) -> None:
    """Not after a whole training, when the summary is written."""
    parser = argparse.ArgumentParser()
    step.add_arguments(parser)  # type: ignore[attr-defined]
    with pytest.raises(UserError, match=r"^language: expected a language code as en, not "):
        parser.parse_args([f"--{option}", code, code])
