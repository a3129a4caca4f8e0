"""How long one image takes, by the protocol that a recipe's score names."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from time import perf_counter_ns

import numpy as np
from msgspec import Struct

from luthier.measure.registry import runtime
from luthier.measure.subject import Prepared, Subject
from luthier.recipe import Score
from luthier.store import Latency

__all__ = ["Timings", "chosen_ms", "latencies", "latency"]

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
    return latencies([subject], protocol)[0]


def latencies(subjects: Sequence[Subject], protocol: Score) -> list[tuple[Timings, Latency]]:
    """Of several networks in turn, run by run: whatever else the machine does, it does to all of them."""
    with ExitStack() as stack:
        prepared = [
            stack.enter_context(runtime(protocol.runtime)(subject, subject.images(BATCH), threads=protocol.threads))
            for subject in subjects
        ]
        times = [item.times(protocol.warmup, protocol.runs) for item in prepared if item.times]
        if not times:
            times = timed_in_turn([item.infer for item in prepared], warmup=protocol.warmup, runs=protocol.runs)
        return [(summary(own), _conditions(protocol, item)) for own, item in zip(times, prepared, strict=True)]


def chosen_ms(timings: Timings, protocol: Score) -> float:
    """The statistic that the recipe names."""
    return timings.median_ms if protocol.statistic == "median" else timings.mean_ms


def _conditions(protocol: Score, prepared: Prepared) -> Latency:
    return Latency(
        runtime=protocol.runtime,
        threads=protocol.threads,
        batch=BATCH,
        warmup=protocol.warmup,
        runs=protocol.runs,
        statistic=protocol.statistic,
        device=prepared.device,
    )


def timed(infer: Callable[[], object], *, warmup: int, runs: int) -> list[float]:
    """Milliseconds of each run."""
    return timed_in_turn([infer], warmup=warmup, runs=runs)[0]


def timed_in_turn(infers: Sequence[Callable[[], object]], *, warmup: int, runs: int) -> list[list[float]]:
    """Milliseconds of each; the garbage collector waits meanwhile, and starts with nothing to do."""
    for _ in range(warmup):
        for infer in infers:
            infer()
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    times: list[list[float]] = [[] for _ in infers]
    try:
        for _ in range(runs):
            for infer, own in zip(infers, times, strict=True):
                own.append(_once(infer))
        return times
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
