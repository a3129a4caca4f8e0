"""A study's report: Markdown and HTML, English or Chinese."""

from luthier.tuning.reporting.writing import report

__all__ = ["report"]
