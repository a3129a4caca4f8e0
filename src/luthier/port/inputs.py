"""`--input [name:]shape[:dtype]`, and the tensors that stand for it while the source is read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any, Literal

from luthier.errors import PortError, unknown
from luthier.port.manifest import Input

__all__ = ["DTYPES", "OPEN", "parsed_input", "parsed_options"]

OPEN = 2  # what an open length is while the source is read: one would be taken for a fixed one
DTYPES = ("float32", "float16", "float64", "int64", "int32", "int8", "uint8", "bool")
EXAMPLE = "Such as 1,3,224,224 or ids:1,?:int64."


def parsed_input(text: str) -> Input:
    """The option's text; a name that is left out is filled in from the source's own."""
    parts = text.split(":")
    name = parts.pop(0) if len(parts) > 1 and not _is_shape(parts[0]) else ""
    if not parts or len(parts) > 2 or not _is_shape(parts[0]):
        raise PortError(f"Expected [name:]shape[:dtype], got '{text}'", at="--input", hint=EXAMPLE)
    dtype = parts[1] if len(parts) == 2 else "float32"
    if dtype not in DTYPES:
        sentence, hint = unknown("dtype", dtype, DTYPES)
        raise PortError(sentence, at=f"--input {text}", hint=hint)
    if name and not name.isidentifier():
        raise PortError(f"Expected an argument's name, got '{name}'", at=f"--input {text}", hint=EXAMPLE)
    shape: tuple[int | Literal["?"], ...] = tuple(
        "?" if part.strip() == "?" else int(part) for part in parts[0].split(",")
    )
    if any(length != "?" and length < 1 for length in shape):
        raise PortError(f"Expected lengths of at least 1, got '{parts[0]}'", at="--input", hint=EXAMPLE)
    return Input(name=name, shape=shape, dtype=dtype)


def parsed_options(texts: Iterable[str]) -> dict[str, Any]:
    """`--set width=0.5`: a value is TOML where it parses as such, and plain text elsewhere."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise PortError(f"Expected name=value, got '{text}'", at="--set", hint="Such as num_classes=10.")
        try:
            found[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = value.strip()
    return found


def _is_shape(text: str) -> bool:
    return all(part.strip() == "?" or part.strip().lstrip("-").isdigit() for part in text.split(",")) and bool(text)
