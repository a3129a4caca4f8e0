"""Processes that msrun started: MindSpore's own mccl between CPUs, HCCL and NCCL between accelerators."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import mindspore
import numpy as np
from mindspore import Tensor, communication, ops
from numpy.typing import NDArray

from luthier.engines.launching import Launch
from luthier.engines.mindspore import logs
from luthier.engines.mindspore.device import device_of
from luthier.errors import LuthierError, TrainingError

__all__ = ["MindSporeGroup"]

COLLECTIVE = re.compile(r"All(Reduce|Gather)")
LARGEST = 2**20  # float32, the one type that mccl moves, counts to 2²⁴
LEAVING_S = 0.5  # mccl's last message is acknowledged after its receiver has gone on


class MindSporeGroup:
    """One of several ranks. mccl waits for another for half a minute, and then gives up."""

    def __init__(self, launch: Launch, device: str) -> None:
        logs.keep_from_working_folder()  # and from the terminal, where they come as if a failure had been before
        self.asks_to_stop = self.stop_was_asked = False
        self.device = "cpu" if launch.schedules else device_of(device, launch)
        try:
            communication.init()
        except RuntimeError as fault:
            if launch.schedules:  # which then waits for half a minute before it is sure
                raise TrainingError(
                    f"One of the {launch.ranks} ranks that msrun started is gone, and the others with it",
                    hint="Its own log, in msrun's --log_dir, says why. Go on with --resume, from the last checkpoint.",
                ) from fault
            said = str(fault).strip().splitlines()[0]
            raise TrainingError(f"The {launch.ranks} ranks do not find one another: {said}") from fault
        if launch.schedules:
            raise SystemExit(0)  # the scheduler has waited in `init` until the ranks were done
        self.rank, self.ranks = communication.get_rank(), communication.get_group_size()
        self.backend: str | None = str(communication.GlobalComm.BACKEND)
        self._all_gather = ops.AllGather()

    def gather(self, payload: bytes) -> list[bytes]:
        """What every rank gives, in their order."""
        lengths = [int(high * LARGEST + low) for high, low in self._gathered([*divmod(len(payload), LARGEST)])]
        longest = max(1, *lengths)
        padded = np.frombuffer(payload.ljust(longest, b"\0"), np.uint8)
        rows = self._gathered(padded)
        return [row[:length].astype(np.uint8).tobytes() for row, length in zip(rows, lengths, strict=True)]

    def _gathered(self, values: list[int] | NDArray[np.uint8]) -> NDArray[np.float32]:
        """A row of numbers of each rank."""
        with self.telling_losses():
            found = self._all_gather(Tensor(np.asarray(values, np.float32)))
            return np.asarray(found.asnumpy()).reshape(self.ranks, -1)

    @contextmanager
    def telling_losses(self) -> Iterator[None]:
        """A collective that fails does so because somebody is gone."""
        try:
            yield
        except (RuntimeError, LuthierError) as fault:
            if not COLLECTIVE.search(f"{fault} {fault.__cause__}"):
                raise
            raise TrainingError(
                f"Another of the {self.ranks} ranks is gone, or did not answer for half a minute",
                at=f"rank {self.rank}",
                hint="Its own log says why. Go on with --resume, from the last checkpoint.",
            ) from fault

    def fail(self, sentence: str) -> None:
        """msrun ends the others."""

    def close(self) -> None:
        """Give the others the time to hear the last word."""
        if self.ranks > 1:
            mindspore.runtime.synchronize()
            time.sleep(LEAVING_S)
