"""The nodes of a model one after the other, each with its arguments bound and the shapes of what it gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import sympy
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto
from onnx.defs import OpSchema

from luthier.errors import PortError, unknown
from luthier.port.connecting import leaves
from luthier.port.known import Known
from luthier.port.manifest import Input
from luthier.port.sources.onnx.binding import attributes, operator_name, schema_of
from luthier.port.sources.onnx.contents import computed
from luthier.port.sources.onnx.folding import folded
from luthier.port.sources.onnx.lengths import Lengths
from luthier.port.sources.onnx.loading import Loaded
from luthier.port.sources.onnx.shapes import Kind, Shapes, kind_of
from luthier.port.sources.onnx.shaping import reshaped

__all__ = ["Flat", "Node", "flat"]


@dataclass(eq=False, kw_only=True)
class Node:
    """One operator; `number` is its place in the file."""

    operator: str
    name: str
    number: int
    arguments: dict[str, Any]
    outputs: tuple[Known, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    module: str = ""  # the path of the module that it is alone in
    scope: str = ""  # the path of the module in which it stands
    scopes: tuple[str, ...] = ()  # every module that is called around it, outermost first
    kind: str = ""  # the layer that it is
    tensors: dict[str, Known] = field(default_factory=dict)  # the layer's own
    settings: dict[str, Any] = field(default_factory=dict)  # the layer's arguments


@dataclass(kw_only=True)
class Flat:
    """What the file does, in order."""

    nodes: list[Node]
    inputs: list[Known]
    outputs: list[Known]
    output_names: list[str]
    initialisers: dict[str, Known]
    consumed: set[str]  # what was used while the file was read


def flat(loaded: Loaded, asked: Sequence[Input], outputs: Sequence[str]) -> Flat:
    """Read the graph; `asked` fixes the inputs' shapes, `outputs` cuts it."""
    reading = _Reading(loaded=loaded)
    reading.begin(asked)
    for node in loaded.model.graph.node:
        reading.node(node)
    return reading.done(outputs)


