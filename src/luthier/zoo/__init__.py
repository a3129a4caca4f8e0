"""The shipped networks, and the user's own: from a recipe's `model` to a network with its first weights."""

from luthier.zoo.building import build, check_options, default_options
from luthier.zoo.initializing import initialize
from luthier.zoo.loading import FAULTS, beside, load_object, raised
from luthier.zoo.registry import names
from luthier.zoo.structure import ONE_SIZE

__all__ = [
    "FAULTS",
    "ONE_SIZE",
    "beside",
    "build",
    "check_options",
    "default_options",
    "initialize",
    "load_object",
    "names",
    "raised",
]
