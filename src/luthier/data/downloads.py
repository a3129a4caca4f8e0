"""What a publisher offers: the files with their checksums, as data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Download", "RemoteFile"]


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file, the places that have it, and its checksum as `md5:…` or `sha256:…`."""

    name: str
    urls: tuple[str, ...]
    checksum: str


@dataclass(frozen=True, kw_only=True)
class Download:
    """The files of a data set; `unpack` where they are archives."""

    files: tuple[RemoteFile, ...]
    unpack: bool = False
