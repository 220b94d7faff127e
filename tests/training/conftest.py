"""What the tests of training share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.toy import make_toy


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy language's folder."""
    folder = tmp_path_factory.mktemp("toy")
    make_toy(folder)
    return folder
