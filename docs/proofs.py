"""The planted faults, from what `python -m benchmarks.proof` wrote."""

from __future__ import annotations

import json
from pathlib import Path

from docs.chinese_faults import FAULTS
from docs.tables import code, table
from docs.words import Language

__all__ = ["fault_table"]

MEASURED = Path(__file__).with_name("faults.json")
HEADS = {
    "en": ["fault", "found on the rung", "layer", "cause named"],
    "zh": ["故障", "在哪一级发现", "层", "指出的原因"],
}


def fault_table(language: Language) -> str:
    """A row a fault; where it is planted in no layer, none is named."""
    faults = json.loads(MEASURED.read_text("utf-8"))["faults"]
    rows = [
        [
            FAULTS[item["name"]] if language == "zh" else item["name"],
            item["rung"] if item["found"] and item["named"] else "—",
            code(item["layer"]) if item["layer"] else "",
            code(item["trap"]) if item["trap"] else "",
        ]
        for item in faults
    ]
    return table([HEADS[language], *rows])
