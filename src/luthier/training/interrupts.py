"""Ctrl-C and SIGTERM end a training in good order; a second one ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from luthier.training.loop import Training

__all__ = ["stop_on_signal"]

SIGNALS: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signal(training: Training) -> Iterator[None]:
    """Only the main thread hears signals; elsewhere whoever started the thread has them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        restore()
        training.stop(signal.Signals(number).name, status="interrupted")

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    finally:
        restore()
