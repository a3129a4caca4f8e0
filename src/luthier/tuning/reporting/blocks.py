"""A report as a list of blocks, written once as Markdown and once as HTML."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "Code", "Heading", "Picture", "Table", "Text", "to_html", "to_markdown"]

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .92rem; margin: .8rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e4e4e4; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } pre { background: #f6f4f2; padding: .8rem; overflow-x: auto; }
img { max-width: 100%; } @media (prefers-color-scheme: dark) { body { background: #1b1a19; color: #ddd; }
pre { background: #292725; } th, td { border-color: #444; } h2 { border-color: #444; } img { background: #fff; } }
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
    """The first row is the head, the first column flush left."""

    rows: Sequence[Sequence[str]]


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
            rule = ["---", *["---:"] * (len(rows[0]) - 1)]
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
                "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"
                for tag, row in (("td" if index else "th", row) for index, row in enumerate(rows))
            )
            inside = "\n".join(body)
            return f'<div class="wide"><table><thead>{head}</thead>\n<tbody>{inside}</tbody></table></div>'
        case Picture(path, says):
            data = base64.b64encode(path.read_bytes()).decode()
            return f'<p><img alt="{html.escape(says)}" src="data:image/png;base64,{data}"></p>'
        case Code(text, _):
            return f"<pre><code>{html.escape(text.rstrip())}</code></pre>"
