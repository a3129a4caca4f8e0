"""The public architectures, from what `python -m benchmarks.architectures` wrote."""

from __future__ import annotations

import json
from pathlib import Path

from docs.tables import code, table
from docs.words import Language

__all__ = ["architecture_table"]

MEASURED = Path(__file__).with_name("architectures.json")
HEADS = {
    "en": ["network", "from", "parameters", "operators", "ported", "composed", "refused", "greatest error", "verdict"],
    "zh": ["网络", "来自", "参数量", "算子", "已移植", "组合", "被拒绝", "最大误差", "结论"],
}
VERDICTS = {
    "en": {
        "proven": "proven",
        "not proven": "not proven",
        "refused": "refused in part",
        "not ported": "not ported",
        "crashed": "failed",
        "too slow": "too slow",
    },
    "zh": {
        "proven": "已证明",
        "not proven": "未证明",
        "refused": "部分被拒绝",
        "not ported": "未移植",
        "crashed": "失败",
        "too slow": "太慢",
    },
}


def architecture_table(language: Language) -> str:
    """A row a network; its greatest error is a share of what is allowed there."""
    rows = [
        [
            code(item["name"]),
            item["library"],
            f"{item['parameters']:,}" if item["parameters"] else "",
            str(item["operators"] or ""),
            str(item["ported"]),
            str(item["composed"]),
            str(item["refused"]),
            f"{item['share']:.0%}" if item["share"] is not None else "",
            VERDICTS[language][item["verdict"]],
        ]
        for item in json.loads(MEASURED.read_text("utf-8"))["architectures"]
    ]
    return table([HEADS[language], *rows])
