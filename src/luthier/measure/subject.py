"""What is measured, and in what state it is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.compress import Encoded, Network, encoder
from luthier.errors import MeasureError

__all__ = ["FileSubject", "Prepared", "Subject"]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A network that is loaded, compiled and has its input: `infer` runs it once, and returns when it has run.

    What runs in a process of its own times itself: `times` takes the runs to warm up and those that count, and gives
    the milliseconds of the latter.
    """

    infer: Callable[[], object]
    device: str
    times: Callable[[int, int], list[float]] | None = None


class Subject:
    """A network, and its exported file, which is made once however many figures are taken from it."""

    def __init__(self, *, network: Network) -> None:
        self._network = network

    @property
    def network(self) -> Network:
        """In a session."""
        return self._network

    def images(self, count: int) -> NDArray[Any]:
        """Random ones, the same each time, as the network takes them."""
        return _random(count, self.network.shape, pixels=False)

    @cached_property
    def mindir(self) -> Encoded:
        """The file that MindSpore would run."""
        return encoder("mindir")(self.network, pixels=False)

    @cached_property
    def onnx(self) -> Encoded:
        """The file that a deployment would run."""
        return encoder("onnx")(self.network, pixels=False)


class FileSubject(Subject):
    """An ONNX file that is there already: only what reads such files can time it."""

    def __init__(self, data: bytes, *, shape: tuple[int, int, int], pixels: bool = False) -> None:
        self._data, self._shape, self._pixels = data, shape, pixels

    @property
    def network(self) -> Network:
        """Whoever asks for it cannot time a file."""
        raise MeasureError(
            "An exported file has no latency in this runtime, which takes a network",
            at="score.runtime",
            hint="For example: --set score.runtime=onnxruntime",
        )

    def images(self, count: int) -> NDArray[Any]:
        """Bytes in NHWC where the file normalises by itself."""
        return _random(count, self._shape, pixels=self._pixels)

    @cached_property
    def onnx(self) -> Encoded:
        """The file."""
        return Encoded(data=self._data)


def _random(count: int, shape: tuple[int, int, int], *, pixels: bool) -> NDArray[Any]:
    height, width, channels = shape
    generator = np.random.default_rng(0)
    if pixels:
        return generator.integers(0, 256, (count, height, width, channels), np.uint8)
    return generator.standard_normal((count, channels, height, width), np.float32)
