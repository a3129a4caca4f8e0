"""What a run left behind, in a form that two runs can be compared by."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from luthier.store import Run, load_checkpoint, open_run, whole_length

__all__ = ["events", "only_run", "same_end", "scalars"]

BY_THE_CLOCK = "train/images_per_second"  # the one value that differs from process to process


def only_run(out: Path) -> Run:
    """The one run below a folder."""
    [folder] = out.iterdir()
    return open_run(folder)


def events(run: Run) -> dict[tuple[str, int], bytes]:
    """Everything in the event file by tag and step, as TensorBoard's reader gives it; fails where a step is twice."""
    file = run.event_file()
    assert whole_length(file) == file.stat().st_size
    found = [
        (value.tag, event.step, value.SerializeToString(deterministic=True))
        for event in EventFileLoader(str(file)).Load()
        for value in event.summary.value
        if value.tag != BY_THE_CLOCK
    ]
    twice = [key for key, count in Counter((tag, step) for tag, step, _ in found).items() if count > 1]
    assert twice == []
    return {(tag, step): content for tag, step, content in found}


def scalars(run: Run, tag: str) -> dict[int, float]:
    """A curve."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(run.path), size_guidance={"scalars": 0}).Reload()
    return {point.step: point.value for point in read.Scalars(tag)}


def same_end(one: Run, other: Run) -> bool:
    """The same bits in the last checkpoint's weights and state, and the same events."""
    last = [run.checkpoints()[-1] for run in (one, other)]
    assert last[0].name == last[1].name
    for name in ("weights.safetensors", "state.safetensors"):
        assert (last[0] / name).read_bytes() == (last[1] / name).read_bytes(), name
    positions = [load_checkpoint(path).progress for path in last]
    assert positions[0]["position"] == positions[1]["position"]
    assert positions[0]["best"] == positions[1]["best"]
    ours, theirs = events(one), events(other)
    assert ours.keys() == theirs.keys()
    assert [key for key in ours if ours[key] != theirs[key]] == []
    return True
