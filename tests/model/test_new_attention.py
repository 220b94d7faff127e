"""A new attention, added to a copy of the tree as CONTRIBUTING.md says and in no other way."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"`((?:nmt|tests)/[\w/]+\.py)`[^`]*(?:`[^`/]+`[^`]*)*?```python\n(.*?)```", re.DOTALL)
LISTS = {"nmt/settings/variant.py": "ATTENTIONS", "tests/model/oracle.py": "SCORES"}


def add(path: Path, name: str, line: str) -> None:
    """Append `line` to the dictionary `name` of a module."""
    text = path.read_text()
    found = re.search(rf"^{name}\b.*?^}}", text, re.DOTALL | re.MULTILINE)
    assert found, name
    path.write_text(text[: found.end() - 1] + line + text[found.end() - 1 :])


def test_dot_product_attention_takes_a_module_a_name_and_an_oracle(tmp_path: Path) -> None:
    for name in ("nmt", "tests", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## Add an attention\n")[1].split("\n## ")[0]
    steps = dict(STEP.findall(section))
    assert list(steps) == ["nmt/model/attention/dot.py", *LISTS]
    for name, text in steps.items():
        if name in LISTS:
            add(tmp_path / name, LISTS[name], text)
        else:
            (tmp_path / name).write_text(text)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/model/test_network.py",
        "-k",
        "dot",
    ]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None
    assert int(passed[1]) >= 14, result.stdout
