"""A web server of this process, with the faults of those out there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What it serves, how, and what it was asked for."""

    files: dict[str, bytes]
    ranges: bool = True  # whether it honours Range
    refuse_with: list[int] = field(default_factory=list)  # the status of each of the next answers
    break_after: list[int] = field(default_factory=list)  # bytes after which each of the next answers breaks off
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""


class Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.site.asked.append((self.path, wanted))
        if self.site.refuse_with:
            self.send_error(self.site.refuse_with.pop(0))
            return
        content = self.site.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.site.ranges else 0
        if start >= len(content) > 0:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = start + self.site.break_after.pop(0) if self.site.break_after else len(content)
        self.wfile.write(content[start:end])
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@contextmanager
def served(site: Site) -> Iterator[Site]:
    """The site is up inside the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("SiteHandler", (Handler,), {"site": site}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
