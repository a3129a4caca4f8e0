from __future__ import annotations

import io
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from luthier.data.archives import unpack
from luthier.errors import DataError
from tests.store.test_durable import largest_file


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    made.size = 4 if kind == tarfile.REGTYPE else 0
    return made


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    def make(*members: tarfile.TarInfo) -> Path:
        path = tmp_path / "set.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            for entry in members:
                tar.addfile(entry, io.BytesIO(b"data") if entry.isfile() else None)
        return path

    return make


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_files_and_folders_are_written(archive: Callable[..., Path], tmp_path: Path) -> None:
    unpack(archive(member("set", tarfile.DIRTYPE), member("set/a.bin"), member("set/deep/b.bin")), tmp_path / "out")
    assert (tmp_path / "out" / "set" / "a.bin").read_bytes() == b"data"
    assert (tmp_path / "out" / "set" / "deep" / "b.bin").read_bytes() == b"data"


@pytest.mark.parametrize(
    "name",
    ["../out.bin", "set/../../out.bin", "/tmp/luthier-out.bin", "C:\\out.bin", "..\\out.bin", "\\\\host\\out.bin"],
)
def test_a_name_that_leads_outside_writes_nothing_at_all(
    archive: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    path = archive(member("set/a.bin"), member(name))
    with pytest.raises(DataError, match="The archive would write outside its folder") as caught:
        unpack(path, tmp_path / "out")
    assert name in caught.value.sentence
    assert everything_below(tmp_path) == {"set.tar.gz"}
    assert not Path("/tmp/luthier-out.bin").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
@pytest.mark.parametrize("target", ["..", "/etc", "a.bin"])
def test_a_link_is_neither_made_nor_followed(
    archive: Callable[..., Path], tmp_path: Path, kind: bytes, target: str
) -> None:
    path = archive(member("set/a.bin"), member("set/link", kind, target), member("set/link/b.bin"))
    with pytest.raises(DataError, match="The archive holds a link: 'set/link'"):
        unpack(path, tmp_path / "out")
    assert everything_below(tmp_path) == {"set.tar.gz"}


def test_a_device_is_refused(archive: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="The archive holds a device"):
        unpack(archive(member("set/pipe", tarfile.FIFOTYPE)), tmp_path / "out")


def test_a_disk_that_fills_up_is_told(tmp_path: Path) -> None:
    path, large = tmp_path / "set.tar", tarfile.TarInfo("set/a.bin")
    large.size = 1 << 16
    with tarfile.open(path, "w") as tar:
        tar.addfile(large, io.BytesIO(bytes(large.size)))
    with largest_file(1 << 12), pytest.raises(DataError, match=r"Could not unpack set\.tar: File too large") as caught:
        unpack(path, tmp_path / "out")
    assert caught.value.at == str(tmp_path / "out")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_one_that_is_damaged_in_the_middle_is_named(kind: str, tmp_path: Path) -> None:
    path, large = tmp_path / f"set.tar.{kind}", tarfile.TarInfo("set/a.bin")
    large.size = 1 << 18
    with tarfile.open(path, f"w:{kind}") as tar:  # type: ignore[call-overload]
        tar.addfile(large, io.BytesIO(random.Random(0).randbytes(large.size)))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 400] = bytes(400)
    path.write_bytes(content)
    with pytest.raises(DataError, match="Not an archive that can be read") as caught:
        unpack(path, tmp_path / "out")
    assert caught.value.at == str(path)


def test_what_is_no_archive_or_a_cut_one_is_named(archive: Callable[..., Path], tmp_path: Path) -> None:
    path = archive(*(member(f"set/{number}.bin") for number in range(200)))
    for content in (b"<html>404</html>", path.read_bytes()[:300]):
        path.write_bytes(content)
        with pytest.raises(DataError, match="Not an archive that can be read") as caught:
            unpack(path, tmp_path / "out")
        assert caught.value.at == str(path)
