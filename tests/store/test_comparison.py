from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from luthier.recipe import Recipe, override
from luthier.store import Latency, Result, Run, compare, create_run

LATENCY = Latency(runtime="onnxruntime", threads=1, batch=1, warmup=5, runs=100, statistic="median", device="cpu")
RESULT = Result(
    name="base", status="finished", engine="torch", mode="eager", device="cpu", accuracy=65.7, latency=LATENCY
)


@pytest.fixture
def base(tmp_path: Path) -> Run:
    run = create_run(tmp_path, Recipe(name="base"), now=datetime(2026, 11, 1))
    run.write_result(RESULT)
    return run


@pytest.fixture
def other(tmp_path: Path) -> Run:
    changes = ["strategy.schedule.name=constant", "strategy.learning_rate=0.05", "data.train=[]"]
    run = create_run(tmp_path, override(Recipe(name="base"), changes), now=datetime(2026, 11, 2))
    latency = msgspec.structs.replace(LATENCY, threads=2)
    run.write_result(msgspec.structs.replace(RESULT, accuracy=66.3, latency=latency))
    return run


def test_only_the_fields_that_differ_are_shown(base: Run, other: Run) -> None:
    found = compare([base, other]).recipe
    assert found["strategy.learning_rate"] == [0.01, 0.05]
    assert found["strategy.schedule.name"] == ["cosine", "constant"]
    assert found["strategy.schedule.start"] == ["run", None]
    assert [len(transforms) for transforms in found["data.train"]] == [2, 0]
    assert "strategy.epochs" not in found


def test_results_stand_side_by_side_with_what_differs_in_taking_them(base: Run, other: Run) -> None:
    found = compare([base, other]).result
    assert found["accuracy"] == [65.7, 66.3]
    assert found["latency.threads"] == [1, 2]
    assert "latency.runs" not in found
    assert not {"top5", "status", "steps"} & found.keys()


def test_a_run_without_a_result_has_a_column_too(base: Run, tmp_path: Path) -> None:
    bare = create_run(tmp_path, Recipe(name="base"), now=datetime(2026, 11, 3))
    found = compare([bare, base])
    assert found.recipe == {}
    assert found.result["accuracy"] == [None, 65.7]


def test_the_table_is_text_with_a_column_a_run(base: Run, other: Run) -> None:
    header, *rows = compare([base, other]).as_table()
    assert header == ["", base.name, other.name]
    assert ["strategy.learning_rate", "0.01", "0.05"] in rows
    assert ["strategy.schedule.start", "run", ""] in rows
    assert ["accuracy", "65.7", "66.3"] in rows
    assert all(len(row) == 3 for row in rows)


def test_one_run_beside_itself_differs_in_nothing(base: Run) -> None:
    assert compare([base, base]).recipe == {}
    assert compare([]).as_table() == [[""]]
