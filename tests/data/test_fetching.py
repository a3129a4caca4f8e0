from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from luthier.data import RemoteFile
from luthier.data.fetching import CHUNK, fetch
from luthier.errors import DataError
from tests.data.serving import Site, served

CONTENT = os.urandom(1 << 20)


@pytest.fixture
def site() -> Iterator[Site]:
    with served(Site(files={"/set.bin": CONTENT})) as running:
        yield running


def remote(*sites: Site, kind: str = "sha256", content: bytes = CONTENT, path: str = "/set.bin") -> RemoteFile:
    checksum = f"{kind}:{hashlib.new(kind, content).hexdigest()}"
    return RemoteFile(name="set.bin", urls=tuple(site.url + path for site in sites), checksum=checksum)


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_a_file_is_fetched_and_checked(site: Site, tmp_path: Path, kind: str) -> None:
    assert fetch(remote(site, kind=kind), tmp_path).read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["set.bin"]


def test_a_file_that_is_there_is_not_fetched_again_and_a_changed_one_is(site: Site, tmp_path: Path) -> None:
    fetch(remote(site), tmp_path)
    fetch(remote(site), tmp_path)
    assert len(site.asked) == 1
    (tmp_path / "set.bin").write_bytes(CONTENT[:1000])
    assert fetch(remote(site), tmp_path).read_bytes() == CONTENT
    assert len(site.asked) == 2


def test_progress_goes_up_to_the_whole(site: Site, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    fetch(remote(site), tmp_path, lambda *report: told.append(report))
    assert told[-1] == ("set.bin", 1 << 20, 1 << 20)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_what_broke_off_goes_on_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.break_after = [300_000, 200_000]
    assert fetch(remote(site), tmp_path).read_bytes() == CONTENT
    assert [wanted for _, wanted in site.asked] == [None, f"bytes={18 * CHUNK}-", f"bytes={30 * CHUNK}-"]


def test_what_an_earlier_process_left_is_gone_on_from(site: Site, tmp_path: Path) -> None:
    (tmp_path / "set.bin.part").write_bytes(CONTENT[:700_000])
    told: list[int] = []
    fetch(remote(site), tmp_path, lambda name, done, total: told.append(done))
    assert site.asked == [("/set.bin", "bytes=700000-")]
    assert told[0] > 700_000
    assert (tmp_path / "set.bin").read_bytes() == CONTENT


def test_a_server_that_knows_no_ranges_starts_over(site: Site, tmp_path: Path) -> None:
    site.ranges = False
    (tmp_path / "set.bin.part").write_bytes(b"x" * 700_000)
    assert fetch(remote(site), tmp_path).read_bytes() == CONTENT


def test_a_busy_server_costs_nothing_of_what_has_arrived(site: Site, tmp_path: Path) -> None:
    (tmp_path / "set.bin.part").write_bytes(CONTENT[:700_000])
    site.refuse_with = [503]
    with pytest.raises(DataError, match="the server answers 503"):
        fetch(remote(site), tmp_path)
    fetch(remote(site), tmp_path)
    assert site.asked[-1] == ("/set.bin", "bytes=700000-")


def test_a_part_longer_than_the_file_starts_over(site: Site, tmp_path: Path) -> None:
    (tmp_path / "set.bin.part").write_bytes(CONTENT + b"more")
    assert fetch(remote(site), tmp_path).read_bytes() == CONTENT


def test_the_next_mirror_is_asked_where_one_has_not_got_it(site: Site, tmp_path: Path) -> None:
    with served(Site(files={})) as empty:
        assert fetch(remote(empty, site), tmp_path).read_bytes() == CONTENT


def test_the_next_mirror_is_asked_where_one_has_something_else(site: Site, tmp_path: Path) -> None:
    with served(Site(files={"/set.bin": b"<html>moved</html>"})) as moved:
        assert fetch(remote(moved, site), tmp_path).read_bytes() == CONTENT


def test_a_wrong_checksum_is_named_with_both_and_leaves_nothing(site: Site, tmp_path: Path) -> None:
    wanted = remote(site, content=b"other")
    with pytest.raises(DataError) as caught:
        fetch(wanted, tmp_path)
    assert caught.value.sentence == "Could not fetch set.bin"
    assert f"expected {wanted.checksum}, got {remote(site).checksum}" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_never_finishes_is_given_up_and_the_part_kept(site: Site, tmp_path: Path) -> None:
    site.break_after = [400_000, 0, 0]
    with pytest.raises(DataError, match=r"no connection, or it broke off\n  What has arrived is kept"):
        fetch(remote(site), tmp_path)
    assert (tmp_path / "set.bin.part").read_bytes() == CONTENT[: 24 * CHUNK]
    site.break_after = []
    assert fetch(remote(site), tmp_path).read_bytes() == CONTENT


def test_an_answer_of_no_success_is_named(site: Site, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent: the server answers 404 Not Found"):
        fetch(remote(site, path="/absent"), tmp_path)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with served(Site(files={})) as gone:
        url = gone.url
    lost = RemoteFile(name="set.bin", urls=(f"{url}/set.bin",), checksum=remote(Site(files={}, url=url)).checksum)
    with pytest.raises(DataError, match="no connection"):
        fetch(lost, tmp_path)


def test_a_folder_that_cannot_be_written_is_named(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"Could not write set\.bin: Not a directory|File exists"):
        fetch(remote(site), tmp_path / "file")
