"""What differs between PyTorch and MindSpore, behind one Protocol."""

from luthier.engines.checkups import Checkup, Device, check, checkup_programs
from luthier.engines.group import Alone, Group, not_finite
from luthier.engines.launching import launched
from luthier.engines.matching import require_match
from luthier.engines.opening import engine_of, open_group, open_session
from luthier.engines.protocol import Arrays, NonFinite, Session
from luthier.engines.statistics import Statistics, statistics_of

__all__ = [
    "Alone",
    "Arrays",
    "Checkup",
    "Device",
    "Group",
    "NonFinite",
    "Session",
    "Statistics",
    "check",
    "checkup_programs",
    "engine_of",
    "launched",
    "not_finite",
    "open_group",
    "open_session",
    "require_match",
    "statistics_of",
]
