from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from luthier.errors import RecipeError
from luthier.recipe import (
    Adam,
    Cosine,
    RandomCrop,
    RandomFlip,
    Recipe,
    differences,
    json_schema,
    load,
    override,
    parse,
    read,
    shipped,
    to_toml,
)


def fault(text: str, *overrides: str) -> str:
    with pytest.raises(RecipeError) as caught:
        parse(text, place="lenet5.toml", overrides=overrides)
    return str(caught.value)


class TestDefaults:
    def test_an_empty_recipe_is_the_documented_one(self) -> None:
        recipe = parse("", place="x.toml", name="x")
        assert (recipe.name, recipe.engine, recipe.mode, recipe.device) == ("x", "auto", "eager", "auto")
        assert (recipe.data.name, recipe.data.batch_size, recipe.data.drop_remainder) == ("cifar10", 32, True)
        assert recipe.data.normalize.mean == (0.4914, 0.4822, 0.4465)
        assert recipe.data.normalize.std == (0.2023, 0.1994, 0.2010)
        assert recipe.data.train == (RandomCrop(padding=4), RandomFlip())
        assert (recipe.strategy.epochs, recipe.strategy.learning_rate, recipe.strategy.seed) == (50, 0.01, 1)
        assert recipe.strategy.schedule == Cosine(warmup_epochs=0, lr_init=0.0, end=0.0)
        assert (recipe.checkpoint.every_epochs, recipe.checkpoint.keep, recipe.record.every_steps) == (1, 5, 50)
        score = recipe.score
        assert (score.accuracy, score.size, score.latency) == (0.50, 0.35, 0.15)
        assert (score.runtime, score.threads, score.warmup, score.runs, score.statistic) == (
            *("onnxruntime", 1, 5, 100, "median"),
        )

    def test_every_default_is_written_out(self) -> None:
        text = to_toml(Recipe(name="x"))
        assert "[strategy.optimizer]" in text
        assert "momentum = 0.9" in text
        assert "patience = 0" in text

    @pytest.mark.parametrize("name", shipped())
    def test_a_shipped_recipe_comes_back_from_its_written_form(self, name: str, tmp_path: Path) -> None:
        recipe = load(name)
        (tmp_path / "again.toml").write_text(to_toml(recipe))
        assert read(tmp_path / "again.toml") == recipe

    @pytest.mark.parametrize("name", shipped())
    def test_a_shipped_recipe_fits_the_published_schema(self, name: str) -> None:
        schema = json_schema()
        properties = schema["$defs"]["Recipe"]["properties"]
        assert set(msgspec.to_builtins(load(name))) <= set(properties)

    @pytest.mark.parametrize(
        "section", ["Recipe", "Data", "Model", "Strategy", "Checkpoint", "Record", "Stop", "Score"]
    )
    def test_an_editor_shows_what_each_field_means(self, section: str) -> None:
        fields = json_schema()["$defs"][section]["properties"]
        assert [name for name, field in fields.items() if not field.get("description")] == []


