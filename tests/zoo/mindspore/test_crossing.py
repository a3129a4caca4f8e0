"""Real layers of both frameworks are paired by the weight map, and the course's checkpoints load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mindspore
import numpy as np
import pytest
import torch
from mindspore import Tensor, nn
from numpy.typing import NDArray

from luthier.weights import from_course, match, without_optimizer
from tests.zoo.mindspore.both import CLASSES, networks

LAYERS: list[tuple[torch.nn.Module, Any, tuple[int, ...]]] = [
    (torch.nn.Linear(5, 3), lambda: nn.Dense(5, 3), (2, 5)),
    (torch.nn.Conv1d(4, 6, 3), lambda: nn.Conv1d(4, 6, 3, pad_mode="valid", has_bias=True), (2, 4, 9)),
    (torch.nn.Conv3d(2, 3, 2), lambda: nn.Conv3d(2, 3, 2, pad_mode="valid", has_bias=True), (1, 2, 4, 4, 4)),
    (torch.nn.BatchNorm1d(4), lambda: nn.BatchNorm1d(4, momentum=0.9), (3, 4)),
    (torch.nn.BatchNorm3d(2), lambda: nn.BatchNorm3d(2, momentum=0.9), (2, 2, 3, 3, 3)),
    (torch.nn.LayerNorm(6), lambda: nn.LayerNorm((6,), epsilon=1e-5), (2, 6)),
    (torch.nn.GroupNorm(2, 4), lambda: nn.GroupNorm(2, 4), (2, 4, 3, 3)),
    (torch.nn.PReLU(4), lambda: nn.PReLU(4), (2, 4, 3, 3)),
]


class Holder(nn.Cell):  # type: ignore[misc]
    def __init__(self, layer: nn.Cell) -> None:
        super().__init__()
        self.layer = layer

    def construct(self, x: Tensor) -> Tensor:
        return self.layer(x)


def shapes(arrays: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(array.shape) for name, array in arrays.items()}


def load(cell: nn.Cell, arrays: dict[str, NDArray[Any]]) -> None:
    missing, foreign = mindspore.load_param_into_net(
        cell, {name: mindspore.Parameter(Tensor(np.ascontiguousarray(array))) for name, array in arrays.items()}
    )
    assert (missing, foreign) == ([], [])


def of(cell: nn.Cell) -> dict[str, NDArray[Any]]:
    return {parameter.name: parameter.asnumpy() for parameter in cell.get_parameters()}


@pytest.mark.parametrize(("module", "make", "shape"), LAYERS, ids=lambda part: type(part).__name__)
def test_a_layer_s_weights_cross_and_give_its_output(
    module: torch.nn.Module, make: Any, shape: tuple[int, ...]
) -> None:
    draws = np.random.default_rng(0)
    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                tensor.copy_(torch.from_numpy(np.asarray(draws.random(tensor.shape), np.float32)))
    state = {f"layer.{name}": tensor.numpy() for name, tensor in module.state_dict().items()}
    cell = Holder(make())
    weight_map = match(shapes(state), shapes(of(cell)))
    load(cell, weight_map.to_target(state))
    x = draws.standard_normal(shape).astype(np.float32)
    cell.set_train(False)
    ours, theirs = cell(Tensor(x)).asnumpy(), module.eval()(torch.from_numpy(x)).detach().numpy()
    assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    back = weight_map.to_source(of(cell))
    assert [name for name in state if not np.array_equal(back[name], state[name])] == []


def test_a_checkpoint_of_the_course_s_resnet_loads(tmp_path: Path, images: NDArray[Any]) -> None:
    options = {"width": 0.0625, "stem": "cifar"}
    module, cell = networks("resnet50", options)
    course = [
        {"name": name.replace("downsample", "down_sample_layer").replace("fc.", "end_point."), "data": Tensor(array)}
        for name, array in of(cell).items()
    ]
    course += [{"name": f"moments.{item['name']}", "data": item["data"]} for item in list(course)]
    course.append({"name": "learning_rate", "data": Tensor(0.1, mindspore.float32)})
    mindspore.save_checkpoint(course, str(tmp_path / "course.ckpt"))
    read = {name: value.asnumpy() for name, value in mindspore.load_checkpoint(str(tmp_path / "course.ckpt")).items()}
    loaded = from_course(without_optimizer(read))
    state = module.state_dict()
    weights = match(shapes(dict(state)), shapes(loaded)).to_source(loaded)
    module.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    logits = module.eval()(torch.from_numpy(images)).detach().numpy()
    assert logits.shape == (len(images), CLASSES)
    assert np.allclose(cell.set_train(False)(Tensor(images)).asnumpy(), logits, rtol=1e-4, atol=1e-4)
