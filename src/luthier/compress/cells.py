"""A network's Cell: written by MindSpore in its own formats, loaded back and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mindspore
import numpy as np
from mindspore import Tensor, nn
from numpy.typing import NDArray

from luthier.compress.network import Network
from luthier.errors import ExportError

__all__ = ["TRACED", "answering", "checkpoint_of", "loaded_graph", "mindir_of", "onnx_of"]

Array = NDArray[Any]
Run = Callable[[Array], Array]
NAMES = {"mindir": "MindIR", "onnx": "ONNX"}
TRACED = 7  # images: a batch size that no layer has, so that it can be told from other numbers in the graph


def answering(network: Network, *, pixels: bool) -> Run:
    """The Cell as it is, without a graph to be compiled for each number of images."""
    cell = _cell(network, pixels=pixels)

    def run(images: Array) -> Array:
        with _mode(mindspore.PYNATIVE_MODE):
            outputs = cell(Tensor(images))
        if not isinstance(outputs, Tensor):
            raise ExportError(f"Expected one tensor of logits from the network, got a {type(outputs).__name__}")
        return np.asarray(outputs.asnumpy(), np.float32)

    return run


def mindir_of(network: Network, *, pixels: bool, told: Mapping[str, str]) -> bytes:
    """The graph for any number of images."""

    def describe(model: Any) -> None:
        for key, value in told.items():
            model.user_info[key] = value

    def write(cell: nn.Cell, path: Path) -> None:
        images = Tensor(shape=[None, *_size(network, pixels=pixels)], dtype=_kind(pixels=pixels))
        mindspore.export(cell, images, file_name=str(path), file_format="MINDIR", custom_func=describe)

    return _written(network, write, "mindir", pixels=pixels)


def onnx_of(network: Network, *, pixels: bool, names: tuple[str, str]) -> bytes:
    """The graph as MindSpore writes it, with `TRACED` in it wherever the Cell asks for the number of images."""

    def write(cell: nn.Cell, path: Path) -> None:
        images = Tensor(np.zeros((TRACED, *_size(network, pixels=pixels))), _kind(pixels=pixels))
        axes = {names[0]: {0: "batch"}}
        mindspore.onnx.export(
            cell, images, file_name=str(path), input_names=[names[0]], output_names=[names[1]], dynamic_axes=axes
        )

    return _written(network, write, "onnx", pixels=pixels)


def _written(network: Network, write: Callable[[nn.Cell, Path], None], form: str, *, pixels: bool) -> bytes:
    with TemporaryDirectory() as folder, _mode(mindspore.GRAPH_MODE):
        path = Path(folder, f"network.{form}")
        try:
            write(_cell(network, pixels=pixels), path)
        except Exception as fault:  # MindSpore's compiler and the user's Cell may raise anything
            raise ExportError(f"MindSpore cannot write the network as {NAMES[form]}: {_said(fault)}") from fault
        if len(list(path.parent.iterdir())) != 1:
            raise ExportError(f"MindSpore writes {NAMES[form]} of this size as several files, expected one")
        return path.read_bytes()


def _size(network: Network, *, pixels: bool) -> tuple[int, int, int]:
    height, width, channels = network.shape
    return (height, width, channels) if pixels else (channels, height, width)


def _kind(*, pixels: bool) -> Any:
    return mindspore.uint8 if pixels else mindspore.float32


def loaded_graph(data: bytes) -> Run:
    """A MindIR as a deployment loads it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "network.mindir")
        path.write_bytes(data)
        graph = nn.GraphCell(mindspore.load(str(path)))

    def run(images: Array) -> Array:
        try:
            with _mode(mindspore.GRAPH_MODE):
                return np.asarray(graph(Tensor(images)).asnumpy(), np.float32)
        except Exception as fault:  # MindSpore's loader may raise anything
            raise ExportError(f"MindSpore does not run the MindIR that it wrote: {_said(fault)}") from fault

    return run


def checkpoint_of(network: Network, fresh: Any) -> bytes:
    """The parameters by MindSpore's names, once `fresh`, a session of other weights, has taken them from the file."""
    session: Any = network.on("mindspore")
    parameters = [{"name": parameter.name, "data": parameter} for parameter in session.own_parameters()]
    with TemporaryDirectory() as folder:
        path = Path(folder, "network.ckpt")
        mindspore.save_checkpoint(parameters, str(path))
        _, foreign = mindspore.load_param_into_net(fresh.network, mindspore.load_checkpoint(str(path)))
        if foreign:
            raise ExportError(f"MindSpore's checkpoint came back with parameters of no one: {', '.join(foreign)}")
        return path.read_bytes()


def _cell(network: Network, *, pixels: bool) -> nn.Cell:
    session: Any = network.on("mindspore")
    cell: nn.Cell = session.evaluation if pixels else session.network
    return cell.set_train(False)


@contextmanager
def _mode(mode: int) -> Iterator[None]:
    before = mindspore.get_context("mode")
    mindspore.set_context(mode=mode)
    try:
        yield
    finally:
        mindspore.set_context(mode=before)


def _said(fault: Exception) -> str:
    """Its first paragraph; what follows are call stacks."""
    return " ".join(str(fault).strip().split("\n\n")[0].split("\n---")[0].split()) or type(fault).__name__
