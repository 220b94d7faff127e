"""Signals that request a stop."""

from __future__ import annotations

import os
import signal

import pytest

from nmt.system.stop import Stop


def test_a_second_interrupt_stops_at_once() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with Stop() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    with Stop(patient=True) as stop:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.asked
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == handlers
