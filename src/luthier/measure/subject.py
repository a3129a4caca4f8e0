"""What is measured, and in what state it is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from luthier.compress import Encoded, Network, encoder

__all__ = ["Prepared", "Subject"]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A network that is loaded, compiled and has its input: `infer` runs it once, and returns when it has run.

    What runs in a process of its own times itself: `times` takes the runs to warm up and those that count, and gives
    the milliseconds of the latter.
    """

    infer: Callable[[], object]
    device: str
    times: Callable[[int, int], list[float]] | None = None


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A network, and its exported file, which is made once however many figures are taken from it."""

    network: Network

    @cached_property
    def mindir(self) -> Encoded:
        """The file that MindSpore would run."""
        return encoder("mindir")(self.network, pixels=False)

    @cached_property
    def onnx(self) -> Encoded:
        """The file that a deployment would run."""
        return encoder("onnx")(self.network, pixels=False)
