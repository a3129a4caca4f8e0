"""One site, two languages: the theme's own words, and where its language button leads, follow the page."""

from __future__ import annotations

from typing import Any

__all__ = ["on_page_context"]

NAMES = {"en": "English", "zh": "中文"}


def on_page_context(context: dict[str, Any], page: Any, config: Any, nav: Any) -> dict[str, Any]:
    """Pages are rendered one after the other, so the configuration can change in between."""
    language, _, rest = page.url.partition("/")
    config.theme["language"] = language if language in NAMES else "en"
    same = rest if language in NAMES else "index.html"
    config.extra["alternate"] = [{"name": name, "link": f"{code}/{same}", "lang": code} for code, name in NAMES.items()]
    return context
