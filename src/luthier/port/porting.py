"""The verb: a source goes in, a folder comes out that MindSpore runs on its own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from luthier.errors import MissingPackage, PortError
from luthier.port.cells import Cells
from luthier.port.classes import Class, classes
from luthier.port.files import CHECKPOINT, MAP, MODEL, WEIGHTS, write_checkpoint, write_safetensors
from luthier.port.graph import Module, Network
from luthier.port.inputs import parsed_input
from luthier.port.manifest import Input, Layer, Port, Source, write_manifest
from luthier.port.mapping import mapped, unused
from luthier.port.onnx import OnnxFile, is_onnx, opened_onnx
from luthier.port.report import Report, reported
from luthier.port.report_page import Language, write_report
from luthier.port.sources.tensorflow.opening import TensorflowFile, is_tensorflow, opened_tensorflow
from luthier.port.writing import Written, lines_by_path, written
from luthier.weights import WeightMap, write_map
from luthier.zoo import load_object

if TYPE_CHECKING:
    from mindspore import nn as cells
    from torch import nn

    from luthier.port.sources.opening import Opened

__all__ = ["Ported", "analyse", "port"]


@dataclass(kw_only=True)
class Ported:
    """A port: the live Cell with its weights, the report, and where the files are."""

    folder: Path
    report: Report
    map: WeightMap
    manifest: Port
    cell: cells.Cell | None
    """None where something was refused that its constructor needs."""


@dataclass(kw_only=True)
class _Made:
    """All that is known before anything is written."""

    network: Network
    cells: Cells
    classes: list[Class]
    text: Written
    map: WeightMap
    report: Report
    inputs: tuple[Input, ...]
    model: str


def port(
    source: nn.Module | str | Path | None,
    example_inputs: Any = None,
    *,
    output: Path | str | None = None,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    weights: Path | str | None = None,
    options: Mapping[str, Any] | None = None,
    checkpoint: str = "last",
    data_root: Path | str | None = None,
    language: Language = "en",
    model: str = MODEL,
) -> Ported:
    """Port a module, `file.py:factory`, a run, a recipe, an ONNX or a TensorFlow file to MindSpore.

    `example_inputs` are tensors, one or a tuple or a dict by argument; without them `inputs` tells their shapes.
    `outputs` are the values at which an ONNX or TensorFlow file is cut; `model` is the script's place in the folder.
    What cannot be carried over is written as a stub that raises, and stands in the report.
    """
    _require_mindspore()
    folder = Path(output) if output is not None else Path(tempfile.mkdtemp(prefix="luthier-port-"))
    with _opened(source, weights, options, checkpoint, data_root, inputs, outputs) as found:
        made = _made(found, example_inputs, inputs, outputs, model)
        (folder / model).parent.mkdir(parents=True, exist_ok=True)
        return _written_out(made, found, folder, language)


def analyse(
    source: nn.Module | str | Path | None,
    example_inputs: Any = None,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    checkpoint: str = "last",
    data_root: Path | str | None = None,
) -> Report:
    """What a port would be: every operator, how it goes over, and how hard what remains is; nothing is written."""
    _require_mindspore()
    with _opened(source, None, options, checkpoint, data_root, inputs, outputs) as found:
        return _made(found, example_inputs, inputs, outputs).report


def _require_mindspore() -> None:
    from importlib.util import find_spec

    if find_spec("mindspore") is None:
        raise MissingPackage("Porting needs MindSpore", hint="pip install 'luthier[mindspore]'")


def _opened(
    source: nn.Module | str | Path | None,
    weights: Path | str | None,
    options: Mapping[str, Any] | None,
    checkpoint: str,
    data_root: Path | str | None,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> AbstractContextManager[Opened | OnnxFile]:
    from luthier.port.sources.opening import Opened, opened

    if source is None:
        raise PortError("Nothing to port was named", at="SOURCE", hint="Such as resnet.py:resnet50, a run or a recipe.")
    if is_onnx(source):
        return nullcontext(opened_onnx(source, weights=weights, options=options))
    if is_tensorflow(source):
        return opened_tensorflow(source, inputs=inputs, outputs=outputs, weights=weights, options=options)
    if isinstance(source, str | Path):
        return opened(
            str(source),
            weights=Path(weights) if weights else None,
            options=options,
            checkpoint=checkpoint,
            data_root=Path(data_root) if data_root else None,
        )
    kind = type(source)
    record = Source(kind="torch", spec=f"{kind.__module__}:{kind.__name__}")
    return nullcontext(Opened(module=source, source=record, name=kind.__name__))


def _made(
    found: Opened | OnnxFile, example_inputs: Any, inputs: Sequence[str], outputs: Sequence[str], model: str = MODEL
) -> _Made:
    own = isinstance(found, TensorflowFile)  # whose inputs are named as TensorFlow does it
    asked = ([] if own else [parsed_input(text) for text in inputs]) or list(found.inputs)
    if isinstance(found, OnnxFile):
        network = found.read(example_inputs, asked, outputs)
    else:
        network = _read_module(found, example_inputs, asked, outputs)
    cells = Cells(network=network)
    made = classes(cells.root(), _class_name(found.name, network.module))
    text = written(made, origin=_origin(found.source))
    weight_map = mapped(network, cells.renames)
    layers = _layers(network, made, text, cells, model)
    return _Made(
        network=network,
        cells=cells,
        classes=made,
        text=text,
        map=weight_map,
        report=reported(network, cells.findings, layers, unused(weight_map, network.ties), found.source.recipe),
        inputs=tuple(_input(value, asked, i, network) for i, value in enumerate(network.scope.inputs)),
        model=model,
    )


def _read_module(found: Opened, example_inputs: Any, asked: Sequence[Input], outputs: Sequence[str]) -> Network:
    from luthier.port.sources.examples import examples, given
    from luthier.port.sources.pytorch import read_module

    if outputs:
        raise PortError(
            "Only an ONNX or a TensorFlow file is cut at its values", at="--output", hint="Port a part of the module."
        )
    if example_inputs is not None:
        tensors, opens = given(found.module, example_inputs)
    elif asked:
        tensors, opens = examples(found.module, asked)
    else:
        raise PortError(
            "The shapes of the inputs are not known", at="--input", hint="Such as --input 1,3,224,224, once for each."
        )
    return read_module(found.module, tensors, found.arguments, opens)


def _class_name(name: str, module: Module) -> str:
    """The source's; one of PyTorch's containers is called by the factory's name."""
    if module.container or module.class_name == "Sequential":
        return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or "Network"
    return module.class_name


