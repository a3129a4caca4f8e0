"""From a scope of the graph to an instance of a Cell: its members, and the statements of its forward pass."""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass, field
from typing import Any

from luthier.port.emit import Call, Emit, Name, Unsupported, attribute, index, infix, method, pairs
from luthier.port.findings import Finding
from luthier.port.graph import Enter, Module, Network, Scope, Size, Statement, Step, Tensor, Value
from luthier.port.registry import operators, rule
from luthier.port.statements import Assign, Made, arranged
from luthier.port.trees import changed

__all__ = ["Cell", "Cells"]

RECURRENT = {"torch.nn.LSTM", "torch.nn.GRU"}
BATCH_NORM, NORM = "aten.batch_norm.default", "norm"
SYMBOL = re.compile(r"\b[a-z]+\d+\b")


@dataclass(eq=False, kw_only=True)
class Cell:
    """One instance of a class that is to be written; `body` is None where it is never called itself."""

    module: Module
    inputs: tuple[str, ...] = ()
    members: dict[str, Any] = field(default_factory=dict)
    body: list[Assign] | None = None
    ties: list[tuple[Any, Any]] = field(default_factory=list)  # of the whole network: what is one parameter


@dataclass(kw_only=True)
class Cells:
    """Builds the cells of a network; what could not be carried over stands among the findings."""

    network: Network
    findings: list[Finding] = field(default_factory=list)
    renames: dict[str, tuple[str, Emit | None]] = field(default_factory=dict)  # source tensor → target, its layer

    def __post_init__(self) -> None:
        self.scopes: dict[str, Scope] = {}
        for part in self.network.parts:
            self.scopes.setdefault(part.module.path, part)
        for part in (self.network.scope, *self.network.parts):
            for enter in part.calls():
                self.scopes.setdefault(enter.scope.module.path, enter.scope)
        self.scopes[""] = self.network.scope
        self.used = {tensor.name for tensor in self.network.constants.values()}
        self.known = set(operators())
        self.extra: dict[str, dict[str, Tensor]] = {}
        self.aliases: dict[Value, Any] = {}
        self.norms: set[int] = set()  # steps that are calls of a layer made for them

    def root(self) -> Cell:
        """The whole network."""
        made = self._cell(self.network.module, self.network.scope)
        for name, first in self.network.ties:
            if name in self.renames and first in self.renames:
                made.ties.append((self._whole(self.renames[name][0]), self._whole(self.renames[first][0])))
        return made

    def _whole(self, name: str) -> Any:
        path, _, leaf = name.rpartition(".")
        return attribute(self._access(self.network.module, path), leaf)

    def _is_needed(self, module: Module) -> bool:
        """Called itself, or below it something is, or a parameter is used."""
        prefix = f"{module.path}."
        return (
            module.path in self.scopes
            or any(path.startswith(prefix) for path in self.scopes)
            or any(name.startswith(prefix) for name in self.used)
        )

    def _member(self, module: Module) -> Any:
        """The expression that builds a module, or the cell of a class to be."""
        kind = next((kind for kind in module.kinds if kind in self.known), None)
        if kind and module.path:
            made = self._layer(module, kind)
            if made.target != "forward":
                return made
        scope = self.scopes.get(module.path)
        if module.container or (scope is None and not self._is_needed(module)):
            return self._container(module)
        return self._cell(module, scope)

    def _layer(self, module: Module, kind: str) -> Emit:
        """A layer by its module's rule."""
        call = Call(operator=kind, arguments=module.arguments[kind], at=module.path)
        try:
            made = rule(kind, at=module.path)(call)
        except Unsupported as error:
            self.findings.append(Finding.refused(module.path, kind, error))
            made = Emit("NotPorted", kind, helpers=("NotPorted",), weights=dict.fromkeys(module.tensors, ""))
            made = made.with_parts(made.args, _plain(call))
        else:
            if made.target == "forward":
                return made
            self.findings.append(Finding.of(module.path, kind, made, at=module.built_at))
        for name in module.tensors:
            target = made.weights.get(name, name)
            if target:
                self.renames[_join(module.path, name)] = (_join(module.path, target), made)
        return made

    def _container(self, module: Module) -> Emit:
        if module.container not in ("sequential", "list", "dict"):
            return Emit("nn.Identity")
        items = {
            name: self._member(child) if self._is_needed(child) else Emit("nn.Identity")
            for name, child in module.children.items()
        }
        target = {"sequential": "nn.SequentialCell", "list": "nn.CellList", "dict": "nn.CellDict"}[module.container]
        named = module.container == "sequential" and any(not name.isdigit() for name in items)
        if named:
            return Emit(target, pairs("OrderedDict", items))
        if module.container == "dict" and any(_is_container(item) for item in items.values()):
            return Emit("nn.SequentialCell", pairs("OrderedDict", items))  # a CellDict takes no containers
        if module.container == "dict":
            return Emit(target, pairs("dict", items))
        return (
            Emit(target, Emit("list", *items.values())) if module.container == "list" else Emit(target, *items.values())
        )

    def _cell(self, module: Module, scope: Scope | None) -> Cell:
        cell = Cell(module=module)
        normalised = self._normalised(cell, scope) if scope is not None else ()
        own = [name for name in module.tensors if _join(module.path, name) in self.used and name not in normalised]
        for name in own:
            cell.members[name] = self._parameter(module, name, module.tensors[name])
        for name, child in module.children.items():
            if self._is_needed(child):
                cell.members[name] = self._member(child)
            elif module.container:
                cell.members[name] = Emit("nn.Identity")  # its neighbours keep their numbers
        if scope is not None:
            self._forward(cell, scope)
        for name, tensor in self.extra.get(module.path, {}).items():
            cell.members[name] = self._parameter(module, name, tensor, source=tensor.name)
        return cell

    def _normalised(self, cell: Cell, scope: Scope) -> tuple[str, ...]:
        """A batch normalisation with something besides becomes a layer of its own inside; its tensors go there."""
        module = cell.module
        calls = [step for step in scope.steps if isinstance(step, Step) and step.operator == BATCH_NORM]
        if module.normalises is None or len(calls) != 1 or NORM in module.children:
            return ()
        kind, arguments = module.normalises
        call = Call(operator=kind, arguments=arguments, at=module.path)
        try:
            made = rule(kind, at=module.path)(call)
        except Unsupported:
            return ()  # the function's own refusal stands in the report
        self.findings.append(Finding.of(module.path, kind, made, at=module.built_at))
        cell.members[NORM] = made
        self.norms.add(id(calls[0]))
        for name in module.tensors:
            if target := made.weights.get(name, name):
                self.renames[_join(module.path, name)] = (_join(module.path, f"{NORM}.{target}"), made)
        return tuple(module.tensors)

    def _parameter(self, module: Module, name: str, tensor: Tensor, source: str | None = None) -> Emit:
        self.renames[source or _join(module.path, name)] = (_join(module.path, name), None)
        shape = tensor.shape or (1,)  # MindSpore has no zeros without an axis on a CPU
        zeros = Emit("ops.zeros", shape)
        if tensor.dtype == "bool_":  # nor any of truth values
            zeros = infix(">", zeros, 0)
        elif tensor.dtype != "float32":
            zeros = Emit("ops.zeros", shape, Name(f"ms.{tensor.dtype}"))
        if not tensor.shape:
            zeros = method(zeros, "reshape", ())
        return Emit("Parameter", zeros) if tensor.trainable else Emit("Parameter", zeros, requires_grad=False)

    def _forward(self, cell: Cell, scope: Scope) -> None:
        self.aliases = {}
        cell.inputs = _input_names(scope)
        seen: list[Value] = list(scope.inputs)
        made: list[tuple[tuple[Value, ...], Any, Any, bool]] = []
        for step in scope.steps:
            tree, outputs, several = self._line(step, cell.module, seen)
            if isinstance(tree, Emit) and tree.target == "same" and not several:
                self.aliases[outputs[0]] = tree.args[0]
                continue
            made.append((outputs, tree, step.statement, several))
            seen += outputs
        result = scope.result if scope.result is not None else tuple(scope.outputs)
        returned = self._inside(result, cell.module, seen)
        if scope.result is None and len(returned) == 1:
            returned = returned[0]
        if cell.module.container == "sequential" or cell.module.kinds[-1:] == ("torch.nn.Sequential",):
            made = _chunked(made)
        cell.body = arranged(made, dict(zip(scope.inputs, cell.inputs, strict=True)), returned)

    def _line(self, step: Step | Enter, module: Module, seen: list[Value]) -> tuple[Any, tuple[Value, ...], bool]:
        """One step as an expression, with what it gives; what cannot be carried over becomes a stub."""
        if isinstance(step, Enter):
            outputs, several = tuple(step.outputs), len(step.outputs) > 1
            at = step.statement.at if step.statement else step.scope.module.path
            call = Call(operator=step.scope.module.class_name, arguments=_numbered(step.inputs), at=at)
        else:
            outputs, several = step.outputs, step.several
            at = step.statement.at if step.statement else step.path
            call = Call(operator=step.operator, arguments=step.arguments, at=at, outputs=outputs)
        try:
            if isinstance(step, Enter):
                tree: Any = Emit("call", self._access(module, step.scope.module.path), *step.inputs)
                called = next((f"{kind}.call" for kind in step.scope.module.kinds if f"{kind}.call" in self.known), "")
                if called:
                    tree, outputs, several = self._called(called, tree.args[0], step)
                if set(step.scope.module.kinds) & RECURRENT:
                    tree, outputs, several = _recurrent(step, tree)
                return self._inside(tree, module, seen), outputs, several
            if id(step) in self.norms:
                normalised = Emit("call", attribute(Name("self"), NORM), step.arguments["input"])
                return self._inside(normalised, module, seen), outputs, several
            if step.refusal is not None:
                raise step.refusal
            emit = rule(step.operator, at=at)(call)
            tree = self._inside(emit, module, seen)
        except Unsupported as error:
            error.at = error.at or at
            self.findings.append(Finding.refused(module.path, call.operator, error))
            stub = Emit("not_ported", call.operator, helpers=("not_ported",))
            shown = {name: _shown(value) for name, value in _plain(call, keep=True).items()}
            stub = stub.with_parts(stub.args, shown)
            return changed(stub, lambda leaf: self._told_local(leaf, module, seen)), outputs, several
        self.findings.append(Finding.of(step.path, step.operator, emit, at=at))
        return tree, outputs, several

    def _called(self, kind: str, layer: Any, step: Enter) -> tuple[Any, tuple[Value, ...], bool]:
        """A layer whose call is not that of its inputs alone."""
        inner = next(inner for inner in reversed(step.scope.steps) if isinstance(inner, Step))
        last = max((i for i, value in enumerate(inner.outputs) if value in step.outputs), default=0)
        outputs = inner.outputs[: last + 1]
        arguments = {**inner.arguments, "layer": layer}
        call = Call(operator=kind, arguments=arguments, at=step.scope.module.path, outputs=outputs)
        return rule(kind, at=call.at)(call), outputs, len(outputs) > 1

    def _inside(self, tree: Any, module: Module, seen: list[Value]) -> Any:
        return changed(tree, lambda leaf: self._local(leaf, module, seen))

    def _told_local(self, leaf: Any, module: Module, seen: list[Value]) -> Any:
        """For a stub: another module's tensor is told by its name."""
        try:
            return self._local(leaf, module, seen)
        except Unsupported:
            return self.network.constants[leaf].name if isinstance(leaf, Value) else str(leaf)

    def _local(self, leaf: Any, module: Module, seen: list[Value]) -> Any:
        """Parameters become attributes, and open lengths the shape of a value at hand."""
        if isinstance(leaf, Size):
            return _length(leaf, seen)
        if isinstance(leaf, Value) and leaf in self.aliases:
            return self.aliases[leaf]
        if isinstance(leaf, Value) and leaf in self.network.constants:
            return self._tensor(self.network.constants[leaf], module)
        return leaf

    def _tensor(self, tensor: Tensor, module: Module) -> Any:
        path, _, name = tensor.name.rpartition(".")
        owner = self._owner(path, name)
        if owner is None:  # a constant of the source's code, which no module holds
            known = self.extra.setdefault(module.path, {})
            name = next((name for name, one in known.items() if one.name == tensor.name), "")
            name = name or _free(tensor.label, {*known, *module.children}) or f"constant{len(known)}"
            known[name] = tensor
            return attribute(Name("self"), name)
        if module.path and path != module.path and not path.startswith(f"{module.path}."):
            raise Unsupported(
                f"'{module.path}' uses '{tensor.name}', which is not its own",
                at=module.path,
                hint="Hand the tensor over as an argument of its forward pass.",
            )
        target, _ = self.renames.get(tensor.name, (tensor.name, None))
        return attribute(self._access(module, path), target.rpartition(".")[2])

    def _owner(self, path: str, name: str) -> Module | None:
        try:
            owner = self.network.module.find(path)
        except KeyError:
            return None
        return owner if name in owner.tensors else None

    def _access(self, module: Module, path: str) -> Any:
        """`self.layers[0].conv`, from a module to one below it."""
        inner = path[len(module.path) :].lstrip(".") if module.path else path
        if module.path and path != module.path and not path.startswith(f"{module.path}."):
            raise Unsupported(f"'{module.path}' calls '{path}', which is not below it", at=module.path)
        found: Any = Name("self")
        for part in inner.split(".") if inner else ():
            if part.isidentifier():
                found = attribute(found, part)
            else:
                found = index(found, int(part)) if part.isdigit() else Emit("getattr", found, part)
        return found


