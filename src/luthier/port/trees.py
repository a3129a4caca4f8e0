"""Walking and changing the expressions that rules give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from luthier.port.emit import Emit
from luthier.port.graph import Value

__all__ = ["changed", "leaves", "values"]


def leaves(tree: Any) -> Iterator[Any]:
    """Whatever is neither an expression nor a tuple, in order."""
    if isinstance(tree, Emit):
        for item in (*tree.args, *tree.keywords.values()):
            yield from leaves(item)
    elif isinstance(tree, tuple | list):
        for item in tree:
            yield from leaves(item)
    elif isinstance(tree, slice):
        yield from (tree.start, tree.stop, tree.step)
    else:
        yield tree


def values(tree: Any) -> Iterator[Value]:
    """The values that an expression uses, as often as it does."""
    return (leaf for leaf in leaves(tree) if isinstance(leaf, Value))


def changed(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The same expression with every leaf changed, and every expression after its parts."""
    match tree:
        case Emit():
            args = tuple(changed(item, change) for item in tree.args)
            return change(tree.with_parts(args, {name: changed(item, change) for name, item in tree.keywords.items()}))
        case tuple() | list():
            return tuple(changed(item, change) for item in tree)
        case slice():
            return slice(changed(tree.start, change), changed(tree.stop, change), changed(tree.step, change))
    return change(tree)
