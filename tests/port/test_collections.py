"""Ways of writing a network that public collections have: each is ported whole, and proven with its gradients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from luthier.port import port
from tests.port.collections import Features, FrozenAngles, Idle, Named, NormNet, Unused

IMAGES, ROWS = (2, 3, 6, 6), (3, 4)
CASES = {
    "a batch normalisation with an activation inside": (NormNet, IMAGES),
    "a part without gradients": (FrozenAngles, ROWS),
    "a dict of layers with a forward pass": (Features, ROWS),
    "names that no attribute can have": (Named, ROWS),
    "a call whose result nobody takes": (Unused, ROWS),
    "stochastic depth of nothing": (Idle, ROWS),
}


@pytest.mark.parametrize(("kind", "shape"), CASES.values(), ids=CASES)
def test_it_is_ported_with_its_gradients(kind: type[nn.Module], shape: tuple[int, ...], tmp_path: Path) -> None:
    import mindspore

    torch.manual_seed(0)
    module = kind()
    given = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    done = port(module, given, output=tmp_path)
    assert done.report.complete, [found.told for found in done.report.features]
    assert done.cell is not None
    cell = done.cell
    cell.set_train(True)
    parameters = tuple(cell.trainable_params())
    derive = mindspore.value_and_grad(lambda x: (cell(x) ** 2).sum(), None, parameters)
    _, gradients = derive(mindspore.Tensor(given.numpy()))
    module.train()
    (module(given) ** 2).sum().backward()
    wanted = {
        name: np.zeros(tuple(value.shape), np.float32) if value.grad is None else value.grad.numpy()
        for name, value in module.named_parameters()
    }
    targets = done.map.to_target(wanted, linear=True, partial=True)
    assert {parameter.name for parameter in parameters} == set(targets)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        np.testing.assert_allclose(gradient.asnumpy(), targets[parameter.name], rtol=1e-4, atol=1e-5)


def test_a_normalisation_s_statistics_move(tmp_path: Path) -> None:
    import mindspore

    module, given = NormNet(), torch.randn(IMAGES, generator=torch.Generator().manual_seed(1))
    done = port(module, given, output=tmp_path)
    assert done.cell is not None
    done.cell.set_train(True)
    done.cell(mindspore.Tensor(given.numpy()))
    module.train()(given)
    state = done.map.to_target({name: value.numpy() for name, value in module.state_dict().items()})
    for parameter in done.cell.get_parameters():
        np.testing.assert_allclose(parameter.asnumpy(), state[parameter.name], rtol=1e-5, atol=1e-6)


def test_stochastic_depth_of_something_is_named(tmp_path: Path) -> None:
    report = port(Idle(0.2), torch.zeros(ROWS), output=tmp_path).report
    assert [(found.name, found.outcome) for found in report.features] == [("depth", "refused")]
