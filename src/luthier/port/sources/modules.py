"""PyTorch's module tree as records: classes, attribute names, parameters, and what constructors were given."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch import nn

from luthier.port.graph import Module, Tensor
from luthier.port.sources.constructing import Arguments, hints

__all__ = ["dtype_name", "tree"]

INNER = frozenset({"reset_parameters", "extra_repr", "_load_from_state_dict", "_save_to_state_dict"})


def tree(module: nn.Module, arguments: Arguments, path: str = "", built_at: str = "") -> Module:
    """The module and all below it."""
    kinds = _kinds(module)
    own: Any = type(module)
    return Module(
        path=path,
        class_name=type(module).__name__,
        kinds=tuple(f"torch.nn.{kind.__name__}" for kind in kinds),
        arguments={f"torch.nn.{kind.__name__}": _bound(module, kind) for kind in kinds},
        normalises=_normalises(module) if not kinds else None,
        children={
            name: tree(child, arguments, f"{path}.{name}" if path else name, _assignments(own).get(name, built_at))
            for name, child in module._modules.items()
            if child is not None
        },
        tensors={tensor.name: tensor for tensor in _tensors(module)},
        parameters=_forward_names(own),
        hints=hints(module, arguments),
        given=tuple(arguments.get(id(module), ())),
        identity=type(module),
        defined_at=_defined_at(own),
        built_at=built_at,
        document=_document(own),
        container=_container(module),
    )


def dtype_name(dtype: torch.dtype) -> str:
    """As MindSpore has it, too."""
    return {"bool": "bool_"}.get(str(dtype).removeprefix("torch."), str(dtype).removeprefix("torch."))


def _kinds(module: nn.Module) -> list[type[nn.Module]]:
    """The classes of torch.nn whose behaviour the module has unchanged; a hook or a parametrisation changes it."""
    if module._forward_hooks or module._forward_pre_hooks or hasattr(module, "parametrizations"):
        return []
    own: Any = type(module)
    found: list[Any] = [base for base in own.__mro__ if getattr(nn, base.__name__, None) is base]
    return [base for base in found if _same(own, base)]


def _normalises(module: nn.Module) -> tuple[str, dict[str, Any]] | None:
    """A batch normalisation that does something besides, and follows the module's training."""
    own: Any = type(module)
    base = next((kind for kind in own.__mro__ if kind in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)), None)
    if base is None or "training" not in own.forward.__code__.co_names:
        return None
    return f"torch.nn.{base.__name__}", _bound(module, base)


@cache
def _same(own: Any, base: Any) -> bool:
    if base is nn.Module:
        return False
    inherited = [
        kind for kind in base.__mro__ if kind.__module__.startswith("torch.nn.modules") and kind is not nn.Module
    ]
    methods = {
        name
        for kind in inherited
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and not name.startswith("__") and name not in INNER
    }
    return all(getattr(own, name) is getattr(base, name) for name in methods)


def _bound(module: nn.Module, kind: type[nn.Module]) -> dict[str, Any]:
    """The constructor's arguments, from the attributes that keep them; a parameter that is there means True."""
    found: dict[str, Any] = {}
    for name, parameter in _constructor(kind).items():
        if name in ("self", "device", "dtype") or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        value = getattr(module, name, parameter.default)
        if isinstance(value, torch.Tensor):
            value = True
        elif name == "bias" and value is None:
            value = False
        found[name] = tuple(value) if isinstance(value, list) else value
    return found


def _constructor(kind: Any) -> Mapping[str, inspect.Parameter]:
    """The arguments, where need be of the base that names them, as for recurrent layers."""
    return next(
        (found for base in kind.__mro__ if "args" not in (found := inspect.signature(base.__init__).parameters)), {}
    )


def _tensors(module: nn.Module) -> list[Tensor]:
    held: list[tuple[str, torch.Tensor | None]] = [*module._parameters.items(), *module._buffers.items()]
    return [
        Tensor(
            name=name,
            shape=tuple(tensor.shape),
            dtype=dtype_name(tensor.dtype),
            trainable=isinstance(tensor, nn.Parameter) and tensor.requires_grad,
        )
        for name, tensor in held
        if tensor is not None
    ]


@cache
def _forward_names(kind: Any) -> tuple[str, ...]:
    parameters: Mapping[str, inspect.Parameter] = inspect.signature(kind.forward).parameters
    return tuple(name for name, item in parameters.items() if name != "self" and item.kind is not item.VAR_KEYWORD)


@cache
def _document(kind: Any) -> str:
    if kind.__module__.startswith("torch."):
        return ""
    return " ".join((vars(kind).get("__doc__") or "").strip().split("\n\n")[0].split())


@cache
def _defined_at(kind: Any) -> str:
    try:
        return f"{inspect.getsourcefile(kind)}:{inspect.getsourcelines(kind)[1]}"
    except (OSError, TypeError):
        return ""


@cache
def _assignments(kind: Any) -> Mapping[str, str]:
    """Where a class assigns each of its attributes: `self.conv1 = …`."""
    if kind.__module__.startswith("torch."):
        return {}
    try:
        lines, first = inspect.getsourcelines(kind)
        source = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return {}
    found: dict[str, str] = {}
    for node in (node for node in ast.walk(source) if isinstance(node, ast.Assign)):
        for target in node.targets:
            for item in target.elts if isinstance(target, ast.Tuple) else (target,):
                match item:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name):
                        found.setdefault(name, f"{inspect.getsourcefile(kind)}:{first + node.lineno - 1}")
    return found


def _container(module: nn.Module) -> str:
    if isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward:
        return "sequential" if type(module) is nn.Sequential or all(name.isdigit() for name in module._modules) else ""
    if type(module).forward is not nn.Module.forward:
        return ""
    if isinstance(module, nn.ModuleList):
        return "list"
    return "dict" if isinstance(module, nn.ModuleDict) else ""
