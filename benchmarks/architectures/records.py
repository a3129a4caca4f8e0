"""What became of one architecture, and where the figures are kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["RESULT", "Record", "read", "write"]

RESULT = Path(__file__).resolve().parents[2] / "docs" / "architectures.json"


@dataclass(frozen=True, kw_only=True)
class Record:
    """`error` is the greatest of a layer's output on the reference's inputs, as a share of what is allowed there."""

    name: str
    library: str
    parameters: int = 0
    operators: int = 0
    ported: int = 0
    composed: int = 0
    refused: int = 0
    error: float | None = None
    share: float | None = None
    verdict: str = "failed"
    reason: str = ""
    seconds: float = 0.0


def read() -> dict[str, Record]:
    """By name."""
    if not RESULT.exists():
        return {}
    return {item["name"]: Record(**item) for item in json.loads(RESULT.read_text("utf-8"))["architectures"]}


def write(records: dict[str, Record], versions: dict[str, str]) -> None:
    """Sorted, one network a line."""
    rows = [json.dumps(asdict(records[name])) for name in sorted(records, key=lambda one: (records[one].library, one))]
    head = json.dumps(versions)
    RESULT.write_text(f'{{"versions": {head},\n "architectures": [\n  ' + ",\n  ".join(rows) + "\n ]}\n", "utf-8")
