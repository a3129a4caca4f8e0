from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data import arrays
from luthier.recipe import load
from luthier.training import train
from tests.store.test_event_writer import tensorboard


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_images_of_any_channels_are_trained_on_and_shown(channels: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    images, labels = draw.integers(0, 256, (32, 32, 32, channels), np.uint8), np.arange(32) % 4
    numbers = [0.5] * channels
    settings = ("strategy.steps=1", "data.batch_size=16", f"data.normalize={{mean={numbers}, std={numbers}}}")
    recipe = load("lenet5-digits", [*settings, "record.images=2", "record.histograms=false"])
    run = train(recipe, out=tmp_path, data=arrays(images, labels, images, labels))
    told = f"samples show the first of {channels} channels, which no picture has"
    assert (run.path / "log.txt").read_text().count(told) == (channels in (2, 5))
    shown = channels if channels in (1, 3, 4) else 1
    events = tensorboard(run.event_file())
    assert events.Tags()["images"] == ["samples/00", "samples/01"]
    with Image.open(io.BytesIO(events.Images("samples/00")[0].encoded_image_string)) as picture:
        assert (picture.size, len(picture.getbands())) == ((32, 32), shown)
