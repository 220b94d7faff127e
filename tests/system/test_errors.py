"""An error is one line that a terminal can show."""

from __future__ import annotations

from nmt.system.errors import UserError


def test_an_error_is_one_line_of_printable_text() -> None:
    error = UserError("a\nb\x1b[2J\u202e\ud800é")
    assert str(error) == r"a b\x1b[2J\u202e\ud800é"
    assert str(UserError(f"{error}")) == str(error)
