"""A user's own module: tried on two images when a session opens, in the layout that it takes."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from luthier.engines import Session, open_session
from luthier.engines.torch import TorchSession
from luthier.errors import ModelError
from luthier.measure import measure
from luthier.recipe import Recipe, load, override
from luthier.testing import random_batches
from luthier.training import resume, train
from tests.training.leftovers import same_end

NETS = """
import random
import numpy as np
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, num_classes, channels=3):
        super().__init__()
        self.conv = nn.Conv2d(channels, 4, 3, stride=4)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(256, num_classes)
        self.calls = 0

    def flat(self, x):
        return x.flatten(1)

    def forward(self, x):
        self.calls += 1
        return self.fc(self.drop(self.flat(self.norm(self.conv(x)))))

class Half(Net):
    def __init__(self, num_classes):
        super().__init__(num_classes)
        self.fc.to(torch.bfloat16)

class Complex(Net):
    def __init__(self, num_classes):
        super().__init__(num_classes)
        self.phase = nn.Parameter(torch.ones(2, dtype=torch.cfloat))

class Extra(Net):
    def get_extra_state(self):
        return {"calls": self.calls}

    def set_extra_state(self, state):
        self.calls = state["calls"]

class Double(Net):
    def __init__(self, num_classes, channels):
        super().__init__(num_classes, channels)
        self.fc.double()

    def forward(self, x):
        return self.fc(self.flat(self.norm(self.conv(x))).double()).float()

class View(Net):
    def flat(self, x):
        return x.view(x.size(0), -1)

class Raises(Net):
    def forward(self, x):
        raise KeyError("deep")

class RaisesInEvaluation(Net):
    def forward(self, x):
        return super().forward(x) if self.training else {}["key"]

class Both(Net):
    def forward(self, x):
        return super().forward(x), x

class Array(Net):
    def forward(self, x):
        return super().forward(x).detach().numpy()

class Detached(Net):
    def forward(self, x):
        return super().forward(x).detach()

class Draws(Net):
    def __init__(self, num_classes, shape):
        super().__init__(num_classes, shape[2])
        self.scale = random.random()
        with torch.no_grad():
            self.fc.bias.copy_(torch.from_numpy(np.random.normal(size=num_classes)))

    def forward(self, x):
        return super().forward(x * (1 + random.gauss(0, 0.1)) + np.random.normal())

class Draw:
    def step_ended(self, event):
        event.training.writer.scalar("drawn", random.random() + np.random.random(), event.step)

def small(num_classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(100, num_classes))

def lazy(num_classes):
    return nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(num_classes))

class Unreached(Net):
    def __init__(self, num_classes):
        super().__init__(num_classes)
        self.spare = nn.LazyLinear(7)

def weight_normed(num_classes):
    return nn.Sequential(nn.Flatten(), nn.BatchNorm1d(3072), nn.utils.weight_norm(nn.Linear(3072, num_classes)))
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NETS)
    return path


def opened(own: Path, name: str, *settings: str, shape: tuple[int, int, int] = (32, 32, 3)) -> Session:
    made = override(Recipe(name="own"), ["engine=torch", "device=cpu", f"model.name={own}:{name}", *settings])
    return open_session(made, shape=shape, num_classes=10)


class TestLayout:
    @pytest.mark.parametrize("channels", [1, 3])
    def test_a_view_of_what_a_convolution_gave_trains_in_the_usual_layout(self, own: Path, channels: int) -> None:
        grey = f"data.normalize={{mean={[0.5] * channels}, std={[0.5] * channels}}}"
        session = opened(own, "View", f"model.options.channels={channels}", grey, shape=(32, 32, channels))
        (batch,) = random_batches(1, shape=(32, 32, channels))
        assert np.isfinite(float(session.step(batch, 0.01)))
        assert session.logits(batch.images).shape == (8, 10)
        [note] = [note for note in session.notes if "channels-last" in note]
        assert "x.flatten in place of x.view takes both" in note

    def test_what_takes_channels_last_is_given_it(self, own: Path) -> None:
        session = opened(own, "Net")
        assert isinstance(session, TorchSession)
        assert session.layout is torch.channels_last
        assert not [note for note in session.notes if "channels-last" in note]

    def test_both_layouts_are_one_network(self, own: Path) -> None:
        """The same first weights, and but for the order of a sum the same answers."""
        images = random_batches(1)[0].images
        one, other = opened(own, "Net"), opened(own, "View")
        assert all(np.array_equal(one.state()[key], value) for key, value in other.state().items())
        np.testing.assert_allclose(one.logits(images), other.logits(images), atol=1e-5)

    @pytest.mark.parametrize("runtime", ["torch-eager", "onnxruntime"])
    def test_it_is_timed_in_the_layout_that_it_takes(self, own: Path, runtime: str) -> None:
        settings = [f"model.name={own}:View", "model.options={channels = 1}", f"score.runtime={runtime}"]
        row = measure(load("lenet5-digits", [*settings, "score.runs=2"]))
        assert row.latency_ms


