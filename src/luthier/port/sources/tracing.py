"""An exported program's flat graph, folded back into the calls of modules that it came from."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from luthier.errors import PortError
from luthier.port.connecting import connect, givers
from luthier.port.emit import Emit, pairs
from luthier.port.graph import Enter, Module, Scope, Size, Step, Tensor, Value
from luthier.port.sources.calls import Calls
from luthier.port.sources.modules import dtype_name
from luthier.port.sources.statements import Frame, frames, places_of, statement_at

__all__ = ["Folded", "folded"]

TENSORS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


@dataclass(kw_only=True)
class Folded:
    """The hierarchical graph, and which of its values are tensors that the module holds."""

    scope: Scope
    constants: dict[Value, Tensor]


def folded(program: ExportedProgram, module: Module, calls: Calls) -> Folded:
    """The calls of modules that an exported program's nodes came from."""
    folding = _Folding(module=module, calls=calls)
    constants: dict[Value, Tensor] = {}
    kinds = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
    left = len(kinds)
    for node in program.graph.nodes:
        if node.op == "placeholder":
            value = folding.value(node)
            folding.names[f"arg{len(kinds) - left}_1"] = value
            left -= 1
            spec = kinds[node.name]
            if value is None:
                continue
            if spec.kind in TENSORS:
                constants[value] = _tensor(str(spec.target), value)
            else:
                folding.root.inputs.append(value)
        elif node.op == "call_function":
            folding.step(node)
        elif node.op == "output":
            folding.root.outputs = [folding.argument(arg) for arg in _results(program, node)]
    results = {value for value in folding.root.outputs if isinstance(value, Value)}
    connect(folding.root, set(constants), results, givers(folding.root.inputs))
    folding.root.result = _structure(program, folding.root.outputs)
    return Folded(scope=folding.root, constants=constants)


def _tensor(name: str, value: Value) -> Tensor:
    shape = tuple(size for size in value.shape if isinstance(size, int))
    return Tensor(name=name, shape=shape, dtype=value.dtype, trainable=False)


def _results(program: ExportedProgram, node: fx.Node) -> list[Any]:
    """What the user's forward pass gives; after it, buffers that were changed in place."""
    outputs = program.graph_signature.output_specs
    given: Any = node.args[0]
    return [arg for arg, spec in zip(given, outputs, strict=True) if spec.kind is OutputKind.USER_OUTPUT]


def _structure(program: ExportedProgram, outputs: list[Any]) -> Any:
    """The outputs as the source puts them together."""
    return _nested(torch.utils._pytree.tree_unflatten(outputs, program.call_spec.out_spec))


def _nested(given: Any) -> Any:
    if isinstance(given, Mapping):
        return pairs("dict", {str(name): _nested(item) for name, item in given.items()})
    if isinstance(given, tuple | list):
        return Emit("tuple", *(_nested(item) for item in given))
    return given


