"""The one place where the commands come together and where an error becomes a message."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from luthier.cli.telling import tell
from luthier.errors import LuthierError, MeasureError, RunInUse, StoreError, TrainingError, TuningError, UnknownRun

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = (
    "train",
    "evaluate",
    "predict",
    "measure",
    "export",
    "compress",
    "port",
    "prove",
    "tune",
    "report",
    "recipe",
    "runs",
    "schedule",
    "data",
    "doctor",
)
FAILED = (TrainingError, TuningError, MeasureError, StoreError)  # the work failed; all else was asked wrongly
ASKED = (RunInUse, UnknownRun)

app = typer.Typer(
    help="Take a neural network from a baseline to a tuned, ported and proven model.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Take a neural network from a baseline to a tuned, ported and proven model."""
    if version:
        import luthier

        typer.echo(f"luthier {luthier.__version__}")
        raise typer.Exit


for _command in COMMANDS:
    import_module(f"luthier.cli.{_command}").register(app)


def main() -> None:
    """Run a command; a fault of the user's gets a sentence, a fault of ours keeps its traceback."""
    try:
        app(prog_name="luthier")
    except LuthierError as error:
        if error.told_elsewhere:  # and failed there: a launcher then names the rank that tells
            sys.exit(0)
        code = 1 if isinstance(error, FAILED) and not isinstance(error, ASKED) else 2
        if code == 1 or error.known_to_all or _is_first_here():
            tell(error)
        sys.exit(code)


def _is_first_here() -> bool:
    """Of several ranks on this machine, which were all asked the same: one tells what was wrong with it."""
    from luthier.engines import launched

    try:
        return launched().local_rank == 0
    except LuthierError:
        return True
