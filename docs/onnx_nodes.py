"""ONNX's node tests, from what `python -m benchmarks.onnx_nodes` wrote."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

from docs.tables import code, table
from docs.words import Language

__all__ = ["node_summary", "node_table"]

RECORD = Path(__file__).with_name("onnx_nodes.json")
PASS = "pass"
HEADS = {"en": ["operator", "cases", "pass", "what the others say"], "zh": ["算子", "用例", "通过", "其余用例的说明"]}
SUMMARY = {
    "en": "{passed} of {total} cases pass (onnx {onnx}, MindSpore {mindspore}, PYNATIVE mode on a CPU): {plain} of "
    "{plain_total} that have the operator itself, {written} of {written_total} in which it is written out by others.",
    "zh": "{total} 个用例中通过 {passed} 个（onnx {onnx}，MindSpore {mindspore}，CPU 上的 PYNATIVE 模式）："
    "算子本身的用例 {plain_total} 个通过 {plain} 个，由其他算子写出的用例 {written_total} 个通过 {written} 个。",
}
NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")


def node_summary(language: Language) -> str:
    """How many pass."""
    record = json.loads(RECORD.read_text("utf-8"))
    passed: Counter[bool] = Counter()
    total: Counter[bool] = Counter()
    for name, (_, told) in record["cases"].items():
        expanded = "_expanded" in name
        total[expanded] += 1
        passed[expanded] += told == PASS
    return SUMMARY[language].format(
        passed=passed.total(),
        total=total.total(),
        plain=passed[False],
        plain_total=total[False],
        written=passed[True],
        written_total=total[True],
        onnx=record["onnx"],
        mindspore=record["mindspore"],
    )


def node_table(language: Language) -> str:
    """A row an operator; the reasons as the program tells them, figures left out."""
    record = json.loads(RECORD.read_text("utf-8"))
    cases: defaultdict[str, list[str]] = defaultdict(list)
    for operator, told in record["cases"].values():
        cases[operator].append(told)
    rows = []
    for operator in sorted(cases):
        found = cases[operator]
        reasons = Counter(NUMBER.sub("…", told) for told in found if told != PASS)
        said = "; ".join(f"{code(told)} ({count})" for told, count in sorted(reasons.items()))
        rows.append([code(operator), str(len(found)), str(found.count(PASS)), said])
    return table([HEADS[language], *rows])
