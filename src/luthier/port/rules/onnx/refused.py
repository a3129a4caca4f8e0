"""Operators that have no rule for a reason, with a way out. A table of data."""

from __future__ import annotations

from collections.abc import Mapping

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.registry import Rule, ports

__all__ = ["REFUSED"]

FLOW = "repeats or chooses a graph by what is computed as the network runs"
FLOW_OUT = "Export with fixed shapes, or port the parts on either side of it: --output cuts the file."
SEQUENCE = "makes or takes a sequence, which is no tensor"
SEQUENCE_OUT = "Hand the parts over one by one: --output cuts the file."
OPTIONAL = "makes or takes an optional, which is no tensor"
OPTIONAL_OUT = "Export without optional values."
TEXT = "is of text, of which MindSpore has no tensors"
TEXT_OUT = "Do it before the network: --input can begin behind it."
FILES = "decodes a file's bytes, which is a pipeline's work"
FILES_OUT = "Decode the images before the network."

REFUSED: Mapping[str, tuple[str, str]] = {
    "ConcatFromSequence": (SEQUENCE, SEQUENCE_OUT),
    "If": (FLOW, FLOW_OUT),
    "ImageDecoder": (FILES, FILES_OUT),
    "LabelEncoder": (TEXT, TEXT_OUT),
    "Loop": (FLOW, FLOW_OUT),
    "Optional": (OPTIONAL, OPTIONAL_OUT),
    "OptionalGetElement": (OPTIONAL, OPTIONAL_OUT),
    "OptionalHasElement": (OPTIONAL, OPTIONAL_OUT),
    "RegexFullMatch": (TEXT, TEXT_OUT),
    "Scan": (FLOW, FLOW_OUT),
    "SequenceAt": (SEQUENCE, SEQUENCE_OUT),
    "SequenceConstruct": (SEQUENCE, SEQUENCE_OUT),
    "SequenceEmpty": (SEQUENCE, SEQUENCE_OUT),
    "SequenceErase": (SEQUENCE, SEQUENCE_OUT),
    "SequenceInsert": (SEQUENCE, SEQUENCE_OUT),
    "SequenceLength": (SEQUENCE, SEQUENCE_OUT),
    "SequenceMap": (SEQUENCE, SEQUENCE_OUT),
    "SplitToSequence": (SEQUENCE, SEQUENCE_OUT),
    "StringConcat": (TEXT, TEXT_OUT),
    "StringNormalizer": (TEXT, TEXT_OUT),
    "StringSplit": (TEXT, TEXT_OUT),
    "TfIdfVectorizer": ("counts words, which is a pipeline's work", TEXT_OUT),
}


def refusing(operator: str, reason: str, hint: str) -> Rule:
    """The rule of one row."""

    def refused(call: Call) -> Emit:
        """Refused, with the reason and a way out."""
        raise Unsupported(f"{operator} {reason}", at=call.at, hint=hint)

    return refused


for _operator, (_reason, _hint) in REFUSED.items():
    ports(f"onnx.{_operator}")(refusing(_operator, _reason, _hint))