@dataclass
class _Folding:
    """The open calls, innermost last, and what each node gave."""

    module: Module
    calls: Calls
    values: dict[fx.Node, Any] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)  # by the names that nodes have while they are traced

    def __post_init__(self) -> None:
        self.root = Scope(module=self.module)
        self.open: list[tuple[str, Scope]] = [("", self.root)]
        self.closed: set[str] = set()

    def value(self, node: fx.Node) -> Value | None:
        """A node's tensor; None for a number."""
        given = node.meta.get("val")
        if isinstance(given, torch.Tensor):
            made = Value(name=node.name, shape=tuple(map(_size, given.shape)), dtype=dtype_name(given.dtype))
            self.values[node] = made
            return made
        self.values[node] = _number(given)
        return None

    def argument(self, given: Any) -> Any:
        """Nodes become values or sizes, lists tuples; types and devices become their names."""
        if isinstance(given, fx.Node):
            return self.values[given]
        if isinstance(given, list | tuple):
            return tuple(self.argument(item) for item in given)
        if isinstance(given, torch.dtype):
            return dtype_name(given)
        if isinstance(given, torch.SymInt):
            return _number(given)
        return given if given is None or isinstance(given, bool | int | float | str) else str(given)

    def step(self, node: fx.Node) -> None:
        """Put a node where its module's call is."""
        given = node.meta.get("val")
        if node.target is operator.getitem and isinstance(self.values[node.args[0]], tuple):  # type: ignore[index]
            self.values[node] = self.values[node.args[0]][node.args[1]]  # type: ignore[index]
            self.names[node.name] = self.values[node]
            return
        if not isinstance(node.target, torch._ops.OpOverload):
            if isinstance(given, torch.Tensor | tuple | list):
                raise PortError(f"Expected an operator, got {node.target}", at=_place(node))
            self.values[node] = _number(given)
            return
        if given is None or isinstance(given, torch.SymInt | torch.SymFloat | torch.SymBool | int | float | bool):
            self.values[node] = _number(given)
            return
        scope = self._entered(node)
        several = isinstance(given, tuple | list)
        outputs = tuple(
            Value(
                name=f"{node.name}_{i}" if several else node.name,
                shape=tuple(map(_size, item.shape)),
                dtype=dtype_name(item.dtype),
            )
            for i, item in enumerate(given if several else (given,))
            if isinstance(item, torch.Tensor)
        )
        self.values[node] = self.names[node.name] = outputs if several else outputs[0]
        scope.steps.append(
            Step(
                operator=_name(node.target),
                arguments=self._bound(node),
                outputs=outputs,
                several=several,
                statement=statement_at(frames(node.meta.get("stack_trace")), None),
                path=scope.module.path,
            )
        )

    def _bound(self, node: fx.Node) -> dict[str, Any]:
        assert isinstance(node.target, torch._ops.OpOverload)
        found = {}
        for i, argument in enumerate(node.target._schema.arguments):
            default = argument.default_value if argument.has_default_value() else None
            given = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name, default)
            found[argument.name] = self.argument(given)
        return found

    def _entered(self, node: fx.Node) -> Scope:
        """Close and open calls until the node's is the innermost."""
        stack = [(key, path) for key, (path, _) in (node.meta.get("nn_module_stack") or {}).items()][1:]
        stack = [(key, path) for key, path in stack if _has(self.module, path)]
        same = 0
        while same < min(len(stack), len(self.open) - 1) and self.open[same + 1][0] == stack[same][0]:
            same += 1
        for key, _ in self.open[same + 1 :]:
            self.closed.add(key)
        del self.open[same + 1 :]
        trace = frames(node.meta.get("stack_trace"))
        for key, path in stack[same:]:
            if key in self.closed:
                raise PortError(f"The call of '{path}' is left and entered again", at=_place(node))
            outer = self.open[-1][1]
            scope = Scope(module=self.module.find(path), arguments=self._handed(key, path))
            outer.steps.append(Enter(scope=scope, statement=_calling(trace, outer)))
            self.open.append((key, scope))
        return self.open[-1][1]

    def _handed(self, key: str, path: str) -> list[tuple[str, Value]]:
        """What this call of the module was given, as far as it is known by name."""
        number = int(key.rpartition("@")[2]) if "@" in key else 0
        calls = self.calls.get(path, [])
        given = calls[number] if number < len(calls) else []
        found = [(name, self.names.get(node)) for name, node in given]
        return [(name, value) for name, value in found if isinstance(value, Value)]


def _calling(trace: list[Frame], outer: Scope) -> Any:
    return statement_at(trace, places_of(outer.module.identity))


def _has(module: Module, path: str) -> bool:
    try:
        module.find(path)
    except KeyError:
        return False
    return True


def _name(target: torch._ops.OpOverload) -> str:
    """`aten.relu.default` for the one in place, too."""
    space, _, rest = str(target).partition(".")
    name, _, overload = rest.partition(".")
    if target._schema.is_mutable and name.endswith("_") and not name.startswith("_"):
        name = name.removesuffix("_")
    return f"{space}.{name}.{overload}"


def _size(given: Any) -> int | Size:
    number = _number(given)
    assert isinstance(number, int | Size)
    return number


def _number(given: Any) -> Any:
    if isinstance(given, torch.SymInt):
        if given.node.is_constant() or not given.node.expr.free_symbols:
            return int(given)
        return Size(text=str(given.node.expr), example=int(given.node.hint))
    return given


def _place(node: fx.Node) -> str:
    found = statement_at(frames(node.meta.get("stack_trace")), None)
    return found.at if found else node.name
