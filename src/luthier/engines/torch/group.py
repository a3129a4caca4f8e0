"""Processes that torchrun started: gloo between CPUs, NCCL between CUDA devices."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous

from luthier.engines.launching import Launch
from luthier.engines.torch.device import device_of
from luthier.errors import LuthierError, TrainingError

__all__ = ["TorchGroup"]

TIMEOUT = timedelta(minutes=10)  # for which a rank waits for another
ROLL_CALL_S = 3.0  # after a rank is gone, for those that are left to say so
FOREIGN = (RuntimeError, ValueError)  # of which torch.distributed's own errors are


class TorchGroup:
    """One of several ranks. Who is gone is found through the store, which torchrun itself keeps."""

    def __init__(self, launch: Launch, device: str) -> None:
        self.rank, self.ranks = launch.rank, launch.ranks
        self.asks_to_stop = self.stop_was_asked = False
        self.device = device_of(device, launch)
        cuda = self.device.type == "cuda"
        self.backend: str | None = "nccl" if cuda else "gloo"
        if cuda:
            torch.cuda.set_device(self.device)
        try:
            self._store, *_ = next(rendezvous("env://", self.rank, self.ranks, timeout=TIMEOUT))
            dist.init_process_group(
                "cpu:gloo,cuda:nccl" if cuda else "gloo",
                store=PrefixStore("luthier-ranks", self._store),
                rank=self.rank,
                world_size=self.ranks,
                timeout=TIMEOUT,
            )
        except FOREIGN as fault:
            said = str(fault).strip().splitlines()[0]
            raise TrainingError(f"The {self.ranks} ranks do not find one another: {said}") from fault

    def gather(self, payload: bytes) -> list[bytes]:
        """What every rank gives, in their order."""
        with self.telling_losses():
            own = torch.tensor([len(payload)])
            lengths = [torch.zeros_like(own) for _ in range(self.ranks)]
            dist.all_gather(lengths, own)
            longest = max(1, *(int(length) for length in lengths))
            padded = torch.zeros(longest, dtype=torch.uint8)
            padded[: len(payload)] = torch.frombuffer(bytearray(payload or b"\0"), dtype=torch.uint8)[: len(payload)]
            found = [torch.zeros_like(padded) for _ in range(self.ranks)]
            dist.all_gather(found, padded)
        return [each[: int(length)].numpy().tobytes() for each, length in zip(found, lengths, strict=True)]

    def sum(self, *tensors: Tensor) -> None:
        """In place, over all ranks."""
        with self.telling_losses():
            for work in [dist.all_reduce(tensor, async_op=True) for tensor in tensors]:
                assert work is not None
                work.wait()

    @contextmanager
    def telling_losses(self) -> Iterator[None]:
        """A connection that broke becomes one sentence on who is gone."""
        try:
            yield
        except LuthierError:
            raise
        except FOREIGN as fault:
            raise self._gone() from fault

    def fail(self, sentence: str) -> None:
        """Tell the others why this rank leaves."""
        with suppress(*FOREIGN):
            self._store.set(_key("failed", self.rank), sentence)

    def _gone(self) -> TrainingError:
        """One rank tells it: the one that failed of itself, or else the first of those that are left."""
        failed, alive = self._roll_call()
        dead = [rank for rank in range(self.ranks) if rank not in failed and rank not in alive]
        if failed:
            error = TrainingError("; ".join(f"rank {rank} failed: {told}" for rank, told in failed.items()))
        elif dead:
            several = "s" * (len(dead) > 1)
            error = TrainingError(
                f"Rank{several} {', '.join(map(str, dead))} of {self.ranks} ended without a word: the others stop too",
                hint="It was killed, perhaps for want of memory. Go on with --resume, from the last checkpoint.",
            )
        else:
            error = TrainingError(f"The connection between the {self.ranks} ranks broke")
        error.told_elsewhere = bool(failed) or self.rank != min(alive, default=self.rank)
        return error

    def _roll_call(self) -> tuple[dict[int, str], set[int]]:
        """Who failed with which sentence, and who is left."""
        failed: dict[int, str] = {}
        alive = {self.rank}
        end = time.monotonic() + ROLL_CALL_S
        with suppress(*FOREIGN):
            self._store.set(_key("alive", self.rank), "")
            while time.monotonic() < end and len(alive | failed.keys()) < self.ranks:
                for rank in range(self.ranks):
                    if rank not in failed and self._store.check([_key("failed", rank)]):
                        failed[rank] = self._store.get(_key("failed", rank)).decode()
                    elif self._store.check([_key("alive", rank)]):
                        alive.add(rank)
                time.sleep(0.05)
        return failed, alive

    def close(self) -> None:
        """Leave."""
        if dist.is_initialized():
            dist.destroy_process_group()


def _key(kind: str, rank: int) -> str:
    return f"luthier/{kind}/{rank}"
