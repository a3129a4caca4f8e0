"""Encoded images, read when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from luthier.data.batch import Images, Labels
from luthier.data.loading import Indices, Loaded, Request
from luthier.data.pipeline import Draws, Pipeline
from luthier.data.source import Pictures
from luthier.data.transforms import Size
from luthier.errors import DataError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["FileLoader", "Unreadable"]

CHANNELS = 3  # whatever a file holds


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """What becomes of files that are no images.

    Without `skip` the first stops everything. With it each is counted once, and in training the next member that can
    be read stands in, with its own label: batches stay whole, and are the same for any number of workers and ranks.
    In evaluation it is left out, so that no image counts twice.
    """

    skip: bool
    stand_in: bool
    seen: set[str]  # where they are; by all parts of a data set together


class FileLoader:
    """Members of a list of encoded images."""

    slow = True

    def __init__(
        self, files: Pictures, labels: Labels, members: Indices, pipeline: Pipeline, unreadable: Unreadable
    ) -> None:
        self._files, self._labels, self._members, self._pipeline = files, labels, members, pipeline
        self._unreadable = unreadable
        first = None if pipeline.size(None) else self._first_size()
        self.shape = (*pipeline.fixed_size(first), CHANNELS)
        self._size_to_stack = pipeline.size_alone(first)

    def __len__(self) -> int:
        return len(self._members)

    def __call__(self, request: Request) -> Loaded:
        """Each file by itself until all have one size, then all at once."""
        images, labels, rows = [], [], []
        for row, member in enumerate(request.members.tolist()):
            read = self._read(member)
            if read:
                index, picture = read
                images.append(self._image(self._files.where(index), picture, request.draws, row))
                labels.append(self._labels[index])
                rows.append(row)
        if not rows:
            return Loaded(np.empty((0, *self.shape), np.uint8), np.empty(0, np.int32))
        draws = tuple(raw[rows] for raw in request.draws)
        batch = self._pipeline.apply_rest(np.stack(images), draws)
        return Loaded(np.ascontiguousarray(batch), np.array(labels, np.int32))

    def _read(self, member: int) -> tuple[int, Image.Image] | None:
        """The member's file, or the one that stands in for it, with its number."""
        skip, seen = self._unreadable.skip, self._unreadable.seen
        for further in range(len(self._members) if self._unreadable.stand_in else 1):
            index = int(self._members[(member + further) % len(self._members)])
            place = self._files.where(index) if skip else ""
            if place in seen:
                continue
            try:
                return index, self._files.picture(index)
            except DataError:
                if not skip:
                    raise
                seen.add(place)
        if self._unreadable.stand_in:
            raise self._none_readable()
        return None

    def _image(self, place: str, picture: Image.Image, draws: Draws, row: int) -> Images:
        try:
            image = self._pipeline.apply_alone(picture, draws, row)
        except DataError as error:
            raise DataError(error.sentence, at=place, hint=error.hint) from error
        if image.shape[:2] != self._size_to_stack:
            height, width = self._size_to_stack
            raise DataError(
                f"Expected an image of {height}×{width} as the first is, got {image.shape[0]}×{image.shape[1]}",
                at=place,
                hint="Give all one size in data.train and data.eval: random-resized-crop, or resize and center-crop.",
            )
        return image

    def _first_size(self) -> Size:
        """The files' own size: where no transform gives them one, all must have the first's."""
        for index in self._members.tolist():
            try:
                return self._files.size(index)
            except DataError:
                if not self._unreadable.skip:
                    raise
        raise self._none_readable()

    def _none_readable(self) -> DataError:
        return DataError(f"None of {len(self):,} files is an image that can be read", at=str(self._files.folder))
