"""The MindSpore engine; MindSpore itself is loaded with a session alone."""

from luthier.engines.mindspore.fast_path import (
    FastPath,
    Timings,
    cap_where_it_helps,
    library,
    measured,
    memory,
    override,
)
from luthier.engines.mindspore.logs import keep_from_terminal
from luthier.engines.mindspore.stepping import updater

__all__ = [
    "FastPath",
    "Timings",
    "cap_where_it_helps",
    "keep_from_terminal",
    "library",
    "measured",
    "memory",
    "override",
    "updater",
]
