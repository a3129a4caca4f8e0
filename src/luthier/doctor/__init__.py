"""What this machine has, what works, and how to get the rest.

The package is a verb too: `luthier.doctor()`.
"""

from luthier.doctor.examining import doctor
from luthier.doctor.machine import Machine, Space
from luthier.doctor.report import Ailment, Convolutions, DataSet, Package, Report
from luthier.doctor.text import report_text
from luthier.verb import make_callable

__all__ = [
    "Ailment",
    "Convolutions",
    "DataSet",
    "Machine",
    "Package",
    "Report",
    "Space",
    "doctor",
    "report_text",
]

make_callable(__name__)
