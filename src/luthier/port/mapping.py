"""The port's weight map, from the renames that the rules gave beside their operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from luthier.port.emit import Emit
from luthier.port.graph import Network
from luthier.weights import Dropped, Entry, Identity, WeightMap

__all__ = ["mapped", "unused"]


def mapped(network: Network, renames: Mapping[str, tuple[str, Emit | None]]) -> WeightMap:
    """Every array of the source's state: where it goes, or that the target has no place for it."""
    entries: list[Entry] = []
    dropped: list[Dropped] = []
    taken: set[str] = set()
    ties = dict(network.ties)
    for name, tensor in network.state.items():
        found = renames.get(name)
        source = network.sources.get(name, name)
        if found is None and name in network.optional:
            continue
        if name in ties and network.sources.get(ties[name], ties[name]) == source:
            continue
        if found is None or found[0] in taken or name in ties:
            dropped.append(
                Dropped(
                    source=source,
                    shape=tensor.shape,
                    dtype=tensor.dtype.rstrip("_"),
                    same_as=network.sources.get(ties[name], ties[name]) if name in ties else None,
                )
            )
            continue
        target, layer = found
        leaf = name.rpartition(".")[2]
        transform = layer.transforms.get(leaf, Identity()) if layer else Identity()
        entries.append(Entry(source=source, target=target, transform=transform))
        taken.add(target)
    return WeightMap(entries=tuple(entries), dropped=tuple(dropped))


def unused(weight_map: WeightMap, ties: Sequence[tuple[str, str]]) -> list[str]:
    """Weights that the forward pass never touches."""
    known = dict(ties)
    names = [item.source for item in weight_map.dropped if item.source not in known]
    return [name for name in names if not name.endswith("num_batches_tracked")]
