"""One training step as a Cell: normalisation, loss, gradients, update and average, in one graph.

The weights change under a condition on the loss, which costs nothing that can be measured; a second graph for the
update alone made LeNet-5's step twenty times slower (MindSpore 2.10.0, AMD EPYC, 7.0 ms in one, 140 in two).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore import dtype as mstype

from luthier.engines.mindspore.joining import Joint
from luthier.engines.mindspore.optimizers import Rates, Update
from luthier.recipe import Recipe
from luthier.strategy import LossScale, uniform_smoothing

__all__ = ["NOT_LOGITS", "Evaluation", "JointStep", "Loss", "Step"]

NOT_LOGITS = "the network's outputs are not one a class"

follow = ops.MultitypeFuncGraph("follow")


@follow.register("Tensor", "Tensor", "Tensor")
def _follow(share: Tensor, average: Parameter, value: Parameter) -> Tensor:
    return ops.assign(average, average + (value - average) * share)


add = ops.MultitypeFuncGraph("add")


@add.register("Tensor", "Tensor")
def _add(total: Tensor, gradient: Tensor) -> Tensor:
    return total + gradient


multiply = ops.MultitypeFuncGraph("multiply")


@multiply.register("Number", "Tensor")
def _multiply(factor: float, gradient: Tensor) -> Tensor:
    return gradient * factor


shrink = ops.MultitypeFuncGraph("shrink")


@shrink.register("Tensor", "Tensor")
def _shrink(factor: Tensor, gradient: Tensor) -> Tensor:
    return gradient * factor


square = ops.MultitypeFuncGraph("square")


@square.register("Tensor")
def _square(gradient: Tensor) -> Tensor:
    return ops.square(gradient).sum()


overflows = ops.MultitypeFuncGraph("overflows")


@overflows.register("Tensor")
def _overflows(gradient: Tensor) -> Tensor:
    return ops.logical_not(ops.isfinite(gradient)).astype(mstype.float32).sum()


class Top(nn.Cell):
    """A Cell that is called from Python in every step, without what MindSpore does at every call to no end.

    LeNet-5's step takes 6 % more processor time with it (MindSpore 2.10.0, AMD EPYC, median of 40 ratios).
    """

    @property
    def compile_phase(self) -> str | None:
        """What its graph was compiled for; read where a graph is compiled."""
        return self._compile_phase  # type: ignore[no-any-return]

    @compile_phase.setter
    def compile_phase(self, phase: str) -> None:
        """Told to each inner Cell where it is another one."""
        if phase != self._compile_phase:
            nn.Cell.compile_phase.fset(self, phase)

    def _check_construct_args(self, *args: Any) -> None:
        """The engine gives as many as there are."""


class Evaluation(Top):
    """Pixels to logits."""

    def __init__(self, network: nn.Cell, recipe: Recipe) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        mean, std = (np.array(values, np.float64) for values in _normalisation(recipe))
        self.scale = Tensor((1 / (255 * std)).astype(np.float32).reshape(1, -1, 1, 1))
        self.shift = Tensor((-mean / std).astype(np.float32).reshape(1, -1, 1, 1))

    def construct(self, images_BHWC: Tensor) -> Tensor:
        """(x/255 − mean)/std as one product and one sum."""
        x_BCHW = ops.transpose(images_BHWC.astype(mstype.float32), (0, 3, 1, 2)) * self.scale + self.shift
        return self.network(x_BCHW)


def _normalisation(recipe: Recipe) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return recipe.data.normalize.mean, recipe.data.normalize.std


class Loss(nn.Cell):
    """The mean cross-entropy of classes or of rows of weights, smoothed, times the loss scale.

    By few operators: `ops.cross_entropy` is some forty, there and back, and LeNet-5's step takes 9 % more processor
    time with it (MindSpore 2.10.0, AMD EPYC, median of 40 ratios).
    """

    def __init__(self, evaluation: Evaluation, recipe: Recipe, num_classes: int) -> None:
        super().__init__(auto_prefix=False)
        strategy = recipe.strategy
        self.evaluation = evaluation
        self.num_classes = num_classes
        self.smoothing = float(uniform_smoothing(num_classes, strategy.label_smoothing, strategy.smoothing_over))
        self.dynamic = strategy.loss_scale == "dynamic"
        self.loss_scale = 1.0 if strategy.loss_scale == "dynamic" else float(strategy.loss_scale)
        first = LossScale().scale if self.dynamic else self.loss_scale
        self.scale = Parameter(Tensor(first, mstype.float32), name="luthier.loss_scale", requires_grad=False)
        others = self.smoothing / num_classes
        self.own, self.others = (Tensor(share, mstype.float32) for share in (1.0 - self.smoothing + others, others))
        self.log_softmax, self.one_hot, self.sum = ops.LogSoftmax(), ops.OneHot(), ops.ReduceSum()
        self.teacher_weight = strategy.teacher_weight if strategy.teacher else 0.0
        self.temperature = strategy.teacher_temperature

    def construct(self, images_BHWC: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The scaled loss, and the loss."""
        logits = self.evaluation(images_BHWC)
        if logits.shape != (images_BHWC.shape[0], self.num_classes):
            raise ValueError(NOT_LOGITS)
        shares = self.shares(labels[:, : self.num_classes] if self.teacher_weight else labels)
        loss = self.sum(self.log_softmax(logits.astype(mstype.float32)) * shares) * (-1.0 / images_BHWC.shape[0])
        if self.teacher_weight:
            loss = self.taught(loss, logits.astype(mstype.float32), labels[:, self.num_classes :])
        if self.dynamic:
            return loss * self.scale, loss
        return loss * self.loss_scale if self.loss_scale != 1.0 else loss, loss

    def taught(self, loss: Tensor, logits: Tensor, given: Tensor) -> Tensor:
        """The divergence from the teacher at the temperature, whose square keeps its gradients large."""
        own, other = self.log_softmax(logits / self.temperature), self.log_softmax(given / self.temperature)
        apart = self.sum(ops.exp(other) * (other - own)) * (self.temperature**2 / logits.shape[0])
        return loss * (1.0 - self.teacher_weight) + apart * self.teacher_weight

    def shares(self, labels: Tensor) -> Tensor:
        """What each class is worth to the loss, a row for each image."""
        if labels.ndim == 1:
            return self.one_hot(labels, self.num_classes, self.own, self.others)
        return labels * (1.0 - self.smoothing) + self.smoothing / self.num_classes