def _free(label: str, taken: set[str]) -> str:
    """The label, or with the first number behind it that is free."""
    numbered = (label, *(f"{label}{i}" for i in range(2, len(taken) + 3)))
    return next(name for name in numbered if name not in taken) if label else ""


def _numbered(values: list[Value]) -> dict[str, Any]:
    return {f"x{i}": value for i, value in enumerate(values, start=1)}


def _told(value: Any) -> Any:
    """An array among the attributes as numbers."""
    return tuple(value.reshape(-1)[:8].tolist()) if hasattr(value, "reshape") else value


def _shown(value: Any) -> Any:
    """A length that no tensor at hand has is told by its formula."""
    if isinstance(value, Size):
        return value.text
    return tuple(_shown(item) for item in value) if isinstance(value, tuple) else value


def _recurrent(step: Enter, tree: Emit) -> tuple[Emit, tuple[Value, ...], bool]:
    """The state comes back in a tuple of its own."""
    if len(step.inputs) > 1:
        raise Unsupported(
            "A recurrent layer that is given its first state has no rule",
            at=step.statement.at if step.statement else step.scope.module.path,
            hint="Let it begin with zeros.",
        )
    outputs = next(inner.outputs for inner in reversed(step.scope.steps) if isinstance(inner, Step))
    flat = "lstm_outputs" if len(outputs) == 3 else ""
    return (Emit(flat, tree, helpers=(flat,)) if flat else tree), outputs, True


