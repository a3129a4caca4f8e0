"""The measurement of the checker: every planted fault is found and named, and sound ports pass."""

from __future__ import annotations

import pytest

from luthier.proof import Verdict, prove, verdict_text
from tests.proof.planted import FAULTS, SOUND, Fault, Sound

QUICK = (
    "a convolution left at pad_mode='same'",
    "1 − m forgotten",
    "GELU by tanh",
    "an LSTM with ONNX's order of gates",
    "a gradient cut by NumPy",
    "a convolution without its bias",
    "nn.Dropout(0.1), which keeps a tenth",
    "a dense weight transposed",
    "Normalize(is_hwc=True) on channels first",
    "a sum for a mean",
    "Nesterov that is none",
    "a schedule one step early",
)
QUICK_SOUND = ("LeNet-5, seed 0", "a transformer's block, seed 0")


def proven(case: Fault | Sound) -> Verdict:
    return prove(case.reference, case.candidate, case.inputs, **case.options)


def require_found(fault: Fault) -> None:
    verdict = proven(fault)
    first = verdict.first
    assert not verdict.proven
    assert first is not None
    assert (first.rung, first.layer) == (fault.rung, fault.layer), verdict_text(verdict)
    if fault.trap is not None:
        assert [cause.trap for cause in first.causes][:1] == [fault.trap], verdict_text(verdict)


def require_passed(sound: Sound) -> None:
    verdict = proven(sound)
    assert verdict.proven, verdict_text(verdict)


def named(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


def test_there_are_more_than_forty_each_with_a_name_of_its_own() -> None:
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("name", QUICK)
def test_it_is_found_and_the_layer_named(name: str) -> None:
    require_found(named(name))


@pytest.mark.parametrize("name", QUICK_SOUND)
def test_a_sound_port_raises_no_alarm(name: str) -> None:
    require_passed(next(sound for sound in SOUND if sound.name == name))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_every_one_is_found_and_its_layer_named(fault: Fault) -> None:
    require_found(fault)


@pytest.mark.slow
@pytest.mark.parametrize("sound", SOUND, ids=[sound.name for sound in SOUND])
def test_no_sound_port_raises_an_alarm(sound: Sound) -> None:
    require_passed(sound)
