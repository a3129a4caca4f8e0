"""The one event file of a run, written so that a kill at any moment leaves it readable and a resume leaves no trace.

A scalar costs 9 µs, the histogram of 48,000 weights 0.7 ms, of 2.4 million 46 ms, a flush of little 0.1 ms (one core
of an AMD EPYC, Python 3.11, NumPy 2.4, medians of 7 rounds of 20,000, 50, 3 and 20).
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from luthier.errors import StoreError
from luthier.store import event_messages as messages
from luthier.store.durable import could_not_write, sync_folder
from luthier.store.histogram import histogram
from luthier.store.tfrecord import boundary, framed, whole_length

__all__ = ["EventWriter"]

DRAIN_BYTES = 1 << 16
DRAIN_S = 1.0  # whoever watches a run sees an event so late at most, once the next one is written


class EventWriter:
    """Appends events to a file that TensorBoard opens as it is; one writer a file, any number of readers.

    An existing file is first cut back: to `length`, which `flush` returned when a checkpoint was taken, or else to the
    end of its last whole record. A file that was removed since is begun anew, whatever the length.
    """

    def __init__(self, path: Path, *, length: int | None = None) -> None:
        self.path = path
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._drained_at = time.monotonic()
        self._length = _length_to_keep(path, length)
        self._file = _opened(path, self._length)
        if self._length == 0:
            self._append(messages.first_event(time.time()))
            self._drain()

    def scalar(self, tag: str, value: float, step: int, wall_time: float | None = None) -> None:
        """A point of a curve; one that is not finite is kept as such."""
        self._record(messages.scalar_value(tag, value), step, wall_time)

    def histogram(self, tag: str, values: ArrayLike, step: int, wall_time: float | None = None) -> None:
        """The values' distribution; NaN and infinities are counted under `tag/nan` and so on, where there are any."""
        self._record(messages.histogram_value(tag, histogram(values)), step, wall_time)

    def image(self, tag: str, pixels: NDArray[np.uint8], step: int, wall_time: float | None = None) -> None:
        """A picture: uint8 of height, width and 1, 3 or 4 channels."""
        self._record(messages.image_value(tag, pixels), step, wall_time)

    def text(self, tag: str, text: str, step: int, wall_time: float | None = None) -> None:
        """A text, which TensorBoard shows as Markdown."""
        self._record(messages.text_value(tag, text), step, wall_time)

    def tensor(self, tag: str, array: NDArray[Any], step: int, wall_time: float | None = None) -> None:
        """An array to the bit, for whoever reads the file."""
        self._record(messages.tensor_value(tag, np.asarray(array)), step, wall_time)

    def flush(self) -> int:
        """The length of what is safely on disk: what a checkpoint has to remember."""
        self._drain()
        try:
            os.fsync(self._file)
        except OSError as error:
            raise could_not_write(self.path.name, error, at=self.path.parent) from error
        return self._length

    def close(self) -> None:
        """Write what is left and let the file go; a second time does nothing."""
        if self._file < 0:
            return
        try:
            self.flush()
        finally:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _record(self, values: bytes, step: int, wall_time: float | None) -> None:
        self._append(messages.event(time.time() if wall_time is None else wall_time, step, values))

    def _append(self, payload: bytes) -> None:
        if self._file < 0:
            raise StoreError("The event file is closed", at=str(self.path))
        record = framed(payload)
        self._pending.append(record)
        self._pending_bytes += len(record)
        if self._pending_bytes >= DRAIN_BYTES or time.monotonic() - self._drained_at >= DRAIN_S:
            self._drain()

    def _drain(self) -> None:
        """A disk that fills up in the middle keeps whole records only; what was not written is tried again later."""
        data = b"".join(self._pending)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            os.ftruncate(self._file, self._length)
            raise could_not_write(self.path.name, error, at=self.path.parent, needed=len(data)) from error
        self._length += len(data)
        self._pending.clear()
        self._pending_bytes = 0
        self._drained_at = time.monotonic()


def _opened(path: Path, length: int) -> int:
    file = -1
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        os.ftruncate(file, length)
        sync_folder(path.parent)
    except OSError as error:
        if file >= 0:
            os.close(file)
        raise could_not_write(path.name, error, at=path.parent) from error
    return file


def _length_to_keep(path: Path, recorded: int | None) -> int:
    if not path.exists():
        return 0
    if recorded is None:
        return whole_length(path)
    if not boundary(path, recorded):
        raise StoreError(
            f"The event file is not the one that the checkpoint recorded: no record ends at byte {recorded:,}",
            at=str(path),
            hint="Move the file away: the run then goes on with a new one.",
        )
    return recorded
