"""Which parameters of a shipped network share their channels, and the options that its widths stand in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any

from luthier.errors import ExportError
from luthier.recipe import Model
from luthier.zoo import default_options

__all__ = ["Channels", "Plan", "Slot", "Width", "plan"]

Shapes = Mapping[str, tuple[int, ...]]
EXPANSIONS = {"basic": 1, "bottleneck": 4}


@dataclass(frozen=True, kw_only=True)
class Slot:
    """An axis of a parameter along which channels lie, each with so many values."""

    name: str
    axis: int
    repeats: int = 1


@dataclass(frozen=True, kw_only=True)
class Channels:
    """They go together, since a sum or a layer couples them; a width of four times as many may stand behind them."""

    slots: tuple[Slot, ...]
    share: int = 1


@dataclass(frozen=True, kw_only=True)
class Width:
    """One number of the recipe; channels that are not coupled share it, and each chooses its own."""

    size: int
    channels: tuple[Channels, ...]
    multiple: int = 1


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All widths of a network, and the `model` with other numbers in their place."""

    widths: tuple[Width, ...]
    described: Callable[[Sequence[int]], Model]


def plan(model: Model, shapes: Shapes) -> Plan:
    """Of a network of the zoo; of any other nobody knows which channels meet."""
    if model.name == "lenet5":
        return _lenet5(model, shapes)
    if model.name == "slim":
        return _slim(model, shapes)
    if model.name.startswith("resnet"):
        return _resnet(model, shapes)
    raise ExportError(
        f"The channels of {model.name} cannot be followed, so none of them can be pruned",
        at="model.name",
        hint="lenet5, slim and the ResNets can be pruned; of a network of your own, train a narrower one.",
    )


