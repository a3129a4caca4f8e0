"""The commands: one file each, none of which imports a framework before it runs."""

from luthier.cli.group import main

__all__ = ["main"]
