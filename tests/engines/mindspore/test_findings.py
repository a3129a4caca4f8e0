"""What MindSpore 2.10 does silently, and the engine goes around: a new version that does otherwise fails here.

Each is a fact about MindSpore alone; where one changes, what the engine puts in its place can go.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

if find_spec("mindspore") is None:
    pytest.skip("MindSpore is not installed", allow_module_level=True)

import mindspore
from mindspore import Parameter, Tensor, mint, nn, ops

Array = NDArray[np.float32]
RATE = 0.1


@pytest.fixture(autouse=True)
def eager() -> Any:
    before = mindspore.get_context("mode")
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    yield
    mindspore.set_context(mode=before)


def weights() -> Array:
    return np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def gradients(count: int) -> list[Array]:
    draw = np.random.default_rng(0)
    return [draw.standard_normal((2, 3)).astype(np.float32) for _ in range(count)]


def after(make: Any, count: int = 4, name: str = "weight") -> Array:
    """The weights after so many steps of one of MindSpore's optimizers."""
    parameter = Parameter(Tensor(weights()), name=name)
    optimizer = make([parameter])
    for gradient in gradients(count):
        optimizer((Tensor(gradient),))
    return np.array(parameter.asnumpy())


def after_torch(make: Any, count: int = 4) -> Array:
    parameter = torch.nn.Parameter(torch.from_numpy(weights()))
    optimizer = make([parameter])
    for gradient in gradients(count):
        parameter.grad = torch.from_numpy(gradient)
        optimizer.step()
    return np.array(parameter.detach().numpy())


def test_momentum_with_nesterov_is_plain_momentum() -> None:
    plain = after(lambda parameters: nn.Momentum(parameters, RATE, 0.9))
    nesterov = after(lambda parameters: nn.Momentum(parameters, RATE, 0.9, use_nesterov=True))
    assert np.array_equal(plain, nesterov)
    assert not np.allclose(nesterov, after_torch(lambda p: torch.optim.SGD(p, RATE, 0.9, nesterov=True)), atol=1e-3)


def test_rmsprop_starts_from_another_state() -> None:
    theirs = after_torch(lambda p: torch.optim.RMSprop(p, RATE, 0.9, eps=1e-10), count=1)
    assert not np.allclose(after(lambda p: nn.RMSProp(p, RATE, decay=0.9), count=1), theirs, atol=1e-2)


def test_adam_weight_decay_has_no_bias_correction() -> None:
    theirs = after_torch(lambda p: torch.optim.AdamW(p, RATE, eps=1e-6, weight_decay=0.0))
    assert not np.allclose(after(lambda p: nn.AdamWeightDecay(p, RATE, weight_decay=0.0)), theirs, atol=1e-2)


@pytest.mark.parametrize("name", ["layer.beta", "layer.gamma"])
def test_ungrouped_weight_decay_passes_over_beta_and_gamma(name: str) -> None:
    plain = after(lambda p: nn.Momentum(p, RATE, 0.9), name=name)
    assert np.array_equal(plain, after(lambda p: nn.Momentum(p, RATE, 0.9, weight_decay=0.5), name=name))
    grouped = after(lambda p: nn.Momentum([{"params": p, "weight_decay": 0.5}], RATE, 0.9), name=name)
    assert not np.allclose(plain, grouped, atol=1e-2)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_mint_s_optimizers_change_nothing_in_eager_mode(kind: str) -> None:
    parameter = Parameter(Tensor(weights()), name="weight")
    optimizer = getattr(mint.optim, kind)([parameter], lr=RATE)
    optimizer((Tensor(gradients(1)[0]),))
    assert np.array_equal(parameter.asnumpy(), weights())


TRACED = """
import mindspore, numpy as np
from mindspore import Parameter, Tensor, nn

parameter = Parameter(Tensor(np.ones(3, np.float32)), name="weight")
optimizer = nn.SGD([parameter], 0.1)

@mindspore.jit(capture_mode="trace")
def step(gradient):
    optimizer((gradient,))
    return gradient

for _ in range(3):
    step(Tensor(np.ones(3, np.float32)))
    print(parameter.asnumpy()[0])
"""


def test_a_traced_step_changes_the_weights_once_alone(tmp_path: Path) -> None:
    """In a process of its own: a trace that fails stays open."""
    program = tmp_path / "traced.py"
    program.write_text(TRACED)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=True)
    first, second, third = (float(line) for line in done.stdout.split())
    assert first == pytest.approx(0.9)
    assert first == second == third


