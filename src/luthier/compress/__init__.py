"""From a network to a file that deployments run, and to a smaller network.

The package is a verb too: `luthier.compress(run)`.
"""

from luthier.compress.compressing import Compression, Tried, compress
from luthier.compress.compression_text import compression_text
from luthier.compress.deployed import Deployed, open_file
from luthier.compress.exporting import Exported, export, exported_text
from luthier.compress.graphs import Stored, stored_bytes, stored_layers
from luthier.compress.judging import Judged, Worth
from luthier.compress.network import Network, Source, open_network, run_or_recipe
from luthier.compress.registry import Encoded, encoder, format_names
from luthier.verb import make_callable

__all__ = [
    "Compression",
    "Deployed",
    "Encoded",
    "Exported",
    "Judged",
    "Network",
    "Source",
    "Stored",
    "Tried",
    "Worth",
    "compress",
    "compression_text",
    "encoder",
    "export",
    "exported_text",
    "format_names",
    "open_file",
    "open_network",
    "run_or_recipe",
    "stored_bytes",
    "stored_layers",
]

make_callable(__name__)
