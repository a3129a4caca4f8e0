"""The report's sentences in both languages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from luthier.tuning.reasons import in_chinese

__all__ = ["NONE", "Language", "Words", "signed", "value_text"]

NONE = "–"

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
    "gain": ("The winner's score is {gain} against the baseline's.", "优胜者的得分比基线 {gain}。"),
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
        "{n} trials were never trained, because size and latency alone ruled them out. The largest of them: {why}.",
        "{n} 次试验没有训练，因为仅凭大小和时延就已出局。其中最大的一个：{why}。",
    ),
    "front": ("The front", "前沿"),
    "front says": (
        "No other trial beats these in accuracy, size and latency at once. Accuracy is on the validation part.",
        "没有其他试验在准确率、大小和时延上同时胜过它们。准确率在验证部分上得到。",
    ),
    "front columns": (
        "trial|accuracy (%)|size (MB)|latency (ms)|score|changes",
        "试验|准确率 (%)|大小 (MB)|时延 (ms)|得分|改动",
    ),
    "itself": ("the recipe itself", "配方本身"),
    "picture": (
        "Accuracy on the validation part against size; the colour is the latency, the front is joined, the best score "
        "is ringed.",
        "验证部分上的准确率（纵轴）与大小（横轴）；颜色为时延，前沿用线相连，得分最高者画圈。",
    ),
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
        "Measured by ablation: each change of the winner put back by itself, and what its model kept for once changed, "
        "one training each, judged on the validation part. The figures are what the winner gains by the second value "
        "in place of the first. {noise}",
        "由消融实验测得：优胜者的每个改动单独还原，模型保持不变之处则单独换一个值，各训练一次，在验证部分上评判。"
        "数字是优胜者用后一个值代替前一个值所得到的。{noise}",
    ),
    "noise": (
        "A difference below {points:.2f} points of accuracy may be chance.",
        "小于 {points:.2f} 个百分点的差异可能只是偶然。",
    ),
    "effects columns": (
        "field|from|to|accuracy (points)|size (MB)|latency (ms)|score",
        "字段|由|改为|准确率（百分点）|大小 (MB)|时延 (ms)|得分",
    ),
    "together": ("all changes together", "全部改动合在一起"),
    "kept value": ("{value} (kept)", "{value}（未改）"),
    "raised": ("Raised the score: {fields}.", "提高了得分：{fields}。"),
    "lowered": ("Lowered the score: {fields}.", "降低了得分：{fields}。"),
    "by chance": (
        "Changed the score by no more than chance may: {fields}.",
        "对得分的影响不超过偶然：{fields}。",
    ),
    "unchanged": ("Did not change the score: {fields}.", "没有改变得分：{fields}。"),
    "kept": ("Left as they were: {fields}.", "保持不变：{fields}。"),
    "no effects": ("Nothing was changed here, or no ablation was trained.", "这里没有改动，或没有训练消融实验。"),
    "tried": ("What was tried", "试过什么"),
    "state finished": ("trained to the end", "训练到底"),
    "state paused": ("paused, worse than the best third so far", "暂停，暂未进入前三分之一"),
    "state stopped": ("stopped, worse than the others", "停止，不如其他试验"),
    "state skipped": ("never trained", "没有训练"),
    "state failed": ("failed", "失败"),
    "state running": ("broken off, to go on with", "中断，可继续"),
    "tried columns": ("how it ended|trials", "结局|试验数"),
    "space columns": ("field|could be|was|best", "字段|范围|试过|最优"),
    "between": ("{low} to {high}", "{low} 到 {high}"),
    "between log": ("{low} to {high}, by its logarithm", "{low} 到 {high}，按对数"),
    "values between": ("{n} values from {low} to {high}", "{n} 个值，{low} 到 {high}"),
    "only where": ("{text}; only where {conditions}", "{text}；仅当 {conditions}"),
    "why failed": ("Why trials failed", "试验为何失败"),
    "failed columns": ("reason|trials", "原因|试验数"),
    "best": ("The best recipe", "最优配方"),
    "train it": ("Train it with: luthier train {path}", "训练它：luthier train {path}"),
}


FIELDS = {
    "model.name": "网络",
    "model.options.depth": "深度",
    "model.options.width": "宽度",
    "model.options.kernel": "卷积核",
    "model.options.padding": "填充",
    "model.options.pooling": "池化",
    "model.options.last_pooling": "末端池化",
    "model.options.activation": "激活函数",
    "model.options.dense_activation": "全连接层激活函数",
    "model.options.normalisation": "归一化",
    "model.options.bypass": "旁路",
    "model.options.residual": "残差",
    "model.options.dropout": "随机失活",
    "model.options.dense": "全连接层",
    "model.options.stem": "首层",
    "model.options.reduction": "缩小方式",
    "model.options.zero_last": "末端归一化从零起",
    "strategy.epochs": "轮数",
    "strategy.learning_rate": "学习率",
    "strategy.optimizer": "优化器",
    "strategy.optimizer.momentum": "动量",
    "strategy.optimizer.weight_decay": "权重衰减",
    "strategy.schedule": "学习率曲线",
    "strategy.label_smoothing": "标签平滑",
    "strategy.average_decay": "权重平均",
    "strategy.mixup": "mixup",
    "strategy.cutmix": "cutmix",
    "data.batch_size": "批大小",
    "data.train": "数据增强",
}
"""What the fields of the ready spaces are called in Chinese."""


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

    def reason(self, text: str) -> str:
        """Why a trial did not come to its end."""
        return in_chinese(text) if self._index else text.partition("\n")[0]

    def field(self, path: str) -> str:
        """By its path, which is what a recipe calls it; in Chinese by its name besides."""
        return f"{FIELDS[path]} {path}" if self._index and path in FIELDS else path

    def name(self, path: str) -> str:
        """Within a sentence: by one of the two."""
        return FIELDS.get(path, path) if self._index else path

    def list(self, items: Iterable[str]) -> str:
        """One after the other."""
        return ("；" if self._index else ", ").join(items)


def value_text(value: Any) -> str:
    """As a recipe has it, numbers to four digits."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(value_text, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def signed(value: float, digits: int) -> str:
    """With its sign, which zero has not."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text[1:]
