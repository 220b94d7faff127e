"""What several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.corpora.lmplz import provide, works

torch.set_num_threads(1)  # the models of the tests are too small to share among cores

LMPLZ = Path(__file__).parents[1] / "data" / "tools" / "lmplz"


@pytest.fixture(scope="session")
def lmplz() -> Path:
    """KenLM's lmplz where the workflow builds it, built once a checkout."""
    if not works(LMPLZ):
        provide(LMPLZ)
    return LMPLZ
