"""A value whose content may be known while the source is read, as an ONNX file's constants are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from luthier.port.graph import Value

__all__ = ["Known"]


@dataclass(eq=False, kw_only=True)
class Known(Value):
    """`content` is what it holds, none where that is known as the network runs; `ranked` where its shape is known."""

    content: NDArray[Any] | None = None
    is_initialiser: bool = False
    is_parameter: bool = False  # of a layer: never written as a number
    ranked: bool = True
