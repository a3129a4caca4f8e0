"""PyTorch, on a CPU or on CUDA."""

from luthier.engines.torch.optimizers import build_optimizers
from luthier.engines.torch.parameters import parameter_infos
from luthier.engines.torch.session import TorchSession

__all__ = ["TorchSession", "build_optimizers", "parameter_infos"]
