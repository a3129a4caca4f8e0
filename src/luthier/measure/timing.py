"""How long one image takes, by the protocol that a recipe's score names."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from time import perf_counter_ns

import numpy as np
from msgspec import Struct

from luthier.measure.registry import runtime
from luthier.measure.subject import Subject
from luthier.recipe import Score
from luthier.store import Latency

__all__ = ["Timings", "latency"]

BATCH = 1


class Timings(Struct, frozen=True, kw_only=True):
    """Of `n` runs, each timed by itself; the minimum is the steadiest, the 95th percentile what a user waits for."""

    n: int
    min_ms: float
    median_ms: float
    mean_ms: float
    p95_ms: float


def latency(subject: Subject, protocol: Score) -> tuple[Timings, Latency]:
    """One random image, the same each time: no network here takes longer for one than for another."""
    height, width, channels = subject.network.shape
    images = np.random.default_rng(0).standard_normal((BATCH, channels, height, width), np.float32)
    with runtime(protocol.runtime)(subject, images, threads=protocol.threads) as prepared:
        times = prepared.times or (lambda warmup, runs: timed(prepared.infer, warmup=warmup, runs=runs))
        return summary(times(protocol.warmup, protocol.runs)), Latency(
            runtime=protocol.runtime,
            threads=protocol.threads,
            batch=BATCH,
            warmup=protocol.warmup,
            runs=protocol.runs,
            statistic=protocol.statistic,
            device=prepared.device,
        )


def timed(infer: Callable[[], object], *, warmup: int, runs: int) -> list[float]:
    """Milliseconds of each run; the garbage collector waits meanwhile, and starts with nothing to do."""
    for _ in range(warmup):
        infer()
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        return [_once(infer) for _ in range(runs)]
    finally:
        if collecting:
            gc.enable()


def _once(infer: Callable[[], object]) -> float:
    begin = perf_counter_ns()
    infer()
    return (perf_counter_ns() - begin) / 1e6


def summary(times_ms: Sequence[float]) -> Timings:
    """The statistics that a protocol can name, and those that explain them."""
    return Timings(
        n=len(times_ms),
        min_ms=min(times_ms),
        median_ms=float(np.median(times_ms)),
        mean_ms=float(np.mean(times_ms)),
        p95_ms=float(np.percentile(times_ms, 95)),
    )
