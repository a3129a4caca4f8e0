"""Public architectures with random weights, ported and proven one after the other, each in a process of its own.

The collections' own packages are needed, without their own PyTorch:

    pip install --no-deps --target DIR torchvision timm transformers …
    PYTHONPATH=DIR python -m benchmarks.architectures [--only NAME …] [--again]

prints a table, and writes docs/architectures.json, from which the manual makes its own.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.architectures.records import Record, read, write
from luthier.port import Ported

HERE = Path(__file__).parent
LIBRARIES = ("torchvision", "timm", "transformers")
LIMIT_S = 1500
WANTED = 36
IMAGE, WORDS = "2,3,{0},{0}", "2,12:int64"
SIZES = {"inception_v3": 96, "vit": 32, "vit_encoder": 32, "alexnet": 64, "vgg11_bn": 32}
IMAGES_OF_TRANSFORMERS = ("vit_encoder", "segformer")


def names(library: str) -> list[str]:
    """The file's functions that give a network."""
    module = import_module(f"benchmarks.architectures.of_{library}")
    functions = inspect.getmembers(module, inspect.isfunction)
    return [name for name, function in functions if function.__module__ == module.__name__ and name != "made"]


def given(library: str, name: str) -> str:
    if library == "transformers" and name not in IMAGES_OF_TRANSFORMERS:
        return WORDS
    return IMAGE.format(SIZES.get(name, 64))


def judged(library: str, name: str) -> Record:
    """Ports and proves; what is raised is the verdict."""
    from luthier.errors import LuthierError
    from luthier.port import port
    from luthier.proof import prove

    began = process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = port(f"{HERE / f'of_{library}.py'}:{name}", inputs=[given(library, name)], output=folder)
        except LuthierError as fault:
            return Record(name=name, library=library, verdict="not ported", reason=str(fault))
        known = counted(library, name, done)
        if not done.report.complete:
            operators = [item.reason for item in done.report.operators if item.outcome == "refused"]
            features = [item.told for item in done.report.features if item.outcome == "refused"]
            seconds = process_time() - began
            return replace(known, verdict="refused", reason="; ".join(operators + features), seconds=seconds)
        verdict = prove(folder)
    errors = [pair for rung in verdict.rungs for pair in errors_of(rung.figures)]
    first = verdict.first
    return replace(
        known,
        verdict="proven" if verdict.proven else "not proven",
        error=max((error for error, _ in errors), default=None),
        share=max((error / limit for error, limit in errors if limit), default=None),
        reason=f"{first.rung}: {first.layer} {first.what} {first.sentence}" if first else "",
        seconds=process_time() - began,
    )


def counted(library: str, name: str, done: Ported) -> Record:
    """What the report says of the operators."""
    uses: Counter[str] = Counter()
    for operator in done.report.operators:
        uses[operator.outcome] += operator.count
    parameters = sum(int(parameter.size) for parameter in done.cell.trainable_params()) if done.cell else 0
    return Record(
        name=name,
        library=library,
        parameters=parameters,
        operators=len(done.report.operators),
        ported=uses["ported"],
        composed=uses["composed"],
        refused=uses["refused"],
    )


def errors_of(figures: object) -> list[tuple[float, float]]:
    """Each layer's error and limit, alone on the reference's inputs."""
    if not isinstance(figures, dict):
        return []
    found = [pair for value in figures.values() for pair in errors_of(value)]
    if {"error", "limit"} <= set(figures):
        found.append((float(figures["error"]), float(figures["limit"])))
    return found


def apart(library: str, name: str) -> Record:
    """The same in a process of its own, with a limit."""
    began = perf_counter()
    command = [sys.executable, "-m", "benchmarks.architectures", "--one", library, name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return Record(name=name, library=library, verdict="too slow", seconds=perf_counter() - began)
    line = next((line for line in reversed(done.stdout.splitlines()) if line.startswith('{"name"')), None)
    if line is None:
        said = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        return Record(name=name, library=library, verdict="crashed", reason=said)
    return Record(**json.loads(line))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--again", action="store_true", help="also those that are proven already")
    parser.add_argument("--one", nargs=2, metavar=("LIBRARY", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print("\n" + json.dumps(asdict(judged(*options.one))))
        return 0
    records = read()
    for library in LIBRARIES:
        for name in names(library):
            known = records.get(name)
            if (options.only and name not in options.only) or (
                known and known.verdict == "proven" and not options.again
            ):
                continue
            records[name] = apart(library, name)
            versions = {one: version(one) for one in ("torch", "mindspore", *LIBRARIES)}
            write(records, versions)
            print(row(records[name]), flush=True)
    count = sum(record.verdict == "proven" for record in records.values())
    print(f"{count} of {len(records)} proven")
    return 0 if count >= WANTED else 1


def row(record: Record) -> str:
    error = f"{record.error:.2g}" if record.error is not None else "–"
    share = f"{record.share:.0%}" if record.share is not None else "–"
    return (
        f"{record.name:20} {record.parameters:>11,} {record.operators:>4} {record.ported:>5} {record.composed:>4} "
        f"{record.refused:>3} {error:>8} {share:>5} {record.seconds:6.1f} s  {record.verdict} {record.reason[:160]}"
    )


if __name__ == "__main__":
    sys.exit(main())
