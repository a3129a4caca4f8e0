"""The cap comes where a measurement says that it helps, is told, and never overrides the user."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest

from luthier.engines.mindspore import Timings, library, measured
from luthier.engines.mindspore.fast_path import Timing

needs_library = pytest.mark.skipif(library() is None, reason="there is no MindSpore with oneDNN for x86 here")
needs_mindspore = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")


def timings(as_installed_ms: float, capped_ms: float) -> Timings:
    return Timings(
        as_installed=Timing(kernel="ref", ms=as_installed_ms), capped=Timing(kernel="gemm:jit", ms=capped_ms)
    )


def in_a_process(program: str, cache: Path, **environment: str) -> list[str]:
    """A process of its own: a cap cannot be taken back."""
    clean = {key: value for key, value in os.environ.items() if not key.endswith("_MAX_CPU_ISA")}
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        env=clean | {"XDG_CACHE_HOME": str(cache), "GLOG_v": "3", "OMP_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_gain_must_be_beyond_noise() -> None:
    assert timings(3.0, 2.0).helps
    assert not timings(2.9, 2.0).helps
    assert not timings(1.0, 2.0).helps


@needs_library
def test_both_ways_are_timed_and_remembered(tmp_path: Path) -> None:
    place = library()
    assert place is not None
    found = measured(place, remembered=tmp_path / "new" / "known.json")
    assert found is not None
    assert 0 < found.capped.ms < 1000
    assert found.capped.kernel != ""
    assert (tmp_path / "new" / "known.json").is_file()
    assert measured(place, remembered=tmp_path / "new" / "known.json") == found


@needs_library
def test_a_damaged_memory_is_measured_anew(tmp_path: Path) -> None:
    place = library()
    assert place is not None
    (tmp_path / "known.json").write_text("{", "utf-8")
    assert measured(place, remembered=tmp_path / "known.json") is not None
    assert measured(place, remembered=tmp_path / "known.json") == measured(place, remembered=tmp_path / "known.json")


def test_a_library_that_is_none_gives_no_answer(tmp_path: Path) -> None:
    (tmp_path / "libdnnl.so.3").write_bytes(b"not a library")
    assert measured(tmp_path / "libdnnl.so.3") is None


@needs_library
def test_the_cap_is_set_where_it_helps_and_told_once(tmp_path: Path) -> None:
    lines = in_a_process(
        """
        import ctypes
        from luthier.engines.mindspore import cap_where_it_helps, library
        path = cap_where_it_helps()
        again = cap_where_it_helps()
        print(path.outcome, path is again, path.timings.helps)
        print(ctypes.CDLL(str(library())).dnnl_get_effective_cpu_isa() == 0x7)
        print(path.sentence)
        """,
        tmp_path,
    )
    outcome, _, rest = lines[0].rpartition(" True ")
    assert (outcome, rest) in {("capped", "True"), ("not needed", "False")}
    if outcome == "capped":
        assert lines[1] == "True"
        assert "set ONEDNN_MAX_CPU_ISA=ALL to leave them" in lines[2]


@needs_library
@needs_mindspore
def test_the_sentence_is_told_by_one_training_and_kept_in_the_log_of_each(tmp_path: Path) -> None:
    program = """
        from luthier.engines import open_session
        from luthier.recipe import Recipe, override
        recipe = override(Recipe(name="told"), ["engine=mindspore", "device=cpu"])
        for training in (False, True, True):
            session = open_session(recipe, shape=(32, 32, 3), num_classes=10, training=training)
            print(training, *(sum("at AVX2" in line for line in said) for said in (session.notes, session.messages())))
        """
    first, second = in_a_process(program, tmp_path), in_a_process(program, tmp_path)
    assert first in (["False 0 0", "True 1 0", "True 0 1"], ["False 0 0", "True 0 0", "True 0 0"])
    assert second == ["False 0 0", *[first[-1]] * 2]


@needs_library
@pytest.mark.parametrize("name", ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"])
def test_the_user_s_own_setting_stands(tmp_path: Path, name: str) -> None:
    program = """
        from luthier.engines.mindspore import cap_where_it_helps
        path = cap_where_it_helps()
        print(path.outcome, path.sentence)
        """
    assert in_a_process(program, tmp_path, **{name: "ALL"}) == [
        f"left to the user {name}=ALL decides MindSpore's convolutions."
    ]
    assert not any(tmp_path.rglob("convolutions.json"))


@needs_library
@needs_mindspore
def test_a_convolution_that_ran_before_is_told_with_a_way_out(tmp_path: Path) -> None:
    lines = in_a_process(
        """
        import numpy as np
        from mindspore import Tensor, nn
        nn.Conv2d(2, 3, 3)(Tensor(np.ones((1, 2, 8, 8), np.float32))).asnumpy()
        from luthier.engines.mindspore import cap_where_it_helps
        path = cap_where_it_helps()
        print(path.outcome, "|", path.sentence)
        """,
        tmp_path,
    )
    assert lines[-1].startswith(("too late | ", "not needed | "))
    if lines[-1].startswith("too late"):
        assert "ONEDNN_MAX_CPU_ISA=AVX2" in lines[-1]


@needs_library
@needs_mindspore
def test_mindspore_s_convolutions_take_the_capped_kernel_and_pytorch_keeps_its_own(tmp_path: Path) -> None:
    lines = in_a_process(
        """
        from luthier.engines.mindspore import cap_where_it_helps
        outcome = cap_where_it_helps().outcome
        import numpy as np
        import torch
        from mindspore import Tensor, nn
        nn.Conv2d(2, 3, 3)(Tensor(np.ones((1, 2, 8, 8), np.float32))).asnumpy()
        print(outcome)
        print(torch.backends.cpu.get_cpu_capability())
        """,
        tmp_path,
        ONEDNN_VERBOSE="1",
    )
    ran = [line for line in lines if ",exec,cpu,convolution," in line]
    assert ran != []
    if "capped" in lines:
        assert all("ref:any" not in line for line in ran)