def _lenet5(model: Model, shapes: Shapes) -> Plan:
    """Every layer but the last has a width of its own; a bypass's two convolutions meet in a sum."""

    def convs(i: int) -> list[str]:
        return [n for n in (f"conv{i}.weight", f"conv{i}.conv.weight", f"conv{i}.shortcut.weight") if n in shapes]

    depth = len(list(takewhile(convs, count(1))))
    dense = len(list(takewhile(lambda i: f"fc{i}.weight" in shapes, count(1))))
    widths = []
    for i in range(1, depth + 1):
        size = shapes[convs(i)[0]][0]
        made = [*(Slot(name=name, axis=0) for name in convs(i)), *_norm(f"norm{i}", shapes)]
        taken = [Slot(name=name, axis=1) for name in convs(i + 1)]
        flat = Slot(name="fc1.weight", axis=1, repeats=shapes["fc1.weight"][1] // size)
        widths.append(_alone(size, [*made, *(taken or [flat])]))
    for i in range(1, dense):
        made = [Slot(name=f"fc{i}.{leaf}", axis=0) for leaf in ("weight", "bias")]
        widths.append(_alone(shapes[f"fc{i}.bias"][0], [*made, Slot(name=f"fc{i + 1}.weight", axis=1)]))

    def described(sizes: Sequence[int]) -> Model:
        return _with(model, {"width": list(sizes[:depth]), "dense": list(sizes[depth:])})

    return Plan(widths=tuple(widths), described=described)


def _slim(model: Model, shapes: Shapes) -> Plan:
    """A width a stage; shortcuts couple the channels of all its convolutions, which choose their own without."""
    depth = int((default_options(model) | model.options)["depth"])
    widths = []
    for stage in range(1, 4):
        after = f"stage{stage + 1}.conv1.weight" if stage < 3 else "fc.weight"
        conv, norm = f"stage{stage}.conv{{}}.weight", f"stage{stage}.norm{{}}"
        layers = [(conv.format(i), norm.format(i)) for i in range(1, depth + 1)]
        size = shapes[layers[0][0]][0]
        if depth > 1 and layers[1][0] not in shapes:
            blocks = [
                (f"stage{stage}.block{i}.conv.weight", f"stage{stage}.block{i}.norm") for i in range(2, depth + 1)
            ]
            made = [slot for name, other in [layers[0], *blocks] for slot in _layer(name, other, shapes)]
            taken = [Slot(name=name, axis=1) for name in [*(name for name, _ in blocks), after]]
            widths.append(_alone(size, [*made, *taken]))
            continue
        followers = [*(name for name, _ in layers[1:]), after]
        own = [
            Channels(slots=(*_layer(name, other, shapes), Slot(name=follower, axis=1)))
            for (name, other), follower in zip(layers, followers, strict=True)
        ]
        widths.append(Width(size=size, channels=tuple(own)))
    return Plan(widths=tuple(widths), described=lambda sizes: _with(model, {"width": list(sizes)}))


def _resnet(model: Model, shapes: Shapes) -> Plan:
    """The stem and each stage have a width, one together where no convolution lies between; blocks choose inside."""
    block = "bottleneck" if "layer1.0.conv3.weight" in shapes else "basic"
    last = 3 if block == "bottleneck" else 2
    trunks = [_layer("conv1.weight", "bn1", shapes)]
    inside: list[list[Channels]] = [[]]
    lengths, ends = [], []
    for stage in range(1, 5):
        blocks = list(takewhile(lambda b, at=stage: f"layer{at}.{b}.conv1.weight" in shapes, count()))  # type: ignore[misc]
        for place in (f"layer{stage}.{number}" for number in blocks):
            trunks[-1].append(Slot(name=f"{place}.conv1.weight", axis=1))
            if f"{place}.downsample.0.weight" in shapes:
                trunks[-1].append(Slot(name=f"{place}.downsample.0.weight", axis=1))
                trunks.append(_layer(f"{place}.downsample.0.weight", f"{place}.downsample.1", shapes))
                inside.append([])
            trunks[-1] += _layer(f"{place}.conv{last}.weight", f"{place}.bn{last}", shapes)
            for i in range(1, last):
                follower = Slot(name=f"{place}.conv{i + 1}.weight", axis=1)
                made = _layer(f"{place}.conv{i}.weight", f"{place}.bn{i}", shapes)
                inside[-1].append(Channels(slots=(*made, follower), share=EXPANSIONS[block]))
        lengths.append(len(blocks))
        ends.append(len(trunks) - 1)
    trunks[-1].append(Slot(name="fc.weight", axis=1))
    widths = [
        Width(
            size=shapes[slots[0].name][0],
            channels=(Channels(slots=tuple(slots)), *within),
            multiple=EXPANSIONS[block] if within else 1,
        )
        for slots, within in zip(trunks, inside, strict=True)
    ]

    def described(sizes: Sequence[int]) -> Model:
        known = default_options(model) | model.options
        kept = {name: known[name] for name in ("strides", "stem", "reduction", "zero_last") if name in known}
        before = [sizes[0], *(sizes[end] for end in ends[:3])]
        after = [sizes[end] for end in ends]
        _require_shortcuts(model, before, after, shapes, kept.get("strides", (1, 2, 2, 2)))
        lists: dict[str, Any] = {"block": block, "layer_nums": lengths, "in_channels": before, "out_channels": after}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}
        return Model(name="resnet", init=model.init, init_dense=model.init_dense, options=lists | plain)

    return Plan(widths=tuple(widths), described=described)


def _require_shortcuts(
    model: Model, before: Sequence[int], after: Sequence[int], shapes: Shapes, strides: Sequence[int]
) -> None:
    """A block whose sizes came to be equal would lose the convolution in its shortcut."""
    for stage in range(4):
        convolved = f"layer{stage + 1}.0.downsample.0.weight" in shapes
        if convolved and strides[stage] == 1 and before[stage] == after[stage]:
            raise ExportError(
                f"Pruned, stage {stage + 1} of {model.name} would take and give {after[stage]} channels, "
                "and have no convolution in its shortcut",
                at="compress.prune",
                hint="Take another share.",
            )


def _layer(conv: str, norm: str, shapes: Shapes) -> list[Slot]:
    """A convolution's outputs and their normalisation."""
    return [Slot(name=conv, axis=0), *_norm(norm, shapes)]


def _norm(name: str, shapes: Shapes) -> list[Slot]:
    leaves = ("weight", "bias", "running_mean", "running_var")
    return [Slot(name=f"{name}.{leaf}", axis=0) for leaf in leaves if f"{name}.{leaf}" in shapes]


def _alone(size: int, slots: Sequence[Slot]) -> Width:
    return Width(size=size, channels=(Channels(slots=tuple(slots)),))


def _with(model: Model, options: Mapping[str, Any]) -> Model:
    return Model(name=model.name, init=model.init, init_dense=model.init_dense, options=model.options | dict(options))
