"""A checkpoint is there whole or not at all, and nothing of it is used unless all of it is what was written."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from luthier.errors import CheckpointError, StoreError
from luthier.store.checkpoint_folders import before, checkpoint_folder, latest_checkpoint, put_in_place, tidy
from luthier.store.durable import PARTIAL, could_not_write, sync_folder, write_file
from luthier.store.environment import Environment

if TYPE_CHECKING:
    from luthier.store.run import Run

__all__ = ["Checkpoint", "load_checkpoint", "save_checkpoint"]

WEIGHTS, STATE, PROGRESS = "weights.safetensors", "state.safetensors", "progress.json"
ENVIRONMENT = "environment.json"
DTYPES = (
    *("bool", "float16", "float32", "float64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Everything that a bit-identical continuation needs."""

    step: int
    weights: dict[str, NDArray[Any]]
    state: dict[str, NDArray[Any]]
    progress: dict[str, Any]
    weights_sha256: str


class Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of one file of a checkpoint."""

    bytes: int
    sha256: str


class Progress(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """progress.json: where the loop stands, and what the files beside it are; `sha256` is of all the rest of itself."""

    step: int
    run: str | msgspec.UnsetType = msgspec.UNSET  # its id; a checkpoint of old names none
    progress: dict[str, Any]
    files: dict[str, Written]
    sha256: str = ""


def save_checkpoint(
    run: Run,
    step: int,
    weights: Mapping[str, NDArray[Any]],
    state: Mapping[str, NDArray[Any]],
    progress: Mapping[str, Any],
) -> Path:
    """Write aside, wait for the disk, then give it its name; one of the same step is replaced."""
    _check_progress(progress)
    packed = {WEIGHTS: _packed(weights), STATE: _packed(state)}
    files = {name: Written(bytes=len(data), sha256=_sha256(data)) for name, data in packed.items()}
    packed[PROGRESS] = _sealed(Progress(step=step, run=run.id or msgspec.UNSET, progress=dict(progress), files=files))
    target = checkpoint_folder(run.path, step)
    partial = target.with_name(f".{target.name}{PARTIAL}")
    try:
        tidy(run.path)
        target.parent.mkdir(exist_ok=True)
        partial.mkdir()
        for name, data in packed.items():
            write_file(partial / name, data)
        put_in_place(partial, target)
        sync_folder(run.path)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        needed = sum(map(len, packed.values()))
        older = latest_checkpoint(run)
        hint = f"The last checkpoint is {older.name}: make room, then resume the run." if older else None
        raise could_not_write(f"checkpoint {target.name}", error, at=target.parent, needed=needed, hint=hint) from error
    return target


def load_checkpoint(path: Path) -> Checkpoint:
    """Verify every byte, then read; where one is wrong, the error offers the last older checkpoint that is whole."""
    try:
        progress, packed = _verified(path)
        weights, state = _unpacked(packed[WEIGHTS], path / WEIGHTS), _unpacked(packed[STATE], path / STATE)
    except CheckpointError as error:
        raise CheckpointError(error.sentence, at=error.at, hint=_offer(path)) from error.__cause__
    return Checkpoint(
        step=progress.step,
        weights=weights,
        state=state,
        progress=progress.progress,
        weights_sha256=progress.files[WEIGHTS].sha256,
    )


def _offer(damaged: Path) -> str:
    for older in before(damaged):
        try:
            _verified(older)
        except CheckpointError:
            continue
        return f"The one before it is whole: {older}"
    return "There is no whole one before it."


def _verified(path: Path) -> tuple[Progress, dict[str, bytes]]:
    if not path.is_dir():
        raise CheckpointError(f"There is no checkpoint {path.name}", at=str(path))
    progress = _opened(_bytes_of(path / PROGRESS), path / PROGRESS)
    _require_own(progress, path)
    return progress, {name: _matching(path / name, progress.files[name]) for name in (WEIGHTS, STATE)}


def _require_own(progress: Progress, path: Path) -> None:
    """One that was copied from elsewhere is whole, and yet not this run's."""
    if path.name.startswith("step-") and path.name != checkpoint_folder(path, progress.step).name:
        raise CheckpointError(f"Checkpoint {path.name} is one of step {progress.step}", at=str(path))
    own = _id_of(path.parent.parent)
    if progress.run and own and progress.run != own:
        here = path.parent.parent.name
        raise CheckpointError(f"Checkpoint {path.name} is another run's, not one of {here}", at=str(path))


def _id_of(run: Path) -> str:
    """As its environment has it, where the folder is a run's."""
    try:
        return msgspec.json.decode((run / ENVIRONMENT).read_bytes(), type=Environment).id
    except (OSError, msgspec.DecodeError):
        return ""


def _matching(path: Path, written: Written) -> bytes:
    data = _bytes_of(path)
    if len(data) < written.bytes:
        raise _refused(path, f"is cut short: {len(data):,} of {written.bytes:,} bytes are there")
    if _sha256(data) != written.sha256:
        raise _refused(path, "is damaged: its SHA-256 is not the one that was recorded")
    return data


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise _refused(path, "is missing") from None
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}") from error


def _refused(path: Path, what: str) -> CheckpointError:
    return CheckpointError(f"{path.name} of checkpoint {path.parent.name} {what}", at=str(path))


def _sealed(progress: Progress) -> bytes:
    """progress.json as bytes, which follow from its content alone: so one byte that differs is always noticed."""
    bare = msgspec.json.encode(msgspec.structs.replace(progress, sha256=""))
    sealed = msgspec.structs.replace(progress, sha256=_sha256(bare))
    return msgspec.json.format(msgspec.json.encode(sealed), indent=2) + b"\n"


def _opened(data: bytes, path: Path) -> Progress:
    try:
        progress = msgspec.json.decode(data, type=Progress)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refused(path, f"is damaged: {error}") from error
    if _sealed(progress) != data or not {WEIGHTS, STATE} <= progress.files.keys():
        raise _refused(path, "is damaged: its SHA-256 is not the one that was recorded")
    return progress


def _check_progress(progress: Mapping[str, Any]) -> None:
    """JSON would turn NaN into null and a tuple into a list: what does not come back the same is refused."""
    for name, value in progress.items():
        try:
            same = msgspec.json.decode(msgspec.json.encode(value)) == value
        except (TypeError, ValueError, OverflowError):
            same = False
        if not same:
            raise StoreError(f"A checkpoint's progress cannot hold {value!r}, which JSON does not give back", at=name)


def _packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Safetensors 0.8 takes an array's memory as it lies, and so would write a transposed one wrongly."""
    from safetensors.numpy import save

    for name, array in arrays.items():
        if array.dtype.name not in DTYPES:
            raise StoreError(f"A checkpoint cannot hold {array.dtype}", at=name, hint=f"Known: {', '.join(DTYPES)}.")
    packed: bytes = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    return packed


def _unpacked(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, NDArray[Any]] = load(data)
    except SafetensorError as error:
        raise _refused(path, f"is no safetensors file: {error}") from error
    return {name: array if array.flags.writeable else array.copy() for name, array in arrays.items()}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
