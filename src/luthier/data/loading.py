"""From the numbers of images to their pixels, transformed, and their labels."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from luthier.data.batch import Images, Labels
from luthier.data.pipeline import Draws, Pipeline

__all__ = ["Indices", "Loaded", "Loader", "MemoryLoader", "Request"]

Indices = NDArray[np.intp]


class Request(NamedTuple):
    """Images by their places among a part's members, and the random numbers of each."""

    members: Indices
    draws: Draws

    def pieces(self, size: int) -> list[Request]:
        """The same, a few images at a time."""
        cuts = [slice(start, start + size) for start in range(0, len(self.members), size)]
        return [Request(self.members[cut], tuple(raw[cut] for raw in self.draws)) for cut in cuts]


class Loaded(NamedTuple):
    """What came of a request; fewer where files were left out."""

    images: Images
    labels: Labels


class Loader(Protocol):
    """Where a part's images come from."""

    shape: tuple[int, int, int]  # after the transforms
    slow: bool  # threads are worth their while

    def __len__(self) -> int: ...

    def __call__(self, request: Request) -> Loaded:
        """Load; called from several threads at once."""


class MemoryLoader:
    """Members of one array, which nobody copies or changes."""

    def __init__(self, images: Images, labels: Labels, members: Indices, pipeline: Pipeline) -> None:
        self._images, self._labels, self._members, self._pipeline = images, labels, members, pipeline
        self.shape = (*pipeline.fixed_size((images.shape[1], images.shape[2])), images.shape[3])
        self.slow = pipeline.resamples

    def __len__(self) -> int:
        return len(self._members)

    def __call__(self, request: Request) -> Loaded:
        """One gather, which is a copy, then the transforms."""
        chosen = self._members[request.members]
        images = self._pipeline.apply(self._images.take(chosen, axis=0), request.draws)
        return Loaded(np.ascontiguousarray(images), self._labels.take(chosen))
