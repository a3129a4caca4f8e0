"""A page of the manual, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from docs.generate import ROOT, pages

FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Page:
    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @cached_property
    def prose(self) -> str:
        return FENCE.sub("", self.text)

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """The language of each block of code, and what stands in it."""
        return [(found[2], found[3]) for found in FENCE.finditer(self.text)]

    @property
    def levels(self) -> list[int]:
        return [len(found[1]) for found in re.finditer(r"^(#+) ", self.prose, re.MULTILINE)]

    @property
    def rows(self) -> list[list[str]]:
        """The cells of all tables."""
        lines = [line for line in self.prose.splitlines() if line.startswith("|")]
        return [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]

    @property
    def parts(self) -> list[str]:
        return re.findall(r"^<!-- (?:generated: )?([^\n]*) -->$", self.prose, re.MULTILINE)

    @property
    def commands(self) -> list[str]:
        """What a reader is told to type, without the prompt."""
        lines = [line for kind, code in self.blocks if kind == "console" for line in code.splitlines()]
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


PAGES = [Page(path) for path in pages()]
PAIRS = [
    (page, Page(ROOT / ("README.zh-CN.md" if page.name == "README.md" else page.name.replace("docs/en", "docs/zh"))))
    for page in PAGES
    if page.name == "README.md" or page.name.startswith("docs/en")
]