class Conditional(nn.Cell):  # type: ignore[misc]
    """Changes its one parameter under a condition."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(Tensor(np.zeros(2, np.float32)), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        if ops.isfinite(x):
            x = ops.depend(x, ops.assign(self.weight, self.weight + x))
        return x


def test_a_graph_does_not_see_what_set_data_brings_to_a_parameter_under_a_condition() -> None:
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    cell = Conditional()
    cell(Tensor(1.0))
    cell.weight.set_data(Tensor(np.full(2, 8, np.float32)))
    cell(Tensor(1.0))
    assert cell.weight.asnumpy().tolist() == [8, 8]
    cell = Conditional()
    cell(Tensor(1.0))
    ops.assign(cell.weight, Tensor(np.full(2, 8, np.float32)))
    cell(Tensor(1.0))
    assert cell.weight.asnumpy().tolist() == [9, 9]


def test_what_our_step_overrides_of_a_cell_is_still_there() -> None:
    """Private names, so that a version without them would make the step slower and say nothing."""
    assert isinstance(vars(nn.Cell)["compile_phase"], property)
    assert vars(nn.Cell)["compile_phase"].fset is not None
    assert "_compile_phase" in vars(nn.Cell())
    assert callable(vars(nn.Cell)["_check_construct_args"])


class Drawing(nn.Cell):  # type: ignore[misc]
    def construct(self, x: Tensor) -> Tensor:
        return ops.dropout(x, 0.5)


def test_a_seed_does_not_reach_the_random_numbers_of_a_compiled_graph() -> None:
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    cell, drawn = Drawing(), []
    for _ in range(2):
        mindspore.set_seed(3)
        drawn.append(cell(Tensor(np.ones(64, np.float32))).asnumpy())
    assert not np.array_equal(*drawn)


def test_a_graph_calls_no_hook() -> None:
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    heard = []

    def hear(_cell: Any, _inputs: Any, _output: Any) -> None:
        heard.append(1)

    cell = nn.Dense(3, 2)
    cell.register_forward_hook(hear)
    cell(Tensor(weights()))
    assert heard == []


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="this is NumPy 1, as MindSpore wants it")
def test_numpy_2_breaks_the_first_overloaded_operation() -> None:
    with pytest.raises(SystemError):
        Tensor(weights()) * 0.05


def test_a_cpu_has_no_bfloat16_convolution() -> None:
    x = Tensor(np.ones((1, 1, 4, 4), np.float32)).astype(mindspore.bfloat16)
    kernel = Tensor(np.ones((1, 1, 3, 3), np.float32)).astype(mindspore.bfloat16)
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        ops.conv2d(x, kernel).astype(mindspore.float32).asnumpy()


def test_a_transposed_convolution_with_output_padding_gives_other_numbers() -> None:
    theirs = torch.nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1, bias=False)
    options = {"stride": 2, "pad_mode": "pad", "padding": 1, "output_padding": 1, "has_bias": False}
    ours = nn.Conv2dTranspose(3, 4, 3, **options)
    ours.weight.set_data(Tensor(theirs.weight.detach().numpy()))
    found, expected = ours(Tensor(images())).asnumpy(), theirs(torch.from_numpy(images())).detach().numpy()
    assert found.shape == expected.shape
    assert not np.allclose(found, expected, atol=1e-2)


@pytest.mark.parametrize("aligned", [False, True])
def test_bicubic_resizing_gives_other_numbers(aligned: bool) -> None:
    options: Any = {"size": (10, 10), "mode": "bicubic", "align_corners": aligned}
    expected = torch.nn.functional.interpolate(torch.from_numpy(images()), **options).numpy()
    assert not np.allclose(ops.interpolate(Tensor(images()), **options).asnumpy(), expected, atol=1e-3)


def test_selu_has_another_gradient() -> None:
    x = torch.linspace(-3, 3, 13, requires_grad=True)
    torch.nn.functional.selu(x).sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    found = mindspore.grad(nn.SeLU())(Tensor(x.detach().numpy())).asnumpy()
    assert not np.allclose(found, x.grad.numpy(), atol=0.1)


def test_full_takes_whole_numbers_for_a_fraction() -> None:
    assert ops.full((2,), 1.5).asnumpy().tolist() == [1, 1]


def test_a_dropout_s_first_argument_is_what_it_keeps() -> None:
    kept = nn.Dropout(0.1).set_train()(Tensor(np.ones(10_000, np.float32))).asnumpy() > 0
    assert kept.mean() == pytest.approx(0.1, abs=0.02)


def test_a_cell_is_built_for_inference() -> None:
    assert not nn.BatchNorm2d(2).training


def test_loading_strictly_passes_over_what_is_missing() -> None:
    given = {"weight": Parameter(Tensor(np.zeros((2, 3), np.float32)), name="weight")}
    assert mindspore.load_param_into_net(nn.Dense(3, 2), given, strict_load=True) == (["bias"], [])


def test_shards_of_a_generator_repeat_samples_to_be_of_one_length() -> None:
    class Numbers:
        def __len__(self) -> int:
            return 11

        def __getitem__(self, index: int) -> tuple[Any]:
            return (np.array(index),)

    seen = []
    for shard in range(2):
        dataset = mindspore.dataset.GeneratorDataset(Numbers(), ["n"], shuffle=False, num_shards=2, shard_id=shard)
        seen += [int(row[0]) for row in dataset.create_tuple_iterator(output_numpy=True, num_epochs=1)]
    assert sorted(seen) == [0, *range(11)]


def images() -> Array:
    return np.random.default_rng(0).standard_normal((2, 3, 5, 5)).astype(np.float32)
