"""Writes the manual's generated parts; with --check it only says which of them are stale.

In a page a part stands between `<!-- generated: kind what -->` and `<!-- /generated -->`; `docs.blocks` has the kinds.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.blocks import block
from docs.words import Language
from luthier.proof import verdict_schema
from luthier.recipe import json_schema
from luthier.store import result_schema

__all__ = ["ROOT", "expected", "language_of", "main", "pages", "refreshed"]

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(?P<begin>^<!-- generated: (?P<kind>\S+)(?: (?P<what>[^\n]*?))? -->\n).*?(?P<end>^<!-- /generated -->$)",
    re.DOTALL | re.MULTILINE,
)


def pages() -> list[Path]:
    """The two READMEs and every page of the manual."""
    return sorted([*ROOT.glob("README*.md"), *ROOT.glob("docs/en/*.md"), *ROOT.glob("docs/zh/*.md")])


def language_of(page: Path) -> Language:
    """By its folder, or by its name."""
    return "zh" if page.parent.name == "zh" or "zh-CN" in page.name else "en"


def refreshed(text: str, language: Language) -> str:
    """The page's text with every generated part made anew."""

    def made(found: re.Match[str]) -> str:
        return f"{found['begin']}\n{block(found['kind'], found['what'] or '', language)}\n\n{found['end']}"

    return BLOCK.sub(made, text)


def expected() -> dict[Path, str]:
    """Every file that is generated, whole or in parts, and what it should hold."""
    files = {page: refreshed(page.read_text("utf-8"), language_of(page)) for page in pages()}
    for name, schema in (("recipe", json_schema()), ("result", result_schema()), ("verdict", verdict_schema())):
        files[ROOT / "docs" / "schemas" / f"{name}.json"] = (
            json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
        )
    return files


def main(arguments: Sequence[str]) -> int:
    """Write what differs, or with --check name it."""
    stale = [(path, text) for path, text in expected().items() if not path.exists() or path.read_text("utf-8") != text]
    names = [path.relative_to(ROOT).as_posix() for path, _ in stale]
    if "--check" in arguments:
        if stale:
            print(f"Stale: {', '.join(names)}\n  Run `make generate`, then look at what changed.", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    print("\n".join(names) or "Nothing was stale.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
