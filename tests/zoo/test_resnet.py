"""The ResNet family: torchvision's counts and names, and an independent count from the paper's table."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from luthier import zoo
from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.zoo.resnet import BasicBlock, Bottleneck, ResNet

SMALL = ([1, 1, 1, 1], [4, 8, 8, 8], [8, 8, 8, 8], [1, 2, 2, 2])


def resnet(
    name: str, *, shape: tuple[int, int, int] = (32, 32, 3), num_classes: int = 1000, **options: Any
) -> nn.Module:
    return zoo.build(Model(name=name, options=options), shape=shape, num_classes=num_classes)


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def counted(lengths: tuple[int, ...], *, bottleneck: bool, classes: int = 1000) -> int:
    """From the paper's table: filters, two numbers a normalised channel, and the last layer."""

    def normed(before: int, after: int, kernel: int) -> int:
        return before * after * kernel * kernel + 2 * after

    total, before = normed(3, 64, 7), 64
    for i, length in enumerate(lengths):
        narrow = 64 * 2**i
        after = 4 * narrow if bottleneck else narrow
        for _ in range(length):
            if bottleneck:
                total += normed(before, narrow, 1) + normed(narrow, narrow, 3) + normed(narrow, after, 1)
            else:
                total += normed(before, narrow, 3) + normed(narrow, narrow, 3)
            total += normed(before, after, 1) if before != after else 0
            before = after
    return total + before * classes + classes


FAMILY: list[tuple[str, tuple[int, ...], bool, int]] = [  # the last column as torchvision's documentation has it
    ("resnet18", (2, 2, 2, 2), False, 11_689_512),
    ("resnet34", (3, 4, 6, 3), False, 21_797_672),
    ("resnet50", (3, 4, 6, 3), True, 25_557_032),
    ("resnet101", (3, 4, 23, 3), True, 44_549_160),
    ("resnet152", (3, 8, 36, 3), True, 60_192_808),
]


@pytest.mark.parametrize(("name", "lengths", "bottleneck", "published"), FAMILY)
def test_each_of_the_family_has_torchvision_s_parameters(
    name: str, lengths: tuple[int, ...], bottleneck: bool, published: int
) -> None:
    with torch.device("meta"):
        module = ResNet(*standard(lengths, bottleneck=bottleneck))
    assert count(module) == counted(lengths, bottleneck=bottleneck) == published


def standard(lengths: tuple[int, ...], *, bottleneck: bool) -> Any:
    if bottleneck:
        return Bottleneck, lengths, (64, 256, 512, 1024), (256, 512, 1024, 2048), (1, 2, 2, 2)
    return BasicBlock, lengths, (64, 64, 128, 256), (64, 128, 256, 512), (1, 2, 2, 2)


@pytest.mark.parametrize(("name", "bottleneck"), [("resnet18", False), ("resnet50", True)])
def test_a_name_is_the_class_with_the_standard_lists(name: str, bottleneck: bool) -> None:
    lengths = next(case[1] for case in FAMILY if case[0] == name)
    with torch.device("meta"):
        expected = ResNet(*standard(lengths, bottleneck=bottleneck), num_classes=10)
    module = resnet(name, num_classes=10)
    assert {key: value.shape for key, value in module.state_dict().items()} == {
        key: value.shape for key, value in expected.state_dict().items()
    }


def test_the_names_are_torchvision_s_in_its_order() -> None:
    names = list(resnet("resnet50", width=0.0625).state_dict())
    norm = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    first = ["conv1.weight", *(f"bn1.{part}" for part in norm)]
    for i in (1, 2, 3):
        first += [f"layer1.0.conv{i}.weight", *(f"layer1.0.bn{i}.{part}" for part in norm)]
    first += ["layer1.0.downsample.0.weight", *(f"layer1.0.downsample.1.{part}" for part in norm)]
    assert names[: len(first)] == first
    assert names[-2:] == ["fc.weight", "fc.bias"]
    assert not any("downsample" in name for name in resnet("resnet18", width=0.125).state_dict() if "layer1" in name)


