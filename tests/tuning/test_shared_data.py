"""One copy of a data set for all workers, where there is one to share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from luthier.data import open_source, pack
from luthier.recipe import Data
from luthier.tuning.shared_data import open_shared, share


def test_what_the_workers_open_is_the_set(tmp_path: Path) -> None:
    folder = share(Data(name="digits"), None, tmp_path / "shared")
    assert folder is not None
    shared, own = open_shared(folder), open_source("digits")
    assert (shared.name, shared.classes) == (own.name, own.classes)
    for split in ("train", "eval"):
        images = shared.part(split).images
        assert isinstance(images, np.ndarray)
        assert np.array_equal(images, np.asarray(own.part(split).images))
        assert np.array_equal(shared.part(split).labels, own.part(split).labels)


def test_images_in_records_are_read_by_each_worker_itself(tmp_path: Path) -> None:
    for i, place in enumerate(["train/cat", "train/dog", "val/cat", "val/dog"]):
        (tmp_path / "pets" / place).mkdir(parents=True)
        Image.new("RGB", (12 + i, 9), (40 * i, 9, 9)).save(tmp_path / "pets" / place / "a.png")
    packed = pack("folder", tmp_path / "packed", path=str(tmp_path / "pets"))
    assert share(Data(name="mindrecord", path=str(packed)), None, tmp_path / "shared") is None
