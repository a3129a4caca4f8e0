"""The shipped networks by name: in this folder, whatever is marked with `network` is one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from luthier.errors import ModelError, unknown

__all__ = ["Factory", "factory_of", "indexed", "names", "network"]

Factory = Callable[..., Any]
Marked = TypeVar("Marked", bound=Factory)

HERE = Path(__file__).parent


def network(factory: Marked) -> Marked:
    """Mark a factory as one of the zoo's; the mark is found without running the file, which imports a framework."""
    return factory


def names() -> tuple[str, ...]:
    """The shipped networks' names, sorted."""
    return tuple(sorted(indexed(HERE)))


def factory_of(name: str) -> Factory:
    """The factory of a shipped network."""
    files = indexed(HERE)
    if name not in files:
        sentence, hint = unknown("network", name, files)
        raise ModelError(sentence, at="model.name", hint=f"{hint} Or give your own, as path/to/file.py:factory.")
    factory: Factory = getattr(import_module(f"luthier.zoo.{files[name]}"), name)
    return factory


@cache
def indexed(folder: Path) -> Mapping[str, str]:
    """Each network's name, and the file that has it."""
    found: dict[str, str] = {}
    for file in sorted(folder.glob("*.py")):
        for name in _marked(ast.parse(file.read_text("utf-8"))):
            if name in found:
                raise ModelError(f"Two networks are called '{name}'", at=f"{found[name]}.py and {file.name}")
            found[name] = file.stem
    return found


def _marked(source: ast.Module) -> list[str]:
    """`@network def name` and `name = network(…)`."""
    marked = []
    for statement in source.body:
        match statement:
            case ast.FunctionDef(name=name, decorator_list=[ast.Name(id="network")]):
                marked.append(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="network"))):
                marked.append(name)
    return marked