@dataclass
class _Reading:
    loaded: Loaded
    lengths: Lengths = field(default_factory=Lengths)
    values: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    contents: dict[str, NDArray[Any]] = field(default_factory=dict)  # lengths are in arrays of objects
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Known] = field(default_factory=list)
    initialisers: dict[str, Known] = field(default_factory=dict)
    consumed: set[str] = field(default_factory=set)
    count: int = 0

    def __post_init__(self) -> None:
        graph = self.loaded.model.graph
        self.shapes = Shapes(lengths=self.lengths, opset_imports=self.loaded.model.opset_import)
        self.declared = {item.name: item.type for item in (*graph.value_info, *graph.output)}

    def begin(self, asked: Sequence[Input]) -> None:
        """Initialisers and inputs."""
        graph = self.loaded.model.graph
        for tensor in graph.initializer:
            self._initialiser(tensor)
        given = [item for item in graph.input if item.name not in self.values]
        wanted = _by_name(asked, [item.name for item in given])
        for item in given:
            kind = kind_of(item.type, self.lengths)
            if kind.other:
                raise PortError(
                    f"The input '{item.name}' is a {kind.other}, and only tensors can be ported",
                    at=str(self.loaded.path),
                    hint="Cut the graph behind it: --output NAME.",
                )
            self.kinds[item.name] = self._fixed(item.name, kind, wanted.get(item.name))
            self.inputs.append(self._value(item.name))

    def _initialiser(self, tensor: TensorProto) -> None:
        array = self.loaded.array(tensor)
        self.kinds[tensor.name] = Kind(shape=tuple(array.shape), code=tensor.data_type)
        self.contents[tensor.name] = array
        self.initialisers[tensor.name] = self._value(tensor.name)
        self.initialisers[tensor.name].is_initialiser = True

    def _fixed(self, name: str, kind: Kind, asked: Input | None) -> Kind:
        """The shape that was asked for, if it fits the file's."""
        shape = kind.shape
        if asked is not None:
            own = shape if shape is not None else (None,) * len(asked.shape)
            apart = [
                a for o, a in zip(own, asked.shape, strict=False) if isinstance(o, int) and a != "?" and int(a) != o
            ]
            if len(own) != len(asked.shape) or apart:
                told = ",".join(str(length) if isinstance(length, int) else "?" for length in own)
                raise PortError(
                    f"The input '{name}' has the shape {told} in the file, got {','.join(map(str, asked.shape))}",
                    at="--input",
                    hint=f"--input {name}:{told}",
                )
            shape = tuple(o if a == "?" else int(a) for o, a in zip(own, asked.shape, strict=True))
        if shape is None:
            raise PortError(
                f"The file does not tell the shape of the input '{name}'",
                at=str(self.loaded.path),
                hint=f"--input {name}:1,3,224,224",
            )
        return Kind(shape=tuple(self.lengths.fresh() if o is None else o for o in shape), code=kind.code)

    def node(self, proto: NodeProto) -> None:
        """Bind one node, and find what it gives."""
        number = self.count
        self.count += 1
        proto = self._as_cast(proto)
        if proto.op_type == "If" and self._chosen(proto):
            return
        schema = schema_of(proto, self.loaded.opset)
        bound = self._bound(proto, schema)
        operator = operator_name(proto)
        if operator == "onnx.Constant":
            self._constant(proto, bound)
            return
        if operator == "onnx.Identity" and proto.input[0] in self.values:
            self._same(proto.input[0], proto.output[0])
            return
        made = folded(proto, self.loaded.opset, self._arrays(proto)) if schema else None
        if made is not None:
            self.consumed |= set(proto.input)
            for name, array in zip(proto.output, made, strict=False):
                self.kinds[name] = Kind(
                    shape=tuple(array.shape), code=onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
                )
                self.contents[name] = array
                self._value(name)
            return
        self._infer(proto, schema, bound)
        if self._lengths(proto, operator, bound):
            return
        known = tuple(self._value(name or f"{proto.name or number}.{i}") for i, name in enumerate(proto.output))
        self.nodes.append(
            Node(
                operator=operator,
                name=proto.name,
                number=number,
                arguments=self._arguments(bound),
                outputs=known,
                metadata={item.key: item.value for item in proto.metadata_props},
            )
        )

    def _as_cast(self, proto: NodeProto) -> NodeProto:
        """A cast to the type of another value, which is known."""
        if proto.op_type != "CastLike" or len(proto.input) < 2 or proto.input[1] not in self.kinds:
            return proto
        code = self.kinds[proto.input[1]].code
        return onnx.helper.make_node("Cast", proto.input[:1], proto.output, proto.name, to=code)

    def _chosen(self, proto: NodeProto) -> bool:
        """A branch whose condition is known stands for itself."""
        content = self.contents.get(proto.input[0])
        if content is None or self._is_symbolic(np.asarray(content, dtype=object)):
            return False
        name = "then_branch" if bool(content.reshape(-1)[0]) else "else_branch"
        branch = next(item.g for item in proto.attribute if item.name == name)
        for tensor in branch.initializer:
            self._initialiser(tensor)
        for node in branch.node:
            self.node(node)
        for inner, outer in zip(branch.output, proto.output, strict=True):
            self._same(inner.name, outer)
        return True

    def _bound(self, proto: NodeProto, schema: OpSchema | None) -> dict[str, Any]:
        """Names of values in place of the values themselves, as `_Name`."""
        found: dict[str, Any] = attributes(proto, schema)
        given = [_Name(name) if name else None for name in proto.input]
        if schema is None:
            return found | {f"x{i}": name for i, name in enumerate(given, start=1)}
        for i, parameter in enumerate(schema.inputs):
            if parameter.option == OpSchema.FormalParameterOption.Variadic:
                found[parameter.name] = tuple(given[i:])
            else:
                found[parameter.name] = given[i] if i < len(given) else None
        found["since"] = schema.since_version
        return found

    def _arguments(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        def put(item: Any) -> Any:
            if isinstance(item, _Name):
                return self._argument(item)
            return tuple(put(one) for one in item) if isinstance(item, tuple) else item

        return {name: put(item) for name, item in bound.items()}

    def _argument(self, name: str) -> Any:
        """Lengths stand for themselves."""
        content = self.contents.get(name)
        if content is not None and content.dtype == object and self._is_symbolic(content):
            sizes = tuple(self.lengths.size(item) for item in content.reshape(-1))
            return sizes if content.ndim else sizes[0]
        return self._value(name)

    def _is_symbolic(self, content: NDArray[Any]) -> bool:
        return any(isinstance(item, sympy.Expr) and not item.is_Integer for item in content.reshape(-1))

    def _value(self, name: str) -> Known:
        """The one object that stands for a value of the file."""
        if name not in self.values:
            kind = self.kinds.get(name) or self._declared(name)
            content = self.contents.get(name)
            if content is not None and content.dtype == object:
                numpy_dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.code)
                whole = not self._is_symbolic(content)
                content = content.astype(numpy_dtype) if whole else None
            self.values[name] = Known(
                name=name,
                shape=tuple(self.lengths.size(length) for length in kind.shape or ()),
                dtype=kind.dtype if not kind.other else kind.other,
                content=content,
                ranked=kind.shape is not None,
            )
        found: Known = self.values[name]
        return found

    def _declared(self, name: str) -> Kind:
        if name in self.declared:
            kind = kind_of(self.declared[name], self.lengths)
            if kind.shape is not None:
                shape = tuple(self.lengths.fresh() if length is None else length for length in kind.shape)
                kind = Kind(shape=shape, code=kind.code, other=kind.other)
        else:
            kind = Kind(shape=None, code=0)
        self.kinds[name] = kind
        return kind

    def _constant(self, proto: NodeProto, bound: Mapping[str, Any]) -> None:
        given = next((value for name, value in bound.items() if value is not None and name.startswith("value")), None)
        if not isinstance(given, np.ndarray):
            dtype = np.float32 if any("float" in item.name for item in proto.attribute) else np.int64
            if (
                given is None
                or isinstance(given, str)
                or (isinstance(given, tuple) and given and str in map(type, given))
            ):
                given = np.array(given if given is not None else "", dtype=object)
                self.kinds[proto.output[0]] = Kind(shape=tuple(given.shape), code=TensorProto.STRING)
                self._value(proto.output[0])
                return
            given = np.array(given, dtype)
        name = proto.output[0]
        self.kinds[name] = Kind(shape=tuple(given.shape), code=onnx.helper.np_dtype_to_tensor_dtype(given.dtype))
        self.contents[name] = given
        self._value(name)

    def _same(self, name: str, other: str) -> None:
        """Another name of the same value; of an initialiser it is a parameter of its own."""
        self.kinds[other] = self.kinds.get(name) or self._declared(name)
        self._value(name)
        if name in self.contents:
            self.contents[other] = self.contents[name]
        if name in self.initialisers:
            self.consumed.add(name)
            self.initialisers[other] = self._value(other)
            self.initialisers[other].is_initialiser = True
        else:
            self.values[other] = self.values[name]

    def _arrays(self, proto: NodeProto) -> list[NDArray[Any] | None] | None:
        """Every input as an array; none where one is not known."""
        found: list[NDArray[Any] | None] = []
        for name in proto.input:
            content = self.contents.get(name) if name else None
            if name and (content is None or (content.dtype == object and self._is_symbolic(content))):
                return None
            if content is not None and content.dtype == object:
                content = content.astype(onnx.helper.tensor_dtype_to_np_dtype(self.kinds[name].code))
            found.append(content)
        return found

    def _infer(self, proto: NodeProto, schema: OpSchema | None, bound: Mapping[str, Any]) -> None:
        names = [name for name in proto.input if name]
        kinds = {name: self.kinds.get(name) or self._declared(name) for name in names}
        contents = {name: self.contents[name] for name in names if name in self.contents}
        found = self.shapes.of(proto, schema, kinds, contents) if schema else {}
        by_argument = {name: value for name, value in bound.items() if isinstance(value, _Name)}
        own = reshaped(
            proto.op_type,
            bound,
            {name: shape for name, value in by_argument.items() if (shape := kinds[value].shape) is not None},
            {name: contents[value] for name, value in by_argument.items() if value in contents},
        )
        for i, name in enumerate(proto.output):
            declared = kind_of(self.declared[name], self.lengths) if name in self.declared else None
            kind = found.get(name) or declared
            if kind is None:
                continue
            if i == 0 and own is not None:
                kind = Kind(shape=own, code=kind.code)
            if declared is not None and not kind.other:
                kind = _completed(kind, declared)
            shape = kind.shape
            if shape is not None:
                shape = tuple(self.lengths.fresh() if length is None else length for length in shape)
            self.kinds[name] = Kind(shape=shape, code=kind.code, other=kind.other)

    def _lengths(self, proto: NodeProto, operator: str, bound: Mapping[str, Any]) -> bool:
        """Whether the node gives lengths alone, so that nothing runs for it."""
        kind = self.kinds.get(proto.output[0])
        if kind is None or len(proto.output) != 1:
            return False
        name = operator.removeprefix("onnx.")
        content: Any = None
        source = self.kinds.get(proto.input[0]) if proto.input else None
        if name == "Shape" and source is not None and source.shape is not None:
            end = bound.get("end")
            content = np.array(source.shape, dtype=object)[bound.get("start") or 0 : end if end is not None else None]
        elif name == "Size" and source is not None and source.shape is not None:
            content = np.array(sympy.Mul(*source.shape), dtype=object)
        elif proto.input and all(not item or item in self.contents for item in proto.input):
            contents: dict[str, Any] = {}
            for argument, value in bound.items():
                if isinstance(value, _Name):
                    contents[argument] = self.contents[value]
                elif isinstance(value, tuple) and value and isinstance(value[0], _Name):
                    contents[argument] = [self.contents[item] for item in value]
            content = computed(name, {**bound, "dtype": kind.dtype}, contents)
        if content is None or not all(self._fits(item) for item in content.reshape(-1)):
            return False
        output = proto.output[0]
        self.contents[output] = content
        self.kinds[output] = Kind(shape=tuple(content.shape), code=kind.code)
        return True

    def _fits(self, item: Any) -> bool:
        return not isinstance(item, sympy.Expr) or bool(item.is_integer) or bool(item.is_number) or item.is_real is True

    def done(self, outputs: Sequence[str]) -> Flat:
        """Without what no output needs."""
        names = list(outputs) or [item.name for item in self.loaded.model.graph.output]
        for name in names:
            if name not in self.values and name not in self.kinds:
                known = [*(item.name for item in self.loaded.model.graph.output), *self.values]
                sentence, hint = unknown("value", name, known)
                raise PortError(sentence, at="--output", hint=hint)
        needed = {self._value(name) for name in names}
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if needed & set(node.outputs):
                last = max(i for i, value in enumerate(node.outputs) if value in needed)
                node.outputs = node.outputs[: last + 1]
                kept.append(node)
                needed |= set(leaves(node.arguments, Known))
        return Flat(
            nodes=kept[::-1],
            inputs=self.inputs,
            outputs=[self._value(name) for name in names],
            output_names=names,
            initialisers=self.initialisers,
            consumed=self.consumed | {value.name for node in kept for value in leaves(node.arguments, Known)},
        )


