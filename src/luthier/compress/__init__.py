"""From a network to a file that deployments run."""

from luthier.compress.exporting import Exported, export, exported_text
from luthier.compress.network import Network, Source, open_network, run_or_recipe
from luthier.compress.registry import Encoded, encoder, format_names

__all__ = [
    "Encoded",
    "Exported",
    "Network",
    "Source",
    "encoder",
    "export",
    "exported_text",
    "format_names",
    "open_network",
    "run_or_recipe",
]
