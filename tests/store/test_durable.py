from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from luthier.errors import StoreError
from luthier.recipe import Recipe
from luthier.store import (
    EventWriter,
    Result,
    Run,
    create_run,
    latest_checkpoint,
    load_checkpoint,
    read_events,
    save_checkpoint,
    whole_length,
)
from luthier.store.durable import replace_file

SMALL = {"w": np.arange(20_000, dtype=np.float32)}  # 80 kB
LARGE = {"w": np.zeros(500_000, np.float32)}  # 2 MB
NOON = datetime(2026, 11, 18, 12, 0)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", os.fspath(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", os.fspath(place)], check=True)


@contextmanager
def largest_file(num_bytes: int) -> Iterator[None]:
    """The kernel refuses to let any file of this process grow beyond it, as a full disk would."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestAFullDisk:
    def test_it_keeps_the_older_checkpoint_and_says_what_failed(self, small_disk: Path) -> None:
        run = create_run(small_disk, Recipe(name="r"), now=NOON)
        older = save_checkpoint(run, 100, SMALL, {}, {})
        with pytest.raises(
            StoreError, match=r"checkpoint step-00000200: No space left on device; it needs 2\.0 MB"
        ) as e:
            save_checkpoint(run, 200, LARGE, {}, {})
        assert e.value.hint == "The last checkpoint is step-00000100: make room, then resume the run."
        assert names(older.parent) == ["step-00000100"]
        assert np.array_equal(load_checkpoint(older).weights["w"], SMALL["w"])

    def test_it_fits_once_there_is_room(self, small_disk: Path) -> None:
        run = create_run(small_disk, Recipe(name="r"), now=NOON)
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(900_000))
        with pytest.raises(StoreError, match="No space left on device"):
            save_checkpoint(run, 1, SMALL, SMALL, {})
        assert latest_checkpoint(run) is None
        ballast.unlink()
        assert load_checkpoint(save_checkpoint(run, 1, SMALL, SMALL, {})).step == 1

    def test_the_event_file_stays_whole_and_goes_on_once_there_is_room(self, small_disk: Path) -> None:
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(900_000))
        events = EventWriter(small_disk / "events")
        with pytest.raises(StoreError, match=r"Could not write events: No space left on device; it needs 0\.3 MB"):
            events.tensor("noise", np.zeros(80_000, np.float32), 1)
        assert whole_length(events.path) == events.path.stat().st_size
        ballast.unlink()
        events.scalar("loss", 1.0, 2)
        events.close()
        assert list(read_events(events.path)) == [(2, "loss", 1.0)]
        assert whole_length(events.path) == events.path.stat().st_size > 320_000

    def test_no_part_of_a_run_is_left(self, small_disk: Path) -> None:
        with pytest.raises(OSError, match="No space"):
            (small_disk / "ballast").write_bytes(bytes(2_000_000))
        with pytest.raises(StoreError, match="No space left on device"):
            create_run(small_disk, Recipe(name="r"), now=NOON)
        assert names(small_disk) == ["ballast"]


class TestALimitOnTheSizeOfFiles:
    def test_it_keeps_the_older_checkpoint_and_says_what_failed(self, run: Run) -> None:
        older = save_checkpoint(run, 100, SMALL, {}, {})
        with largest_file(100_000), pytest.raises(StoreError, match=r"step-00000200: File too large; it needs 2\.0 MB"):
            save_checkpoint(run, 200, LARGE, {}, {})
        assert names(older.parent) == ["step-00000100"]
        assert load_checkpoint(older).step == 100

    def test_the_event_file_ends_with_a_whole_record(self, tmp_path: Path) -> None:
        events = EventWriter(tmp_path / "events")
        events.scalar("loss", 1.0, 1)
        length = events.flush()
        with largest_file(1000), pytest.raises(StoreError, match="File too large"):
            events.tensor("noise", np.zeros(80_000), 2)
        assert (tmp_path / "events").stat().st_size == length
        events.close()
        assert whole_length(tmp_path / "events") > 640_000

    def test_an_older_result_stays(self, run: Run) -> None:
        result = Result(name="r", status="finished", engine="torch", mode="eager", device="cpu", accuracy=66.3)
        run.write_result(result)
        with largest_file(100), pytest.raises(StoreError, match=r"Could not write result\.json: File too large"):
            run.write_result(result)
        assert run.result() == result
        assert not list(run.path.glob(".*"))

    def test_closing_an_event_file_that_cannot_be_written_lets_it_go(self, tmp_path: Path) -> None:
        events = EventWriter(tmp_path / "events")
        events.scalar("loss", 1.0, 1)
        with largest_file(50), pytest.raises(StoreError, match="File too large"):
            events.close()
        events.close()


def test_a_file_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    replace_file(path, b"old")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["result.json"]


def test_an_error_that_is_not_about_room_says_nothing_of_it(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        replace_file(tmp_path / "nowhere" / "result.json", b"new")
    assert caught.value.sentence == "Could not write result.json: No such file or directory"
