"""Long lines, broken as this project's formatter breaks them."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["WIDTH", "wrapped"]

WIDTH = 120
OPEN, CLOSE = "([{", ")]}"


def wrapped(line: str, indent: int) -> list[str]:
    """The statement in as few lines as fit: what stands in the last bracket goes on lines of its own."""
    lead = " " * indent
    if indent + len(line) <= WIDTH:
        return [lead + line]
    head, inner, tail = _last_bracket(line)
    if not inner:
        return [lead + line]
    parts = list(_split(inner))
    alone = len(parts) == 1 and (" for " in inner or _is_group(head, inner))
    if indent + 4 + len(inner) <= WIDTH and (len(parts) > 1 or alone or not _last_bracket(inner)[1]):
        return [lead + head, f"{lead}    {inner}", lead + tail]
    found = [lead + head]
    for part in parts:
        comma = "" if alone else ","
        found += wrapped(part + comma, indent + 4)
    return [*found, lead + tail]


def _is_group(head: str, inner: str) -> bool:
    """A bracket that only holds an expression together: a comma in it would make a tuple."""
    before = head[-2:-1]
    return head.endswith("(") and not (before.isalnum() or before in ("_", ")", "]")) and not inner.endswith(",")


def _last_bracket(line: str) -> tuple[str, str, str]:
    """What stands before, in and after the last outermost bracket."""
    depth, end = 0, 0
    quoted = _quoted(line)
    for i in range(len(line) - 1, -1, -1):
        if quoted[i]:
            continue
        if line[i] in CLOSE:
            if depth == 0:
                end = i
            depth += 1
        elif line[i] in OPEN:
            depth -= 1
            if depth == 0:
                return line[: i + 1], line[i + 1 : end], line[end:]
    return line, "", ""


def _split(inner: str) -> Iterator[str]:
    """At the commas that no bracket encloses."""
    depth, start = 0, 0
    quoted = _quoted(inner)
    for i, character in enumerate(inner):
        if quoted[i]:
            continue
        depth += (character in OPEN) - (character in CLOSE)
        if character == "," and depth == 0:
            yield inner[start:i].strip()
            start = i + 1
    if inner[start:].strip():
        yield inner[start:].strip()


def _quoted(text: str) -> list[bool]:
    found, inside = [], False
    for character in text:
        if character == '"':
            inside = not inside
            found.append(True)
        else:
            found.append(inside)
    return found
