"""The report as files: a record for programs, and a page for people, in English or Chinese."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Literal

import msgspec

from luthier.port.features import Feature
from luthier.port.platforms import Mode
from luthier.port.report import Node, Operator, Report
from luthier.port.report_template import SCRIPT, STYLE

__all__ = ["Language", "page", "write_report"]

Language = Literal["en", "zh"]
MODES: tuple[Mode, ...] = ("GRAPH", "PYNATIVE")
CLASSES = {"ported": "green", "composed": "yellow", "refused": "red"}
WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "title": "Port of",
        "operators": "Operators",
        "features": "Besides operators",
        "feature head": "feature|outcome|GRAPH|PYNATIVE|difficulty|told",
        "head": "operator|uses|outcome|MindSpore|GRAPH|PYNATIVE|difficulty|told",
        "ported": "ported",
        "composed": "composed",
        "refused": "refused",
        "none": "none",
        "easy": "easy",
        "by hand": "by hand",
        "yes": "yes",
        "no": "no",
        "whole": "Everything was carried over.",
        "parts": "What was refused is a stub that raises.",
        "hint": "Choose a module: both sources are shown at its place.",
    },
    "zh": {
        "title": "移植报告：",
        "operators": "算子",
        "features": "算子之外",
        "feature head": "特性|结果|GRAPH|PYNATIVE|难度|说明",
        "head": "算子|次数|结果|MindSpore|GRAPH|PYNATIVE|难度|说明",
        "ported": "已移植",
        "composed": "组合而成",
        "refused": "被拒绝",
        "none": "无",
        "easy": "低",
        "by hand": "需手工",
        "yes": "是",
        "no": "否",
        "whole": "全部带了过去。",
        "parts": "被拒绝的地方是占位，运行到此会报错。",
        "hint": "点选一个模块：两边的源码都会定位到它。",
    },
}


def write_report(report: Report, folder: Path, emitted: str, language: Language) -> None:
    """`report.json` and `report.html`."""
    (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    (folder / "report.html").write_text(page(report, emitted, language), "utf-8")


def page(report: Report, emitted: str, language: Language = "en") -> str:
    """The whole page."""
    words = WORDS[language]
    title = escape(f"{words['title']} {report.tree.source_class}")
    told = words["whole" if report.complete else "parts"]
    parts = [
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{STYLE}</style></head><body><header><h1>{title}</h1>{told}</header>",
        f"<section><h2>{words['operators']}</h2>{_operators(report, words)}</section>",
        *_features(report, words),
        f'<section class="dim">{words["hint"]}</section><main>',
        f'<div class="tree"><ul>{_node(report.tree)}</ul></div>',
        f'<div id="source">{"".join(_sources(report.tree))}</div>',
        f'<div id="emitted">{_file(_script(report), emitted, hidden=False)}</div>',
        f"</main><script>{SCRIPT}</script></body></html>\n",
    ]
    return "".join(parts)


def _operators(report: Report, words: Mapping[str, str]) -> str:
    head = "".join(f"<th>{word}</th>" for word in words["head"].split("|"))
    rows = "".join(f"<tr>{_cells(operator, words)}</tr>" for operator in report.operators)
    return f"<table><tr>{head}</tr>{rows}</table>"


def _cells(operator: Operator, words: Mapping[str, str]) -> str:
    places = ", ".join(f"{Path(place).name}" for place in operator.at if place)
    told = "<br>".join(escape(text) for text in (operator.reason, operator.hint, operator.note) if text)
    texts = [operator.name, str(operator.count), "", operator.target, *_modes(operator, words)]
    cells = [f"<td>{escape(text)}</td>" for text in texts]
    cells[2] = f'<td class="{CLASSES[operator.outcome]}">{words[operator.outcome]}</td>'
    return "".join(cells) + f'<td>{told} <span class="dim">{escape(places)}</span></td>'


def _modes(item: Operator | Feature, words: Mapping[str, str]) -> list[str]:
    """Whether it runs in GRAPH and in PYNATIVE, and how hard what remains is."""
    return [*(words["yes" if item.modes[mode] else "no"] for mode in MODES), words[item.difficulty]]


def _features(report: Report, words: Mapping[str, str]) -> Iterator[str]:
    if report.features:
        head = "".join(f"<th>{word}</th>" for word in words["feature head"].split("|"))
        rows = "".join(
            f'<tr><td>{escape(item.name)}</td><td class="{CLASSES[item.outcome]}">{words[item.outcome]}</td>'
            f"{''.join(f'<td>{word}</td>' for word in _modes(item, words))}<td>{escape(item.told)}</td></tr>"
            for item in report.features
        )
        yield f"<section><h2>{words['features']}</h2><table><tr>{head}</tr>{rows}</table></section>"


def _node(node: Node) -> str:
    name = node.path.rpartition(".")[2] or "·"
    label = f'{escape(name)} <span class="dim">{escape(node.source_class)}</span>'
    places = f'data-source="{escape(node.source_line)}" data-emitted="{escape(node.emitted_line)}"'
    link = f'<a class="{node.color}" {places}>{label}</a>'
    inner = "".join(map(_node, node.children))
    return f"<li>{link}{f'<ul>{inner}</ul>' if inner else ''}</li>"


def _script(report: Report) -> str:
    """The emitted file's place in the folder, as the tree has it."""
    return report.tree.emitted_line.rpartition(":")[0] or "model.py"


def _sources(tree: Node) -> Iterator[str]:
    """Every file of the source that the tree names, the first one shown."""
    files = list(dict.fromkeys(place.rpartition(":")[0] for place in _places(tree) if place))
    for i, file in enumerate(files):
        path = Path(file)
        if path.is_file():
            yield _file(file, path.read_text("utf-8", errors="replace"), hidden=i > 0)


def _places(node: Node) -> Iterator[str]:
    yield node.source_line
    for child in node.children:
        yield from _places(child)


def _file(name: str, text: str, *, hidden: bool) -> str:
    lines = "".join(f'<span data-n="{i}">{escape(line)}</span>' for i, line in enumerate(text.splitlines(), start=1))
    shown = " hidden" if hidden else ""
    title = escape(Path(name).name)
    return f'<article data-file="{escape(name)}"{shown}><div class="file">{title}</div><pre>{lines}</pre></article>'
