"""The map between a PyTorch module and a Cell whose attributes carry the same names."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from luthier.errors import ModelError, nearest
from luthier.weights.transforms import Expand, Identity, Transform
from luthier.weights.weight_map import Dropped, Entry, WeightMap

__all__ = ["COUNTER", "Pairing", "Shapes", "between", "match", "pair", "pairs", "pytorch_shapes"]

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]

LEAVES: Mapping[str, tuple[str, ...]] = {
    "bias": ("bias", "beta", "bn2d.beta"),
    "running_mean": ("moving_mean", "bn2d.moving_mean"),
    "running_var": ("moving_variance", "bn2d.moving_variance"),
    "weight": ("weight", "gamma", "bn2d.gamma", "embedding_table", "w"),
}
COUNTER = "num_batches_tracked"
SOURCES = {"beta": "bias", "gamma": "weight", "moving_mean": "running_mean", "moving_variance": "running_var"}
ORDER = ("weight", "bias", "running_mean", "running_var")


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """What could be paired, and every name on either side that could not."""

    weight_map: WeightMap
    homeless: tuple[str, ...]  # of the source, without a place in the target
    unfed: tuple[str, ...]  # of the target, without anything in the source
    misshapen: tuple[tuple[str, str], ...]  # paired by name, and of other shapes


def pair(source: Shapes, target: Shapes) -> Pairing:
    """Pair PyTorch's names with MindSpore's, by attribute path, the leaves' known renames and the shapes.

    PyTorch's batch counters are dropped.
    """
    known = pairs(source, target)
    entries, misshapen = [], []
    for name, found in known.items():
        transform = between(source[name], target[found])
        if source[name] == target[found] or not isinstance(transform, Identity):
            entries.append(Entry(source=name, target=found, transform=transform))
        else:
            misshapen.append((name, found))
    rest = [name for name in source if name not in known]
    counters = [name for name in rest if name.rpartition(".")[2] == COUNTER]
    return Pairing(
        weight_map=WeightMap(
            entries=tuple(entries), dropped=tuple(Dropped(source=name, shape=source[name]) for name in counters)
        ),
        homeless=tuple(name for name in rest if name not in counters),
        unfed=tuple(sorted(set(target) - set(known.values()))),
        misshapen=tuple(misshapen),
    )


def match(source: Shapes, target: Shapes) -> WeightMap:
    """The whole map; anything left over on either side, or of another shape, is refused."""
    found = pair(source, target)
    if found.misshapen:
        name, other = found.misshapen[0]
        raise ModelError(
            f"'{name}' has the shape {source[name]} in PyTorch, '{other}' has {target[other]} in MindSpore"
        )
    if found.homeless:
        raise _unmatched(found.homeless[0], target, "The MindSpore network has no place for")
    if found.unfed:
        raise _unmatched(found.unfed[0], source, "The PyTorch network has nothing for")
    return found.weight_map


def pytorch_shapes(target: Shapes) -> dict[str, Shape]:
    """What PyTorch's module of the same attributes has, in its order; each running variance is counted beside it."""
    layers: dict[str, dict[str, Shape]] = {}
    for name, shape in target.items():
        path, dot, leaf = name.rpartition(".")
        layers.setdefault(path + dot, {})[SOURCES.get(leaf, leaf)] = shape
    found: dict[str, Shape] = {}
    for path, leaves in layers.items():
        for leaf in sorted(leaves, key=lambda leaf: ORDER.index(leaf) if leaf in ORDER else len(ORDER)):
            found[f"{path}{leaf}"] = leaves[leaf]
            if leaf == "running_var":
                found[f"{path}{COUNTER}"] = ()
    return found


def pairs(source: Iterable[str], target: Container[str]) -> dict[str, str]:
    """MindSpore's name of each of PyTorch's that has one, by attribute path and the leaves' known renames."""
    found = ((name, next((option for option in _candidates(name) if option in target), None)) for name in source)
    return {name: option for name, option in found if option is not None}


def between(shape: Shape, wanted: Shape) -> Transform:
    """PyTorch's layout to MindSpore's: a Conv1d's weight has four axes there."""
    if len(shape) == 3 and wanted == (*shape[:2], 1, shape[2]):
        return Expand(axis=2)
    return Identity()


def _candidates(name: str) -> Iterator[str]:
    path, dot, leaf = name.rpartition(".")
    for other in LEAVES.get(leaf, (leaf,)):
        yield f"{path}{dot}{other}"


def _unmatched(name: str, others: Shapes, sentence: str) -> ModelError:
    near = nearest(name, others)
    return ModelError(f"{sentence} '{name}'", hint=f"The nearest name there is '{near}'." if near else None)
