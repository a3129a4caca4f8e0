"""The shipped networks as MindSpore Cells, with the PyTorch zoo's options and attribute names."""

from luthier.zoo.mindspore.building import build

__all__ = ["build"]
