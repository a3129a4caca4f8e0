"""The source of a port, opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from luthier.port.manifest import Source

if TYPE_CHECKING:
    from torch import nn

    from luthier.port.graph import Network

__all__ = ["build_source", "read_source"]


def build_source(source: Source) -> nn.Module:
    """The source's module with its weights, in evaluation mode, as it was when it was ported."""
    from luthier.port.sources.opening import build_source as build

    return build(source)


def read_source(source: Source) -> Network:
    """An ONNX file's graph, as it was when it was ported."""
    from luthier.port.onnx import reopened
    from luthier.port.sources.onnx.network import read_onnx

    path, inputs, outputs = reopened(source)
    return read_onnx(path, inputs, outputs).network
