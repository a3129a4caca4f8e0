"""One file from the network, on from where an earlier attempt ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pooch
import requests

from luthier.data.downloads import RemoteFile
from luthier.errors import DataError

__all__ = ["Progress", "fetch"]

Progress = Callable[[str, int, int], None]  # the file's name, its bytes so far and in all, 0 where not said
CHUNK = 1 << 14  # bytes; what has arrived of the last one is lost where a connection breaks
TIMEOUT_S = 30
RANGE_NOT_SATISFIABLE = 416
PARTIAL_CONTENT = 206


def fetch(remote: RemoteFile, folder: Path, progress: Progress | None = None) -> Path:
    """The file, checked; one that is there already and has the checksum is not fetched again."""
    pooch.get_logger().setLevel("WARNING")  # progress is the caller's to show
    failures = []
    for url in remote.urls:
        download = ResumableDownload(folder / f"{remote.name}.part", remote, progress)
        try:
            return Path(pooch.retrieve(url, remote.checksum, fname=remote.name, path=folder, downloader=download))
        except requests.RequestException as error:
            failures.append(f"{url}: {_reason(error)}")
        except ValueError:
            failures.append(f"{url}: expected {remote.checksum}, got {download.checksum}")
        except OSError as error:
            raise DataError(f"Could not write {remote.name}: {error.strerror or error}", at=str(folder)) from error
    kept = "What has arrived is kept: the same command goes on from there." if download.part.exists() else None
    raise DataError(f"Could not fetch {remote.name}", at="; ".join(failures), hint=kept)


def _reason(error: requests.RequestException) -> str:
    if error.response is not None:
        return f"the server answers {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"no answer for {TIMEOUT_S} s"
    return "no connection, or it broke off"


class ResumableDownload:
    """A downloader in pooch's sense that keeps what it has in a file of its own until it has everything."""

    def __init__(self, part: Path, remote: RemoteFile, progress: Progress | None) -> None:
        self.part, self._remote, self._progress = part, remote, progress
        self.checksum = ""  # of what came, once it is whole

    def __call__(self, url: str, output_file: str | Path, _: object) -> None:
        """Try again as long as every attempt brings something."""
        while True:
            had = self._had()
            try:
                self._go_on(url)
                break
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
                if self._had() <= had:
                    raise
        kind = self._remote.checksum.partition(":")[0]
        self.checksum = f"{kind}:{pooch.file_hash(str(self.part), alg=kind)}"
        os.replace(self.part, output_file)

    def _had(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _go_on(self, url: str) -> None:
        """Ask for the rest; a server that sends everything, or another part, makes it start over."""
        had = self._had()
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={had}-"} if had else {})}
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as response:
            if had and response.status_code == RANGE_NOT_SATISFIABLE:
                self.part.unlink()
                return self._go_on(url)
            response.raise_for_status()  # before anything is thrown away: a busy server is asked again later
            if had and not _continues(response, had):
                self.part.unlink()
                return self._go_on(url)
            self._receive(response, had)
        return None

    def _receive(self, response: requests.Response, had: int) -> None:
        total = had + int(response.headers.get("Content-Length", 0))
        with self.part.open("ab") as file:
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                had += len(chunk)
                if self._progress:
                    self._progress(self._remote.name, had, total)


def _continues(response: requests.Response, had: int) -> bool:
    start = response.headers.get("Content-Range", "").startswith(f"bytes {had}-")
    return response.status_code == PARTIAL_CONTENT and start
