from __future__ import annotations

import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from luthier.recipe import Recipe
from luthier.store import create_run, latest_checkpoint, load_checkpoint, read_events, whole_length

WRITER = """
import sys
from pathlib import Path
import numpy as np
from luthier.store import EventWriter, latest_checkpoint, load_checkpoint, open_run, prune_checkpoints, save_checkpoint

run = open_run(Path(sys.argv[1]), writing=True)
last = latest_checkpoint(run)
checkpoint = load_checkpoint(last) if last else None
step, length = (checkpoint.step, checkpoint.progress["length"]) if checkpoint else (0, 0)
events = EventWriter(run.event_file(), length=length)
print("ready", flush=True)
while True:
    step += 1
    events.scalar("step", step, step)
    if step % 7 == 0:
        weights = {"w": np.full(50_000, step, np.float32)}
        save_checkpoint(run, step, weights, weights, {"length": events.flush()})
        prune_checkpoints(run, keep=3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_writer_killed_at_any_moment_goes_on_without_a_gap_or_a_step_twice(tmp_path: Path) -> None:
    run = create_run(tmp_path, Recipe(name="r"), now=datetime(2026, 11, 18))
    generator = np.random.default_rng(7)
    for _ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(run.path)], stdout=subprocess.PIPE)
        with writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(generator.uniform(0.02, 0.3))
            writer.send_signal(signal.SIGKILL)
        for path in run.checkpoints():
            checkpoint = load_checkpoint(path)
            assert np.all(checkpoint.weights["w"] == checkpoint.step)
            assert checkpoint.progress["length"] <= whole_length(run.event_file())
    steps = [step for step, _, _ in read_events(run.event_file())]
    last = latest_checkpoint(run)
    assert last is not None
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) >= load_checkpoint(last).step
