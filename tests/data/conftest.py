"""Small sets of known content, laid out as publishers do."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data import Source, arrays
from luthier.data.sources.cifar import CIFAR10, Layout

REAL_DATA = os.environ.get("LUTHIER_DATA", "")
SMALL_CIFAR10 = replace(CIFAR10, images_a_file=dict.fromkeys(CIFAR10.images_a_file, 20))


@pytest.fixture(autouse=True)
def _no_data_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LUTHIER_DATA", str(tmp_path / "environment"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def real_data() -> Path:
    """The data root of whoever runs the tests."""
    if not REAL_DATA or not (Path(REAL_DATA) / "cifar10").is_dir():
        pytest.skip("LUTHIER_DATA does not lead to the real CIFAR-10")
    return Path(REAL_DATA)


@pytest.fixture
def numbered() -> Callable[..., Source]:
    """Images of random bytes whose first pixel is their number."""

    def make(train: int = 50, evaluation: int = 20, classes: int = 5, shape: tuple[int, ...] = (8, 8, 3)) -> Source:
        numbers = np.random.default_rng(0)
        images = numbers.integers(0, 256, (train + evaluation, *shape), dtype=np.uint8)
        images[:, 0, 0] = (np.arange(train + evaluation) % 256).reshape(-1, *[1] * (len(shape) - 2))
        labels = np.arange(train + evaluation) % classes
        return arrays(images[:train], labels[:train], images[train:], labels[train:])

    return make


def write_binary_cifar(folder: Path, layout: Layout, split_folders: tuple[str, str] = ("", "")) -> Source:
    """The binary layout with random content; what a reader should make of it comes back."""
    numbers = np.random.default_rng(1)
    parts = []
    for stems, split in ((layout.train, split_folders[0]), (layout.eval, split_folders[1])):
        records = [
            numbers.integers(0, 256, (layout.images_a_file[stem], layout.label_bytes + 3072), dtype=np.uint8)
            for stem in stems
        ]
        for stem, content in zip(stems, records, strict=True):
            content[:, : layout.label_bytes] %= len(layout.classes)
            (folder / split).mkdir(parents=True, exist_ok=True)
            content.tofile(folder / split / f"{stem}.bin")
        whole = np.concatenate(records)
        pixels = whole[:, layout.label_bytes :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        parts.append((pixels, whole[:, layout.label_bytes - 1]))
    return arrays(*parts[0], *parts[1], classes=layout.classes)


@pytest.fixture
def class_folders(tmp_path: Path) -> Path:
    """Two classes of 6 images in train and 3 in eval, of various sizes, each of one colour."""
    folder = tmp_path / "pets"
    for split, count in (("train", 6), ("eval", 3)):
        for name, colour in (("cat", (200, 30, 30)), ("dog", (30, 30, 200))):
            (folder / split / name).mkdir(parents=True)
            for number in range(count):
                size = (20 + 3 * number, 30 - 2 * number)
                Image.new("RGB", size, colour).save(folder / split / name / f"{number}.png")
    return folder
