"""From a network to a file that deployments run."""

from luthier.compress.deployed import Deployed, open_file
from luthier.compress.exporting import Exported, export, exported_text
from luthier.compress.graphs import Stored, stored_bytes, stored_layers
from luthier.compress.judging import Judged, Worth
from luthier.compress.network import Network, Source, open_network, run_or_recipe
from luthier.compress.registry import Encoded, encoder, format_names

__all__ = [
    "Deployed",
    "Encoded",
    "Exported",
    "Judged",
    "Network",
    "Source",
    "Stored",
    "Worth",
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
