"""Which of several processes this one is, as torchrun and msrun say it in the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from luthier.errors import EngineError

__all__ = ["Launch", "launched"]

TORCH, MINDSPORE = "torch", "mindspore"
LAUNCHERS = {
    TORCH: "torchrun --nproc-per-node {} -m luthier",
    MINDSPORE: "msrun --worker_num={0} --local_worker_num={0} --join=True python -m luthier",
}
ADDRESS = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


class Launch(Struct, frozen=True, kw_only=True):
    """A process that was started alone is the first of one."""

    engine: str | None = None  # whose launcher it was
    rank: int = 0
    ranks: int = 1
    local_rank: int = 0  # among those of this machine
    schedules: bool = False  # msrun starts the program once more, to bring the others together

    @property
    def program(self) -> str:
        """What starts these processes again, on one machine."""
        return LAUNCHERS[self.engine].format(self.ranks) if self.engine and self.ranks > 1 else "luthier"

    def require(self, engine: str) -> None:
        """Refuse processes of the other engine's launcher: they would all train the same, each alone."""
        if self.engine is None or self.engine == engine or (self.engine == TORCH and self.ranks == 1):
            return
        own, other = LAUNCHERS[engine].format("N"), LAUNCHERS[self.engine]
        raise EngineError(
            f"The {engine} engine was started by {other.split()[0]}, which brings processes of {self.engine} together",
            at="engine",
            hint=f"Start it with: {own} train …, or set engine={self.engine}.",
        )


def launched(environment: Mapping[str, str] = os.environ) -> Launch:
    """msrun leaves the number to MindSpore where several machines take part without a --node_rank."""
    if "MS_ROLE" in environment:
        return Launch(
            engine=MINDSPORE,
            rank=_number(environment, "MS_NODE_ID", 0),
            ranks=_number(environment, "MS_WORKER_NUM", 1),
            local_rank=_number(environment, "DEVICE_ID", 0),
            schedules=environment["MS_ROLE"] == "MS_SCHED",
        )
    ranks = _number(environment, "WORLD_SIZE", 1)
    if ranks == 1:
        return Launch(engine=TORCH if "TORCHELASTIC_RUN_ID" in environment else None)
    missing = [name for name in ADDRESS if name not in environment]
    if missing:
        raise EngineError(
            f"WORLD_SIZE is set for {ranks} ranks that train together, but not {', '.join(missing)}",
            at="the environment",
            hint=f"Start them with: {LAUNCHERS[TORCH].format(ranks)} train …, or unset WORLD_SIZE.",
        )
    rank = _number(environment, "RANK", 0)
    return Launch(engine=TORCH, rank=rank, ranks=ranks, local_rank=_number(environment, "LOCAL_RANK", rank))


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, str(default))
    if not text.isdecimal():
        raise EngineError(f"Expected a whole number, got '{text}'", at=f"{name} in the environment")
    return int(text)
