from __future__ import annotations

from pathlib import Path

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

from luthier.errors import StoreError
from luthier.store import read_events
from luthier.store.tfrecord import framed


def test_scalars_of_another_writer_are_read(tmp_path: Path) -> None:
    path = tmp_path / "events"
    values = [Summary.Value(tag="a", simple_value=1.5), Summary.Value(tag="zero", simple_value=0.0)]
    event = Event(wall_time=1.0, step=-3, summary=Summary(value=values))
    path.write_bytes(
        framed(Event(file_version="brain.Event:2").SerializeToString()) + framed(event.SerializeToString())
    )
    assert list(read_events(path)) == [(-3, "a", 1.5), (-3, "zero", 0.0)]


def test_a_record_that_is_no_event_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_bytes(framed(b"\x0a\x7f"))
    with pytest.raises(StoreError, match="is no event") as caught:
        list(read_events(path))
    assert caught.value.at == str(path)
