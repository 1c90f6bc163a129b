"""The packages stand alone: what they import, what their wheels declare, and that the READMEs' examples run."""

import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ["penalties", "games", "grpo", "eval"]


@pytest.mark.parametrize("name", ["penalties", "games", "eval"])
def test_the_light_packages_import_neither_torch_nor_transformers_nor_each_other(name):
    allowed = {"penalties": set(), "games": set(), "eval": {"sepo_penalties", "sepo_games"}}[name]
    code = f"import sys, sepo_{name}; print(*sys.modules)"
    loaded = {m.split(".")[0] for m in subprocess.check_output([sys.executable, "-c", code], text=True).split()}
    assert not loaded & {"torch", "transformers", "peft", "pyspiel"}
    assert {m for m in loaded if m.startswith("sepo_")} == {f"sepo_{name}"} | allowed


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for name in NAMES:
        command = ["uv", "build", "--wheel", "--package", f"sepo-{name}", "--out-dir", str(folder), "--quiet"]
        subprocess.run(command, cwd=ROOT, check=True)
    return {name: next(folder.glob(f"sepo_{name}-*.whl")) for name in NAMES}


def requirements(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        needed = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
        return [requirement for requirement in needed if "extra ==" not in requirement]


def test_wheels_carry_types_and_licence_and_bound_their_siblings(wheels):
    for name, wheel in wheels.items():
        names = zipfile.ZipFile(wheel).namelist()
        assert f"sepo_{name}/py.typed" in names
        assert any(n.endswith("LICENSE") for n in names)
        for requirement in requirements(wheel):
            if requirement.startswith("sepo-"):
                assert re.search(r">=.*<|<.*>=", requirement), requirement
    assert {re.split(r"[<>=]", r)[0] for r in requirements(wheels["penalties"])} == {"numpy", "scipy"}
    assert {re.split(r"[<>=]", r)[0] for r in requirements(wheels["games"])} == {"numpy"}
    assert not any("llm" in r or "gguf" in r for r in requirements(wheels["grpo"]))


def test_the_penalties_wheel_alone_in_an_empty_environment_brings_numpy_and_scipy_only(wheels, tmp_path):
    place = tmp_path / "empty"
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(place)], check=True)
    python = place / "bin" / "python"
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", str(python), str(wheels["penalties"])], check=True)
    listed = subprocess.check_output(["uv", "pip", "list", "--python", str(python), "--format", "freeze"], text=True)
    assert {line.split("==")[0].split(" ")[0] for line in listed.splitlines()} == {"numpy", "scipy", "sepo-penalties"}
    code = "import sepo_penalties as s; f = s.RepeatedGame.of([[[[[3, 0], [5, 1]]]], [[[[3, 5], [0, 1]]]]], ([1], [1]), 8); print(f.rounds)"
    assert subprocess.check_output([str(python), "-c", code], text=True).strip() == "8"


@pytest.mark.parametrize("name", ["games", "eval"])
def test_the_examples_in_the_readmes_run(name):
    text = (ROOT / "packages" / f"sepo-{name}" / "README.md").read_text("utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        expected = re.findall(r"print\(.*\)  # (.*)", block)
        printed = subprocess.check_output([sys.executable, "-c", block], text=True).strip().splitlines()
        for line, comment in zip(printed, expected, strict=True):
            assert line.startswith(comment.split("...")[0].rstrip(", "))


def test_nothing_in_the_repository_names_a_folder_of_somebodys_machine():
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    for name in tracked:
        if name.endswith((".py", ".md", ".toml")):
            assert "/home/" not in (ROOT / name).read_text("utf-8").replace('"/home/"', "")
