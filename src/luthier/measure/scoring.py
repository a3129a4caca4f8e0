"""One number for what a network is worth, and the three that it comes from."""

from __future__ import annotations

from luthier.recipe import Score

__all__ = ["score"]


def score(accuracy: float, size_mb: float, latency_ms: float, weights: Score | None = None) -> float:
    """Points of accuracy against megabytes and milliseconds; at the default weights a point is worth 1.43 MB."""
    weights = weights or Score()
    return weights.accuracy * accuracy - weights.size * size_mb - weights.latency * latency_ms
