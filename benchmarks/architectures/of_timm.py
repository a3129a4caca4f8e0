"""Families of timm, small where the family allows it: each function gives a network with random weights."""

from __future__ import annotations

from typing import Any

from benchmarks.architectures import declared  # noqa: F401 - before timm, which loads torchvision

# isort: split
import timm
from timm.layers import GatedMlp
from timm.models.convmixer import ConvMixer
from timm.models.focalnet import FocalNet
from timm.models.metaformer import MetaFormer, Pooling
from timm.models.mlp_mixer import MlpMixer, ResBlock, SpatialGatingBlock
from torch import nn


def made(name: str, **options: Any) -> nn.Module:
    net: nn.Module = timm.create_model(name, pretrained=False, num_classes=10, **options)
    return net


def repvgg() -> nn.Module:
    return made("repvgg_a0")


def ghostnet() -> nn.Module:
    return made("ghostnet_050", drop_rate=0.0)


def dla() -> nn.Module:
    return made("dla46_c")


def res2net() -> nn.Module:
    return made("res2net50_14w_8s")


def selecsls() -> nn.Module:
    return made("selecsls42")


def hardcorenas() -> nn.Module:
    return made("hardcorenas_a")


def tinynet() -> nn.Module:
    return made("tinynet_e")


def mixer() -> nn.Module:
    return MlpMixer(num_classes=10, img_size=64, patch_size=8, embed_dim=64, num_blocks=2)


def resmlp() -> nn.Module:
    return MlpMixer(
        num_classes=10, img_size=64, patch_size=8, embed_dim=64, num_blocks=2, mlp_ratio=4, block_layer=ResBlock
    )


def gmlp() -> nn.Module:
    return MlpMixer(
        num_classes=10,
        img_size=64,
        patch_size=8,
        embed_dim=64,
        num_blocks=2,
        mlp_ratio=6,
        block_layer=SpatialGatingBlock,
        mlp_layer=GatedMlp,
    )


def deit() -> nn.Module:
    return made("deit_tiny_distilled_patch16_224", img_size=64, embed_dim=64, depth=2, num_heads=4)


def beit() -> nn.Module:
    return made("beit_base_patch16_224", img_size=64, embed_dim=64, depth=2, num_heads=4)


def cait() -> nn.Module:
    return made("cait_xxs24_224", img_size=64, embed_dim=64, depth=2, num_heads=4)


def xcit() -> nn.Module:
    return made("xcit_nano_12_p16_224", img_size=64, embed_dim=64, depth=2, num_heads=4)


def poolformer() -> nn.Module:
    return MetaFormer(num_classes=10, depths=(1, 1, 1, 1), dims=(16, 32, 48, 64), token_mixers=Pooling)


def convmixer() -> nn.Module:
    return ConvMixer(48, 2, num_classes=10)


def pvt_v2() -> nn.Module:
    return made("pvt_v2_b0", depths=(1, 1, 1, 1))


def levit() -> nn.Module:
    return made("levit_128s", img_size=64, embed_dim=(32, 48, 64), key_dim=8, num_heads=(2, 3, 4), depth=(1, 1, 1))


def mobilevit() -> nn.Module:
    return made("mobilevit_xxs")


def edgenext() -> nn.Module:
    return made("edgenext_xx_small")


def visformer() -> nn.Module:
    return made("visformer_tiny", img_size=64, embed_dim=64, depth=(1, 1, 1))


def focalnet() -> nn.Module:
    return FocalNet(num_classes=10, embed_dim=16, depths=(1, 1, 1, 1))


def rexnet() -> nn.Module:
    return made("rexnet_100", drop_rate=0.0)
