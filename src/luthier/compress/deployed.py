"""An exported ONNX file, opened again: what it says of itself, and its answers to images."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from luthier.errors import ExportError
from luthier.recipe import Recipe, parse

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Deployed", "normalised", "open_file"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Deployed:
    """The file's bytes, and what it was exported with."""

    name: str  # of the run or the recipe
    data: bytes
    recipe: Recipe
    classes: tuple[str, ...]
    shape: tuple[int, int, int]  # height, width, channels
    pixels: bool
    step: int | None
    storage: str

    @property
    def model(self) -> ModelProto:
        """The graph."""
        import onnx

        return onnx.load_from_string(self.data)

    def answering(self) -> Answering:
        """Ready to be run."""
        return Answering(self.data, self.recipe, pixels=self.pixels)


class Answering:
    """The graph in ONNX Runtime, fed as the network it came from is."""

    def __init__(self, data: bytes, recipe: Recipe, *, pixels: bool) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others may use the cores, too
        self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        self._recipe, self._pixels = recipe, pixels

    def logits(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Of images as they come from the data set: bytes, in NHWC."""
        given = images if self._pixels else normalised(images, self._recipe)
        outputs: NDArray[np.float32] = self._session.run(None, {self._input: given})[0]
        return outputs


def normalised(images: NDArray[np.uint8], recipe: Recipe) -> NDArray[np.float32]:
    """As a session does it on its own device: one product and one sum."""
    mean, std = (np.array(numbers) for numbers in (recipe.data.normalize.mean, recipe.data.normalize.std))
    scale, shift = (1 / (255 * std)).astype(np.float32), (-mean / std).astype(np.float32)
    return np.ascontiguousarray((images.astype(np.float32) * scale + shift).transpose(0, 3, 1, 2))


def open_file(path: Path | str) -> Deployed:
    """Read an exported file; one that does not say which recipe it came from cannot be judged."""
    import onnx

    place = Path(path)
    try:
        data = place.read_bytes()
    except OSError as error:
        raise ExportError(f"Could not read the file: {error.strerror}", at=str(place)) from error
    try:
        model = onnx.load_from_string(data)
    except Exception as error:  # protobuf's, which differs by its version
        raise ExportError("The file is no ONNX graph, or a damaged one", at=str(place)) from error
    told = {item.key: item.value for item in model.metadata_props}
    if "recipe" not in told:
        raise ExportError(
            "The file does not say which recipe it came from",
            at=str(place),
            hint="Export it again: luthier export RUN -o model.onnx",
        )
    return Deployed(
        name=place.stem,
        data=data,
        recipe=parse(told["recipe"], place=str(place)),
        classes=tuple(json.loads(told["classes"])),
        shape=_shape(model, pixels=told["layout"] == "NHWC"),
        pixels=told["layout"] == "NHWC",
        step=int(told["step"]) if "step" in told else None,
        storage=told.get("storage", "float32"),
    )


def _shape(model: Any, *, pixels: bool) -> tuple[int, int, int]:
    sizes = [int(axis.dim_value) for axis in model.graph.input[0].type.tensor_type.shape.dim[1:]]
    height, width, channels = sizes if pixels else (sizes[1], sizes[2], sizes[0])
    return height, width, channels
