"""Whether two networks are the same: the parity ladder, and the first layer that differs."""

from luthier.proof.inputs import InputSpec, parse_input
from luthier.proof.proving import prove
from luthier.proof.text import verdict_text
from luthier.proof.trainer import Trainer
from luthier.proof.verdict import Cause, Difference, Growth, Place, Rung, Step, Verdict, verdict_schema

__all__ = [
    "Cause",
    "Difference",
    "Growth",
    "InputSpec",
    "Place",
    "Rung",
    "Step",
    "Trainer",
    "Verdict",
    "parse_input",
    "prove",
    "verdict_schema",
    "verdict_text",
]
