"""“Exactly the course”: what the shipped recipes say, down to the numbers that come out of them."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import numpy as np
import pytest

from luthier import strategy, zoo
from luthier.data import Part, Source, open_data
from luthier.recipe import (
    CenterCrop,
    Cosine,
    Momentum,
    ParameterGroup,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Recipe,
    Resize,
    Square,
    differences,
    load,
    shipped,
    shipped_text,
)
from luthier.strategy import ParameterInfo

NAMES = (
    "lenet5-cifar10",
    "lenet5-cifar10-1.0",
    "lenet5-digits",
    "lenet5-mnist",
    "resnet50-cifar10",
    "resnet50-imagenet",
)
EPOCH = 50_000 // 32


def changed(first: Recipe, second: Recipe) -> set[str]:
    return set(differences([first, second])) - {"name"}


def test_these_recipes_are_shipped() -> None:
    assert set(NAMES) <= set(shipped())


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_reads_and_says_its_origin_and_its_deviations(name: str) -> None:
    assert load(name).name == name
    comment = shipped_text(name).partition("\n\n")[0]
    assert all(line.startswith("#") for line in comment.splitlines())
    assert "Origin: " in comment
    assert "Deviations" in comment


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_s_network_can_be_built_for_its_images(name: str) -> None:
    recipe = load(name)
    channels = len(recipe.data.normalize.mean)
    options = recipe.model.options | ({"width": 0.125} if recipe.model.name.startswith("resnet") else {})
    model = type(recipe.model)(name=recipe.model.name, init=recipe.model.init, options=options)
    assert zoo.build(model, shape=(32, 32, channels), num_classes=10)


def cifar_sized() -> Source:
    """Fifty thousand black images to train on and ten thousand to evaluate."""

    def part(count: int) -> Part:
        return Part(images=np.zeros((count, 32, 32, 3), np.uint8), labels=np.arange(count, dtype=np.int32) % 10)

    return Source(name="cifar10", classes=tuple("abcdefghij"), train=part(50_000), eval=part(10_000))


def test_an_epoch_of_the_course_has_1562_steps_and_evaluation_sees_every_image() -> None:
    recipe = load("lenet5-cifar10")
    data = open_data(recipe.data, seed=1, source=cifar_sized())
    assert (data.train.steps, data.train.samples, data.eval.samples) == (1562, 1562 * 32, 10_000)
    assert strategy.total_steps(recipe.strategy, data.train.steps) == 78_100


def test_the_course_s_evaluation_sees_312_whole_batches() -> None:
    data = open_data(load("lenet5-cifar10-1.0").data, seed=1, source=cifar_sized())
    assert (data.eval.steps, data.eval.samples) == (312, 9984)


def test_the_baseline_is_the_default_recipe_written_out() -> None:
    assert changed(load("lenet5-cifar10"), Recipe()) == set()


def test_the_baseline_is_the_course_s() -> None:
    recipe = load("lenet5-cifar10")
    assert recipe.data.train == (RandomCrop(padding=4), RandomFlip(probability=0.5))
    assert recipe.data.eval == ()
    assert recipe.strategy.epochs == 50
    assert recipe.strategy.learning_rate == 0.01
    assert recipe.strategy.optimizer == Momentum(momentum=0.9, weight_decay=0.0)
    assert recipe.strategy.schedule == Cosine(warmup_epochs=0, end=0.0, start="run", staircase=False)


def test_the_two_normalisations_are_each_other_s_reverse() -> None:
    ours, course = load("lenet5-cifar10").data.normalize, load("lenet5-cifar10-1.0").data.normalize
    assert course.mean == (0.4465, 0.4822, 0.4914) == ours.mean[::-1]
    assert course.std == (0.2010, 0.1994, 0.2023) == ours.std[::-1]


def test_1_0_puts_back_three_things_and_no_more() -> None:
    course = load("lenet5-cifar10-1.0")
    assert {path.rpartition(".")[0] if "normalize" in path else path for path in changed(course, Recipe())} == {
        "data.normalize",
        "data.eval_limit",
        "model.init",
    }
    assert course.data.eval_limit == 9984 == 10_000 // 32 * 32
    assert course.model.init == "normal"


def test_1_0_draws_the_weights_from_a_normal_distribution_of_0_01() -> None:
    module = zoo.build(load("lenet5-cifar10-1.0").model, shape=(32, 32, 3), num_classes=10)
    weights = np.concatenate([v.detach().numpy().ravel() for k, v in module.named_parameters() if k.endswith("weight")])
    biases = np.concatenate([v.detach().numpy().ravel() for k, v in module.named_parameters() if k.endswith("bias")])
    assert len(weights) + len(biases) == 61_984
    assert weights.std() == pytest.approx(0.01, rel=0.01)
    assert not biases.any()


def test_resnet50_on_cifar10_is_the_course_s() -> None:
    recipe = load("resnet50-cifar10")
    assert recipe.data.batch_size == 32
    assert recipe.data.train == (RandomCrop(padding=4), RandomFlip())
    assert recipe.strategy.epochs == 90
    assert recipe.strategy.learning_rate == 0.1
    assert recipe.strategy.schedule == Square(warmup_epochs=5, lr_init=0.01)
    assert recipe.strategy.precision == "float32"
    assert recipe.strategy.loss_scale == 1.0
    rates = strategy.learning_rates(recipe.strategy, EPOCH)
    assert (rates[0], rates[5 * EPOCH]) == (np.float32(0.01), np.float32(0.1))
    assert rates[(5 + 90) // 2 * EPOCH] == pytest.approx(0.1 * (1 - 42 / 85) ** 2)


def test_the_original_of_resnet50_on_cifar10_is_an_option_away() -> None:
    sets = [
        line.strip("# \n") for line in shipped_text("resnet50-cifar10").splitlines() if line.startswith("#     --set")
    ]
    overrides = [part.strip(" '") for line in sets for part in line.split("--set") if part.strip()]
    recipe = load("resnet50-cifar10", overrides)
    assert recipe.strategy.precision == "float16"
    assert recipe.strategy.loss_scale == 1024
    assert recipe.data.train == (RandomCrop(), RandomFlip(), Resize(size=224))
    assert recipe.data.eval == (Resize(size=224),)


def test_resnet50_on_cifar10_decays_what_mindspore_decays() -> None:
    optimizer = load("resnet50-cifar10").strategy.optimizer
    network = [
        ParameterInfo(name="conv1.weight", shape=(64, 3, 7, 7)),
        ParameterInfo(name="bn1.weight", shape=(64,), kind="norm"),
        ParameterInfo(name="fc.bias", shape=(10,), kind="bias"),
    ]
    decays = {name: group.weight_decay for group in strategy.groups(optimizer, network) for name in group.names}
    assert decays == {"conv1.weight": 1e-4, "bn1.weight": 0.0, "fc.bias": 1e-4}


def test_resnet50_on_imagenet_is_the_migration_guide_s() -> None:
    recipe = load("resnet50-imagenet")
    assert recipe.data.train == (RandomResizedCrop(size=224), RandomFlip())
    assert recipe.data.eval == (Resize(size=256), CenterCrop(size=224))
    assert recipe.data.normalize.mean == (0.485, 0.456, 0.406)
    assert recipe.data.normalize.std == (0.229, 0.224, 0.225)
    assert recipe.data.batch_size == 256
    assert (recipe.model.init, recipe.model.init_dense) == ("xavier-uniform", "truncated-normal")
    assert recipe.strategy.epochs == 90
    assert recipe.strategy.learning_rate == 0.256
    assert recipe.strategy.optimizer == Momentum(momentum=0.875, weight_decay=1 / 32768, decay_norm_and_bias=False)
    assert recipe.strategy.schedule == Cosine(end=0.0, staircase=True)
    assert (recipe.strategy.label_smoothing, recipe.strategy.smoothing_over) == (0.1, "others")
    assert strategy.label_weights(1000, 0.1, recipe.strategy.smoothing_over) == (0.9, 0.1 / 999)


def test_the_digits_are_trained_without_a_flip_in_one_channel() -> None:
    recipe = load("lenet5-digits")
    assert recipe.data.train == (RandomCrop(padding=2),)
    module = zoo.build(recipe.model, shape=(32, 32, 1), num_classes=10)
    assert sum(parameter.numel() for parameter in module.parameters()) == 61_684


def test_no_recipe_writes_a_field_that_it_does_not_mean() -> None:
    """A pattern in a recipe must match a parameter of its network."""
    for name in NAMES:
        recipe = load(name)
        if recipe.strategy.optimizer.groups:
            assert recipe.strategy.optimizer.groups == (ParameterGroup(match="fc.bias", weight_decay=1e-4),)
            assert recipe.model.name == "resnet50"


def test_every_recipe_is_plain_toml_beside_its_package() -> None:
    for item in files("luthier.recipes").iterdir():
        if item.name.endswith(".toml"):
            assert tomllib.loads(item.read_text("utf-8"))
