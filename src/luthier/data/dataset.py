"""A data set, ready to train on."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType

from luthier.data.batches import Batches
from luthier.data.description import Description
from luthier.data.prefetch import Workers
from luthier.data.source import Samples
from luthier.errors import DataError, unknown

__all__ = ["DataSet"]

FEW = 3  # files that a sentence names


@dataclass(frozen=True, kw_only=True, eq=False)
class DataSet:
    """The parts of a data set on one rank; close it, or use it in a `with`."""

    name: str
    classes: tuple[str, ...]
    train: Batches
    eval: Batches
    validation: Batches | None = None
    unreadable: set[str] = field(default_factory=set)  # files met so far that are no images
    workers: Workers | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels of a training image; `eval.shape` may differ where the recipe's sizes do."""
        return self.train.shape

    @property
    def skipped(self) -> int:
        """Files met so far on this rank that could not be read, where the recipe lets them be skipped."""
        return len(self.unreadable)

    @property
    def skipped_text(self) -> str:
        """How many and the first of them; nothing where every file could be read."""
        first = ", ".join(sorted(self.unreadable)[:FEW])
        more = f" and {self.skipped - FEW:,} more" if self.skipped > FEW else ""
        files = "file that is no image was" if self.skipped == 1 else "files that are no images were"
        return f"{self.skipped:,} {files} left out: {first}{more}" if self.skipped else ""

    @property
    def description(self) -> Description:
        """What a network must know of it."""
        return self.described(ranks=self.train.share.ranks)

    def described(self, *, ranks: int) -> Description:
        """The same as so many ranks would see it."""
        return Description(
            name=self.name,
            classes=self.classes,
            shape=self.shape,
            eval_shape=self.eval.shape,
            steps_per_epoch=self.train.shared_by(ranks).steps,
            ranks=ranks,
        )

    def split(self, name: str) -> Batches:
        """The part of that name."""
        parts = {"train": self.train, "eval": self.eval, "validation": self.validation}
        there = {key: part for key, part in parts.items() if part is not None}
        if name not in there:
            sentence, hint = unknown("part", name, there)
            held = "data.validation is 0, so nothing was held back." if name == "validation" else hint
            raise DataError(sentence, at=self.name, hint=held)
        return there[name]

    def require_one_size(self, network: str) -> None:
        """Refuse parts that a network could not judge, which would fail only once it is evaluated."""
        for name, part in (("validation", self.validation), ("evaluation", self.eval)):
            if part is not None and part.shape != self.shape:
                sizes = "×".join(map(str, self.shape[:2])), "×".join(map(str, part.shape[:2]))
                raise DataError(
                    f"{network} takes images of one size: those to train on are {sizes[0]}, those of the {name} part "
                    f"{sizes[1]}",
                    at="data.eval",
                    hint="Give both one size in data.train and data.eval, such as "
                    f"[{{name = 'resize', size = {self.shape[0]}, stretch = true}}].",
                )

    def sample(self, split: str, count: int) -> Samples:
        """Images of a part as the network sees them, and their labels."""
        return self.split(split).sample(count)

    def close(self) -> None:
        """Let the workers go."""
        if self.workers:
            self.workers.pool.shutdown(cancel_futures=True)

    def __enter__(self) -> DataSet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