class _Name(str):
    """The name of a value among a node's arguments."""

    __slots__ = ()


def _completed(kind: Kind, declared: Kind) -> Kind:
    """What inference leaves open the file may say."""
    code = kind.code or declared.code
    if kind.shape is None:
        return Kind(shape=declared.shape, code=code)
    if declared.shape is None or len(declared.shape) != len(kind.shape):
        return Kind(shape=kind.shape, code=code)
    shape = tuple(
        said if isinstance(said, int) and isinstance(own, sympy.Symbol) else own
        for own, said in zip(kind.shape, declared.shape, strict=True)
    )
    return Kind(shape=shape, code=code)


def _by_name(asked: Sequence[Input], names: Sequence[str]) -> Mapping[str, Input]:
    """Those without a name go by their place."""
    found: dict[str, Input] = {item.name: item for item in asked if item.name}
    for name in found:
        if name not in names:
            sentence, hint = unknown("input", name, names)
            raise PortError(sentence, at="--input", hint=hint)
    left: Iterator[str] = (name for name in names if name not in found)
    for item in asked:
        if not item.name:
            name = next(left, "")
            if not name:
                raise PortError(
                    f"The model has {len(names)} inputs, got {len(asked)}", at="--input", hint=", ".join(names)
                )
            found[name] = item
    return found
