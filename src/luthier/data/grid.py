"""A picture of a data set: samples, each with the name of its class below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Protocol

from luthier.data.batch import Images
from luthier.data.source import Samples

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = FreeTypeFont | ImageFont

__all__ = ["grid", "undrawable"]

CELL, GAP, MARGIN, CAPTION, TITLE = 96, 14, 24, 22, 44  # pixels
PAPER, MAT, INK, FAINT = "#ffffff", "#f2f2f4", "#1d1d1f", "#6e6e73"
CAPTION_SIZE, TITLE_SIZE = 13, 18
NO_CHARACTER = "\U0010ffff"
WIDE_FONTS = (  # that have Chinese; Pillow's own has Latin letters alone
    "NotoSansCJK-Regular.ttc",
    "SourceHanSansCN-Regular.otf",
    "wqy-microhei.ttc",
    "wqy-zenhei.ttc",
    "DroidSansFallbackFull.ttf",
    "msyh.ttc",
    "PingFang.ttc",
)


class Sampled(Protocol):
    """A `DataSet`, whose samples are as the network sees them, or a `Source`, whose are as its files have them."""

    @property
    def name(self) -> str: ...
    @property
    def classes(self) -> tuple[str, ...]: ...
    def sample(self, split: str, count: int) -> Samples: ...


def grid(data: Sampled, split: str = "train", count: int = 40) -> Image.Image:
    """Draw samples of a part; `.save("grid.png")` writes them."""
    from PIL import Image, ImageDraw

    samples = data.sample(split, count)
    shown = len(samples.labels)
    columns = _num_columns(shown)
    rows = -(-shown // columns)
    width = 2 * MARGIN + columns * (CELL + GAP) - GAP
    height = 2 * MARGIN + TITLE + rows * (CELL + CAPTION + GAP) - GAP
    sheet = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(sheet)
    _title(draw, data.name, f"{split}, {shown} samples, {len(data.classes)} classes", width - 2 * MARGIN)
    for image, label, (left, top) in zip(samples.images, samples.labels.tolist(), _places(columns, rows), strict=False):
        sheet.paste(_mounted(image), (left, top))
        _caption(draw, data.classes[label], f"class {label}", left + CELL / 2, top + CELL + 5)
    return sheet


def undrawable(names: Iterable[str]) -> list[str]:
    """Those that no font of this machine has the letters of; in a picture such a class goes by its number."""
    return [name for name in names if _font(name, CAPTION_SIZE) is None]


def _num_columns(count: int) -> int:
    """Wider than high, with the fewest empty places in the last row."""
    widest = max(1, min(count, round((count * 2.0) ** 0.5) + 1))
    return max(range(max(1, (widest + 1) // 2), widest + 1), key=lambda columns: (-(-count % columns), columns))


def _places(columns: int, rows: int) -> Iterator[tuple[int, int]]:
    for row in range(rows):
        for column in range(columns):
            yield MARGIN + column * (CELL + GAP), MARGIN + TITLE + row * (CELL + CAPTION + GAP)


def _mounted(image: Images) -> Image.Image:
    """In the middle of its cell: small images by a whole factor, so that their pixels show; others made to fit."""
    from PIL import Image

    picture = Image.fromarray(image if image.shape[2] == 3 else image[..., 0]).convert("RGB")
    factor = CELL / max(picture.size)
    if factor >= 2:
        picture = picture.resize((picture.width * int(factor), picture.height * int(factor)), Image.Resampling.NEAREST)
    else:
        fitting = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
        picture = picture.resize(fitting, Image.Resampling.LANCZOS)
    cell = Image.new("RGB", (CELL, CELL), MAT)
    cell.paste(picture, ((CELL - picture.width) // 2, (CELL - picture.height) // 2))
    return cell


def _title(draw: ImageDraw, name: str, facts: str, room: int) -> None:
    name, font = _drawable(name, "data set", TITLE_SIZE)
    name = _fitted(draw, name, font, room)
    draw.text((MARGIN, MARGIN), name, INK, font)
    left = MARGIN + draw.textlength(name, font) + GAP
    facts, small = _drawable(facts, facts, CAPTION_SIZE)
    if left + draw.textlength(facts, small) <= MARGIN + room:
        draw.text((left, MARGIN + TITLE_SIZE - CAPTION_SIZE + 1), facts, FAINT, small)


def _caption(draw: ImageDraw, name: str, number: str, middle: float, top: float) -> None:
    name, font = _drawable(name, number, CAPTION_SIZE)
    name = _fitted(draw, name, font, CELL + GAP - 4)
    draw.text((middle - draw.textlength(name, font) / 2, top), name, INK, font)


def _fitted(draw: ImageDraw, text: str, font: Font, room: int) -> str:
    """Cut off with three dots where it is too long."""
    if draw.textlength(text, font) <= room:
        return text
    while text and draw.textlength(f"{text}...", font) > room:
        text = text[:-1]
    return f"{text}..."


def _drawable(text: str, otherwise: str, size: int) -> tuple[str, Font]:
    """On one line, with a font that has its letters; or another text where none has."""
    text = " ".join(text.split())
    if font := _font(text, size):
        return text, font
    return otherwise, _fonts(size)[0]


def _font(text: str, size: int) -> Font | None:
    return next((font for font in _fonts(size) if _has_letters(font, text)), None)


@cache
def _fonts(size: int) -> tuple[Font, ...]:
    """Pillow's own, and those with Chinese that are here."""
    from PIL import ImageFont

    found: list[Font] = [ImageFont.load_default(size)]
    for name in WIDE_FONTS:
        try:
            found.append(ImageFont.truetype(name, size))
        except OSError:
            continue
    return tuple(found)


def _has_letters(font: Font, text: str) -> bool:
    """A letter that a font lacks is drawn as it draws what is no character at all."""
    lacking = _drawn(font, NO_CHARACTER)
    return not any(_drawn(font, letter) == lacking for letter in set(text) if not letter.isspace())


def _drawn(font: Font, letter: str) -> tuple[tuple[int, int], bytes]:
    mask = font.getmask(letter)
    return mask.size, bytes(mask)
