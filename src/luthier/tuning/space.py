"""What may be drawn: ranges by dotted path, from the recipe or ready for a network."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import product
from math import exp, log
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from luthier.errors import RecipeError, unknown
from luthier.recipe import Range, Recipe, override
from luthier.zoo import default_options

__all__ = ["Space", "Values", "ready_space", "ready_spaces", "space_of", "with_space"]

Values = dict[str, Any]
READY = files("luthier.tuning") / "spaces"
GRID = 3  # values of a range that lists none


def ready_spaces() -> tuple[str, ...]:
    """The names of the spaces that come with the package."""
    return tuple(sorted(item.name.removesuffix(".toml") for item in READY.iterdir() if item.name.endswith(".toml")))


def ready_space(name: str) -> dict[str, Range]:
    """One of them."""
    if name not in ready_spaces():
        sentence, hint = unknown("space", name, ready_spaces())
        raise RecipeError(sentence, at="--space", hint=hint)
    raw = tomllib.loads((READY / f"{name}.toml").read_text("utf-8"))
    return msgspec.convert(raw, dict[str, Range])


def with_space(recipe: Recipe, names: Iterable[str] = ()) -> Recipe:
    """The recipe with the spaces named; without names with its own, or else its network's and the strategy's."""
    names = tuple(names)
    if not names and recipe.space:
        return recipe
    names = names or (*_of_the_network(recipe.model.name), "strategy")
    merged = {path: item for name in names for path, item in ready_space(name).items()}
    return _checked(replace(recipe, space={**merged, **recipe.space}))


def _checked(recipe: Recipe) -> Recipe:
    """As if it had been read so."""
    return override(recipe, [f"name={recipe.name}"])


def _of_the_network(name: str) -> tuple[str, ...]:
    return tuple(ready for ready in ready_spaces() if re.fullmatch(rf"{ready}\d*", name) and name != "resnet")


@dataclass(frozen=True)
class Space:
    """Ranges in an order in which every condition is drawn before what depends on it."""

    ranges: Mapping[str, Range]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Conditions first, else as they were written."""
        ordered: dict[str, None] = {}

        def place(path: str) -> None:
            for condition in self.ranges[path].when:
                place(condition)
            ordered.setdefault(path)

        for path in self.ranges:
            place(path)
        return tuple(ordered)

    def wants(self, path: str, values: Mapping[str, Any]) -> bool:
        """Whether it is drawn, given what was drawn before it."""
        return all(name in values and values[name] in allowed for name, allowed in self.ranges[path].when.items())

    def draw(self, random: Random) -> Values:
        """At random, each by its own range."""
        values: Values = {}
        for path in self.order:
            if self.wants(path, values):
                values[path] = drawn(self.ranges[path], random)
        return values

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether these could have been drawn together."""
        wanted = [path for path in self.order if self.wants(path, values)]
        return sorted(values) == sorted(wanted) and all(self.ranges[path].holds(values[path]) for path in wanted)

    def own(self, recipe: Recipe) -> Values:
        """The recipe's own values, as far as they could have been drawn."""
        values: Values = {}
        for path in self.order:
            value = value_at(recipe, path)
            if self.wants(path, values) and self.ranges[path].holds(value):
                values[path] = value
        return values

    def grid(self) -> Iterable[Values]:
        """Every combination of the choices and of a few values of the other ranges; what does not apply is left out."""
        seen = set()
        for combination in product(*(listed(self.ranges[path]) for path in self.order)):
            values: Values = {}
            for path, value in zip(self.order, combination, strict=True):
                if self.wants(path, values):
                    values[path] = value
            if (key := repr(values)) not in seen:
                seen.add(key)
                yield values


def space_of(recipe: Recipe) -> Space:
    """The recipe's."""
    if not recipe.space:
        raise RecipeError(
            f"{recipe.name} has no [space], so there is nothing to search", hint=f"Ready: {', '.join(ready_spaces())}."
        )
    return Space(recipe.space)


def drawn(item: Range, random: Random) -> Any:
    """One value."""
    if item.choice is not None:
        return random.choice(item.choice)
    low, high = item.limits
    if item.integer:
        return random.randint(int(low), int(high))
    if item.log:
        return min(max(exp(random.uniform(log(low), log(high))), low), high)
    return random.uniform(low, high)


def listed(item: Range, count: int = GRID) -> list[Any]:
    """The choices, or a few values from end to end."""
    if item.choice is not None:
        return list(item.choice)
    low, high = item.limits
    shares = [index / (count - 1) for index in range(count)]
    if item.integer:
        return sorted({round(low + share * (high - low)) for share in shares})
    if item.log:
        return [float(f"{low * (high / low) ** share:.6g}") for share in shares]
    return [low + share * (high - low) for share in shares]


def value_at(recipe: Recipe, path: str) -> Any:
    """What stands there; an optimizer or a schedule by its name, an option that is left open as the network has it."""
    value: Any = msgspec.to_builtins(recipe)
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if value is None and path.startswith("model.options."):
        value = default_options(recipe.model).get(path.removeprefix("model.options."))
        value = _left_open(recipe, path) if value is None else value
    if isinstance(value, tuple):
        return list(value)
    return value["name"] if isinstance(value, dict) and "name" in value else value


def _left_open(recipe: Recipe, path: str) -> Any:
    """LeNet-5 has as many convolutions as its width lists channels, and two where it is a factor."""
    if (recipe.model.name, path) != ("lenet5", "model.options.depth"):
        return None
    width = recipe.model.options.get("width")
    return len(width) if isinstance(width, list | tuple) else 2
