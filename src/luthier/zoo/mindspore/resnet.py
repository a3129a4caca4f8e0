"""The ResNet family from one class, with torchvision's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from mindspore import Tensor, nn

from luthier.zoo.mindspore.layers import MaxPool2d, batch_norm, conv
from luthier.zoo.registry import network
from luthier.zoo.structure import Factor, Lengths, Reduction, Stem, check_stages

__all__ = [
    "BasicBlock",
    "Bottleneck",
    "ResNet",
    "resnet",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
]


def shortcut(before: int, after: int, stride: int) -> nn.Cell:
    """Around a block: nothing, or a strided 1×1 convolution where the size or the channels change."""
    if stride == 1 and before == after:
        return nn.Identity()
    return nn.SequentialCell(conv(before, after, 1, stride=stride), batch_norm(after))


def reducer(stride: int, reduction: Reduction) -> tuple[int, nn.Cell]:
    """The stride of the 3×3 convolution, and the pooling after it; one of them does nothing."""
    if reduction == "stride" or stride == 1:
        return stride, nn.Identity()
    return 1, MaxPool2d(stride, ceil_mode=True)  # an odd size ends as the strided shortcut's does


def last_norm(channels: int, *, zero: bool) -> nn.Cell:
    """The normalisation that ends a block; with `zero` the block begins as its shortcut alone."""
    norm = batch_norm(channels)
    if zero:
        norm.gamma.set_data(norm.gamma * 0.0)
    return norm


class BasicBlock(nn.Cell):
    """Two 3×3 convolutions; a stage's first halves the size in the first of them, or after it."""

    expansion = 1

    def __init__(self, before: int, after: int, stride: int, *, reduction: Reduction, zero_last: bool) -> None:
        super().__init__()
        conv_stride, self.pool = reducer(stride, reduction)
        self.conv1 = conv(before, after, 3, stride=conv_stride, padding=1)
        self.bn1 = batch_norm(after)
        self.conv2 = conv(after, after, 3, padding=1)
        self.bn2 = last_norm(after, zero=zero_last)
        self.relu = nn.ReLU()
        self.downsample = shortcut(before, after, stride)

    def construct(self, x_BCHW: Tensor) -> Tensor:
        """The residual branch plus the shortcut."""
        out = self.pool(self.relu(self.bn1(self.conv1(x_BCHW))))
        out = self.bn2(self.conv2(out))
        return self.relu(out + self.downsample(x_BCHW))


class Bottleneck(nn.Cell):
    """1×1 down to a quarter of the channels, 3×3, 1×1 up; a stage's first halves the size in the 3×3, or after it."""

    expansion = 4

    def __init__(self, before: int, after: int, stride: int, *, reduction: Reduction, zero_last: bool) -> None:
        super().__init__()
        conv_stride, self.pool = reducer(stride, reduction)
        narrow = after // self.expansion
        self.conv1 = conv(before, narrow, 1)
        self.bn1 = batch_norm(narrow)
        self.conv2 = conv(narrow, narrow, 3, stride=conv_stride, padding=1)
        self.bn2 = batch_norm(narrow)
        self.conv3 = conv(narrow, after, 1)
        self.bn3 = last_norm(after, zero=zero_last)
        self.relu = nn.ReLU()
        self.downsample = shortcut(before, after, stride)

    def construct(self, x_BCHW: Tensor) -> Tensor:
        """The residual branch plus the shortcut."""
        out = self.relu(self.bn1(self.conv1(x_BCHW)))
        out = self.pool(self.relu(self.bn2(self.conv2(out))))
        out = self.bn3(self.conv3(out))
        return self.relu(out + self.downsample(x_BCHW))


BLOCKS: Mapping[str, type[BasicBlock] | type[Bottleneck]] = {"basic": BasicBlock, "bottleneck": Bottleneck}


class ResNet(nn.Cell):
    """Four stages of blocks; every list has an entry a stage, and in_channels[0] is what the stem gives."""

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layer_nums: Sequence[int],
        in_channels: Sequence[int],
        out_channels: Sequence[int],
        strides: Sequence[int],
        *,
        num_classes: int = 1000,
        image_channels: int = 3,
        stem: Stem = "imagenet",
        reduction: Reduction = "stride",
        zero_last: bool = False,
    ) -> None:
        check_stages(block.expansion, layer_nums, in_channels, out_channels, strides)
        super().__init__()
        large = stem == "imagenet"
        kernel, stride = (7, 2) if large else (3, 1)
        self.conv1 = conv(image_channels, in_channels[0], kernel, stride=stride, padding=kernel // 2)
        self.bn1 = batch_norm(in_channels[0])
        self.relu = nn.ReLU()
        self.maxpool = MaxPool2d(3, stride=2, padding=1) if large else nn.Identity()

        def stage(i: int) -> nn.Cell:
            steps = [(in_channels[i], strides[i])] + [(out_channels[i], 1)] * (layer_nums[i] - 1)
            return nn.SequentialCell(
                *(
                    block(before, out_channels[i], stride, reduction=reduction, zero_last=zero_last)
                    for before, stride in steps
                )
            )

        self.layer1, self.layer2, self.layer3, self.layer4 = (stage(i) for i in range(4))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(out_channels[3], num_classes)

    def construct(self, x_BCHW: Tensor) -> Tensor:
        """The logits, one row an image."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x_BCHW))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.flatten(self.avgpool(x)))


@network
def resnet(
    *,
    num_classes: int,
    shape: tuple[int, int, int],
    block: Literal["basic", "bottleneck"],
    layer_nums: Lengths,
    in_channels: Lengths,
    out_channels: Lengths,
    strides: Lengths = (1, 2, 2, 2),
    stem: Stem = "imagenet",
    reduction: Reduction = "stride",
    zero_last: bool = False,
) -> ResNet:
    """Any ResNet, from its lists of four."""
    return ResNet(
        BLOCKS[block],
        layer_nums,
        in_channels,
        out_channels,
        strides,
        num_classes=num_classes,
        image_channels=shape[2],
        stem=stem,
        reduction=reduction,
        zero_last=zero_last,
    )


def _family(block: Literal["basic", "bottleneck"], layer_nums: Lengths) -> Callable[..., ResNet]:
    """One of the paper's five, whose stages begin at 64, 128, 256 and 512 channels times `width`."""

    def factory(
        *,
        num_classes: int,
        shape: tuple[int, int, int],
        stem: Stem = "imagenet",
        reduction: Reduction = "stride",
        zero_last: bool = False,
        width: Factor = 1.0,
    ) -> ResNet:
        """`width` multiplies every stage's channels."""
        narrow = [max(1, round(width * channels)) for channels in (64, 128, 256, 512)]
        out_channels = tuple(channels * BLOCKS[block].expansion for channels in narrow)
        return resnet(
            num_classes=num_classes,
            shape=shape,
            block=block,
            layer_nums=layer_nums,
            in_channels=(narrow[0], *out_channels[:3]),
            out_channels=out_channels,
            stem=stem,
            reduction=reduction,
            zero_last=zero_last,
        )

    return factory


resnet18 = network(_family("basic", (2, 2, 2, 2)))
resnet34 = network(_family("basic", (3, 4, 6, 3)))
resnet50 = network(_family("bottleneck", (3, 4, 6, 3)))
resnet101 = network(_family("bottleneck", (3, 4, 23, 3)))
resnet152 = network(_family("bottleneck", (3, 8, 36, 3)))
