"""PyTorch's names and MindSpore's are paired by path, rename and shape, and nothing is left over."""

from __future__ import annotations

import numpy as np
import pytest

from luthier.errors import ModelError
from luthier.weights import Expand, from_course, match, without_optimizer

TORCH = {
    "layer1.0.downsample.0.weight": (8, 4, 1, 1),
    "layer1.0.downsample.1.weight": (8,),
    "layer1.0.downsample.1.bias": (8,),
    "layer1.0.downsample.1.running_mean": (8,),
    "layer1.0.downsample.1.running_var": (8,),
    "layer1.0.downsample.1.num_batches_tracked": (),
    "fc.weight": (10, 8),
    "fc.bias": (10,),
}
CELL = {
    "layer1.0.downsample.0.weight": (8, 4, 1, 1),
    "layer1.0.downsample.1.moving_mean": (8,),
    "layer1.0.downsample.1.moving_variance": (8,),
    "layer1.0.downsample.1.gamma": (8,),
    "layer1.0.downsample.1.beta": (8,),
    "fc.weight": (10, 8),
    "fc.bias": (10,),
}


def test_a_normalisation_s_names_are_paired() -> None:
    names = match(TORCH, CELL).names()
    assert names["layer1.0.downsample.1.weight"] == "layer1.0.downsample.1.gamma"
    assert names["layer1.0.downsample.1.bias"] == "layer1.0.downsample.1.beta"
    assert names["layer1.0.downsample.1.running_mean"] == "layer1.0.downsample.1.moving_mean"
    assert names["layer1.0.downsample.1.running_var"] == "layer1.0.downsample.1.moving_variance"
    assert names["layer1.0.downsample.0.weight"] == "layer1.0.downsample.0.weight"
    assert set(names.values()) == set(CELL)


def test_the_batch_counter_is_dropped() -> None:
    assert [item.source for item in match(TORCH, CELL).dropped] == ["layer1.0.downsample.1.num_batches_tracked"]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("norm.weight", "norm.bn2d.gamma"),
        ("norm.running_var", "norm.bn2d.moving_variance"),
        ("table.weight", "table.embedding_table"),
        ("act.weight", "act.w"),
        ("scale", "scale"),
        ("weight", "gamma"),
    ],
)
def test_the_renames_of_other_layers_are_known(source: str, target: str) -> None:
    assert match({source: (3,)}, {target: (3,)}).names() == {source: target}


def test_a_one_dimensional_convolution_gets_its_fourth_axis() -> None:
    (entry,) = match({"conv.weight": (8, 4, 3)}, {"conv.weight": (8, 4, 1, 3)}).entries
    assert entry.transform == Expand(axis=2)


def test_another_shape_is_refused() -> None:
    with pytest.raises(ModelError, match=r"'fc.weight' has the shape \(10, 8\) in PyTorch, 'fc.weight' has \(8, 10\)"):
        match({"fc.weight": (10, 8)}, {"fc.weight": (8, 10)})


def test_what_the_cell_lacks_is_refused_with_the_nearest() -> None:
    cell = {name.replace("fc.", "head."): shape for name, shape in CELL.items()}
    with pytest.raises(ModelError, match=r"has no place for 'fc.weight'"):
        match(TORCH, cell)


def test_what_pytorch_lacks_is_refused() -> None:
    with pytest.raises(ModelError, match=r"has nothing for 'extra.weight'"):
        match(TORCH, CELL | {"extra.weight": (1,)})


def test_the_course_s_names_become_torchvision_s() -> None:
    course = {
        name.replace("downsample", "down_sample_layer").replace("fc.", "end_point."): shape
        for name, shape in CELL.items()
    }
    assert from_course(course) == CELL


def test_the_names_of_the_migration_guide_s_blocks_become_torchvision_s() -> None:
    guide = {
        "layer1.0.bn1d.gamma": "layer1.0.bn1.gamma",
        "layer1.0.bn2d.moving_mean": "layer1.0.bn2.moving_mean",
        "layer2.0.e2.0.weight": "layer2.0.conv2.weight",
        "layer2.0.e2.1.beta": "layer2.0.bn2.beta",
        "layer2.0.down_sample_layer.1.gamma": "layer2.0.downsample.1.gamma",
        "stem.norm.bn2d.gamma": "stem.norm.bn2d.gamma",  # within MindSpore's BatchNorm3d
        "layer1.0.norm.bn2d.gamma": "layer1.0.norm.bn2d.gamma",
    }
    assert list(from_course(dict.fromkeys(guide, 0))) == list(guide.values())


def test_a_training_checkpoint_gives_the_network_alone() -> None:
    network = {name: np.zeros(shape) for name, shape in CELL.items()}
    beside = {f"moments.{name}": value for name, value in network.items()}
    scalars = {"learning_rate": np.array(0.1), "global_step": np.array(3), "momentum": np.array(0.9)}
    assert set(without_optimizer(network | beside | scalars)) == set(CELL)
