"""A few of the public architectures of `benchmarks/architectures`, one of each collection that is installed."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
from benchmarks.architectures.records import RESULT, read

SAMPLE = (("torchvision", "shufflenet_v2_x0_5"), ("timm", "mixer"), ("transformers", "llama"))
WANTED = 36


@pytest.mark.slow
@pytest.mark.parametrize(("library", "name"), SAMPLE)
def test_it_is_ported_whole_and_proven(library: str, name: str) -> None:
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed: pip install --no-deps {library}")
    from benchmarks.architectures.__main__ import judged

    record = judged(library, name)
    assert record.verdict == "proven", record.reason


class TestTheRecord:
    def test_it_has_as_many_proven_as_the_manual_says(self) -> None:
        assert sum(record.verdict == "proven" for record in read().values()) >= WANTED

    def test_a_proven_one_has_no_operator_refused_and_no_error_beyond_its_limit(self) -> None:
        for record in read().values():
            if record.verdict == "proven":
                assert record.refused == 0, record.name
                assert record.share is not None, record.name
                assert record.share <= 1.0, record.name

    def test_it_says_with_which_versions(self) -> None:
        versions = json.loads(RESULT.read_text("utf-8"))["versions"]
        assert {"torch", "mindspore", "torchvision", "timm", "transformers"} <= set(versions)
