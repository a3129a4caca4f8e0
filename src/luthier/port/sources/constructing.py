"""The numbers that a module's constructor was given, by the constructor's own names."""

from __future__ import annotations

import ast
import inspect
import operator
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

__all__ = ["Arguments", "hints", "recorded"]

Arguments = dict[int, dict[str, Any]]  # by the module's id

NUMBERS = (bool, int, float, str)
OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@contextmanager
def recorded() -> Iterator[Arguments]:
    """While the block builds modules, keep what their outermost constructors were given."""
    original = nn.Module.__init__
    found: Arguments = {}

    def init(self: nn.Module, *args: Any, **keywords: Any) -> None:
        frame = sys._getframe(1)
        while frame and frame.f_code.co_name == "__init__" and self in _first(frame.f_locals):
            names = inspect.getargs(frame.f_code)
            found[id(self)] = {name: frame.f_locals[name] for name in names.args[1:] if name in frame.f_locals}
            if frame.f_back is None:
                break
            frame = frame.f_back
        original(self, *args, **keywords)

    nn.Module.__init__ = init  # type: ignore[method-assign]
    try:
        yield found
    finally:
        nn.Module.__init__ = original  # type: ignore[method-assign]


def _first(variables: Mapping[str, Any]) -> tuple[Any, ...]:
    value = variables.get("self")
    return (value,) if isinstance(value, nn.Module) else ()


def hints(module: nn.Module, arguments: Arguments) -> dict[str, Any]:
    """The constructor's arguments, the local names that it computes from them, and the module's own attributes."""
    given = {name: value for name, value in arguments.get(id(module), {}).items() if isinstance(value, NUMBERS)}
    found = given | _computed(module, given) if given else {}
    for name, value in vars(module).items():
        if not name.startswith("_") and name != "training" and isinstance(value, NUMBERS):
            found.setdefault(name, value)
    return found


def _computed(module: nn.Module, given: Mapping[str, Any]) -> dict[str, Any]:
    """`narrow = after // self.expansion`: arithmetic alone is followed."""
    try:
        source = ast.parse(textwrap.dedent(inspect.getsource(type(module).__init__)))
    except (OSError, TypeError, SyntaxError):
        return {}
    known = dict(given)
    for statement in source.body[0].body if isinstance(source.body[0], ast.FunctionDef) else ():
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in known:
                try:
                    known[name] = _value(value, known, module)
                except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
                    continue
    return {name: value for name, value in known.items() if name not in given and isinstance(value, NUMBERS)}


def _value(node: ast.expr, known: Mapping[str, Any], module: nn.Module) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known[name]
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return getattr(module, name)
        case ast.Call(func=ast.Name(id="int"), args=[value]):
            return int(_value(value, known, module))
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_value(left, known, module), _value(right, known, module))
    raise ValueError("not arithmetic")