class TestTheTrial:
    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("Raises", "raised KeyError: 'deep' - at model.name"),
            ("RaisesInEvaluation", "raised KeyError: 'key' - at model.name"),
            ("Both", "The network gives a tuple of 2 for 2 images, expected [2, 10]: one a class - at model.name"),
            ("Array", "The network gives a ndarray for 2 images, expected [2, 10]: one a class - at model.name"),
            ("Detached", "does not require grad"),
            ("Half", "has bfloat16 numbers in 'fc.weight', and a checkpoint holds none - at model.name"),
            ("Complex", "has complex64 numbers in 'phase', and a checkpoint holds none - at model.name"),
            (
                "Extra",
                "keeps '_extra_state', a dict, in its state, and a checkpoint holds arrays alone - at model.name",
            ),
            ("small", "(2x3072 and 100x10) - at model.name, in 1 (Linear)"),
        ],
    )
    def test_what_cannot_train_is_told(self, own: Path, name: str, told: str) -> None:
        with pytest.raises(ModelError, match=re.escape(told)):
            opened(own, name)

    def test_the_size_counts_each_number_s_own_bytes(self, own: Path, tmp_path: Path) -> None:
        settings = [f"model.name={own}:Double", "model.options={channels = 1}", "strategy.steps=2"]
        run = train("lenet5-digits", overrides=settings, out=tmp_path)
        result = run.result()
        assert result is not None
        assert result.size_mb == pytest.approx(((4 * 9 + 4 + 8) * 4 + 2570 * 8) / 1e6)
        assert measure(run).size_mb == result.size_mb

    def test_it_changes_neither_random_numbers_nor_statistics_nor_the_network(self, own: Path) -> None:
        session = opened(own, "Draws")
        assert isinstance(session, TorchSession)
        drawn = random.random(), np.random.random(), torch.rand(1).item()
        state = session.state()
        assert not state["model/norm.running_mean"].any()
        assert state["model/norm.num_batches_tracked"] == 0
        assert session.module.calls == 0
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        assert (random.random(), np.random.random(), torch.rand(1).item()) == drawn

    def test_a_network_that_cannot_be_copied_is_left_as_it_was(self, own: Path) -> None:
        with pytest.warns(FutureWarning, match="weight_norm"):
            session = opened(own, "weight_normed")
        state = session.state()
        assert not state["model/1.running_mean"].any()
        (batch,) = random_batches(1)
        assert np.isfinite(float(session.step(batch, 0.01)))

    @pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
    @pytest.mark.parametrize("init", ["default", "he-normal"])
    def test_lazy_layers_take_their_sizes_from_the_data(self, own: Path, init: str) -> None:
        one, other = (opened(own, "lazy", f"model.init={init}").state() for _ in range(2))
        assert one["model/3.weight"].shape == (10, 3600)
        assert all(np.array_equal(one[key], other[key]) for key in one)
        assert not one["model/1.running_mean"].any()

    @pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
    def test_a_lazy_layer_that_no_image_reaches_is_refused(self, own: Path) -> None:
        with pytest.raises(ModelError, match=r"layers whose sizes no image tells: spare\.weight, spare\.bias"):
            opened(own, "Unreached")


def test_a_run_that_draws_from_python_and_numpy_goes_on_to_the_same_bits(own: Path, tmp_path: Path) -> None:
    settings = [f"model.name={own}:Draws", "engine=torch", f"listeners=['{own}:Draw']", "model.options={}"]
    recipe = load("lenet5-digits", [*settings, "strategy.epochs=2", "record.every_steps=1", "record.images=0"])
    straight = train(recipe, out=tmp_path / "straight")

    def halt(event: object) -> None:
        if getattr(event, "step", 0) == 60:
            event.training.stop("enough", status="interrupted")  # type: ignore[attr-defined]

    halted = train(recipe, out=tmp_path / "halted", listeners=[halt])
    random.seed(99)
    np.random.seed(99)
    assert same_end(straight, resume(halted))
