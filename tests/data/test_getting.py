from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from luthier.data import Download, RemoteFile, downloadable, get, open_source
from luthier.data.registry import registered
from luthier.errors import DataError
from tests.data.serving import Site, served
from tests.data.test_mnist import contents


def sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@pytest.fixture
def site() -> Iterator[Site]:
    with served(Site(files={})) as running:
        yield running


@pytest.fixture
def mnist(site: Site) -> Download:
    site.files = {f"/{name}.gz": gzip.compress(content) for name, content in contents().items()}
    files = [RemoteFile(name=path[1:], urls=(site.url + path,), checksum=sha256(c)) for path, c in site.files.items()]
    return Download(files=tuple(files))


def archive(site: Site, *, name: str = "cifar-10-batches-bin", extra: str = "") -> Download:
    """The publisher's archive, of black images."""
    with io.BytesIO() as packed:
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
            for stem in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
                entry = tarfile.TarInfo(f"{name}/{stem}.bin")
                entry.size = 10_000 * 3073
                tar.addfile(entry, io.BytesIO(bytes(entry.size)))
            if extra:
                tar.addfile(tarfile.TarInfo(extra))
        content = packed.getvalue()
    site.files["/cifar.tar.gz"] = content
    file = RemoteFile(name="cifar.tar.gz", urls=(f"{site.url}/cifar.tar.gz",), checksum=sha256(content))
    return Download(files=(file,), unpack=True)


def test_files_are_fetched_into_a_folder_of_the_sets_name(mnist: Download, tmp_path: Path) -> None:
    assert get("mnist", tmp_path, download=mnist) == tmp_path / "mnist"
    assert len(open_source("mnist", root=tmp_path).train) == 30


def test_a_set_that_is_there_is_not_fetched_again(mnist: Download, site: Site, tmp_path: Path) -> None:
    get("mnist", tmp_path, download=mnist)
    get("mnist", tmp_path, download=mnist)
    assert len(site.asked) == 4


def test_a_damaged_file_alone_is_fetched_again(mnist: Download, site: Site, tmp_path: Path) -> None:
    get("mnist", tmp_path, download=mnist)
    file = tmp_path / "mnist" / "t10k-images-idx3-ubyte.gz"
    file.write_bytes(file.read_bytes()[:500])
    get("mnist", tmp_path, download=mnist)
    assert [path for path, _ in site.asked[4:]] == ["/t10k-images-idx3-ubyte.gz"]


def test_without_a_root_it_goes_where_it_will_be_looked_for(
    mnist: Download, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LUTHIER_DATA", str(tmp_path / "root"))
    assert get("mnist", download=mnist) == tmp_path / "root" / "mnist"
    assert len(open_source("mnist").train) == 30


def test_an_archive_is_unpacked_and_then_removed(site: Site, tmp_path: Path) -> None:
    place = get("cifar10", tmp_path, download=archive(site))
    assert place == tmp_path / "cifar10" / "cifar-10-batches-bin"
    assert [path.name for path in (tmp_path / "cifar10").iterdir()] == ["cifar-10-batches-bin"]
    (place / "test_batch.bin").write_bytes(b"short")
    assert get("cifar10", tmp_path, download=archive(site)) == place
    assert (place / "test_batch.bin").stat().st_size == 30_730_000


def test_an_archive_that_leads_outside_writes_nothing_outside(site: Site, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="The archive would write outside its folder"):
        get("cifar10", tmp_path / "root", download=archive(site, extra="../../evil"))
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
    assert [path.name for path in (tmp_path / "root" / "cifar10").iterdir()] == ["cifar.tar.gz"]


def test_what_was_fetched_and_is_not_the_set_is_refused(mnist: Download, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"train-labels-idx1-ubyte.* is missing"):
        get("mnist", tmp_path, download=replace(mnist, files=mnist.files[:2]))


def test_sets_with_nothing_to_fetch_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Nothing to fetch for 'digits'\n  It is part of Luthier"):
        get("digits", tmp_path)
    with pytest.raises(DataError, match="To be had are: cifar10, cifar100, fashion-mnist, mnist"):
        get("folder", tmp_path)
    with pytest.raises(DataError, match="Perhaps you meant 'fashion-mnist'"):
        get("fashon-mnist", tmp_path)


def test_publishers_files_have_a_name_a_place_and_a_checksum() -> None:
    for name in downloadable():
        download = registered(name).download
        assert download is not None
        for file in download.files:
            kind, _, digest = file.checksum.partition(":")
            assert len(digest) == {"md5": 32, "sha256": 64}[kind]
            assert int(digest, 16)
            assert all(url.startswith("http") and url.endswith(file.name) for url in file.urls)


def test_the_real_files_of_mnist_unpack_to_what_their_publisher_wrote(real_data: Path) -> None:
    source = open_source("mnist", root=real_data)
    assert isinstance(source.train.images, np.ndarray)
    assert round(float(source.train.images.mean()) / 255, 4) == 0.1307
