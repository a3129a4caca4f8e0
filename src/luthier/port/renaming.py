"""A checkpoint under other names, for a network that was ported by hand."""

from __future__ import annotations

from pathlib import Path

from luthier.errors import PortError, nearest
from luthier.port.files import write_checkpoint, write_safetensors
from luthier.port.fitting import listed
from luthier.weights import read_map, read_weights

__all__ = ["rename_weights"]

FORMATS = {".ckpt": write_checkpoint, ".safetensors": write_safetensors}


def rename_weights(weights: Path | None, weight_map: Path | None, output: Path) -> str:
    """Write the weights under the map's target names; names that are missing or extra are both told."""
    if weights is None or weight_map is None:
        raise PortError(
            "Expected a checkpoint and a map", at="--weights-only, --map", hint="--weights-only a.pt --map map.json"
        )
    if output.suffix not in FORMATS:
        raise PortError(f"Expected a file to write, got '{output}'", at="-o", hint=f"Known: {', '.join(FORMATS)}.")
    found = read_map(weight_map)
    arrays = read_weights(weights)
    needed = [entry.source for entry in found.entries]
    known = {*needed, *(item.source for item in found.dropped)}
    missing, extra = [name for name in needed if name not in arrays], [name for name in arrays if name not in known]
    if missing or extra:
        near = nearest((missing or extra)[0], extra if missing else needed)
        raise PortError(
            f"The weights do not fit the map: {listed('missing', missing)}; {listed('extra', extra)}",
            at=str(weights),
            hint=f"'{(missing or extra)[0]}' is perhaps '{near}'." if near else None,
        )
    renamed = found.to_target(arrays)
    FORMATS[output.suffix](renamed, output)
    return f"{output}: {len(renamed)} arrays"
