"""Torchvision's families, small: each function gives a network with random weights."""

from __future__ import annotations

from torch import Tensor, nn

from benchmarks.architectures import declared  # noqa: F401 - before torchvision

# isort: split
from torchvision import models
from torchvision.models import detection, segmentation
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.convnext import CNBlockConfig, ConvNeXt
from torchvision.models.densenet import DenseNet
from torchvision.models.maxvit import MaxVit
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet
from torchvision.models.swin_transformer import (
    PatchMergingV2,
    SwinTransformer,
    SwinTransformerBlockV2,
)


class Only(nn.Module):
    """One of the outputs that a network gives by name."""

    def __init__(self, net: nn.Module, name: str) -> None:
        super().__init__()
        self.net, self.name = net, name

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.net(x)[self.name]
        return found


def alexnet() -> nn.Module:
    net = models.alexnet(num_classes=10, dropout=0.0)
    net.classifier = nn.Sequential(nn.Linear(9216, 64), nn.ReLU(inplace=True), nn.Linear(64, 10))
    return net


def vgg11_bn() -> nn.Module:
    net = models.vgg11_bn(num_classes=10, dropout=0.0)
    net.classifier = nn.Linear(512 * 49, 10)
    return net


def resnet18() -> nn.Module:
    return models.resnet18(num_classes=10)


def resnet_bottleneck() -> nn.Module:
    return ResNet(Bottleneck, [1, 2, 1, 1], num_classes=10)


def resnext() -> nn.Module:
    return ResNet(Bottleneck, [1, 1, 1, 1], num_classes=10, groups=32, width_per_group=4)


def wide_resnet() -> nn.Module:
    return ResNet(Bottleneck, [1, 1, 1, 1], num_classes=10, width_per_group=128)


def dilated_resnet() -> nn.Module:
    return ResNet(Bottleneck, [1, 1, 1, 1], num_classes=10, replace_stride_with_dilation=[False, True, True])


def densenet() -> nn.Module:
    return DenseNet(growth_rate=8, block_config=(2, 3, 2, 2), num_init_features=16, num_classes=10)


def squeezenet1_1() -> nn.Module:
    return models.squeezenet1_1(num_classes=10, dropout=0.0)


def mobilenet_v2() -> nn.Module:
    return models.mobilenet_v2(num_classes=10, width_mult=0.35, dropout=0.0)


def mobilenet_v3_small() -> nn.Module:
    return models.mobilenet_v3_small(num_classes=10, width_mult=0.5, dropout=0.0)


def shufflenet_v2_x0_5() -> nn.Module:
    return models.shufflenet_v2_x0_5(num_classes=10)


def googlenet() -> nn.Module:
    return models.googlenet(num_classes=10, aux_logits=False, init_weights=True, dropout=0.0)


def inception_v3() -> nn.Module:
    return models.inception_v3(num_classes=10, aux_logits=False, init_weights=False, dropout=0.0)


def mnasnet0_5() -> nn.Module:
    return models.mnasnet0_5(num_classes=10, dropout=0.0)


def efficientnet_b0() -> nn.Module:
    return models.efficientnet_b0(num_classes=10, stochastic_depth_prob=0.0, dropout=0.0)


def regnet_x_400mf() -> nn.Module:
    return models.regnet_x_400mf(num_classes=10)


def regnet_y_400mf() -> nn.Module:
    return models.regnet_y_400mf(num_classes=10)


def convnext() -> nn.Module:
    blocks = [CNBlockConfig(16, 32, 1), CNBlockConfig(32, 48, 1), CNBlockConfig(48, None, 2)]
    return ConvNeXt(blocks, num_classes=10)


def vit() -> nn.Module:
    return models.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10
    )


def swin() -> nn.Module:
    return SwinTransformer([4, 4], 24, [2, 2], [2, 4], [4, 4], stochastic_depth_prob=0.0, num_classes=10)


def swin_v2() -> nn.Module:
    return SwinTransformer(
        [4, 4],
        24,
        [2, 2],
        [2, 4],
        [4, 4],
        stochastic_depth_prob=0.0,
        num_classes=10,
        block=SwinTransformerBlockV2,
        downsample_layer=PatchMergingV2,
    )


def maxvit() -> nn.Module:
    return MaxVit((64, 64), 16, 4, [16, 32], [1, 1], 16, 0.0, num_classes=10)


def feature_pyramid() -> nn.Module:
    net = detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=5)
    return Only(net, "0")


def fcn() -> nn.Module:
    backbone = ResNet(BasicBlock, [1, 1, 1, 1], width_per_group=64)
    body = IntermediateLayerGetter(backbone, return_layers={"layer4": "out"})
    head = segmentation.fcn.FCNHead(512, 5)
    head[3].p = 0.0
    return Only(segmentation.FCN(body, head), "out")


def deeplabv3() -> nn.Module:
    net = segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)
    net.classifier[0].project[3].p = 0.0
    return Only(net, "out")


def lraspp() -> nn.Module:
    net = segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)
    return Only(net, "out")


def basic_resnet10() -> nn.Module:
    return ResNet(BasicBlock, [1, 1, 1, 1], num_classes=10, norm_layer=lambda planes: nn.GroupNorm(8, planes))
