"""Faults that names, shapes and weights show, and what dropout does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mindspore
import numpy as np
import torch
from mindspore import Tensor, nn

from tests.proof.planted.fault import Fault, between, chain

__all__ = ["STRUCTURE_FAULTS"]

Maker = Callable[[], Any]


def tlayers(**changed: Maker) -> dict[str, Maker]:
    return {
        "entry": lambda: torch.nn.Conv2d(4, 4, 3),
        "layer": lambda: torch.nn.Conv2d(4, 6, 3, groups=2),
        "norm": lambda: torch.nn.BatchNorm2d(6),
        "drop": lambda: torch.nn.Dropout(0.1),
        "pool": lambda: torch.nn.AdaptiveAvgPool2d(1),
        "flatten": lambda: torch.nn.Flatten(),
        "head": lambda: torch.nn.Linear(6, 6),
        "fc": lambda: torch.nn.Linear(6, 5),
    } | changed


def mlayers(**changed: Maker) -> dict[str, Maker]:
    return {
        "entry": lambda: nn.Conv2d(4, 4, 3, pad_mode="valid", has_bias=True),
        "layer": lambda: nn.Conv2d(4, 6, 3, pad_mode="valid", has_bias=True, group=2),
        "norm": lambda: nn.BatchNorm2d(6, momentum=0.9),
        "drop": lambda: nn.Dropout(p=0.1),
        "pool": lambda: nn.AdaptiveAvgPool2d(1),
        "flatten": lambda: nn.Flatten(),
        "head": lambda: nn.Dense(6, 6),
        "fc": lambda: nn.Dense(6, 5),
    } | changed


def frozen() -> nn.Cell:
    made = nn.Dense(6, 6)
    made.weight.requires_grad = False
    return made


def weighted(change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> tuple[Maker, Maker]:
    """Both sides with the same weights, the candidate's through a change."""
    torch.manual_seed(5)
    module = chain(tlayers())()
    norm = module.norm
    with torch.no_grad():
        for value in (norm.weight, norm.running_mean, norm.running_var, norm.bias):
            value.copy_(torch.rand(6) + 0.5)
    arrays = {name: value.numpy().copy() for name, value in module.state_dict().items()}
    renamed = {"norm.weight": "norm.gamma", "norm.bias": "norm.beta", "norm.running_mean": "norm.moving_mean"}
    renamed |= {"norm.running_var": "norm.moving_variance"}
    named = {renamed.get(name, name): array for name, array in arrays.items() if "num_batches" not in name}

    def candidate() -> nn.Cell:
        cell = between(mlayers())()
        loaded = change(named)
        for parameter in cell.get_parameters():
            if parameter.name in loaded:
                parameter.set_data(Tensor(np.ascontiguousarray(loaded[parameter.name]), mindspore.float32))
        return cell

    return (lambda: module), candidate


def fault(
    name: str,
    row: str,
    layer: str,
    trap: str | None,
    cell: Mapping[str, Maker],
    module: Mapping[str, Maker] | None = None,
) -> Fault:
    return Fault(
        name=name,
        row=row,
        reference=chain(tlayers(**(module or {}))),
        candidate=between(mlayers(**cell)),
        inputs=["4,4,8,8"],
        rung="structure",
        layer=layer,
        trap=trap,
    )


def loaded(name: str, layer: str, trap: str | None, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Fault:
    reference, candidate = weighted(change)
    return Fault(
        name=name,
        row="6.2",
        reference=reference,
        candidate=candidate,
        inputs=["4,4,8,8"],
        rung="weights",
        layer=layer,
        trap=trap,
        options={"keep_weights": True},
    )


STRUCTURE_FAULTS = [
    fault(
        "a convolution without its bias",
        "6.1",
        "entry",
        "missing-bias",
        {"entry": lambda: nn.Conv2d(4, 4, 3, pad_mode="valid")},
    ),
    fault(
        "a dense layer with a bias too many",
        "6.2",
        "head",
        "extra-bias",
        {},
        {"head": lambda: torch.nn.Linear(6, 6, bias=False)},
    ),
    fault(
        "groups forgotten",
        "6.1",
        "layer",
        "groups",
        {"layer": lambda: nn.Conv2d(4, 6, 3, pad_mode="valid", has_bias=True)},
    ),
    fault(
        "a dense layer of another size",
        "6.2",
        "head",
        "size",
        {"head": lambda: nn.Dense(6, 8), "fc": lambda: nn.Dense(8, 5)},
    ),
    fault(
        "a normalisation without scale and shift",
        "6.2",
        "norm",
        "affine",
        {"norm": lambda: nn.GroupNorm(2, 6, affine=True)},
        {
            "norm": lambda: torch.nn.GroupNorm(2, 6, affine=False),
        },
    ),
    fault("a weight that is not trained", "6.6", "head", "frozen", {"head": frozen}),
    fault("nn.Dropout(0.1), which keeps a tenth", "6.2", "drop", "keep-probability", {"drop": lambda: nn.Dropout(0.1)}),
    fault("dropout of another share", "6.2", "drop", "dropout", {"drop": lambda: nn.Dropout(p=0.5)}),
    loaded(
        "a checkpoint that lacks a layer",
        "head",
        None,
        lambda a: {k: v for k, v in a.items() if not k.startswith("head")},
    ),
    loaded(
        "gamma and moving variance crossed",
        "norm",
        "swapped",
        lambda a: {
            **a,
            "norm.gamma": a["norm.moving_variance"],
            "norm.moving_variance": a["norm.gamma"],
        },
    ),
    loaded("a dense weight transposed", "head", "weight-layout", lambda a: {**a, "head.weight": a["head.weight"].T}),
    loaded(
        "statistics never loaded",
        "norm",
        "not-loaded",
        lambda a: {k: v for k, v in a.items() if k not in ("norm.moving_mean", "norm.moving_variance")},
    ),
    loaded("1 − the statistic", "norm", "one-minus", lambda a: {**a, "norm.moving_mean": 1 - a["norm.moving_mean"]}),
]
