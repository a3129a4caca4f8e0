"""Example inputs: `[name:]shape[:dtype]`, and numbers for them that a seed alone decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from luthier.errors import ProofError
from luthier.proof.network import Array

__all__ = ["DTYPES", "InputSpec", "made", "parse_input", "varied"]

DTYPES = ("float32", "float16", "float64", "int32", "int64", "uint8", "bool")
DYNAMIC = 4  # what a '?' is taken for
AT = "--input"


class InputSpec(Struct, frozen=True, kw_only=True):
    """One input; '?' is a size that may vary."""

    name: str = ""
    shape: tuple[int | str, ...]
    dtype: str = "float32"

    @property
    def text(self) -> str:
        """As `--input` takes it."""
        parts = [self.name] if self.name else []
        parts.append(",".join(map(str, self.shape)))
        return ":".join([*parts, self.dtype] if self.dtype != "float32" else parts)


def parse_input(text: str) -> InputSpec:
    """`1,3,224,224`, `x:1,3,224,224`, `ids:?,16:int64`."""
    parts = text.split(":")
    dtype = parts.pop() if parts[-1] in DTYPES and len(parts) > 1 else "float32"
    shape = parts.pop()
    name = parts.pop() if parts else ""
    sizes: list[int | str] = []
    for size in shape.split(","):
        if not (size.strip().isdigit() and int(size)) and size.strip() != "?":
            raise ProofError(
                f"Expected [name:]shape[:dtype], got '{text}'",
                at=AT,
                hint=f"Such as 1,3,224,224 or ids:?,16:int64. Dtypes: {', '.join(DTYPES)}.",
            )
        sizes.append("?" if size.strip() == "?" else int(size))
    if parts or (name and not name.isidentifier()):
        raise ProofError(f"Expected [name:]shape[:dtype], got '{text}'", at=AT, hint="Such as ids:?,16:int64.")
    return InputSpec(name=name, shape=tuple(sizes), dtype=dtype)


def made(specs: Sequence[InputSpec], below: int) -> Callable[[int], list[Array]]:
    """Normal numbers; whole ones from 0 up to `below`."""

    def inputs(seed: int) -> list[Array]:
        draw = np.random.default_rng([seed, 1])
        found: list[Array] = []
        for spec in specs:
            shape = tuple(DYNAMIC if size == "?" else int(size) for size in spec.shape)
            if spec.dtype.startswith("float"):
                found.append(draw.standard_normal(shape).astype(spec.dtype))
            elif spec.dtype == "bool":
                found.append(draw.integers(0, 2, shape).astype(np.bool_))
            else:
                found.append(draw.integers(0, below, shape).astype(spec.dtype))
        return found

    return inputs


def varied(arrays: Sequence[Array]) -> Callable[[int], list[Array]]:
    """The user's own for seed 0; for others the same with its samples in another order, and moved a little."""

    def inputs(seed: int) -> list[Array]:
        if seed == 0:
            return [np.array(array) for array in arrays]
        draw = np.random.default_rng([seed, 2])
        found = []
        for array in arrays:
            moved = array
            if np.issubdtype(array.dtype, np.floating):
                moved = array + 0.05 * (array.std() or 1.0) * draw.standard_normal(array.shape)
            found.append(moved.astype(array.dtype))
        return found

    return inputs
