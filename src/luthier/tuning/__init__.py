"""What to change in a recipe, found by trying: a selector for a few values, a study for structure and strategy."""

from luthier.tuning.curves import RangeCurve, read_curve
from luthier.tuning.range_test import RangeTest, range_test
from luthier.tuning.records import Plan, Trial
from luthier.tuning.reporting import report
from luthier.tuning.schedulers import (
    Decision,
    Halving,
    Hyperband,
    MedianStopping,
    Scheduler,
    make_scheduler,
)
from luthier.tuning.searchers import Observation, Searcher, make_searcher
from luthier.tuning.selecting import ModelSize, select
from luthier.tuning.selection import Selection, selection_text
from luthier.tuning.space import Space, Values, ready_space, ready_spaces, space_of, with_space
from luthier.tuning.study import Study, open_study, resume_study, tune

__all__ = [
    "Decision",
    "Halving",
    "Hyperband",
    "MedianStopping",
    "ModelSize",
    "Observation",
    "Plan",
    "RangeCurve",
    "RangeTest",
    "Scheduler",
    "Searcher",
    "Selection",
    "Space",
    "Study",
    "Trial",
    "Values",
    "make_scheduler",
    "make_searcher",
    "open_study",
    "range_test",
    "read_curve",
    "ready_space",
    "ready_spaces",
    "report",
    "resume_study",
    "select",
    "selection_text",
    "space_of",
    "tune",
    "with_space",
]
