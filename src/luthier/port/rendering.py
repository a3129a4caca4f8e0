"""An expression as text, with the arguments that differ from MindSpore's defaults and no other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from luthier.port.emit import Emit, Name
from luthier.port.naming import NONE, Parameter
from luthier.port.signatures import defaults, positional

__all__ = ["Rendering"]

BINDING = {"if": 0, "or": 1, "and": 2, "not": 3, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "|": 5, "^": 6}
BINDING |= {"&": 7, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "@": 10, "unary": 11, "**": 12}
ATOM = 20


class Rendering:
    """Knows the classes that the file itself has."""

    def __init__(self, own: Mapping[str, Sequence[Parameter]]) -> None:
        self.own = own

    def text(self, tree: Any) -> str:
        """The expression in one line."""
        return self._bound(tree)[0]

    def _at(self, tree: Any, binding: int) -> str:
        text, own = self._bound(tree)
        return f"({text})" if own < binding else text

    def _bound(self, tree: Any) -> tuple[str, int]:
        if not isinstance(tree, Emit):
            return _constant(tree, self)
        kind, _, operator = tree.target.partition(" ")
        match kind:
            case "infix":
                level = BINDING[operator]
                left, right = tree.args
                if operator == "**":
                    return f"{self._at(left, level + 1)}**{self._at(right, level)}", level
                return f"{self._at(left, level)} {operator} {self._at(right, level + 1)}", level
            case "unary":
                text = self._at(tree.args[0], BINDING["unary"])
                return (f"not {text}", BINDING["not"]) if operator == "not" else (f"{operator}{text}", BINDING["unary"])
            case "if":
                condition, then, other = tree.args
                return f"{self._at(then, 1)} if {self._at(condition, 1)} else {self.text(other)}", 0
            case "attribute":
                return f"{self._at(tree.args[0], ATOM)}.{tree.args[1]}", ATOM
            case "index":
                keys = ", ".join(self._key(key) for key in tree.args[1:])
                return f"{self._at(tree.args[0], ATOM)}[{keys}]", ATOM
            case "tuple":
                return _tuple([self.text(item) for item in tree.args]), ATOM
            case "list":
                parts = self._items(tree.args)
                if len(parts) == 1 and parts[0].startswith("*("):
                    return f"[{parts[0][2:-1]}]", ATOM
                return f"[{', '.join(parts)}]", ATOM
            case "dict":
                return "{" + ", ".join(f'"{pair.args[0]}": {self.text(pair.args[1])}' for pair in tree.args) + "}", ATOM
            case "OrderedDict":
                items = ", ".join(f'("{pair.args[0]}", {self.text(pair.args[1])})' for pair in tree.args)
                return f"OrderedDict([{items}])", ATOM
            case "formula":
                text = tree.args[0]
                for name, item in tree.keywords.items():
                    text = text.replace(name, self.text(item))
                return text.replace("floor(", "int("), 0
            case "call":
                return f"{self._at(tree.args[0], ATOM)}({', '.join(map(self.text, tree.args[1:]))})", ATOM
        if kind.startswith("."):
            return f"{self._at(tree.args[0], ATOM)}{kind}({', '.join(self._arguments(tree, tree.args[1:]))})", ATOM
        return f"{kind}({', '.join(self._arguments(tree, tree.args))})", ATOM

    def _arguments(self, tree: Emit, args: Sequence[Any]) -> list[str]:
        own = self.own.get(tree.target)
        if own is not None:
            known = {item.name: item.default for item in own if item.default is not NONE}
            leading: tuple[str, ...] = tuple(item.name for item in own if item.default is NONE)
        else:
            known, leading = dict(defaults(tree.target)), positional(tree.target)
        parts = self._items(args) if tree.target == "nn.SequentialCell" else [self.text(item) for item in args]
        keywords = {
            name: item for name, item in tree.keywords.items() if not (name in known and _same(item, known[name]))
        }
        for name in leading[len(args) :]:
            if name not in keywords:
                break
            parts.append(self.text(keywords.pop(name)))
        order = {name: i for i, name in enumerate((*leading, *known))}
        names = sorted(keywords, key=lambda name: order.get(name, len(order)))
        return parts + [f"{name}={self.text(keywords[name])}" for name in names]

    def _items(self, items: Sequence[Any]) -> list[str]:
        """Equal neighbours, two or more, are written once."""
        found: list[str] = []
        texts = [self.text(item) for item in items]
        i = 0
        while i < len(texts):
            count = next((k for k in range(1, len(texts) - i) if texts[i + k] != texts[i]), len(texts) - i)
            made_anew = isinstance(items[i], Emit) and count > 1
            found += [f"*({texts[i]} for _ in range({count}))"] if made_anew else texts[i : i + count]
            i += count
        return found

    def _key(self, key: Any) -> str:
        if not isinstance(key, slice):
            return self.text(key)
        start, stop = ("" if part is None else self.text(part) for part in (key.start, key.stop))
        return f"{start}:{stop}" + (f":{self.text(key.step)}" if key.step not in (None, 1) else "")


def _same(item: Any, default: Any) -> bool:
    if isinstance(item, Name | Emit):
        return False
    return bool(item == default) and isinstance(item, bool) == isinstance(default, bool)


def _constant(tree: Any, rendering: Rendering) -> tuple[str, int]:
    match tree:
        case Name():
            return str(tree), ATOM
        case bool() | None:
            return str(tree), ATOM
        case str():
            return '"' + tree.replace("\\", "\\\\").replace('"', '\\"') + '"', ATOM
        case float() if math.isinf(tree) or math.isnan(tree):
            return f'float("{tree}")', ATOM
        case int() | float():
            return str(tree), ATOM if tree >= 0 else BINDING["unary"]
        case tuple() | list():
            return _tuple([rendering.text(item) for item in tree]), ATOM
        case _ if tree is ...:
            return "...", ATOM
    raise TypeError(f"{type(tree).__name__} cannot be written: {tree!r}")


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
