"""A recipe's `model.options` against a factory's signature: names, types and ranges come from the annotations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from luthier.errors import ModelError, nearest, unknown
from luthier.zoo.registry import Factory

__all__ = ["arguments"]

GIVEN = ("num_classes", "shape")
LIMITS = {" >= ": " of at least ", " > ": " above ", " <= ": " of at most ", " < ": " below "}
WORDS = {"array": "a list", "bool": "true or false", "float": "a number", "int": "a whole number", "str": "text"}


def arguments(factory: Factory, name: str, options: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What to call the factory with: of `given` what it takes, and every option, checked.

    Where a factory takes any keyword it gets `num_classes` besides, the name that the field uses; never `shape`.
    """
    parameters = inspect.signature(factory).parameters.values()
    named = {item.name: item for item in parameters if item.kind in (item.KEYWORD_ONLY, item.POSITIONAL_OR_KEYWORD)}
    open_ended = any(item.kind is item.VAR_KEYWORD for item in parameters)
    if not open_ended:
        _check_names(name, options, [option for option in named if option not in GIVEN])
    hints = _hints(factory)
    checked = {option: _checked(option, value, hints.get(option, Any)) for option, value in options.items()}
    taken = {key: value for key, value in given.items() if key in named or (open_ended and key == "num_classes")}
    missing = [item.name for item in named.values() if item.default is item.empty and item.name not in taken | checked]
    if missing:
        raise ModelError(f"{name} needs the option '{missing[0]}'", at="model.options")
    return taken | checked


def _check_names(name: str, options: Mapping[str, Any], known: list[str]) -> None:
    for option in options:
        if option not in known:
            sentence, hint = unknown("option", option, known)
            raise ModelError(f"{sentence} of {name}", at=f"model.options.{option}", hint=hint)


def _hints(factory: Factory) -> dict[str, Any]:
    """Empty where a user's annotations cannot be resolved: then nothing is checked but the names."""
    try:
        return get_type_hints(factory.__init__ if inspect.isclass(factory) else factory, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}


def _checked(option: str, value: Any, hint: Any) -> Any:
    try:
        return msgspec.convert(value, hint, dec_hook=_foreign)
    except msgspec.ValidationError as error:
        raise _explained(option, value, hint, str(error)) from None
    except (NotImplementedError, TypeError):  # an annotation of the user's that TOML has no word for
        return value


def _foreign(kind: type, value: Any) -> Any:
    raise NotImplementedError


def _explained(option: str, value: Any, hint: Any, fault: str) -> ModelError:
    """msgspec's sentence in a recipe's words: what was expected, what stands there, where."""
    expected, _, path = fault.partition(" - at `$")
    at = f"model.options.{option}" + re.sub(r"\[(\d+)\]", r".\1", path.rstrip("`"))
    for index in re.findall(r"\[(\d+)\]", path):
        value = value[int(index)]
    shown = f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    choices = [str(choice) for choice in _choices(hint)]
    if choices and isinstance(value, str):
        meant = nearest(value, choices)
        known = ", ".join(f"'{choice}'" for choice in choices)
        return ModelError(
            f"Expected one of {known}, got {shown}", at=at, hint=f"Perhaps you meant '{meant}'." if meant else None
        )
    wanted = re.sub(r"`([^`]*)`", lambda words: _in_words(words[1]), expected.partition(", got")[0])
    wanted = re.sub(r" [<>]=? ", lambda sign: LIMITS[sign[0]], wanted).removesuffix(".0")
    return ModelError(f"{wanted}, got {shown}", at=at)


def _in_words(kinds: str) -> str:
    return " or ".join(WORDS.get(kind, kind) for kind in kinds.split(" | ") if kind != "null")


def _choices(hint: Any) -> list[Any]:
    """What a Literal allows, wherever it stands in the annotation."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [choice for part in get_args(hint) for choice in _choices(part)]
