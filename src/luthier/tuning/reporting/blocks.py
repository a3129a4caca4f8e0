"""A report as a list of blocks, written once as Markdown and once as HTML."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "Code", "Heading", "Picture", "Table", "Text", "to_html", "to_markdown"]

STYLE = """
:root { --ink: #222; --line: #dcdad7; --faint: #f6f4f2; --paper: #fff; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --line: #454240; --faint: #292725; --paper: #1b1a19; } }
body { font: 16px/1.55 system-ui, "Noto Sans", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif; max-width: 68rem;
  margin: 2rem auto 4rem; padding: 0 1rem; color: var(--ink); background: var(--paper); }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
.wide { overflow-x: auto; margin: .8rem 0; } table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { vertical-align: bottom; background: var(--faint); font-weight: 600; } td { font-variant-numeric: tabular-nums; }
td { white-space: nowrap; } .left { text-align: left; } td.prose { white-space: normal; min-width: 8rem; }
pre { background: var(--faint); padding: .8rem; overflow-x: auto; font-size: .85rem; }
figure { margin: 1rem 0; } figcaption { font-size: .9rem; } img { max-width: 100%; background: #fff; }
"""


@dataclass(frozen=True)
class Heading:
    """Of a level from 1."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """The first row is the head, the first column flush left as are those of prose, which is wrapped."""

    rows: Sequence[Sequence[str]]
    prose: tuple[int, ...] = ()

    def flush_left(self, column: int) -> bool:
        """Numbers stand flush right."""
        return column == 0 or column in self.prose


@dataclass(frozen=True)
class Picture:
    """A file beside the report; in HTML it is within."""

    path: Path
    says: str


@dataclass(frozen=True)
class Code:
    """As it is."""

    text: str
    language: str = "toml"


Block = Heading | Text | Table | Picture | Code


def to_markdown(blocks: Iterable[Block]) -> str:
    """One after the other."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Table(rows):
            escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
            rule = ["---" if block.flush_left(column) else "---:" for column in range(len(rows[0]))]
            return "\n".join(f"| {' | '.join(row)} |" for row in [escaped[0], rule, *escaped[1:]])
        case Picture(path, says):
            return f"![{says}]({path.name})"
        case Code(text, language):
            return f"```{language}\n{text.rstrip()}\n```"


def to_html(blocks: Sequence[Block], *, language: str) -> str:
    """One file that needs no other, and runs nothing."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(map(_html, blocks))
    return (
        f'<!doctype html>\n<html lang="{"zh-CN" if language == "zh" else "en"}">\n<head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{html.escape(text)}</p>"
        case Table(rows):
            head, *body = (
                "".join(_cell(block, "td" if index else "th", *cell) for cell in enumerate(row))
                for index, row in enumerate(rows)
            )
            inside = "\n".join(f"<tr>{row}</tr>" for row in body)
            return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{inside}</tbody></table></div>'
        case Picture(path, says):
            data, caption = base64.b64encode(path.read_bytes()).decode(), html.escape(says)
            return (
                f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
                f"<figcaption>{caption}</figcaption></figure>"
            )
        case Code(text, _):
            return f"<pre><code>{html.escape(text.rstrip())}</code></pre>"


def _cell(table: Table, tag: str, column: int, text: str) -> str:
    kinds = ["left"] * table.flush_left(column) + ["prose"] * (column in table.prose)
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<{tag}{kind}>{html.escape(text)}</{tag}>"
