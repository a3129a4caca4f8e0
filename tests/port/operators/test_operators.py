"""Every rule against PyTorch: forward and gradient, on a CPU, in both of MindSpore's modes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as f

from luthier.port import Ported, port
from luthier.port.emit import Unsupported
from luthier.port.registry import operators, ports, rule
from tests.port.operators import elementwise, layers, shapes
from tests.port.operators.cases import Case, Family, Function
from tests.port.operators.ulp import ulps

FAMILIES = {"elementwise": elementwise.CASES, "layers": layers.CASES, "shapes": shapes.CASES}
FORWARD, GRADIENT = 64, 256  # units in the last place of the greatest value


@cache
def ported(family: str, number: int, folder: Path) -> Ported:
    case = FAMILIES[family][number]
    return port(Family([case]).eval(), [list(case.inputs)], output=folder / f"{family}{number}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("operators")


@dataclass(frozen=True, kw_only=True)
class Expected:
    """PyTorch's outputs, the factors of the sum that is derived, the gradients of the real inputs and the weights."""

    outputs: list[NDArray[Any]]
    factors: list[NDArray[Any]]
    gradients: list[NDArray[Any] | None]
    weights: dict[str, NDArray[Any]]


def expected(case: Case) -> Expected:
    case.module.zero_grad()
    inputs = [value.clone().requires_grad_(value.is_floating_point() and case.gradient) for value in case.inputs]
    given = case.module(*inputs)
    outputs = list(given) if isinstance(given, tuple | list) else [given]
    generator = torch.Generator().manual_seed(2)
    factors = [torch.randn(output.shape, generator=generator) for output in outputs]
    gradients: list[NDArray[Any] | None] = []
    if case.gradient:
        total = sum((output * factor).sum() for output, factor in zip(outputs, factors, strict=True))
        assert isinstance(total, torch.Tensor)
        total.backward()  # type: ignore[no-untyped-call]
        real = [value for value in inputs if value.is_floating_point()]
        gradients = [None if value.grad is None else value.grad.numpy() for value in real]
    held = {**dict(case.module.named_parameters()), **dict(case.module.named_buffers())}
    return Expected(
        outputs=[output.detach().numpy() for output in outputs],
        factors=[factor.numpy() for factor in factors],
        gradients=gradients,
        weights={
            f"cases.0.{name}": (torch.zeros_like(value) if value.grad is None else value.grad).detach().numpy()
            for name, value in held.items()
        },
    )


CASES = [
    pytest.param(name, i, id=f"{name}-{i}-{case.operator}")
    for name, cases in FAMILIES.items()
    for i, case in enumerate(cases)
]


MODES = ["eager", pytest.param("graph", marks=pytest.mark.slow)]  # a graph is compiled for every case


@pytest.mark.parametrize("mode", MODES, indirect=True)
@pytest.mark.parametrize(("family", "number"), CASES)
def test_the_port_computes_what_pytorch_does(family: str, number: int, mode: str, folder: Path) -> None:
    import mindspore

    done = ported(family, number, folder)
    case = FAMILIES[family][number]
    assert done.report.complete
    assert case.operator in {operator.name for operator in done.report.operators}
    assert done.cell is not None
    cell = done.cell.cases[0]
    wanted = expected(case)
    inputs = [mindspore.Tensor(value.numpy()) for value in case.inputs]
    factors = [mindspore.Tensor(factor) for factor in wanted.factors]
    places = tuple(i for i, value in enumerate(case.inputs) if value.is_floating_point())
    parameters = tuple(parameter for parameter in done.cell.get_parameters() if parameter.requires_grad)

    def total(*values: Any) -> Any:
        given = cell(*values)
        given = given if isinstance(given, tuple) else (given,)
        found = (given[0] * factors[0]).sum()
        for i in range(1, len(factors)):  # a graph's zip has no strict
            found = found + (given[i] * factors[i]).sum()
        return found, given

    derived: Any = ()
    trained: Any = ()
    if case.gradient:
        derive = mindspore.value_and_grad(total, places or None, parameters or None, has_aux=True)
        (_, found), both = derive(*inputs)
        derived, trained = both if places and parameters else (both, ()) if places else ((), both)
        derived = derived if isinstance(derived, tuple) else (derived,)
    else:
        found = cell(*inputs)
        found = found if isinstance(found, tuple) else (found,)
    forward = [_compared(one.asnumpy(), output) for one, output in zip(found, wanted.outputs, strict=True)]
    assert max(forward) <= FORWARD
    errors = [_compared(one.asnumpy(), other) for one, other in zip(derived, wanted.gradients, strict=True)]
    assert max(errors, default=0.0) <= GRADIENT
    weights = done.map.to_target(wanted.weights) if trained else {}
    learned = [
        _compared(one.asnumpy(), weights[parameter.name])
        for one, parameter in zip(trained, parameters, strict=bool(trained))
    ]
    assert max(learned, default=0.0) <= GRADIENT


