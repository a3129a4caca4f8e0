"""What a project consists of, and how it reads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from luthier.errors import PortError, RecipeError
from luthier.port import open_port, write_project

RULES = "A,B,C4,E,F,I,N,PERF,PIE,RET,RUF,SIM,UP,W"
MEANT = "N803,N806,RUF001,RUF002,RUF003"
RICH = (
    "model.name=slim",
    "strategy.mixup=0.4",
    "strategy.accumulate=2",
    "strategy.average_decay=0.9",
    "strategy.precision=float16",
    "strategy.loss_scale=dynamic",
    "strategy.clip_norm=1.0",
    "data.validation=0.1",
    'data.train=[{name="random-resized-crop",size=32},{name="random-flip"},{name="cutout"}]',
    'strategy.optimizer={name="adamw",weight_decay=0.1,decay_norm_and_bias=false}',
    'strategy.schedule={name="one-cycle",warmup_epochs=1}',
)
LAYOUT = (
    "README.md",
    "eval.py",
    "scripts/run_distribute_train.sh",
    "scripts/run_eval.sh",
    "scripts/run_standalone_train.sh",
    "src/config.py",
    "src/cross_entropy_smooth.py",
    "src/dataset.py",
    "train.py",
    "weights.ckpt",
)


@pytest.fixture(scope="module", params=[(), RICH], ids=["as the course trains", "with all features"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write_project("lenet5-digits", output=folder, overrides=request.param)
    return folder


def scripts(project: Path) -> list[Path]:
    return sorted(project.rglob("*.py"))


class TestProject:
    def test_it_has_the_course_s_layout(self, project: Path) -> None:
        assert [name for name in LAYOUT if not (project / name).exists()] == []
        assert all((project / name).stat().st_mode & 0o100 for name in LAYOUT if name.endswith(".sh"))

    def test_it_imports_mindspore_numpy_and_python_s_own_alone(self, project: Path) -> None:
        known = {"mindspore", "numpy", "src"} | set(sys.stdlib_module_names)
        found: set[str] = set()
        for path in scripts(project):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {name.name.partition(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom):
                    found.add(str(node.module).partition(".")[0])
        assert found - known == set()

    def test_the_linter_finds_nothing(self, project: Path) -> None:
        options = ("--isolated", "--line-length", "120", "--no-cache")
        for command in (("check", "--select", RULES, "--ignore", MEANT), ("format", "--diff")):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *command, *options, "."],
                cwd=project,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr

    def test_it_is_a_port_that_can_be_proven(self, project: Path) -> None:
        file, _, name = open_port(project).candidate.partition(":")
        assert f"class {name}(nn.Cell):" in (project / file).read_text("utf-8")

    def test_the_shell_scripts_ask_for_what_they_need(self, project: Path) -> None:
        for script in sorted((project / "scripts").iterdir()):
            done = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
            assert done.returncode == 2
            assert done.stderr.startswith(f"Usage: bash scripts/{script.name} ")


REFUSED = {
    "data.pipeline=minddata": "MindData's random numbers - at data.pipeline in lenet5-mnist",
    'strategy.optimizer={name="muon"}': "Muon - at strategy.optimizer in lenet5-mnist",
    "strategy.sync_batch_norm=true": "statistics over all ranks - at strategy.sync_batch_norm in lenet5-mnist",
    "strategy.teacher=runs/large": "a teacher's answers in the loss - at strategy.teacher in lenet5-mnist",
    "stop.patience=3": "early stopping - at stop.patience in lenet5-mnist",
    "data.on_error=skip": "leaving out files that cannot be read - at data.on_error in lenet5-mnist",
    'listeners=["mine.py:hear"]': "the listener 'mine.py:hear', whose code is yours - at listeners in lenet5-mnist",
    "data.name=mine.py:images": "the data 'mine.py:images', whose code is yours - at data.name in lenet5-mnist",
}


class TestRefusals:
    @pytest.mark.parametrize(("setting", "sentence"), REFUSED.items(), ids=REFUSED)
    def test_what_cannot_go_over_is_named(self, setting: str, sentence: str, tmp_path: Path) -> None:
        with pytest.raises(PortError) as fault:
            write_project("lenet5-mnist", output=tmp_path / "project", overrides=[setting])
        assert str(fault.value).startswith(f"A project cannot carry over {sentence}\n  ")
        assert not (tmp_path / "project").exists()

    def test_a_recipe_that_is_nowhere_is_the_recipe_s_own_error(self, tmp_path: Path) -> None:
        with pytest.raises(RecipeError, match=r"nothing\.toml"):
            write_project("nothing.toml", output=tmp_path)
