"""What a run takes images for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from luthier.compress import Network, open_network
from luthier.data import image_facts, read_images
from luthier.measure.evaluating import as_run
from luthier.store import Run

__all__ = ["Label", "Prediction", "predict", "predictions_text"]

AT_ONCE = 64


class Label(Struct, frozen=True, kw_only=True):
    """A class, and how sure the network is of it, from 0 to 1."""

    name: str
    probability: float


class Prediction(Struct, frozen=True, kw_only=True):
    """The most probable first; the notes say what was done to the image, and what speaks against it."""

    image: str
    labels: tuple[Label, ...]
    notes: tuple[str, ...] = ()


def predict(
    run: Run | Path | str,
    images: Sequence[Path | str],
    *,
    top: int = 3,
    invert: bool = False,
    checkpoint: str | int = "last",
    data_root: Path | str | None = None,
) -> list[Prediction]:
    """Image files of any size, through the recipe's evaluation transforms and in the data set's colours.

    Nothing is inverted unasked, though writing is light on dark ground in MNIST and dark on light ground on paper.
    """
    with open_network(as_run(run), checkpoint=checkpoint, data_root=data_root) as network:
        return [
            prediction
            for first in range(0, len(images), AT_ONCE)
            for prediction in _predicted(network, images[first : first + AT_ONCE], top=top, invert=invert)
        ]


def predictions_text(predictions: Sequence[Prediction]) -> str:
    """A line an image, and one a note."""
    lines = []
    for prediction in predictions:
        labels = ", ".join(f"{label.name} {100 * label.probability:.1f} %" for label in prediction.labels)
        lines += [f"{prediction.image}: {labels}", *(f"  {note}" for note in prediction.notes)]
    return "\n".join(lines)


def _predicted(network: Network, paths: Sequence[Path | str], *, top: int, invert: bool) -> Iterator[Prediction]:
    seen = read_images(paths, shape=network.shape, transforms=network.recipe.data.eval)
    seen = ~seen if invert else seen
    logits = network.session.logits(seen).astype(np.float64)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    for path, image, row in zip(paths, seen, shares, strict=True):
        chosen = np.argsort(-row, kind="stable")[:top]
        labels = tuple(Label(name=network.classes[index], probability=float(row[index])) for index in chosen)
        yield Prediction(image=str(path), labels=labels, notes=tuple(_notes(network, Path(path), image)))


def _notes(network: Network, path: Path, seen: NDArray[np.uint8]) -> Iterator[str]:
    height, width, channels = network.shape
    facts = image_facts(path)
    if facts.turned:
        yield "turned upright, as its camera says; class folders are read as the files lie"
    if (facts.height, facts.width) != (height, width):
        yield f"{facts.height}×{facts.width} pixels, seen as {height}×{width}"
    if channels == 1 and not facts.grey:
        yield "in colour, seen in grey"
    if channels == 1 and _is_light(_border(seen).mean() / 255) != _is_light(network.recipe.data.normalize.mean[0]):
        ground = ("dark", "light") if _is_light(_border(seen).mean() / 255) else ("light", "dark")
        yield f"its ground is {ground[1]}, the data set's images are mostly {ground[0]}: invert it if that is not meant"


def _is_light(grey: float) -> bool:
    return grey > 0.5


def _border(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
