"""Every word that a rule hands to the shell is quoted, so that no name of a user's is read as a command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

RULES = sorted((Path(__file__).parents[1] / "workflow/rules").glob("*.smk"))
# The shell commands of a file, and the words that two of them share.
COMMAND = re.compile(r"^( *)(?:shell:|[A-Z_]+OPTIONS = \()\n((?:\1 .*\n)+)|^(?:LOG|SHOWN|TABLE) = .*\n", re.MULTILINE)
WORD = re.compile(r"\{([^{}]*)\}")
NOT_QUOTED = {
    "threads": "a number",
    "resources.mem_mb": "a number",
    "LOG": "another part of the command",
    "SHOWN": "another part of the command",
    "TABLE": "another part of the command",
    "THOT_OPTIONS": "another part of the command",
    "params.members": "quoted by shlex.join, because :q leaves an empty word out",
    "params.own": "quoted by shlex.join, because :q leaves an empty word out",
}


@pytest.mark.parametrize("rules", RULES, ids=lambda path: path.name)
def test_what_is_put_into_a_shell_command_is_quoted(rules: Path) -> None:
    text = rules.read_text()
    words = [word for command in COMMAND.finditer(text) for word in WORD.findall(command[0])]
    assert [word for word in words if not word.endswith(":q") and word not in NOT_QUOTED] == []
    assert len(re.findall(r"\{(?:input|output|log)\b", text)) == len(
        [word for word in words if re.match("input|output|log", word)]
    )
    if "params.members" in words:
        assert text.count(" members=") == text.count(" members=lambda wildcards: shlex.join(")
        assert text.count(" own=") == text.count(" own=own_digests,")
