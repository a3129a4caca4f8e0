from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from importlib.util import find_spec
from time import sleep

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from luthier.compress import open_network
from luthier.errors import MeasureError, MissingPackage
from luthier.measure import Subject, Timings, latency, runtime_names
from luthier.measure.registry import runs, runtime
from luthier.measure.timing import summary, timed
from luthier.recipe import Score
from luthier.store import Latency
from tests.compress.making import digits


def taken(protocol: Score) -> tuple[Timings, Latency]:
    with open_network(digits()) as network:
        return latency(Subject(network=network), protocol)


def test_the_course_s_protocol_is_a_hundred_runs_after_five() -> None:
    protocol = Score(runtime="torch-eager", statistic="mean")
    timings, conditions = taken(protocol)
    assert conditions == Latency(
        runtime="torch-eager", threads=1, batch=1, warmup=5, runs=100, statistic="mean", device="cpu"
    )
    assert timings.n == 100
    assert 0 < timings.min_ms <= timings.median_ms <= timings.p95_ms


def test_onnx_runtime_is_timed_by_the_same_protocol() -> None:
    timings, conditions = taken(Score(threads=2, warmup=0, runs=7))
    assert (timings.n, conditions.runtime, conditions.threads, conditions.device) == (7, "onnxruntime", 2, "cpu")


def counted() -> tuple[list[int], Callable[[], None]]:
    calls: list[int] = []
    return calls, lambda: calls.append(gc.isenabled())


def test_the_garbage_collector_rests_while_runs_count_and_not_while_they_warm_up() -> None:
    calls, infer = counted()
    assert len(timed(infer, warmup=3, runs=4)) == 4
    assert calls == [True] * 3 + [False] * 4
    assert gc.isenabled()


def test_the_garbage_collector_is_left_as_it_was_found_after_an_error_too() -> None:
    def fail() -> None:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - the very one
        timed(fail, warmup=0, runs=1)
    assert gc.isenabled()
    gc.disable()
    try:
        timed(lambda: None, warmup=0, runs=1)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_times_are_milliseconds() -> None:
    assert 4 < summary(timed(lambda: sleep(0.005), warmup=0, runs=3)).min_ms < 500


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=50))
def test_the_statistics_lie_in_order(times: list[float]) -> None:
    timings = summary(times)
    assert timings.n == len(times)
    assert timings.min_ms <= timings.median_ms <= max(times)
    assert timings.min_ms * (1 - 1e-9) <= timings.mean_ms <= max(times) * (1 + 1e-9)
    assert timings.median_ms <= timings.p95_ms * (1 + 1e-9)


@pytest.mark.parametrize("name", ["onnxruntime", "torch-eager"])
def test_a_runtime_runs_one_image_on_so_many_threads_and_puts_them_back(name: str) -> None:
    images, before = np.zeros((1, 1, 32, 32), np.float32), torch.get_num_threads()
    with open_network(digits()) as network:
        expected = network.module(torch.from_numpy(images)).detach().numpy()
        with runtime(name)(Subject(network=network), images, threads=before + 1) as prepared:
            if name.startswith("torch"):
                assert torch.get_num_threads() == before + 1
            np.testing.assert_allclose(np.asarray(prepared.infer()).reshape(1, 10), expected, atol=1e-5)
    assert torch.get_num_threads() == before
    assert not torch.is_inference_mode_enabled()


@pytest.mark.skipif(find_spec("openvino") is None, reason="OpenVINO is not installed")
def test_openvino_answers_as_the_network_does_and_is_timed_by_the_same_protocol() -> None:
    images = np.random.default_rng(0).standard_normal((1, 1, 32, 32), np.float32)
    with open_network(digits()) as network:
        expected = network.module(torch.from_numpy(images)).detach().numpy()
        with runtime("openvino")(Subject(network=network), images, threads=1) as prepared:
            np.testing.assert_allclose(np.asarray(prepared.infer()), expected, atol=1e-5)
    timings, conditions = taken(Score(runtime="openvino", runs=7))
    assert (timings.n, conditions.runtime, conditions.threads) == (7, "openvino", 1)


def test_a_runtime_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(MissingPackage, match=r"OpenVINO is not installed\n  pip install 'luthier\[openvino\]'"):
        taken(Score(runtime="openvino"))


@pytest.mark.slow
@pytest.mark.filterwarnings("default::DeprecationWarning")
def test_a_compiled_network_is_compiled_before_the_first_run_counts() -> None:
    timings, conditions = taken(Score(runtime="torch-compiled", warmup=0, runs=20))
    assert conditions.runtime == "torch-compiled"
    assert max(timings.p95_ms, timings.mean_ms) < 500


def test_a_runtime_that_is_not_here_names_those_that_are() -> None:
    with pytest.raises(
        MeasureError, match=r"takes no latency in tensorrt - at score\.runtime\n  Known: mindspore, onnxruntime"
    ):
        runtime("tensorrt")


def test_a_runtime_is_registered_once() -> None:
    assert runtime_names() == ("mindspore", "onnxruntime", "openvino", "torch-compiled", "torch-eager")
    with pytest.raises(ValueError, match="registered already"):
        runs("onnxruntime")
