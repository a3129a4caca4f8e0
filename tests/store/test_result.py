from __future__ import annotations

import json
import math

import pytest

from luthier.errors import StoreError
from luthier.store import Latency, Result, Run, result_schema

LATENCY = Latency(runtime="onnxruntime", threads=1, batch=1, warmup=5, runs=100, statistic="median", device="cpu")
FULL = Result(
    name="lenet5-cifar10",
    status="finished",
    engine="torch",
    mode="eager",
    device="cpu",
    steps=78_100,
    epochs=50,
    accuracy=66.3,
    top5=96.1,
    loss=0.97,
    samples=10_000,
    parameters=61_984,
    size_mb=0.247936,
    file_mb=0.251,
    latency_ms=0.53,
    latency=LATENCY,
    score=32.98,
    train_seconds=812.5,
    images_per_second=3078.1,
    validation_accuracy=65.0,
    validation_loss=1.02,
    best_step=76_538,
    skipped_images=2,
    reason=None,
)


def test_a_run_has_no_result_before_one_is_written(run: Run) -> None:
    assert run.result() is None


def test_a_result_comes_back_and_the_next_takes_its_place(run: Run) -> None:
    run.write_result(Result(name="r", status="running", engine="torch", mode="eager", device="cpu"))
    run.write_result(FULL)
    assert run.result() == FULL


def test_what_is_not_known_is_null_and_what_is_not_finite_too(run: Run) -> None:
    failed = Result(name="r", status="failed", engine="torch", mode="eager", device="cpu", loss=math.nan, reason="NaN")
    run.write_result(failed)
    raw = json.loads((run.path / "result.json").read_text("utf-8"))
    assert (raw["loss"], raw["accuracy"], raw["reason"]) == (None, None, "NaN")


def test_the_schema_lists_every_field_of_the_file() -> None:
    definition = result_schema()["$defs"]["Result"]
    assert set(definition["properties"]) == set(Result.__struct_fields__)
    assert {"accuracy", "top5", "loss", "samples", "parameters", "size_mb", "file_mb"} < set(definition["properties"])
    assert definition["required"] == ["name", "status", "engine", "mode", "device"]


def test_a_result_of_a_later_version_is_read(run: Run) -> None:
    run.write_result(FULL)
    path = run.path / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "energy_wh": 1.5}), "utf-8")
    assert run.result() == FULL


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "truncated"), ('{"name": "r"}', "missing required field"), ('{"accuracy": 663}', "<= 100")],
)
def test_a_damaged_result_is_named_with_its_fault(run: Run, content: str, said: str) -> None:
    path = run.path / "result.json"
    path.write_text(content, "utf-8")
    with pytest.raises(StoreError, match=r"Cannot read result\.json") as caught:
        run.result()
    assert said in caught.value.sentence
    assert caught.value.at == str(path)
