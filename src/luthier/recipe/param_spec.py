"""Values, or lists of candidates, for a recipe's fields: by the short names of this field, or by dotted path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

from luthier.errors import RecipeError, nearest
from luthier.recipe.comparing import flattened
from luthier.recipe.records import Recipe

__all__ = ["ParamSpec", "as_override"]

SHORT = {"momentum": "strategy.optimizer.momentum", "weight_decay": "strategy.optimizer.weight_decay"}


class ParamSpec:
    """`ParamSpec(learning_rate=0.1, momentum=0.9)`, or `ParamSpec({"data.batch_size": [32, 64]}, momentum=[0.8, 0.9])`.

    A short name is the last part of a field's path; where several fields end so, the dotted path tells them apart.
    """

    def __init__(self, fields: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        self._values: dict[str, Any] = {_path(name): value for name, value in {**(fields or {}), **named}.items()}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and (found := [path for path in self._values if path.endswith(f".{name}")]):
            return self._values[found[0]]
        raise AttributeError(f"no value for '{name}' here")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __getitem__(self, path: str) -> Any:
        return self._values[_path(path)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParamSpec) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ParamSpec({self._values!r})"

    def items(self) -> list[tuple[str, Any]]:
        """Dotted paths and their values."""
        return list(self._values.items())

    def merged(self, values: Mapping[str, Any]) -> ParamSpec:
        """The same with some values set."""
        return ParamSpec({**self._values, **values})

    def overrides(self) -> list[str]:
        """As `--set` takes them; whatever chooses a kind comes first, since its fields follow from it."""
        ordered = sorted(self._values.items(), key=lambda item: depth(item[0]))
        return [as_override(path, value) for path, value in ordered]


def depth(path: str) -> int:
    """Where a path stands among others: an optimizer is set before its momentum."""
    return path.removesuffix(".name").count(".")


def as_override(path: str, value: Any) -> str:
    """`path=value`, the value as TOML."""
    return f"{path}={_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()


def _key(name: str) -> str:
    return tomli_w.dumps({name: 0}).partition(" =")[0]


def _path(name: str) -> str:
    if "." in name:
        return name
    if name in SHORT:
        return SHORT[name]
    known = flattened(Recipe())
    found = [path for path in known if path.rpartition(".")[2] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise RecipeError(f"'{name}' may mean {' or '.join(found)}", at="ParamSpec", hint="Give the dotted path.")
    meant = nearest(name, [path.rpartition(".")[2] for path in known])
    hint = f"Perhaps you meant '{meant}'." if meant else "Give the dotted path, such as model.options.width."
    raise RecipeError(f"No field of a recipe is called '{name}'", at="ParamSpec", hint=hint)