def test_the_stem_quarters_the_image_unless_it_is_cifar_s() -> None:
    sizes: list[tuple[int, ...]] = []
    for stem in ("imagenet", "cifar"):
        module = resnet("resnet18", width=0.125, stem=stem)
        module.get_submodule("layer1").register_forward_hook(lambda *call: sizes.append(tuple(call[2].shape)))
        module.get_submodule("layer4").register_forward_hook(lambda *call: sizes.append(tuple(call[2].shape)))
        module.eval()(torch.zeros(1, 3, 64, 64))
    assert sizes == [(1, 8, 16, 16), (1, 64, 2, 2), (1, 8, 64, 64), (1, 64, 8, 8)]


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
def test_a_pooling_reduces_like_the_stride_with_the_same_parameters(name: str) -> None:
    strided, pooled = (resnet(name, width=0.125, reduction=kind, stem="cifar").eval() for kind in ("stride", "pool"))
    assert list(strided.state_dict()) == list(pooled.state_dict())
    images = torch.randn(1, 3, 25, 25, generator=torch.Generator().manual_seed(1))  # odd sizes all the way: 25, 13, 7
    assert strided(images).shape == pooled(images).shape
    assert not torch.allclose(strided(images), pooled(images))


def test_the_migration_guide_pools_after_the_3x3_its_norm_and_its_relu() -> None:
    block = Bottleneck(8, 16, 2, reduction="pool", zero_last=False).eval()
    images = torch.randn(1, 8, 6, 6, generator=torch.Generator().manual_seed(1))
    out = block.relu(block.bn1(block.conv1(images)))
    out = nn.functional.max_pool2d(block.relu(block.bn2(block.conv2(out))), 2)
    expected = block.relu(block.bn3(block.conv3(out)) + block.downsample(images))
    assert block.conv2.stride == (1, 1)
    torch.testing.assert_close(block(images), expected)


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
def test_a_block_that_begins_at_zero_passes_its_shortcut_on(name: str) -> None:
    module = resnet(name, width=0.125, zero_last=True).eval()
    block = module.get_submodule("layer1.1")
    channels = next(block.parameters()).shape[1]
    images = torch.rand(1, channels, 4, 4)
    torch.testing.assert_close(block(images), images)
    assert not torch.equal(resnet(name, width=0.125).eval().get_submodule("layer1.1")(images), images)


def test_a_width_multiplies_every_stage() -> None:
    narrow = resnet("resnet50", width=0.25, num_classes=10)
    assert narrow.get_parameter("conv1.weight").shape == (16, 3, 7, 7)
    assert narrow.get_parameter("layer4.2.conv3.weight").shape == (512, 128, 1, 1)


def test_the_generic_network_takes_the_lists_from_the_options() -> None:
    lists: dict[str, Any] = dict(zip(("layer_nums", "in_channels", "out_channels", "strides"), SMALL, strict=True))
    assert count(resnet("resnet", block="bottleneck", **lists)) == count(ResNet(Bottleneck, *SMALL))


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("length", [0, 3, 5])
def test_a_list_of_another_length_is_refused_by_its_name(position: int, length: int) -> None:
    lists = [list(values) for values in SMALL]
    lists[position] = [8] * length
    name = ("layer_nums", "in_channels", "out_channels", "strides")[position]
    with pytest.raises(ModelError, match=f"A ResNet has four stages, but {name} lists {length}") as caught:
        ResNet(BasicBlock, *lists)
    assert caught.value.at == f"model.options.{name}"
    assert isinstance(caught.value, ValueError)


def test_three_stages_are_refused_even_where_the_lists_agree() -> None:
    with pytest.raises(ModelError, match="Lengths: layer_nums 3, in_channels 3, out_channels 3, strides 3"):
        ResNet(BasicBlock, *(values[:3] for values in SMALL))


def test_stages_that_do_not_meet_are_refused() -> None:
    with pytest.raises(ModelError, match=r"Stage 3 takes 8 channels, but stage 2 gives 16 - at .*in_channels\.2"):
        ResNet(BasicBlock, [1] * 4, [8, 8, 8, 8], [8, 16, 8, 8], [1] * 4)


def test_a_bottleneck_needs_channels_in_fours() -> None:
    with pytest.raises(ModelError, match=r"divides its channels by 4, got 6"):
        ResNet(Bottleneck, [1] * 4, [8, 8, 6, 8], [8, 6, 8, 8], [1] * 4)
