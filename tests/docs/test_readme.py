"""The README keeps its order, and its commands do what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.generate import ROOT
from docs.outputs import environment

from tests.docs.reading import Page

README = Page(ROOT / "README.md")
DEMO = "make demo"


def shown() -> list[tuple[str, str]]:
    """Each command, and the output under it; an error that is generated is compared elsewhere."""
    blocks = [code.partition("\n") for kind, code in README.blocks if kind == "console"]
    return [(line.removeprefix("$ "), output) for line, _, output in blocks if not output.startswith("error")]


def is_script(path: Path) -> bool:
    """A module, or a package that runs."""
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()


class TestOrder:
    def test_the_first_line_says_what_it_is(self) -> None:
        assert re.match(r"# Luthier \w+", README.text.splitlines()[0])

    def test_results_then_commands_then_an_error_then_what_it_does_not_do(self) -> None:
        places = ["<!-- results -->", "<!-- /results -->", f"$ {DEMO}", "\nerror: ", "## What it does not do"]
        found = [README.text.index(place) for place in places]
        assert found == sorted(found)

    def test_there_are_six_commands_at_most(self) -> None:
        assert 1 < len(shown()) <= 6

    def test_there_are_two_badges_at_most(self) -> None:
        assert len(re.findall(r"!\[", README.prose)) <= 2

    def test_every_result_names_a_script_that_is_there(self) -> None:
        results = README.text.partition("<!-- results -->")[2].partition("<!-- /results -->")[0]
        rows = [line for line in results.splitlines() if line.startswith("|")][2:]
        scripts = [re.search(r"`python -m benchmarks\.(\w+)[^`]*` \|$", row) for row in rows]
        assert rows
        assert all(script and is_script(ROOT / "benchmarks" / script[1]) for script in scripts)


def masked(text: str) -> list[str]:
    """Lines without what differs from machine to machine and from day to day: numbers, devices, spaces."""
    text = re.sub(r"\d{4}-\d\d-\d\d-\d{4}-([\w-]+?)-[0-9a-f]{4}\b", r"RUN-\1", text)
    text = re.sub(r"\((cpu|cuda:\d)\)|on (cpu|cuda:\d)\b", "DEVICE", text)
    text = re.sub(r"\d[\d.,]*(?:e-\d+)?", "#", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def agree(output: list[str], expected: list[str]) -> bool:
    """`…` stands for lines that are left out."""
    if "…" not in expected:
        return output == expected
    cut = expected.index("…")
    end = expected[cut + 1 :]
    return output[:cut] == expected[:cut] and output[-len(end) :] == end


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reader")


@pytest.mark.parametrize(("command", "output"), shown(), ids=[command for command, _ in shown()])
def test_a_command_prints_what_is_shown(folder: Path, command: str, output: str) -> None:
    """One after the other in one folder, as a reader types them."""
    expected = masked(output)
    if command == DEMO:
        makefile = (ROOT / "Makefile").read_text("utf-8").replace("$(BIN)", ".venv/bin")
        rule = "demo: $(INSTALLED)  ## train LeNet-5 on the embedded digits, and measure it"
        assert f"\n{rule}\n\t{output.partition(chr(10))[0]}" in makefile
        command, expected = output.split("\n")[0].removeprefix(".venv/bin/"), expected[1:]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment() | {"PATH": path, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert agree(masked(done.stdout), expected), done.stdout
