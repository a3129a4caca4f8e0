"""A weight map on disk: JSON that a person can read and correct."""

from __future__ import annotations

from pathlib import Path

import msgspec

from luthier.errors import StoreError
from luthier.weights.weight_map import WeightMap

__all__ = ["read_map", "write_map"]


def write_map(weight_map: WeightMap, path: Path) -> None:
    """Write the map, one field a line."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(weight_map), indent=1) + b"\n")


def read_map(path: Path) -> WeightMap:
    """Read a map; a wrong field, an unknown transform and a name that stands twice are refused by place."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=WeightMap)
    except FileNotFoundError:
        raise StoreError(f"No weight map {path}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise StoreError(f"The weight map cannot be read: {fault}", at=str(path)) from None
