"""A TensorFlow file becomes an ONNX file, which is read like any other and stays beside the port."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from luthier.errors import PortError, unknown
from luthier.port.manifest import Input
from luthier.port.onnx import OnnxFile, opened_onnx
from luthier.port.sources.tensorflow.asked import Wanted, of_graph, of_signature, wanted
from luthier.port.sources.tensorflow.contents import SAVED, graph_of, signatures_of
from luthier.port.sources.tensorflow.interpreter import convert

if TYPE_CHECKING:
    from luthier.port.graph import Network

__all__ = ["TensorflowFile", "is_tensorflow", "opened_tensorflow"]

FROZEN = ".pb"
KERAS = (".keras", ".h5", ".hdf5")
OPTIONS = ("nchw", "signature")


@dataclass(kw_only=True)
class TensorflowFile(OnnxFile):
    """Converted already, with the shapes that were asked for and cut where it was asked."""

    tools: dict[str, str] = field(default_factory=dict)

    def read(self, example_inputs: Any, asked: Sequence[Input], outputs: Sequence[str]) -> Network:
        """The graph of the conversion."""
        origin = self.source.origin
        network = OnnxFile.read(self, example_inputs, self.inputs, ())
        self.source = msgspec.structs.replace(self.source, origin=origin)
        return network

    def keep(self, folder: Path) -> None:
        """Put the conversion into the port's folder, where a proof finds it."""
        kept = folder / self.path.name
        shutil.copyfile(self.path, kept)
        self.source = msgspec.structs.replace(self.source, spec=str(kept.resolve()))


def is_tensorflow(source: Any) -> TypeGuard[str | Path]:
    """Whether the name is that of a frozen graph, a SavedModel or a Keras file."""
    if not isinstance(source, str | Path):
        return False
    return str(source).endswith((FROZEN, *KERAS)) or (Path(source) / SAVED).is_file()


@contextmanager
def opened_tensorflow(
    source: str | Path,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    weights: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Iterator[TensorflowFile]:
    """Convert the file, after every name was checked; `inputs` and `outputs` are the command's texts."""
    from luthier.port.sources.tensorflow.scopes import scoped

    path = Path(source)
    if path.name in ("", SAVED):
        path = path.resolve().parent if path.name else path.resolve()
    given = _options(options or {})
    if weights is not None:
        raise PortError("A TensorFlow file has its own weights", at="--weights", hint="Leave --weights out.")
    if not path.exists():
        raise PortError(f"No TensorFlow file '{path}'", at="SOURCE")
    if path.suffix in KERAS:
        raise PortError(
            "A Keras file may hold code, which is not executed",
            at=str(path),
            hint="model.export('folder') writes a SavedModel, whose folder can be ported.",
        )
    request = _request(path, [wanted(text) for text in inputs], outputs, given)
    with tempfile.TemporaryDirectory(prefix="luthier-tensorflow-") as folder:
        file = Path(folder) / f"{path.name.removesuffix(FROZEN)}.onnx"
        tools = convert({**request, "output": str(file)}, path)
        scoped(file)
        made = opened_onnx(file)
        record = msgspec.structs.replace(made.source, origin=str(path.resolve()))
        yield TensorflowFile(path=file, source=record, inputs=_shapes(request), tools=tools)


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in OPTIONS:
            sentence, hint = unknown("option of a TensorFlow file", name, OPTIONS)
            raise PortError(sentence, at="--set", hint=hint)
    if not isinstance(options.get("nchw", False), bool):
        raise PortError(f"Expected true or false, got '{options['nchw']}'", at="--set nchw")
    return dict(options)


def _request(
    path: Path, inputs: Sequence[Wanted], outputs: Sequence[str], options: Mapping[str, Any]
) -> dict[str, Any]:
    """What the converter is asked for; in a frozen graph names are of tensors, in a SavedModel of arguments."""
    signature = None
    given, cut = list(inputs), list(outputs)
    if path.is_dir():
        if not (path / SAVED).is_file():
            raise PortError(f"'{path}' is a folder without {SAVED}, expected a frozen graph", at="SOURCE")
        signature = of_signature(signatures_of(path), options.get("signature"), given, cut, path)
    elif "signature" in options:
        raise PortError("A frozen graph has no signatures", at="--set signature", hint="Leave it out.")
    else:
        given, cut = of_graph(graph_of(path), given, cut, path)
    return {
        "path": str(path.resolve()),
        "name": path.name,
        "signature": signature,
        "inputs": [{"name": item.name, "shape": _numbers(item), "dtype": item.dtype} for item in given],
        "outputs": cut,
        "nchw": bool(options.get("nchw", False)),
    }


def _numbers(item: Wanted) -> list[int] | None:
    return [-1 if length == "?" else length for length in item.shape] if item.shape is not None else None


def _shapes(request: Mapping[str, Any]) -> tuple[Input, ...]:
    """Those that were given, under the names and in the order of axes that the conversion has."""
    found = []
    for item in request["inputs"]:
        lengths = item["shape"]
        if lengths is None:
            continue
        if request["nchw"] and len(lengths) == 4:
            lengths = [lengths[i] for i in (0, 3, 1, 2)]
        name = item["name"].removesuffix(":0")
        found.append(Input(name=name, shape=tuple("?" if n < 0 else n for n in lengths), dtype=item["dtype"]))
    return tuple(found)
