"""What a compressed file is judged by: accuracy on a part of the data, size, and latency in turn with the original."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from luthier.compress.deployed import Answering
from luthier.compress.graphs import stored_bytes
from luthier.compress.network import Network
from luthier.data import Batch, DataSet
from luthier.errors import DataError
from luthier.recipe import Score
from luthier.store import Latency
from luthier.training import Epochs, evaluate

__all__ = ["Judge", "Judged", "Worth", "judged_text", "judging", "worth_rows"]

AT_ONCE = 256
FROM_TRAINING = 5000  # images, where nothing was held back to judge by
HEAD = ("", "accuracy (%)", "size (MB)", "file (MB)", "latency (ms)", "score")
NONE = "–"
PARTS = {"eval": "the evaluation set", "train": "the training part", "validation": "the validation part"}


class Worth(Struct, frozen=True, kw_only=True):
    """Of one file; null is what was not measured."""

    size_mb: float  # stored bytes of the parameters, quantisation's scales included, in 10⁶
    file_mb: float
    latency_ms: float
    latency: Latency
    accuracy: float | None = None  # percent, on the part that it was judged by
    score: float | None = None


class Judged(Struct, frozen=True, kw_only=True):
    """What accuracies are of."""

    split: str
    samples: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Some:
    """Images in memory, as a part of a data set."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int32]

    def epoch(self, _epoch: int, /) -> Iterator[Batch]:
        """In batches."""
        for begin in range(0, len(self.labels), AT_ONCE):
            end = begin + AT_ONCE
            yield Batch(images=self.images[begin:end], labels=self.labels[begin:end])


@dataclass(frozen=True, kw_only=True, eq=False)
class Judge:
    """Of one network's files, all by the same images and the same protocol."""

    network: Network
    part: Epochs
    judged: Judged
    calibration: NDArray[np.uint8]  # training images as evaluation sees them
    protocol: Score

    def worths(self, files: Sequence[bytes], *, pixels: bool, sizes: Sequence[float | None]) -> list[Worth]:
        """Of each, timed in turn; its size is what its file stores where none is given."""
        from luthier.measure import FileSubject, chosen_ms, latencies

        subjects = [FileSubject(data, shape=self.network.shape, pixels=pixels) for data in files]
        worths: list[Worth] = []
        taken = latencies(subjects, self.protocol)
        for data, given, (timings, conditions) in zip(files, sizes, taken, strict=True):
            worths.append(self._worth(data, chosen_ms(timings, self.protocol), conditions, given, pixels=pixels))
        return worths

    def _worth(self, data: bytes, latency_ms: float, latency: Latency, size_mb: float | None, *, pixels: bool) -> Worth:
        import onnx

        from luthier.measure import score

        size = sum(stored_bytes(onnx.load_from_string(data)).values()) / 1e6 if size_mb is None else size_mb
        accuracy = self.accuracy(Answering(data, self.network.recipe, pixels=pixels).logits)
        return Worth(
            size_mb=size,
            file_mb=len(data) / 1e6,
            latency_ms=latency_ms,
            latency=latency,
            accuracy=accuracy,
            score=None if accuracy is None else score(accuracy, size, latency_ms, self.protocol),
        )

    def accuracy(self, logits: Callable[[NDArray[np.uint8]], NDArray[np.float32]]) -> float | None:
        """In percent; of a network that was not trained it would mean nothing."""
        return evaluate(logits, self.part).accuracy if self.network.run else None


@contextmanager
def judging(network: Network, *, calibration: int, split: str | None, protocol: Score) -> Iterator[Judge]:
    """By the validation part; where nothing was held back by training images, and by the evaluation set if asked to."""
    with network.open_data(as_evaluated=True) as data:
        chosen = split or ("validation" if data.validation else "train")
        taken = FROM_TRAINING if chosen == "train" else 0
        some = data.train.sample(calibration + taken)
        images, labels = np.asarray(some.images), some.labels
        if len(images) < calibration:
            raise DataError(
                f"The training part has {len(images):,} images, {calibration:,} were to be calibrated on",
                at="compress.calibration",
            )
        part, samples = _part(data, chosen, images[calibration:], labels[calibration:])
        yield Judge(
            network=network,
            part=part,
            judged=Judged(split=chosen, samples=samples),
            calibration=images[:calibration],
            protocol=protocol,
        )


def _part(data: DataSet, split: str, images: NDArray[Any], labels: NDArray[Any]) -> tuple[Epochs, int]:
    if split != "train":
        return data.split(split), data.split(split).samples
    if not len(labels):
        raise DataError("No training images are left to judge by", at="compress.calibration")
    return Some(images=images, labels=labels), len(labels)


def worth_rows(named: Sequence[tuple[str, Worth]]) -> list[list[str]]:
    """A row each, under a head."""
    return [list(HEAD), *([name, *_cells(worth)] for name, worth in named)]


def judged_text(judged: Judged, worth: Worth) -> str:
    """On what, and how: figures without it mean nothing."""
    taken = worth.latency
    accuracy = "" if worth.accuracy is None else f"accuracy on {judged.samples:,} images of {PARTS[judged.split]}; "
    return (
        f"{accuracy}latency: {taken.runtime} on {taken.device}, threads {taken.threads}, batch {taken.batch}, "
        f"{taken.statistic} of {taken.runs} runs after {taken.warmup} to warm up"
    )


def _cells(worth: Worth) -> list[str]:
    accuracy = NONE if worth.accuracy is None else f"{worth.accuracy:.2f}"
    score = NONE if worth.score is None else f"{worth.score:.3f}"
    return [accuracy, f"{worth.size_mb:.3f}", f"{worth.file_mb:.3f}", f"{worth.latency_ms:.3f}", score]