class Step(Top):
    """Change the weights once; gives the loss and the gradients that the optimizer saw before clipping."""

    def __init__(self, loss: Loss, update: Update, recipe: Recipe, parts: tuple[Any, Any]) -> None:
        super().__init__(auto_prefix=False)
        strategy = recipe.strategy
        self.loss = loss
        self.update = update
        self.accumulate = strategy.accumulate
        self.unscale = 1.0 / loss.loss_scale
        self.dynamic = loss.dynamic
        self.finite = Parameter(Tensor(1.0, mstype.float32), name="luthier.gradients_are_finite", requires_grad=False)
        self.clip_norm = strategy.clip_norm
        self.average, self.followed = parts
        self.averages = bool(strategy.average_decay)
        self.graded = ops.value_and_grad(loss, None, update.parameters, has_aux=True)
        self.each = ops.HyperMap()
        self.partial = ops.Partial()

    def construct(
        self, images: Tensor, labels: Tensor, rate: Tensor, corrected: Tensor, epsilon: Tensor, share: Tensor
    ) -> tuple[Tensor, Any]:
        """A loss that is not finite leaves every weight as it is.

        The rates come one by one: a tuple would be a constant, and every step compiled anew.
        """
        loss, gradients = self.gradients(images, labels)
        rates = (rate, corrected, epsilon)
        if ops.isfinite(loss):
            loss = ops.depend(loss, self.change(gradients, rates, share))
        return loss, gradients

    def gradients(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Any]:
        """The mean over the parts, each weighed by its share of the images."""
        count = images.shape[0]
        size = -(-count // self.accumulate)
        if size == count:
            (_, loss), gradients = self.graded(images, labels)
        else:
            (_, loss), gradients = self.graded(images[:size], labels[:size])
            loss = loss * (size / count)
            gradients = self.each(self.partial(multiply, size / count), gradients)
            for start in range(size, count, size):
                end = min(start + size, count)
                weight = (end - start) / count
                (_, further), more = self.graded(images[start:end], labels[start:end])
                loss = loss + further * weight
                gradients = self.each(add, gradients, self.each(self.partial(multiply, weight), more))
        if self.dynamic:
            gradients = self.each(self.partial(shrink, 1.0 / self.loss.scale), gradients)
        elif self.unscale != 1.0:
            gradients = self.each(self.partial(multiply, self.unscale), gradients)
        return loss, gradients

    def change(self, gradients: Any, rates: Rates, share: Tensor) -> Any:
        """Clip, update, and let the average take a step towards the new weights."""
        if self.clip_norm > 0:
            norm = ops.sqrt(ops.addn(self.each(square, gradients)))
            factor = ops.minimum(self.clip_norm / (norm + 1e-6), Tensor(1.0, mstype.float32))
            gradients = self.each(self.partial(shrink, factor), gradients)
        done = self.update_where_finite(gradients, rates) if self.dynamic else self.update(gradients, rates)
        if self.averages:
            share = ops.depend(share, done)
            return self.each(self.partial(follow, share), self.average, self.followed)
        return done

    def update_where_finite(self, gradients: Any, rates: Rates) -> Tensor:
        """An overflow under a dynamic loss scale changes no weight, and is left for the host to see."""
        finite = ops.addn(self.each(overflows, gradients)) == 0
        done = ops.assign(self.finite, finite.astype(mstype.float32))
        if finite:
            done = ops.depend(done, self.update(gradients, rates))
        return done


class JointStep(Step):
    """The same of several ranks together; in the loss's place stand the losses of all, and how many ask to stop."""

    def __init__(self, loss: Loss, update: Update, recipe: Recipe, parts: tuple[Any, Any], joint: Joint) -> None:
        super().__init__(loss, update, recipe, parts)
        self.joint = joint

    def construct(  # type: ignore[override]
        self,
        images: Tensor,
        labels: Tensor,
        rate: Tensor,
        corrected: Tensor,
        epsilon: Tensor,
        share: Tensor,
        asks: Tensor,
    ) -> tuple[Tensor, Any]:
        """Nothing after the sums differs between ranks, and so neither do the weights."""
        loss, gradients = self.gradients(images, labels)
        gradients, loss, told = self.joint(gradients, loss, asks)
        rates = (rate, corrected, epsilon)
        if ops.isfinite(loss):
            told = ops.depend(told, self.change(gradients, rates, share))
        return told, gradients
