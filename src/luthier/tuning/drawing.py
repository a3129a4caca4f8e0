"""The pictures of a tuning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from luthier.store import write_picture
from luthier.tuning.curves import RangeCurve

if TYPE_CHECKING:
    from luthier.tuning.study import Study

__all__ = ["draw_curve", "draw_front"]


def draw_curve(curve: RangeCurve, chosen: float, output: Path) -> None:
    """Loss over learning rate, the interval shaded, the chosen rate marked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axes = figure.subplots()
    axes.plot(curve.learning_rates, curve.losses, color="0.75", linewidth=0.8, label="mean of the segments")
    axes.plot(curve.learning_rates, curve.smooth, color="tab:brown", linewidth=1.8, label="smoothed")
    if curve.interval:
        axes.axvspan(*curve.interval, color="tab:brown", alpha=0.12, linewidth=0, label="the loss falls")
    axes.axvline(chosen, color="tab:red", linewidth=1.2, linestyle="--", label=f"chosen: {chosen:.3g}")
    axes.set(xscale="log", xlabel="learning rate", ylabel="training loss")
    bottom, top = min(curve.smooth), max(curve.smooth[: max(1, len(curve.smooth) // 10)])
    room = max(top - bottom, 1e-3)
    axes.set_ylim(bottom - 0.15 * room, top + 0.6 * room)
    axes.margins(x=0.02)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    write_picture(output, lambda file, form: figure.savefig(file, format=form))


def draw_front(study: Study, output: Path) -> Path:
    """Every trial that came to its end, by accuracy and size; its colour is its latency."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axes = figure.subplots()
    known = [trial for trial in study.state.finished() if trial.cost is not None]
    sizes = [trial.cost.size_mb for trial in known if trial.cost]
    latencies = [trial.cost.latency_ms for trial in known if trial.cost]
    points = axes.scatter(sizes, [trial.accuracy or 0 for trial in known], c=latencies, cmap="viridis", s=28, zorder=3)
    front = [(trial.cost.size_mb, trial.accuracy or 0) for trial in study.state.front() if trial.cost]
    axes.plot(*zip(*front, strict=True), color="0.6", linewidth=1.0, zorder=2, label="front")
    best = study.best
    if best is not None and best.cost is not None:
        axes.scatter(
            [best.cost.size_mb],
            [best.accuracy or 0],
            s=160,
            facecolors="none",
            edgecolors="tab:red",
            label="best score",
        )
    axes.set(xlabel="size (MB)", ylabel="accuracy on the validation part (%)")
    if sizes and max(sizes) > 5 * min(sizes):
        axes.set_xscale("log")
    figure.colorbar(points, label="latency (ms)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="lower right")
    return write_picture(output, lambda file, form: figure.savefig(file, format=form))
