"""What is reported besides operators: every line comes from the recipe, the modules or the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn

from luthier.port import Report, analyse, report_text
from luthier.recipe import load, to_toml

OTHERS = Path(__file__).with_name("others.py")
BOTH, NEITHER = {"GRAPH": True, "PYNATIVE": True}, {"GRAPH": False, "PYNATIVE": False}


def told(report: Report) -> dict[str, tuple[str, str]]:
    return {feature.name: (feature.outcome, feature.told) for feature in report.features}


def of_recipe(tmp_path: Path, *overrides: str) -> Report:
    (tmp_path / "recipe.toml").write_text(to_toml(load("lenet5-digits", overrides)), "utf-8")
    return analyse(tmp_path / "recipe.toml")


class TestTraining:
    def test_a_recipe_tells_how_its_network_is_trained(self, tmp_path: Path) -> None:
        report = of_recipe(
            tmp_path,
            "model.init=he-normal",
            'strategy.optimizer={name="adamw",groups=[{match="*.bias"}]}',
            'strategy.schedule={name="stage",milestones=[3],warmup_epochs=2}',
            "strategy.label_smoothing=0.1",
            "strategy.allreduce_split=[3,7]",
        )
        found = told(report)
        assert found["initialisers"][1].startswith("he-normal: ")
        assert found["optimizer"][1].startswith("adamw with 1 groups")
        assert found["schedule"][1].startswith("stage after 2 epochs of warm-up: ")
        assert found["loss"] == ("composed", "cross entropy with label smoothing 0.1")
        assert found["distribution"][1].startswith("gradients in 2 groups")
        assert all(feature.modes == BOTH for feature in report.features)
        assert report.complete

    @pytest.mark.parametrize(
        ("override", "name", "reason"),
        [
            ('strategy.optimizer={name="muon"}', "optimizer", "Muon"),
            ("strategy.teacher=runs/large", "loss", "a teacher's answers"),
            ("strategy.sync_batch_norm=true", "distribution", "statistics over all ranks"),
            ("stop.patience=3", "stopping", "early stopping"),
            ("data.pipeline=minddata", "data", "MindData's random numbers"),
        ],
    )
    def test_what_a_project_refuses_is_refused(self, override: str, name: str, reason: str, tmp_path: Path) -> None:
        report = of_recipe(tmp_path, override)
        [feature] = [feature for feature in report.features if feature.outcome == "refused"]
        assert (feature.name, feature.modes, feature.difficulty) == (name, NEITHER, "by hand")
        assert reason in feature.told
        assert report.complete  # the network goes over all the same

    def test_a_network_alone_tells_nothing_of_it(self) -> None:
        assert analyse(f"{OTHERS}:Squeeze", inputs=["1,8,6,6"], options={"channels": 8}).features == ()


class Doubled(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight * 2


class TestModules:
    def test_hooks_of_the_forward_pass_are_in_the_graph(self) -> None:
        net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        net[0].register_forward_hook(lambda module, inputs, output: output * 2)
        report = analyse(net, torch.randn(2, 4))
        assert told(report) == {"hooks": ("composed", "what they do in the forward pass of 0 is written out")}
        assert report.complete

    @pytest.mark.parametrize("of_tensor", [False, True])
    def test_hooks_of_gradients_are_refused(self, of_tensor: bool) -> None:
        layer = nn.Linear(4, 4)
        net = nn.Sequential(layer, nn.ReLU())
        if of_tensor:
            layer.weight.register_hook(lambda gradient: gradient * 2)  # type: ignore[no-untyped-call]
        else:
            layer.register_full_backward_hook(lambda module, after, before: None)
        report = analyse(net, torch.randn(2, 4))
        assert told(report)["backward hooks"][0] == "refused"
        assert not report.complete

    def test_parametrised_weights_are_refused(self) -> None:
        net = nn.Sequential(nn.Linear(4, 4))
        torch.nn.utils.parametrize.register_parametrization(net[0], "weight", Doubled())
        report = analyse(net, torch.randn(2, 4))
        assert told(report)["parametrisations"][0] == "refused"
        assert "the weights of 0, " in told(report)["parametrisations"][1]
        assert not report.complete

    def test_choices_by_the_data_are_named(self) -> None:
        report = analyse(f"{OTHERS}:Halves", inputs=["1,8"])
        assert told(report) == {
            "data-dependent control flow": ("refused", "in the forward pass of gates.0, gates.1"),
        }
        assert "data-dependent control flow  refused  –      by hand" in report_text(report)


class TestRunTime:
    @staticmethod
    def reshaped(path: Path, *, computed: bool) -> Path:
        """To a shape that the file holds, or to one that comes in with the image."""
        shape: dict[str, Any] = {
            "inputs": [],
            "initializer": [helper.make_tensor("shape", TensorProto.INT64, [2], [3, 2])],
        }
        if computed:
            shape = {"inputs": [helper.make_tensor_value_info("shape", TensorProto.INT64, [2])], "initializer": []}
        graph = helper.make_graph(
            [helper.make_node("Reshape", ["x", "shape"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]), *shape["inputs"]],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            initializer=shape["initializer"],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return path

    def test_a_parameter_that_comes_as_the_network_runs_works_in_pynative_alone(self, tmp_path: Path) -> None:
        report = analyse(self.reshaped(tmp_path / "a.onnx", computed=True))
        assert [operator.modes for operator in report.operators] == [{"GRAPH": False, "PYNATIVE": True}]
        [feature] = report.features
        assert (feature.name, feature.modes) == ("parameters at run time", {"GRAPH": False, "PYNATIVE": True})
        assert "Reshape" in feature.told

    def test_one_that_the_file_holds_works_in_both(self, tmp_path: Path) -> None:
        report = analyse(self.reshaped(tmp_path / "a.onnx", computed=False))
        assert [operator.modes for operator in report.operators] == [BOTH]
        assert report.features == ()