def _origin(source: Source) -> str:
    path, colon, name = source.spec.rpartition(":")
    return f"{Path(path).name}:{name}" if colon and path.endswith(".py") else Path(source.origin or source.spec).name


def _input(value: Any, asked: Sequence[Input], i: int, network: Network) -> Input:
    shape: tuple[int | Literal["?"], ...] = tuple(size if isinstance(size, int) else "?" for size in value.shape)
    name = network.module.parameters[i] if i < len(network.module.parameters) else value.name
    return Input(name=name, shape=shape, dtype=value.dtype.rstrip("_"))


def _layers(network: Network, made: Sequence[Class], text: Written, cells: Cells, model: str) -> tuple[Layer, ...]:
    lines = lines_by_path(made, text)
    found = []
    for module in network.module.walk():
        if module.path not in cells.scopes:
            continue
        line = next((lines[path] for path in _upwards(module.path) if path in lines), lines[""])
        found.append(
            Layer(
                path=module.path,
                source_class=module.class_name,
                source_line=module.built_at or module.defined_at,
                emitted_line=f"{model}:{line}",
                target_path=module.path if network.sources else None,  # whose arrays' names say nothing of layers
            )
        )
    return tuple(found)


def _upwards(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:i]) for i in range(len(parts), -1, -1)]


def _written_out(made: _Made, found: Opened | OnnxFile, folder: Path, language: Language) -> Ported:
    (folder / made.model).write_text(made.text.text, "utf-8")
    write_map(made.map, folder / MAP)
    sources = made.network.sources
    needed = made.map.names()
    state = {sources.get(name, name): made.network.arrays(name) for name in made.network.state}
    state = {name: array for name, array in state.items() if name in needed}
    arrays = made.map.to_target(state)
    del state
    write_safetensors(arrays, folder / WEIGHTS)
    write_checkpoint(arrays, folder / CHECKPOINT)
    versions = {name: version(name) for name in ("luthier", "mindspore", found.source.kind)}
    if isinstance(found, TensorflowFile):
        found.keep(folder)
        versions |= found.tools
    manifest = Port(
        source=found.source,
        candidate=f"{made.model}:{made.text.class_name}",
        inputs=made.inputs,
        map=MAP,
        weights=WEIGHTS,
        layers=_layers(made.network, made.classes, made.text, made.cells, made.model),
        constants=tuple(name for name in made.network.loose if name in needed),
        versions=versions,
    )
    write_manifest(manifest, folder)
    write_report(made.report, folder, made.text.text, language)
    cell = _live(folder / made.model, made.text.class_name, arrays)
    return Ported(folder=folder, report=made.report, map=made.map, manifest=manifest, cell=cell)


def _live(script: Path, name: str, arrays: Mapping[str, Any]) -> cells.Cell:
    """Build the Cell from the file that was written, and check every name and shape against the weights."""
    import mindspore

    cell: cells.Cell = load_object(f"{script}:{name}", at=str(script), error=PortError)()
    own = {parameter.name: parameter for parameter in cell.get_parameters()}
    if set(own) != set(arrays):
        wrong = sorted(set(own) ^ set(arrays))
        raise AssertionError(f"the port's parameters and its weights differ: {wrong[:5]}")
    for key, array in arrays.items():
        assert tuple(own[key].shape) == array.shape, (key, own[key].shape, array.shape)
        own[key].set_data(mindspore.Tensor(array))
    cell.set_train(False)
    return cell
