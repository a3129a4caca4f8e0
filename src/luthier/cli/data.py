"""`luthier data list | get | show | pack`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from luthier.cli.options import DataRoot, Json, Output, print_json

if TYPE_CHECKING:
    from rich.progress import TaskID

__all__ = ["register"]

SetPath = Annotated[str, typer.Option("--path", help="The folder, where it is not the set's own below the data root.")]

data = typer.Typer(help="Fetch data sets and look at them.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.add_typer(data, name="data")


@data.command("list")
def list_sets(as_json: Json = False) -> None:
    """The data sets that a recipe can name, and which of them `get` can fetch."""
    from luthier.data import downloadable, names

    if as_json:
        print_json({name: {"downloadable": name in downloadable()} for name in names()})
        return
    for name in names():
        typer.echo(f"{name}{'  (luthier data get)' if name in downloadable() else ''}")


@data.command()
def get(
    name: Annotated[str, typer.Argument(help="A data set.")],
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Download a data set from its publisher: checked, and resumed where it broke off."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from luthier.data import get as fetch

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bars = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def show_bytes(file: str, done: int, total: int) -> None:
        bars.start()
        if file not in tasks:
            tasks[file] = bars.add_task(file)
        bars.update(tasks[file], completed=done, total=total or None)

    try:
        place = fetch(name, root=data_root, progress=show_bytes)
    finally:
        if tasks:  # a bar that never began would leave an empty line
            bars.stop()
    _print_place(place, as_json=as_json)


@data.command()
def pack(
    name: Annotated[str, typer.Argument(help="A data set, or file.py:factory.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write; it must not be there yet.")],
    shards: Annotated[int, typer.Option(help="How many files each part is split into.")] = 1,
    path: SetPath = "",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Write a data set as MindRecord files, which either engine trains from and MindSpore reads."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from luthier.data import pack as write

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def show_images(split: str, done: int, total: int) -> None:
        bars.start()
        if split not in tasks:
            tasks[split] = bars.add_task(split, total=total)
        bars.update(tasks[split], completed=done)

    try:
        place = write(name, output, shards=shards, path=path, root=data_root, progress=show_images)
    finally:
        if tasks:
            bars.stop()
    _print_place(place, as_json=as_json)


@data.command()
def show(
    name: Annotated[str, typer.Argument(help="A data set, or file.py:factory.")],
    output: Output = Path("grid.png"),
    split: Annotated[str, typer.Option(help="train or eval.")] = "train",
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many images.")] = 40,
    path: SetPath = "",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Draw samples with their labels."""
    from luthier.data import grid, open_source, undrawable
    from luthier.store import write_picture

    told: dict[str, Any] = {}

    def draw(file: BinaryIO, form: str) -> None:
        source = open_source(name, path=path, root=data_root)
        grid(source, split, count).save(file, form)
        whole = len(source.part(split))
        told.update(name=source.name, split=split, samples=min(count, whole), images=whole, classes=source.classes)
        channels = source.sample(split, 1).images[0].shape[2]
        if channels not in (1, 3):
            typer.echo(f"Shown is the first of {channels} channels, which no picture has", err=True)
        if without := undrawable(source.classes):
            typer.echo(f"No font here has the letters of {', '.join(without[:3])}: such classes go by number", err=True)

    place = write_picture(output, draw)
    if as_json:
        print_json({"path": str(place), **told})
    else:
        typer.echo(str(place))


def _print_place(place: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"path": str(place)})
    else:
        typer.echo(str(place))
