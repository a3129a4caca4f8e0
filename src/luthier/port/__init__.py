"""From PyTorch or ONNX to MindSpore: sources → graph → rules → a readable script, weights, a report.

The package is a verb too: `luthier.port(module, example_inputs)`.
"""

from luthier.port.inputs import parsed_options
from luthier.port.manifest import Input, Layer, Port, Source, open_port
from luthier.port.opening import build_source, read_source
from luthier.port.porting import Ported, analyse, port
from luthier.port.project import Project, project_text, write_project
from luthier.port.renaming import rename_weights
from luthier.port.report import Report, report_schema
from luthier.port.telling import ported_text, report_text
from luthier.verb import make_callable

__all__ = [
    "Input",
    "Layer",
    "Port",
    "Ported",
    "Project",
    "Report",
    "Source",
    "analyse",
    "build_source",
    "open_port",
    "parsed_options",
    "port",
    "ported_text",
    "project_text",
    "read_source",
    "rename_weights",
    "report_schema",
    "report_text",
    "write_project",
]

make_callable(__name__)
