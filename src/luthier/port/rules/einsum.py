"""Einstein's sums as products of matrices."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported, infix, method
from luthier.port.graph import Value

__all__ = ["einsum_of"]


def einsum_of(call: Call) -> Emit:
    """One or two operands, whose letters are all different within each."""
    equation = call["equation"].replace(" ", "")
    left, arrow, out = equation.partition("->")
    terms = left.split(",")
    if not arrow:
        letters = left.replace(",", "")
        out = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    if "." in equation or len(terms) > 2 or any(len(set(term)) < len(term) for term in terms):
        raise Unsupported(
            f"einsum('{call['equation']}') has no rule",
            at=call.at,
            hint="Write it as matmul, or as sums of two operands without dots and repeated letters.",
        )
    operands: tuple[Value, ...] = call["tensors"] if "tensors" in call.arguments else call["operands"]
    if len(terms) == 1:
        return _ordered(*_summed(operands[0], terms[0], out), out)
    (first, a), (second, b) = (
        _summed(operand, term, out + other) for operand, term, other in zip(operands, terms, terms[::-1], strict=True)
    )
    batch = [letter for letter in out if letter in a and letter in b]
    inner = [letter for letter in a if letter in b and letter not in out]
    rows, columns = ([x for x in out if x in own and x not in batch] for own in (a, b))
    if len(inner) == len(rows) == len(columns) == 1:
        product = infix("@", _turned(first, a, [*batch, *rows, *inner]), _turned(second, b, [*batch, *inner, *columns]))
        product.composed = True
        return _ordered(product, "".join([*batch, *rows, *columns]), out)
    letters = [*batch, *rows, *columns, *inner]
    product = infix("*", _spread(first, a, letters), _spread(second, b, letters))
    made: Any = product
    if inner:
        made = Emit("ops.sum", product, tuple(range(len(letters) - len(inner), len(letters))))
    made.composed = True
    return _ordered(made, "".join([*batch, *rows, *columns]), out)


def _summed(operand: Any, term: str, needed: str) -> tuple[Any, str]:
    """Without the letters that nothing else has."""
    gone = tuple(i for i, letter in enumerate(term) if letter not in needed)
    kept = "".join(letter for letter in term if letter in needed)
    return (Emit("ops.sum", operand, gone) if gone else operand), kept


def _turned(operand: Any, term: str, letters: list[str]) -> Any:
    order = [term.index(letter) for letter in letters]
    return operand if order == list(range(len(order))) else method(operand, "permute", *order)


def _spread(operand: Any, term: str, letters: list[str]) -> Any:
    """With an axis of one for each letter that it lacks."""
    made = _turned(operand, term, [letter for letter in letters if letter in term])
    for i, letter in enumerate(letters):
        if letter not in term:
            made = Emit("ops.unsqueeze", made, i)
    return made


def _ordered(made: Any, term: str, out: str) -> Emit:
    turned = _turned(made, term, list(out))
    return turned if isinstance(turned, Emit) else Emit("same", turned)