def _input_names(scope: Scope) -> tuple[str, ...]:
    """The source's; a name of Python's own, such as `input`, is not taken."""
    by_value = {value: name for name, value in reversed(scope.arguments)}
    count = len(scope.inputs)
    names = tuple(by_value.get(value, "") for value in scope.inputs)
    if not scope.arguments:
        names = scope.module.parameters[:count]
    if len(set(names)) == count and all(name.isidentifier() and not hasattr(builtins, name) for name in names):
        return names
    return ("x",) if count == 1 else tuple(f"x{i}" for i in range(1, count + 1))


def _chunked(made: list[Made]) -> list[Made]:
    """A chain of layers is written three to a line."""
    lines = [Statement(file="", line=i, targets=("x",)) for i in range(max(1, (len(made) - 1) // 3))]
    return [
        (outputs, tree, lines[min(i // 3, len(lines) - 1)], several)
        for i, (outputs, tree, _, several) in enumerate(made)
    ]


def _is_container(item: Any) -> bool:
    return isinstance(item, Emit) and item.target in ("nn.SequentialCell", "nn.CellList", "nn.CellDict")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _plain(call: Call, *, keep: bool = False) -> dict[str, Any]:
    """The arguments as a stub shows them; with `keep` its tensors, too, for their shapes."""
    kept = {name: _told(value) for name, value in call.arguments.items() if value is not None}
    if keep:
        return kept
    return {name: value for name, value in kept.items() if isinstance(value, bool | int | float | str | tuple)}


def _length(size: Size, seen: list[Value]) -> Any:
    found = _dimension(size.text, seen)
    if found is not None:
        return found
    parts: dict[str, Any] = {}
    for symbol in SYMBOL.findall(size.text):
        one = _dimension(symbol, seen)
        if one is None:
            raise Unsupported(
                f"The length {size.text} is not that of any tensor at hand", hint="Fix the input's shape."
            )
        parts[symbol] = one
    return Emit("formula", size.text, **parts)


def _dimension(text: str, seen: list[Value]) -> Any:
    for value in seen:
        for i, length in enumerate(value.shape):
            if isinstance(length, Size) and length.text == text:
                return index(attribute(value, "shape"), i)
    return None
