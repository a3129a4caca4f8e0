"""Graphs written by hand, in the bytes of protocol buffers, so that faults are tested without TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def field(number: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    assert len(data) < 1 << 14
    length = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([number << 3 | 2]) + length + data


def node(name: str, operator: str, *inputs: str) -> bytes:
    return field(1, field(1, name) + field(2, operator) + b"".join(field(3, one) for one in inputs))


NETWORK = (
    node("x", "Placeholder"),
    node("w", "Const"),
    node("fc/matmul", "MatMul", "x", "w"),
    node("probs", "Softmax", "fc/matmul:0"),
    node("init", "NoOp", "^w"),
)


def frozen(folder: Path, *nodes: bytes) -> Path:
    path = folder / "graph.pb"
    path.write_bytes(b"".join(nodes or NETWORK))
    return path


def saved(folder: Path, signatures: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> Path:
    """A SavedModel's folder with nothing but its signatures."""
    entries = b""
    for name, (inputs, outputs) in signatures.items():
        content = b"".join(field(1, field(1, one)) for one in inputs) + b"".join(field(2, field(1, o)) for o in outputs)
        entries += field(5, field(1, name) + field(2, content))
    (folder / "saved_model.pb").write_bytes(b"\x08\x01" + field(2, entries))
    return folder
