"""What a proof leaves behind: for each rung its figures, the digests of its arrays and the command that repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np

from luthier.proof.network import Array
from luthier.proof.verdict import Rung, Verdict

__all__ = ["digest", "leave", "rung_file"]


def digest(array: Array) -> str:
    """Of its dtype, its shape and its bytes."""
    taken = sha256(f"{array.dtype.str}{array.shape}".encode())
    taken.update(np.ascontiguousarray(array).tobytes())
    return taken.hexdigest()


def rung_file(number: int, rung: Rung) -> str:
    """Its file's name in the folder."""
    return f"{number:02}-{rung.name.replace(', ', '-').replace(' ', '-')}.json"


def leave(folder: Path, verdict: Verdict, arrays: Mapping[str, Array]) -> None:
    """Write the folder: a file for each rung that was climbed, the golden step's inputs, the verdict, the checklist."""
    folder.mkdir(parents=True, exist_ok=True)
    for rung in verdict.rungs:
        if rung.evidence:
            content = {"command": verdict.command, "environment": verdict.environment, "rung": rung}
            (folder / rung.evidence).write_bytes(_readable(content))
    np.savez(folder / "golden-step.npz", allow_pickle=False, **dict(arrays))
    (folder / "verdict.json").write_bytes(_readable(verdict))
    (folder / "checklist.md").write_text(_checklist(verdict), "utf-8")


def _readable(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _checklist(verdict: Verdict) -> str:
    lines = [
        f"# The migration of {verdict.reference} to {verdict.candidate}",
        "",
        "| step | what | status | why | evidence |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {step.number} | {step.name} | {step.status} | {step.reason} | {', '.join(step.evidence)} |"
        for step in verdict.checklist
    ]
    return "\n".join(lines) + "\n"
