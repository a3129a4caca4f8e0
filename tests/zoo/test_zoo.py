"""The zoo's door and its registry."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from luthier import zoo
from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.zoo import registry

MINIMAL: dict[str, dict[str, Any]] = {
    "resnet": {
        "block": "basic",
        "layer_nums": [1, 1, 1, 1],
        "in_channels": [4, 4, 8, 8],
        "out_channels": [4, 8, 8, 8],
    },
    "resnet101": {"width": 0.0625},
    "resnet152": {"width": 0.0625},
    "resnet18": {"width": 0.125},
    "resnet34": {"width": 0.125},
    "resnet50": {"width": 0.125},
}


def test_the_door_is_sorted_and_names_what_is_there() -> None:
    assert zoo.__all__ == sorted(zoo.__all__)
    assert all(hasattr(zoo, name) for name in zoo.__all__)


def test_importing_it_and_listing_its_names_loads_no_framework() -> None:
    code = "import sys; from luthier import zoo; print(zoo.names()); sys.exit('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert result.returncode == 0
    assert result.stdout.strip() == str(zoo.names())


def test_the_shipped_networks_are_these() -> None:
    assert zoo.names() == (
        "lenet5",
        "resnet",
        "resnet101",
        "resnet152",
        "resnet18",
        "resnet34",
        "resnet50",
        "slim",
    )


@pytest.mark.parametrize("name", zoo.names())
def test_every_network_says_what_it_is_and_names_its_types(name: str) -> None:
    factory = registry.factory_of(name)
    signature = inspect.signature(factory)
    assert inspect.getdoc(factory)
    assert list(signature.parameters)[:2] == ["num_classes", "shape"]
    assert all(item.kind is item.KEYWORD_ONLY for item in signature.parameters.values())
    assert all(item.annotation is not item.empty for item in signature.parameters.values())


@pytest.mark.parametrize("shape", [(32, 32, 3), (28, 28, 1), (40, 24, 4)])
@pytest.mark.parametrize("name", zoo.names())
def test_every_network_takes_images_of_any_channels_and_gives_a_logit_a_class(
    name: str, shape: tuple[int, int, int]
) -> None:
    module = zoo.build(Model(name=name, options=MINIMAL.get(name, {})), shape=shape, num_classes=7).eval()
    images = torch.zeros(2, shape[2], *shape[:2])
    assert module(images).shape == (2, 7)


@pytest.mark.parametrize("name", zoo.names())
def test_every_network_learns_with_every_parameter(name: str) -> None:
    module = zoo.build(Model(name=name, options=MINIMAL.get(name, {})), shape=(32, 32, 3), num_classes=10)
    images = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    loss = torch.nn.functional.cross_entropy(module(images), torch.arange(4))
    torch.autograd.backward(loss)
    idle = [key for key, value in module.named_parameters() if value.grad is None]
    assert idle == []


def test_a_network_is_one_new_file_with_a_mark(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import nowhere\n\n@network\ndef first(): ...\n\ndef helper(): ...\n")
    (tmp_path / "two.py").write_text("second = network(family(2))\nthird = family(3)\n")
    assert registry.indexed(tmp_path) == {"first": "one", "second": "two"}


def test_two_networks_of_one_name_are_refused(tmp_path: Path) -> None:
    for file in ("one.py", "two.py"):
        (tmp_path / file).write_text("@network\ndef same(): ...\n")
    with pytest.raises(ModelError, match=r"Two networks are called 'same' - at one.py and two.py"):
        registry.indexed(tmp_path)


def test_an_unknown_network_names_the_nearest() -> None:
    with pytest.raises(ModelError) as caught:
        zoo.build(Model(name="resnet5O"), shape=(32, 32, 3), num_classes=10)
    assert str(caught.value).startswith("Unknown network 'resnet5O' - at model.name\n  Perhaps you meant 'resnet50'.")


def test_the_registry_stays_small() -> None:
    assert len(Path(registry.__file__).read_text("utf-8").splitlines()) <= 70