def _compared(found: NDArray[Any], wanted: NDArray[Any] | None) -> float:
    """In units in the last place; whole numbers and truth values must be equal. PyTorch has none where it is zero."""
    wanted = np.zeros(found.shape, np.float32) if wanted is None else wanted
    assert found.shape == wanted.shape
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
    return ulps(found, wanted)


IMAGE, TOKENS = torch.zeros(2, 4, 6, 6), torch.zeros(2, 3, dtype=torch.int64)


class TestWhatIsNotCarriedOverExactly:
    @pytest.mark.parametrize(
        ("module", "given", "operator"),
        [
            (Function(lambda x: f.dropout(x, 0.3, False)), IMAGE, "aten.dropout.default"),
            (Function(lambda x: f.dropout(x, 0.3, True)), IMAGE, "aten.dropout.default"),
            (Function(lambda x: f.dropout2d(x, 0.3, False)), IMAGE, "aten.feature_dropout.default"),
            (Function(lambda x: f.batch_norm(x, torch.zeros(4), torch.ones(4))), IMAGE, "aten.batch_norm.default"),
            (nn.Embedding(5, 4, scale_grad_by_freq=True), TOKENS, "torch.nn.Embedding"),
        ],
    )
    def test_it_is_refused_by_name_with_its_place_and_a_way_out(
        self, module: nn.Module, given: torch.Tensor, operator: str, tmp_path: Path
    ) -> None:
        report = port(nn.Sequential(module).eval(), given, output=tmp_path).report
        refused = [found for found in report.operators if found.outcome == "refused"]
        assert [found.name for found in refused] == [operator]
        assert refused[0].at
        assert refused[0].at[0]
        assert refused[0].hint

    def test_a_module_that_acts_in_training_alone_is_named(self, tmp_path: Path) -> None:
        report = port(nn.Sequential(nn.Linear(3, 3), OnlyInTraining()), torch.zeros(2, 3), output=tmp_path).report
        assert [(found.name, found.outcome) for found in report.features] == [("1", "refused")]
        assert "OnlyInTraining does nothing in evaluation" in report.features[0].told

    def test_the_dropout_of_an_attention_is_named(self, tmp_path: Path) -> None:
        net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.1)
        report = port(net, torch.zeros(2, 5, 8), output=tmp_path).report
        assert [(found.name, found.outcome) for found in report.features] == [("self_attn", "refused")]
        assert not report.complete


class TestInTraining:
    @pytest.mark.parametrize(
        ("layer", "shape"), [(nn.BatchNorm1d(4), (8, 4)), (nn.BatchNorm2d(4, momentum=0.3), (8, 4, 5, 5))]
    )
    def test_a_batch_normalisation_moves_its_statistics_as_pytorch_does(
        self, layer: nn.Module, shape: tuple[int, ...], tmp_path: Path
    ) -> None:
        import mindspore

        net, given = nn.Sequential(layer), torch.randn(shape, generator=torch.Generator().manual_seed(3))
        done = port(net, given, output=tmp_path)
        assert done.cell is not None
        done.cell.set_train(True)
        found, wanted = done.cell(mindspore.Tensor(given.numpy())), net.train()(given)
        np.testing.assert_allclose(found.asnumpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-5)
        state = done.map.to_target({name: value.numpy() for name, value in net.state_dict().items()})
        for parameter in done.cell.get_parameters():
            np.testing.assert_allclose(parameter.asnumpy(), state[parameter.name], rtol=1e-6, atol=1e-7)

    def test_a_dropout_drops_its_share_and_scales_the_rest(self, tmp_path: Path) -> None:
        import mindspore

        done = port(nn.Sequential(nn.Dropout(0.3)), torch.ones(2, 3), output=tmp_path)
        assert done.cell is not None
        done.cell.set_train(True)
        found = done.cell(mindspore.Tensor(np.ones((100, 100), np.float32))).asnumpy()
        assert abs((found == 0).mean() - 0.3) < 0.03
        np.testing.assert_allclose(np.unique(found), [0.0, 1 / 0.7], rtol=1e-6)


class OnlyInTraining(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn_like(x) if self.training else x


class TestTheRules:
    def test_every_one_was_executed_or_refuses(self) -> None:
        tried = {case.operator for cases in FAMILIES.values() for case in cases}
        known = {name for name in operators() if not name.startswith("onnx.")}  # those have ONNX's own node tests
        assert sorted(known - tried) == ["aten.batch_norm.default"]
        assert tried <= set(operators())

    def test_every_one_says_what_it_does(self) -> None:
        assert [name for name in operators() if not (rule(name, at="").__doc__ or "").strip().endswith(".")] == []

    def test_an_unknown_operator_names_the_nearest(self) -> None:
        with pytest.raises(Unsupported, match=r"No rule for aten\.reluu\.default") as fault:
            rule("aten.reluu.default", at="net.py:9")
        assert fault.value.hint == "Nearest rule: aten.relu.default"

    def test_two_rules_of_one_operator_are_refused(self) -> None:
        with pytest.raises(ValueError, match="registered already"):
            ports("aten.relu.default")
