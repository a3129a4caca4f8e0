"""ONNX's own node tests, run against ports of them: `python -m benchmarks.onnx_nodes` writes docs/onnx_nodes.json.

Every case that `onnx.backend.test` generates is written as a file, ported, and the Cell is run on the case's inputs in
PYNATIVE mode; its outputs must have the case's types, shapes, and numbers within the case's own limits. `--graph N`
runs every N-th that passed in GRAPH mode, too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

RECORD = Path(__file__).parents[1] / "docs" / "onnx_nodes.json"
PASS = "pass"


def cases() -> list[Any]:
    """As the installed onnx generates them, sorted by name."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        np.random.seed(0)
        return sorted(collect_testcases(None), key=lambda case: str(case.name))


def operators() -> Mapping[str, str]:
    """What each case is about: its first operator, or that of the case which it writes out."""
    found: dict[str, str] = {}
    known = {str(case.name): case for case in cases()}
    for name, case in known.items():
        base = known.get(name.partition("_expanded")[0], case)
        nodes = [node for node in base.model.graph.node if node.op_type != "Constant"] or list(base.model.graph.node)
        domain = nodes[0].domain
        found[name] = f"{domain}.{nodes[0].op_type}" if domain not in ("", "ai.onnx") else nodes[0].op_type
    return found


def outcome(case: Any, mode: str = "eager") -> str:
    """`pass`, or the reason in one sentence."""
    import mindspore

    from luthier.errors import PortError
    from luthier.port import port

    case = _with_arrays(case)
    for inputs, expected in case.data_sets:
        if not all(isinstance(item, np.ndarray | np.generic) for item in (*inputs, *expected)):
            return "Sequences, optionals and maps are no tensors"
        if any(np.asarray(item).dtype.kind in "OUS" for item in (*inputs, *expected)):
            return "MindSpore has no tensors of strings"
        odd = [np.asarray(item).dtype for item in (*inputs, *expected)]
        if any(dtype.kind not in "biufc" and dtype.name != "bfloat16" for dtype in odd):
            return "MindSpore has no tensors of types of 8 bits with an exponent, nor of less than 8 bits"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "node.onnx"
        path.write_bytes(case.model.SerializeToString())
        try:
            done = port(path, output=Path(folder) / "ported")
        except PortError as fault:
            return fault.sentence
        except Exception as fault:  # our own mistake, which the record shows as such
            return f"Luthier: {type(fault).__name__}: {fault}"
        refused = [operator for operator in done.report.operators if operator.outcome == "refused"]
        if refused:
            return refused[0].reason
        assert done.cell is not None
        mindspore.set_context(mode=mindspore.GRAPH_MODE if mode == "graph" else mindspore.PYNATIVE_MODE)
        for inputs, expected in case.data_sets:
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    given = [_tensor(np.asarray(item)) for item in inputs]
                    found = done.cell(*given)
                    found = found if isinstance(found, tuple | list) else (found,)
                    told = _different([_array(item) for item in found], expected, case)
            except Exception as fault:  # whatever the framework raises
                _settle()
                lines = [line.strip() for line in str(fault).splitlines() if line.strip(" -")]
                return f"MindSpore: {type(fault).__name__}: {lines[0][:150] if lines else ''}"
            if told:
                return told
    return PASS


def _with_arrays(case: Any) -> Any:
    """Arrays of rare types come as messages."""
    from onnx import TensorProto
    from onnx.numpy_helper import to_array

    sets = [
        tuple([to_array(item) if isinstance(item, TensorProto) else item for item in part] for part in both)
        for both in case.data_sets
    ]
    return case._replace(data_sets=sets) if hasattr(case, "_replace") else replace(case, data_sets=sets)


def _tensor(array: Any) -> Any:
    import mindspore

    if array.dtype.name == "bfloat16":
        return mindspore.Tensor(array.astype(np.float32)).astype(mindspore.bfloat16)
    return mindspore.Tensor(array)


def _array(tensor: Any) -> Any:
    """NumPy knows no bfloat16 of its own: its numbers, under the name of the case's type."""
    import mindspore
    import ml_dtypes

    if tensor.dtype == mindspore.bfloat16:
        return tensor.astype(mindspore.float32).asnumpy().astype(ml_dtypes.bfloat16)
    return tensor.asnumpy()


def _settle() -> None:
    """What was launched and failed is told once more, to nobody."""
    import mindspore

    try:
        mindspore.runtime.synchronize()
    except Exception:  # the same failure
        return


def _different(found: list[Any], expected: Any, case: Any) -> str:
    if len(found) != len(expected):
        return f"{len(found)} outputs in the place of {len(expected)}"
    for one, other in zip(found, expected, strict=True):
        other = np.asarray(other)
        if one.dtype != other.dtype:
            return f"The result is {one.dtype} in the place of {other.dtype}"
        if one.shape != other.shape:
            return f"The result has the shape {one.shape} in the place of {other.shape}"
        if one.dtype.name == "bfloat16":
            one, other = one.astype(np.float32), other.astype(np.float32)
        if not np.allclose(one, other, rtol=case.rtol, atol=case.atol, equal_nan=True):
            with np.errstate(all="ignore"):
                error = np.nanmax(np.abs(one.astype(np.float64) - other.astype(np.float64)))
            return f"The numbers differ by up to {error:.2g}"
    return ""


def _worker(start: int, step: int, stop: int, names: str) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = cases()
    wanted = set(names.split(",")) if names else None
    for number in range(start, min(stop, len(found)), step):
        case = found[number]
        if wanted is not None and case.name not in wanted:
            continue
        print(json.dumps({"at": number, "name": case.name}), flush=True)
        print(json.dumps({"at": number, "name": case.name, "told": outcome(case)}), flush=True)


def _lines(start: int, step: int, stop: int, names: str) -> Iterator[Mapping[str, Any]]:
    """A worker's records; one that dies goes on behind the case that killed it."""
    while start < stop:
        command = [sys.executable, "-m", "benchmarks.onnx_nodes", "--worker", f"{start}:{step}:{stop}:{names}"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert running.stdout is not None
        last: Mapping[str, Any] = {}
        for line in running.stdout:
            if line.startswith("{"):
                last = json.loads(line)
                if "told" in last:
                    yield last
        if running.wait() == 0:
            return
        yield {**last, "told": "MindSpore ends the process"}
        start = int(last["at"]) + step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--names", default="", help="these cases alone, joined by commas; nothing is written then")
    parser.add_argument("--output", type=Path, default=RECORD)
    given = parser.parse_args()
    if given.worker:
        start, step, stop, names = given.worker.split(":")
        _worker(int(start), int(step), int(stop), names)
        return
    import onnx

    total = len(cases())
    found: dict[str, str] = {}
    for record in _lines(0, 1, total, given.names):
        found[record["name"]] = record["told"]
        if given.names or record["told"] != PASS:
            print(record["name"], "–", record["told"], flush=True)
        if len(found) % 100 == 0:
            print(f"{len(found)} of {total}, {sum(told == PASS for told in found.values())} pass", flush=True)
    if not given.names:
        from importlib.metadata import version

        names = operators()
        told = {name: [names[name], told] for name, told in sorted(found.items())}
        record = {"onnx": onnx.__version__, "mindspore": version("mindspore"), "cases": told}
        given.output.write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n", "utf-8")
        print(f"{sum(told == PASS for told in found.values())} of {total} pass")


if __name__ == "__main__":
    main()
