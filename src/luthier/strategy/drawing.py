"""Schedules as a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from luthier.recipe import Strategy
from luthier.strategy.schedules import learning_rates

__all__ = ["Plan", "draw_schedules"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A strategy on a data set of a certain length, and what the picture calls it."""

    label: str
    strategy: Strategy
    steps_per_epoch: int


def draw_schedules(plans: Iterable[Plan], file: BinaryIO, form: str) -> None:
    """Every step's learning rate over each other, against the epochs, so that runs of any length compare."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axes = figure.subplots()
    for plan in plans:
        rates = learning_rates(plan.strategy, plan.steps_per_epoch)
        schedule = plan.strategy.schedule.__struct_config__.tag
        epochs = np.arange(len(rates)) / plan.steps_per_epoch
        axes.plot(epochs, rates, label=f"{plan.label} ({schedule})", linewidth=1.4)
    axes.set(xlabel="epoch", ylabel="learning rate")
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(file, format=form)
