"""Data sets: sources → transforms → batches."""

from luthier.data.batch import Batch
from luthier.data.batches import Batches
from luthier.data.dataset import DataSet
from luthier.data.decoding import ImageFacts, image_facts
from luthier.data.description import Description, describe, stated
from luthier.data.downloads import Download, RemoteFile
from luthier.data.getting import get
from luthier.data.grid import grid, undrawable
from luthier.data.memory import arrays
from luthier.data.opening import open_data
from luthier.data.packing import pack
from luthier.data.places import roots
from luthier.data.reading import read_images
from luthier.data.registry import downloadable, names, open_source
from luthier.data.source import Files, Part, Pictures, Samples, Source

__all__ = [
    "Batch",
    "Batches",
    "DataSet",
    "Description",
    "Download",
    "Files",
    "ImageFacts",
    "Part",
    "Pictures",
    "RemoteFile",
    "Samples",
    "Source",
    "arrays",
    "describe",
    "downloadable",
    "get",
    "grid",
    "image_facts",
    "names",
    "open_data",
    "open_source",
    "pack",
    "read_images",
    "roots",
    "stated",
    "undrawable",
]
