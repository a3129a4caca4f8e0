"""The two-way map between one framework's names and layouts and another's."""

from luthier.weights.course import from_course, without_optimizer
from luthier.weights.files import read_map, write_map
from luthier.weights.matching import Pairing, match, pair, pytorch_shapes
from luthier.weights.reading import is_weights_file, read_weights
from luthier.weights.renaming import renamed
from luthier.weights.transforms import Expand, Identity, OneMinus, ReorderGates, Transform, Transpose
from luthier.weights.weight_map import Dropped, Entry, WeightMap

__all__ = [
    "Dropped",
    "Entry",
    "Expand",
    "Identity",
    "OneMinus",
    "Pairing",
    "ReorderGates",
    "Transform",
    "Transpose",
    "WeightMap",
    "from_course",
    "is_weights_file",
    "match",
    "pair",
    "pytorch_shapes",
    "read_map",
    "read_weights",
    "renamed",
    "without_optimizer",
    "write_map",
]