class TestOverrides:
    @pytest.mark.parametrize(
        ("text", "field", "value"),
        [
            ("strategy.epochs=3", "epochs", 3),
            ("strategy.learning_rate=1e-3", "learning_rate", 1e-3),
            ("strategy.precision=bfloat16", "precision", "bfloat16"),
            ("strategy.precision = 'bfloat16'", "precision", "bfloat16"),
        ],
    )
    def test_a_field_is_set_from_toml_or_from_plain_text(self, text: str, field: str, value: object) -> None:
        assert getattr(parse("", place="x", overrides=[text]).strategy, field) == value

    def test_another_optimizer_keeps_what_it_shares_and_drops_the_rest(self) -> None:
        text = "[strategy.optimizer]\nname = 'momentum'\nmomentum = 0.8\nweight_decay = 0.1"
        recipe = parse(text, place="x", overrides=["strategy.optimizer.name=adam"])
        assert recipe.strategy.optimizer == Adam(weight_decay=0.1)

    def test_a_file_may_begin_with_a_mark_of_its_byte_order(self, tmp_path: Path) -> None:
        (tmp_path / "windows.toml").write_bytes("\ufeffname = 'notepad'\r\n[strategy]\r\nepochs = 3\r\n".encode())
        recipe = read(tmp_path / "windows.toml")
        assert (recipe.name, recipe.strategy.epochs) == ("notepad", 3)

    def test_a_schedule_that_is_wrong_in_the_file_may_be_set_right(self) -> None:
        recipe = parse("strategy = { schedule = 'square' }", place="x", overrides=["strategy.schedule=constant"])
        assert type(recipe.strategy.schedule).__name__ == "Constant"

    def test_a_schedule_s_name_is_a_text(self) -> None:
        with pytest.raises(RecipeError, match=r"at strategy\.schedule"):
            parse("", place="x", overrides=["strategy.schedule.name=[1]"])

    def test_a_schedule_may_be_named_directly(self) -> None:
        recipe = parse("", place="x", overrides=["strategy.schedule=constant"])
        assert type(recipe.strategy.schedule).__name__ == "Constant"

    def test_an_item_of_a_list_is_set_by_its_position(self) -> None:
        recipe = parse("[data]\ntrain = [{name = 'random-crop'}]", place="x", overrides=["data.train.0.padding=2"])
        assert recipe.data.train == (RandomCrop(padding=2),)

    def test_overriding_a_recipe_checks_it_again(self) -> None:
        with pytest.raises(RecipeError, match="shorter than the run's 2 epochs"):
            override(Recipe(), ["strategy.epochs=2", "strategy.schedule.warmup_epochs=5"])

    def test_the_order_of_overrides_counts(self) -> None:
        assert override(Recipe(), ["strategy.epochs=2", "strategy.epochs=3"]).strategy.epochs == 3


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            (
                "[strategy]\nlearning_rate='fast'",
                "Expected a number above 0, got 'fast' - at strategy.learning_rate in",
            ),
            ("[strategy]\nlearning_rate=-1", "Expected a number above 0, got -1"),
            ("[strategy]\nlearning_rate=true", "Expected a number above 0, got true"),
            ("[strategy]\nepochs=1.5", "Expected a whole number of at least 1, got 1.5"),
            ("[strategy]\nepoch=5", "Perhaps you meant 'strategy.epochs'"),
            ("seed=5", "Perhaps you meant 'strategy.seed'"),
            ("[stratgy]\nepochs=5", "Perhaps you meant 'strategy'"),
            ("[strategy.schedule]\nname='cosin'", "Perhaps you meant 'cosine'"),
            ("[strategy.optimizer]\nname='momentun'", "Perhaps you meant 'momentum'"),
            ("[strategy.schedule]\nname='cosine'\nwarmup=3", "Perhaps you meant 'strategy.schedule.warmup_epochs'"),
            ("[data]\ntrain=[{name='resize'},{name='random-crp'}]", "at data.train.1.name in lenet5.toml"),
            (
                "[data]\ntrain=[{name='resize',size=0}]",
                "Expected a whole number of at least 1, got 0 - at data.train.0",
            ),
            ("[data]\ntrain=[{}]", "Expected a name, one of random-crop"),
            ("[data.normalize]\nmean=[0.5]", "Expected as many deviations as means, got 3 and 1"),
            ("[data.normalize]\nstd=[1,0,1]", "Expected a number above 0, got 0 - at data.normalize.std.1"),
            ("strategy=3", "Expected a table, got 3 - at strategy"),
            ("engine='Torch'", "Perhaps you meant 'torch'"),
            ("device='cuda'", "Expected a device such as auto, cpu, cuda:0"),
            ("[strategy]\nloss_scale='dyn'", "Perhaps you meant 'dynamic'"),
            ("[strategy]\nloss_scale=1024", "A loss scale serves float16 alone, not float32"),
            ("[data]\ntrain=[{name='random-resized-crop',scale=[1.0,0.5]}]", "0 < low ≤ high, got [1, 0.5]"),
            ("a = ", "Not TOML"),
        ],
    )
    def test_a_fault_says_what_was_expected_and_where(self, text: str, told: str) -> None:
        message = fault(text)
        assert told in message
        assert "lenet5.toml" in message

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("strategy.epochs", "Expected field=value"),
            ("strategy.epochs.x=1", "Expected a whole number of at least 1, got {'x': 1} - at strategy.epochs"),
            ("strategy.epochs=1", "'strategy' is a value and has no fields"),
            ("data.train.9.padding=1", "Expected a position from 0 to 0, got '9'"),
            ("strategy.optimizer=adm", "Perhaps you meant 'adam'"),
        ],
    )
    def test_a_wrong_override_is_refused(self, text: str, told: str) -> None:
        before = "strategy=1" if "no fields" in told else "[data]\ntrain=[{name='resize'}]"
        assert told in fault(before, text)

    def test_an_unknown_recipe_offers_the_nearest(self) -> None:
        with pytest.raises(RecipeError, match="Perhaps you meant 'lenet5-digits'"):
            load("lenet5-digit")

    def test_a_missing_file_is_named(self) -> None:
        with pytest.raises(RecipeError, match=r"No recipe file nowhere\.toml"):
            load("nowhere.toml")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.sampled_from(["name", "size", "mean", "momentum", "x"]), inner, max_size=2)
            ),
            max_leaves=4,
        ),
        st.sampled_from(sorted(Recipe.__struct_fields__)),
        st.sampled_from(["", "optimizer", "schedule", "train", "normalize", "options", "epochs", "groups"]),
    )
    def test_whatever_stands_in_a_recipe_is_read_or_refused_in_our_words(
        self, value: object, section: str, field: str
    ) -> None:
        from luthier.recipe.reading import from_raw

        raw = {section: {field: value} if field else value}
        try:
            from_raw(raw, place="any.toml")
        except RecipeError as error:
            told = str(error)
        else:
            return
        assert "any.toml" in told


class TestDifferences:
    def test_only_the_fields_that_differ_are_listed(self) -> None:
        one = Recipe(name="a")
        other = override(one, ["strategy.epochs=2", "strategy.optimizer.name=adam"])
        found = differences([one, other])
        assert found["strategy.epochs"] == [50, 2]
        assert found["strategy.optimizer.name"] == ["momentum", "adam"]
        assert found["strategy.optimizer.momentum"] == [0.9, None]
        assert "data.batch_size" not in found
