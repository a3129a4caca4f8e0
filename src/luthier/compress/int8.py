"""Static quantisation by ONNX Runtime: int8 weights by channel, uint8 activations, and the scales of both."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from luthier.compress.graphs import layer_of
from luthier.errors import ExportError, nearest
from luthier.recipe import Compress

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["in_int8"]

BATCH = 64
HEAVY = ("Conv", "ConvTranspose", "Gemm", "MatMul")
RANGES = {"min-max": "MinMax", "percentile": "Percentile", "entropy": "Entropy"}


class Reader:
    """Calibration images, a batch at a time: what ONNX Runtime asks of them."""

    def __init__(self, name: str, images: NDArray[Any]) -> None:
        self._name, self._images = name, images
        self._range = range(0, len(images), BATCH)
        self._left = iter(self._range)

    def __len__(self) -> int:
        return len(self._range)

    def set_range(self, start_index: int, end_index: int) -> None:
        """The batches of the next round."""
        self._left = iter(self._range[start_index:end_index])

    def get_next(self) -> dict[str, NDArray[Any]] | None:
        """By the input's name."""
        begin = next(self._left, None)
        return None if begin is None else {self._name: self._images[begin : begin + BATCH]}


def in_int8(data: bytes, images: NDArray[Any], config: Compress) -> bytes:
    """`images` are such as the graph takes them; they tell how far each activation goes."""
    import onnx
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model = onnx.load_from_string(data)
    with TemporaryDirectory() as folder, _quiet():
        plain, done = Path(folder, "float32.onnx"), Path(folder, "int8.onnx")
        try:
            quant_pre_process(model, plain, skip_symbolic_shape=True)
            quantize_static(
                plain,
                done,
                Reader(model.graph.input[0].name, images),
                quant_format=QuantFormat.QDQ,
                per_channel=True,
                reduce_range=config.weight_bits == 7,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                nodes_to_exclude=_excluded(onnx.load(plain), config.exclude),
                calibrate_method=CalibrationMethod[RANGES[config.ranges]],
                extra_options={"CalibStridedMinMax": 1},  # a batch at a time, whose activations are then let go
            )
        except ExportError:
            raise
        except Exception as error:  # ONNX Runtime's quantiser raises whatever its parts do
            told = str(error).strip().split("\n")[0] or type(error).__name__
            raise ExportError(f"ONNX Runtime cannot quantise the network: {told}") from error
        quantised = onnx.load(done)
    if not any(node.op_type == "QuantizeLinear" for node in quantised.graph.node):
        raise ExportError("Nothing of the network can be stored as int8", at="compress.exclude")
    _answer_in_float32(quantised)
    del quantised.metadata_props[:]
    quantised.metadata_props.extend(model.metadata_props)
    onnx.checker.check_model(quantised, full_check=True)
    return bytes(quantised.SerializeToString(deterministic=True))


def _excluded(model: ModelProto, layers: Sequence[str]) -> list[str]:
    """The nodes of the layers that are to stay as they are, and what comes before the first layer of all.

    That is the normalisation of pixels: with 256 values at its input it needs every bit.
    """
    heavy = [node for node in model.graph.node if node.op_type in HEAVY]
    if not heavy:
        raise ExportError("The network has no convolution and no dense layer to store as int8")
    before = []
    for node in model.graph.node:
        if node.op_type in HEAVY:
            break
        before.append(node.name)
    names = {"first": layer_of(heavy[0]), "last": layer_of(heavy[-1])}
    known = {layer_of(node) for node in heavy}
    for layer in layers:
        if names.get(layer, layer) not in known:
            meant = nearest(layer, known)
            hint = f"Perhaps you meant '{meant}'." if meant else f"It has: {', '.join(sorted(known))}."
            raise ExportError(f"No layer '{layer}' in the graph", at="compress.exclude", hint=hint)
    chosen = {names.get(layer, layer) for layer in layers}
    return before + [node.name for node in heavy if layer_of(node) in chosen]


def _answer_in_float32(model: ModelProto) -> None:
    """The logits come out of the last layer's sums as they are: rounded to 8 bits, close classes would be one."""
    makers = {name: node for node in model.graph.node for name in node.output}
    for output in model.graph.output:
        last = makers[output.name]
        before = makers.get(last.input[0]) if last.op_type == "DequantizeLinear" else None
        if before is None or before.op_type != "QuantizeLinear":
            continue
        maker = makers[before.input[0]]
        scales = {*last.input[1:], *before.input[1:]}
        model.graph.node.remove(last)
        model.graph.node.remove(before)
        for node in model.graph.node:
            for names in (node.input, node.output):
                names[:] = [output.name if name == before.input[0] else name for name in names]
        used = {name for node in model.graph.node for name in node.input}
        for tensor in [item for item in model.graph.initializer if item.name in scales - used]:
            model.graph.initializer.remove(tensor)
        assert output.name in maker.output, "the maker's output took the graph's name"


@contextmanager
def _quiet() -> Iterator[None]:
    """The quantiser prints to standard output, where data goes, and speaks through the root of all logs."""
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        root.removeHandler(handler)
