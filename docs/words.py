"""The words of the generated tables, and what the manual says of a field that has no comment in the program."""

from __future__ import annotations

from typing import Literal

from docs.chinese import CHINESE

__all__ = ["ADDED", "HEADS", "ITEMS", "TABLES", "TYPES", "Language", "said", "unsaid"]

Language = Literal["en", "zh"]

HEADS: dict[Language, dict[str, list[str]]] = {
    "en": {
        "commands": ["argument or option", "value", "default", "meaning"],
        "events": ["event", "method", "carries", "when"],
        "fields": ["field", "type", "limits", "default", "meaning"],
        "initializers": ["name", "draws from"],
        "kinds": ["name", "what it does", "options of its own"],
        "options": ["option", "type", "default"],
        "packages": ["package", "what it is for"],
        "result": ["field", "type", "meaning"],
        "schedules": ["name", "formula", "what it does", "options of its own"],
    },
    "zh": {
        "commands": ["参数或选项", "取值", "默认值", "含义（程序内的英文说明）"],
        "events": ["事件", "方法", "携带", "时机"],
        "fields": ["字段", "类型", "范围", "默认值", "含义"],
        "initializers": ["名称", "取自"],
        "kinds": ["名称", "作用", "自己的选项"],
        "options": ["选项", "类型", "默认值"],
        "packages": ["包", "用途"],
        "result": ["字段", "类型", "含义"],
        "schedules": ["名称", "公式", "作用", "自己的选项"],
    },
}

TYPES: dict[Language, dict[str, str]] = {
    "en": {
        "bool": "`true` · `false`",
        "int": "whole number",
        "float": "number",
        "str": "text",
        "list": "list of {}",
        "tuple": "list of {} numbers",
        "table": "table",
        "or": ", or ",
        "none": ", or left out",
        "null": ", or `null`",
        "not empty": "not empty",
        "required": "required",
    },
    "zh": {
        "bool": "`true` · `false`",
        "int": "整数",
        "float": "数",
        "str": "文本",
        "list": "{}列表",
        "tuple": "{} 个数的列表",
        "table": "表",
        "or": "，或",
        "none": "，或不写",
        "null": "，或 `null`",
        "not empty": "不可为空",
        "required": "必填",
    },
}

ITEMS: dict[Language, dict[str, str]] = {
    "en": {"StrType": "texts", "FloatType": "numbers", "IntType": "whole numbers"},
    "zh": {"StrType": "文本", "FloatType": "数的", "IntType": "整数"},
}
TABLES: dict[Language, str] = {"en": "tables", "zh": "表的"}

ADDED = {
    "Result.engine": "that trained",
    "Result.mode": "eager or graph",
    "Result.device": "that trained",
    "Result.status": "how the run stands",
    "Result.latency_ms": "of one image",
    "Result.latency": "how it was taken",
    "Result.score": "by the recipe's weights",
    "Result.train_seconds": "of all processes of the run together, evaluation included",
    "Latency.runtime": "that ran the network",
    "Latency.batch": "images at once",
    "Latency.warmup": "runs before those that count",
    "Latency.runs": "runs that count",
    "Latency.statistic": "of those",
    "Latency.device": "that ran the network",
}

_unsaid: dict[str, None] = {}


def said(sentence: str, language: Language) -> str:
    """The sentence in the language; one without Chinese stays English and is remembered."""
    if language == "en" or not sentence:
        return sentence
    if sentence not in CHINESE:
        _unsaid[sentence] = None
    return CHINESE.get(sentence, sentence)


def unsaid() -> list[str]:
    """The sentences that a Chinese page had to show in English so far."""
    return list(_unsaid)
