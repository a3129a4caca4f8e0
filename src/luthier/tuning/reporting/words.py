"""The report's sentences in both languages."""

from __future__ import annotations

from typing import Literal

__all__ = ["Language", "Words"]

Language = Literal["en", "zh"]

SENTENCES: dict[str, tuple[str, str]] = {
    "title": ("Study of {name}", "{name} 的调优研究"),
    "summary": (
        "{trials} trials in {time} with {workers} workers; searcher {searcher}, scheduler {scheduler}.",
        "{trials} 次试验，用时 {time}，{workers} 个工作进程；搜索器 {searcher}，调度器 {scheduler}。",
    ),
    "result": ("Baseline and winner", "基线与优胜者"),
    "columns": (
        "network|batch size|epochs|learning rate|decay type|optimizer|parameters (M)|latency (ms)|accuracy (%)|"
        "size (MB)|score",
        "网络|批大小|轮数|学习率|衰减方式|优化器|参数量 (M)|时延 (ms)|准确率 (%)|大小 (MB)|得分",
    ),
    "seeds": (
        "Accuracy is the mean ± standard deviation over {n} seeds, on the evaluation set, which nothing else touched.",
        "准确率是 {n} 个种子的平均值 ± 标准差，在评估集上得到；除此之外没有任何环节接触过评估集。",
    ),
    "one seed": ("Accuracy is of one training, on the evaluation set.", "准确率来自一次训练，在评估集上得到。"),
    "validation only": (
        "There was no final training: accuracy is of one trial on the validation part.",
        "没有做最终训练：准确率来自一次试验，在验证部分上得到。",
    ),
    "no best": ("No trial has come to its end with all that is required.", "还没有试验满足全部要求并训练到底。"),
    "gain": ("The winner's score is {gain:+.2f} against the baseline's.", "优胜者的得分比基线 {gain:+.2f}。"),
    "weights": ("What the score's weights mean", "得分的权重意味着什么"),
    "rates": (
        "Score = {a:g}·accuracy − {s:g}·size − {l:g}·latency. A point of accuracy is worth {mb:.2f} MB or {ms:.2f} ms.",
        "得分 = {a:g}·准确率 − {s:g}·大小 − {l:g}·时延。一个百分点的准确率相当于 {mb:.2f} MB 或 {ms:.2f} ms。",
    ),
    "resnet50": (
        "On ten classes ResNet-50's weights in float32 take 94.1 MB, which alone costs {cost:.1f} points of score: "
        "even at 100 % it would have {bound:.1f}, latency not counted.",
        "ResNet-50 在十个类别上的 float32 权重占 94.1 MB，单这一项就要扣 {cost:.1f} 分：即使准确率 100 %，"
        "不计时延也只有 {bound:.1f} 分。",
    ),
    "skipped": (
        "{n} trials were never trained: their size and latency alone ruled them out; the largest of them: {why}.",
        "{n} 次试验没有训练，因为仅凭大小和时延就已出局；其中最大的一个：{why}。",
    ),
    "front": ("The front", "前沿"),
    "front says": (
        "No other trial beats these in accuracy, size and latency at once. Accuracy is on the validation part.",
        "没有其他试验在准确率、大小和时延上同时胜过它们。准确率在验证部分上得到。",
    ),
    "front columns": (
        "trial|accuracy (%)|size (MB)|latency (ms)|score|values",
        "试验|准确率 (%)|大小 (MB)|时延 (ms)|得分|取值",
    ),
    "picture": (
        "Accuracy against size; the front is joined, the best is marked",
        "准确率与大小；前沿用线相连，最优者有标记",
    ),
    "size axis": ("size (MB)", "size (MB)"),
    "mattered": ("What mattered", "什么起作用"),
    "mattered says": (
        "The share of the differences in score at epoch {epoch} that each field explains by itself, over all trials.",
        "在所有试验中，各字段单独解释了第 {epoch} 轮得分差异的多少。",
    ),
    "mattered columns": ("field|share of the variance", "字段|方差占比"),
    "too few": ("Too few trials for a statement.", "试验太少，无法下结论。"),
    "model": ("Summary: what each change of the model did", "总结：模型的每个改动起了什么作用"),
    "training": ("Summary: what each change of the training did", "总结：训练的每个改动起了什么作用"),
    "effects says": (
        "Measured by putting each change of the winner back by itself, one training each, on the validation part: what "
        "the winner gains by the change. {noise}",
        "把优胜者的每个改动单独还原，各训练一次，在验证部分上测得：优胜者因这一改动得到了什么。{noise}",
    ),
    "noise": (
        "A difference below {points:.2f} points of accuracy may be chance.",
        "小于 {points:.2f} 个百分点的差异可能只是偶然。",
    ),
    "effects columns": (
        "field|from|to|accuracy (points)|size (MB)|latency (ms)|score",
        "字段|由|改为|准确率（百分点）|大小 (MB)|时延 (ms)|得分",
    ),
    "no effects": ("Nothing was changed here, or no ablation was trained.", "这里没有改动，或没有训练消融实验。"),
    "tried": ("What was tried", "试过什么"),
    "state finished": ("trained to the end", "训练到底"),
    "state paused": ("paused, worse than the best third so far", "暂停，暂未进入前三分之一"),
    "state stopped": ("stopped, worse than the others", "停止，不如其他试验"),
    "state skipped": ("never trained", "没有训练"),
    "state failed": ("failed", "失败"),
    "state running": ("broken off, to go on with", "中断，可继续"),
    "tried columns": ("how it ended|trials", "结局|试验数"),
    "why failed": ("Why trials failed", "试验为何失败"),
    "failed columns": ("reason|trials", "原因|试验数"),
    "best": ("The best recipe", "最优配方"),
    "train it": ("Train it with: luthier train {path}", "训练它：luthier train {path}"),
}


class Words:
    """In one language."""

    def __init__(self, language: Language) -> None:
        self._index = 1 if language == "zh" else 0

    def say(self, sentence: str, /, **values: object) -> str:
        """A sentence with its values."""
        return SENTENCES[sentence][self._index].format(**values)

    def heads(self, name: str) -> list[str]:
        """A table's head."""
        return SENTENCES[name][self._index].split("|")
