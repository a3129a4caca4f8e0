"""What the recipe's transforms do to images, whole batches at once."""

from luthier.data.transforms.operation import Operation, PictureOperation, Size
from luthier.data.transforms.operations import operation

__all__ = ["Operation", "PictureOperation", "Size", "operation"]
