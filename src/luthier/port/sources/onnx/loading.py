"""An ONNX file, read without running anything of it, and with every fault in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto

from luthier.errors import PortError
from luthier.port.sources.onnx.functions import written_out

__all__ = ["LOWEST", "Loaded", "array_of", "load"]

LOWEST = 7  # before it broadcasting was another
SMALL = 1 << 12  # bytes of an external array that is copied rather than mapped


class Loaded:
    """The model, and how its arrays are read."""

    def __init__(self, model: ModelProto, path: Path) -> None:
        self.model = model
        self.path = path
        self.opset = next(item.version for item in model.opset_import if item.domain in ("", "ai.onnx"))

    def array(self, tensor: TensorProto) -> NDArray[Any]:
        """An initialiser's numbers, from the file or from beside it."""
        return array_of(tensor, self.path)


def load(path: Path) -> Loaded:
    """Read and check a file."""
    try:
        model = onnx.load_model_from_string(path.read_bytes())
    except FileNotFoundError:
        raise PortError(f"No file '{path}'", at="SOURCE") from None
    except IsADirectoryError:
        raise PortError(f"'{path}' is a folder, expected an ONNX file", at="SOURCE") from None
    except (DecodeError, ValueError):
        raise _broken(path) from None
    if not model.graph.node and not model.graph.output:
        raise _broken(path)
    _check_opset(model, path)
    for tensor in _tensors(model):
        _check_tensor(tensor, path)
    _check_order(model, path)
    return Loaded(written_out(_inlined(model, path)), path)


def _broken(path: Path) -> PortError:
    return PortError(
        "The file cannot be read as an ONNX model: it is another format, or was cut short",
        at=str(path),
        hint="Export or copy it again; `onnx.checker.check_model` should accept it.",
    )


def _check_opset(model: ModelProto, path: Path) -> None:
    versions = [item.version for item in model.opset_import if item.domain in ("", "ai.onnx")]
    newest = onnx.defs.onnx_opset_version()
    if not versions:
        if any(node.domain in ("", "ai.onnx") for node in model.graph.node):
            raise PortError("The model does not say which opset it uses", at=str(path), hint="Export it again.")
        model.opset_import.add(domain="", version=newest)
    elif versions[0] < LOWEST:
        raise PortError(
            f"Opset {versions[0]} is older than {LOWEST}, where broadcasting began to mean what it means now",
            at=str(path),
            hint="onnx.version_converter.convert_version brings it to a newer one.",
        )
    elif versions[0] > newest:
        raise PortError(
            f"Opset {versions[0]} is newer than {newest}, the newest that the installed onnx {onnx.__version__} knows",
            at=str(path),
            hint="pip install --upgrade onnx",
        )


def _inlined(model: ModelProto, path: Path) -> ModelProto:
    """With the model's own functions written out."""
    if not model.functions:
        return model
    from onnx.inliner import inline_local_functions

    try:
        return inline_local_functions(model)
    except Exception as fault:  # whatever onnx finds wrong with them
        raise PortError(f"The model's functions cannot be written out: {_first(fault)}", at=str(path)) from None


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    yield from model.graph.initializer
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t


def _check_tensor(tensor: TensorProto, path: Path) -> None:
    """An external array must lie in the file's own folder, and be whole."""
    wanted = _length(tensor)
    if any(length < 0 for length in tensor.dims):
        raise PortError(f"'{tensor.name}' has a negative length", at=str(path))
    if tensor.data_location != TensorProto.EXTERNAL:
        if tensor.HasField("raw_data") and wanted is not None and len(tensor.raw_data) != wanted:
            raise PortError(
                f"'{tensor.name}' has {len(tensor.raw_data)} bytes, its shape {tuple(tensor.dims)} wants {wanted}",
                at=str(path),
                hint="The file was damaged: export or copy it again.",
            )
        return
    file, offset, length = _external(tensor, path)
    size = file.stat().st_size
    length = length if length is not None else (wanted if wanted is not None else size - offset)
    if offset + length > size or (wanted is not None and length < wanted):
        raise PortError(
            f"'{tensor.name}' needs {wanted} bytes from {offset} on, and {file.name} has {size}",
            at=str(file),
            hint="The file was damaged: export or copy it again.",
        )


def _length(tensor: TensorProto) -> int | None:
    """In bytes; unknown for strings and types that share a byte."""
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    except (KeyError, TypeError):
        raise PortError(f"'{tensor.name}' is of an unknown type ({tensor.data_type})") from None
    name = TensorProto.DataType.Name(tensor.data_type)
    if name == "STRING" or name.endswith(("INT4", "INT2", "E2M1")):
        return None
    count = 1
    for length in tensor.dims:
        count *= length
    return count * dtype.itemsize


def _external(tensor: TensorProto, path: Path) -> tuple[Path, int, int | None]:
    given = {item.key: item.value for item in tensor.external_data}
    folder = path.resolve().parent
    file = (folder / given.get("location", "")).resolve()
    if not file.is_relative_to(folder) or "location" not in given:
        raise PortError(
            f"The data of '{tensor.name}' lie outside the model's folder: {given.get('location', 'nowhere')}",
            at=str(path),
            hint="Put the file beside the model; it may name none elsewhere.",
        )
    if not file.is_file():
        raise PortError(
            f"'{given['location']}', which has the data of '{tensor.name}', is missing",
            at=str(path),
            hint="Copy it to the model's folder, too.",
        )
    try:
        offset = int(given.get("offset", 0))
        length = int(given["length"]) if "length" in given else None
    except ValueError:
        raise PortError(f"The place of '{tensor.name}' in {file.name} is no number", at=str(path)) from None
    if offset < 0 or (length is not None and length < 0):
        raise PortError(f"The place of '{tensor.name}' in {file.name} is negative", at=str(path))
    return file, offset, length


def array_of(tensor: TensorProto, path: Path) -> NDArray[Any]:
    """Great external arrays stay on the disk until they are used."""
    if tensor.data_location != TensorProto.EXTERNAL:
        return onnx.numpy_helper.to_array(tensor)
    file, offset, _ = _external(tensor, path)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    length = _length(tensor)
    if length is None:
        raise PortError(f"'{tensor.name}' of {tensor.data_type} cannot be read from another file", at=str(path))
    if length < SMALL:
        with file.open("rb") as opened:
            opened.seek(offset)
            return np.frombuffer(opened.read(length), dtype).reshape(tuple(tensor.dims))
    return np.memmap(file, dtype, "r", offset, tuple(tensor.dims))


def _check_order(model: ModelProto, path: Path) -> None:
    """Every input is made before it is used, and nothing twice."""
    graph = model.graph
    known = {item.name for item in (*graph.input, *graph.initializer)} | {""}
    known |= {item.values.name for item in graph.sparse_initializer}
    for node in graph.node:
        missing = next((name for name in node.input if name not in known), None)
        if missing is not None:
            raise PortError(
                f"Node '{node.name or node.op_type}' uses '{missing}', which nothing before it makes",
                at=str(path),
                hint="The nodes of a model stand in the order in which they run, without a circle.",
            )
        twice = next((name for name in node.output if name and name in known), None)
        if twice is not None:
            raise PortError(f"'{twice}' is made twice", at=str(path))
        known |= set(node.output)
    missing = next((item.name for item in graph.output if item.name not in known), None)
    if missing is not None:
        raise PortError(f"The output '{missing}' is made by no node", at=str(path))


def _first(fault: Exception) -> str:
    return next(iter(str(fault).strip().splitlines()), type(fault).__name__)
