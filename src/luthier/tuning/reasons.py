"""Why a trial did not come to its end: each sentence once, as the journal has it and as a Chinese report tells it."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["REASONS", "alike", "in_chinese", "reason"]

REASONS: dict[str, tuple[str, str]] = {
    "worse": ("worse than the others at this point", "此时不如其他试验"),
    "misses": ("{metric} {value} misses {requirement}", "{metric} 为 {value}，不满足 {requirement}"),
    "covered": (
        "trial {other} has {cap} % already, and is neither larger nor slower",
        "试验 {other} 已达到 {cap} %，而且既不更大也不更慢",
    ),
    "bound": (
        "{size} MB and {latency} ms leave a score of {bound} even at {cap} %, and trial {other} has {score}",
        "{size} MB 和 {latency} ms 使得分即使在 {cap} % 时也只有 {bound}，而试验 {other} 已有 {score}",
    ),
    "hung": ("it hung: no sign of life for {seconds} s", "卡住了：{seconds} s 没有任何动静"),
    "memory": ("out of memory", "内存不足"),
    "killed": (
        "its process was killed: out of memory, or by hand",
        "它的进程被杀死：内存不足，或有人动手",
    ),
    "signal": ("its process ended by {signal}", "它的进程因 {signal} 结束"),
    "exit": ("its process ended with exit code {code}", "它的进程以退出码 {code} 结束"),
    "actor": ("its actor is gone: {error}", "它的 actor 不在了：{error}"),
    # What the training and the networks say themselves.
    "gradient": (
        "The loss is {loss} at step {step}, learning rate {rate}; the first gradient that is not finite: {parameter}",
        "损失在第 {step} 步成为 {loss}，学习率 {rate}；第一个非有限的梯度：{parameter}",
    ),
    "loss": (
        "The loss is {loss} at step {step}, learning rate {rate}",
        "损失在第 {step} 步成为 {loss}，学习率 {rate}",
    ),
    "image": (
        "lenet5 runs out of image at {layer} with its kernel of {kernel}: {left} is left of {whole} - at {place}",
        "lenet5 在 {layer} 处图像用尽，卷积核为 {kernel}：{whole} 只剩下 {left}（{place}）",
    ),
}


def reason(key: str, /, **values: object) -> str:
    """In English."""
    return REASONS[key][0].format(**values)


def alike(text: str) -> str:
    """The same for reasons that differ in their numbers alone."""
    found = _found(text)
    return found[0] if found else _first_line(text)


def in_chinese(text: str) -> str:
    """A reason; whatever else a program had to say stays as it is."""
    found = _found(text)
    return REASONS[found[0]][1].format(**found[1]) if found else _first_line(text)


def _found(text: str) -> tuple[str, dict[str, str]] | None:
    for key, pattern in _patterns().items():
        if match := pattern.fullmatch(_first_line(text)):
            return key, match.groupdict()
    return None


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {
        key: re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(english)))
        for key, (english, _) in REASONS.items()
    }
