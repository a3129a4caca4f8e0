"""The command on this machine, and on others that lack something or have something broken."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import luthier
from luthier.engines.mindspore import library
from tests.cli.calling import process
from tests.hiding import without


def doctor(folder: Path, *arguments: str, env: dict[str, str] | None = None, code: int = 0) -> str:
    """What it prints on a machine that has no data set."""
    place = {"LUTHIER_DATA": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}
    with process("doctor", *arguments, env=place | (env or {}), cwd=folder) as child:
        out, err = child.communicate(timeout=100)
    assert err == ""
    assert child.returncode == code, out
    return out


def report(folder: Path, env: dict[str, str] | None = None, code: int = 0, *arguments: str) -> Any:
    return json.loads(doctor(folder, "--json", *arguments, env=env, code=code))


def ailing(found: Any, kind: str) -> list[str]:
    return [ailment["what"] for ailment in found["ailments"] if ailment["kind"] == kind]


def test_here_everything_works(tmp_path: Path) -> None:
    began = time.monotonic()
    found = report(tmp_path)
    assert time.monotonic() - began < 40  # on a busy machine; alone it takes three
    assert found["luthier"] == luthier.__version__
    assert {checkup["name"] for checkup in found["frameworks"]} == {"torch", "mindspore", "onnxruntime"}
    assert ailing(found, "broken") == []
    assert found["machine"]["usable_cores"] >= 1
    if library() is not None:
        timings = found["convolutions"]["timings"]
        assert min(timings["as_installed"]["ms"], timings["capped"]["ms"]) > 0
        assert (tmp_path / "cache" / "luthier" / "convolutions.json").is_file()
    states = {data["name"]: data["state"] for data in found["data_sets"]}
    assert states["digits"] == "found"
    assert states["mnist"] == states["cifar10"] == "missing"
    assert sorted(path.name for path in tmp_path.iterdir()) in (["cache"], [])


def test_without_mindspore_and_without_pytorch(tmp_path: Path) -> None:
    told = doctor(tmp_path, env=without(tmp_path, "mindspore", "torch"))
    assert "mindspore     not installed" in told
    assert "torch         not installed" in told
    assert "mindspore is not installed\n                pip install 'luthier[mindspore]'" in told
    assert "There is no MindSpore with oneDNN for x86 here." in told


def test_frameworks_that_die_and_fail_are_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    for name, text in (("torch", "import os; os.abort()"), ("mindspore", "raise ImportError('libge.so is gone')")):
        (tmp_path / "site" / name).mkdir(parents=True)
        (tmp_path / "site" / name / "__init__.py").write_text(text, "utf-8")
    places = os.pathsep.join(filter(None, [str(tmp_path / "site"), os.environ.get("PYTHONPATH")]))
    found = report(tmp_path, {"PYTHONPATH": places}, 1)
    first, second = ailing(found, "broken")
    assert first.endswith("does not work: it died of SIGABRT")
    assert second.endswith("does not work: ImportError: libge.so is gone")
    assert {c["name"]: c["state"] for c in found["frameworks"]}["onnxruntime"] == "works"
    assert found["convolutions"]["timings"] is None


def test_a_damaged_data_set_is_broken_and_a_whole_one_found(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "cifar10"
    folder.mkdir(parents=True)
    (folder / "data_batch_1.bin").write_bytes(b"half")
    hidden = without(tmp_path, "mindspore", "torch")
    told = doctor(tmp_path, "--data-root", str(tmp_path / "mine"), env=hidden, code=1)
    assert "cifar10       damaged" in told
    assert "broken        cifar10 is damaged: Expected 30,730,000 bytes" in told
    assert "luthier data get cifar10" in told


def test_a_user_s_own_cap_is_told_and_left(tmp_path: Path) -> None:
    told = doctor(tmp_path, env={"ONEDNN_MAX_CPU_ISA": "ALL"})
    if library() is not None:
        assert "Luthier       leaves them to you: ONEDNN_MAX_CPU_ISA=ALL" in told


def test_a_time_limit_that_is_none_is_refused(tmp_path: Path) -> None:
    with process("doctor", "--timeout", "0", cwd=tmp_path) as child:
        _, err = child.communicate(timeout=60)
    assert child.returncode == 2
    assert "--timeout" in err
