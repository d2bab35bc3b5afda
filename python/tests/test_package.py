"""The installed package: the command, its files, stubs and examples."""

import ast
import doctest
import importlib
import importlib.util
import json
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import boolgrad
from boolgrad import _core

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = pathlib.Path(boolgrad.__file__).parent


def command(*arguments):
    program = pathlib.Path(sys.executable).parent / "boolgrad"
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def test_the_command():
    assert command("--version").stdout.splitlines()[0].endswith(boolgrad.__version__)
    done = command("train", "add", "--quiet", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["experiment"] == "add"
    done = command("verify", "--quiet")
    assert done.returncode == 0, done.stderr  # with the reference values of the package
    assert command("train", "nothing").returncode == 2
    done = subprocess.run([sys.executable, "-m", "boolgrad", "--version"], capture_output=True, text=True)
    assert boolgrad.__version__ in done.stdout


def test_versions_agree():
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE).group(1)
    assert boolgrad.__version__ == version
    from importlib.metadata import version as installed

    assert installed("boolgrad") == version


def test_experiments():
    assert boolgrad.experiments() == sorted(path.stem for path in (ROOT / "experiments").glob("*.toml"))
    assert "training.steps" in boolgrad.experiment_keys()
    assert "boolgrad" in boolgrad.build_info()
    assert boolgrad.devices()[0]["device"] == "cpu"


def test_typed():
    assert (PACKAGE / "py.typed").exists()
    stub = ast.parse((PACKAGE / "_core" / "__init__.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    for name in ("Automaton", "Circuit", "CircuitModel", "Classifier"):
        members = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        public = {member for member in vars(getattr(_core, name)) if not member.startswith("_")}
        assert public <= members
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert {"load", "devices", "set_thread_count"} <= functions


SAMPLE = """
import boolgrad
import numpy as np
from boolgrad import geometry

adder: boolgrad.CircuitModel | boolgrad.Classifier | boolgrad.Automaton = boolgrad.load("model.safetensors")
circuit: boolgrad.Circuit = adder.to_netlist()
gates: int = circuit.map_to_luts(6).gates
simplified = circuit.simplify()
assert isinstance(simplified, boolgrad.Circuit)  # with return_stats, it is a tuple
gates = simplified.gates
names: list[str] = boolgrad.experiments()
threads: int = boolgrad.thread_count()
boolgrad.set_thread_count(threads)
result: boolgrad.TrainResult = boolgrad.train("add", seed=1)
area = geometry.disk_union_area(np.zeros((1, 3)))
"""
MISTAKES = """
import boolgrad

boolgrad.set_thread_count("two")
circuit: boolgrad.Circuit = boolgrad.load("model.safetensors")
boolgrad.Circuit.read("a.blif").gatez
"""


def mypy(text):
    """The errors of mypy, without their file."""
    pathlib.Path("sample.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--allow-untyped-calls", "--no-error-summary",
               "--cache-dir=.mypy", "sample.py"]
    printed = subprocess.run(command, capture_output=True, text=True).stdout
    return [line.split(": ", 1)[1] for line in printed.splitlines() if line.startswith("sample.py")]


def test_types_of_users_are_checked():
    pytest.importorskip("mypy")
    assert mypy(SAMPLE) == []
    mistakes = mypy(MISTAKES)
    assert len(mistakes) == 3
    assert '"str"; expected "int"' in mistakes[0] and "Incompatible types in assignment" in mistakes[1]
    assert '"Circuit" has no attribute "gatez"' in mistakes[2]


def test_everything_public_has_a_docstring():
    for name in boolgrad.__all__:
        thing = getattr(boolgrad, name)
        assert thing.__doc__, name
        if isinstance(thing, type) and thing.__module__.startswith("boolgrad"):
            for member in vars(thing):
                if not member.startswith("_") and callable(getattr(thing, member)):
                    assert getattr(thing, member).__doc__, f"{name}.{member}"


def modules():
    names = ["boolgrad"] + [module.name for module in pkgutil.walk_packages(boolgrad.__path__, "boolgrad.", onerror=str)]
    return [name for name in names if name not in ("boolgrad.__main__",)]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    if name in ("boolgrad.jax", "boolgrad.sklearn"):
        pytest.importorskip(name.removeprefix("boolgrad."))
    if name.startswith(("boolgrad.torch", "boolgrad.compat")):
        pytest.importorskip("torch")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_examples_of_compiled_classes():
    runner = doctest.DocTestRunner()
    count = 0
    for test in doctest.DocTestFinder(exclude_empty=True).find(_core.Circuit, "Circuit", module=False):
        count += runner.run(test).attempted
    assert count > 0 and runner.failures == 0


BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class _AnyOutput(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return True


def recorded_here():
    """Whether examples were recorded with this compiler, these libraries and this instruction set: training gives the
    same bits for any number of threads, but not on every CPU."""
    recorded = (ROOT / "tests/docs/recorded_with.txt").read_text().splitlines()
    return set(recorded) <= set(command("--version").stdout.splitlines())


def test_examples_of_the_guide():
    """The sessions of docs/python.md, in one interpreter."""
    pytest.importorskip("sklearn")
    blocks = [block for block in BLOCK.findall((ROOT / "docs/python.md").read_text()) if ">>>" in block]
    if importlib.util.find_spec("torch") is None:
        blocks = [block for block in blocks if "import torch" not in block]
    text = "\n".join(blocks)
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", "docs/python.md", 0)
    assert len(test.examples) > 10
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(checker=None if recorded_here() else _AnyOutput(), optionflags=flags)
    runner.run(test)
    assert runner.failures == 0


def test_the_reference_is_that_of_the_docstrings():
    for package in ("jax", "sklearn", "torch"):
        pytest.importorskip(package)
    done = subprocess.run([sys.executable, ROOT / "tools/python_reference.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + "Renew it: make python-docs"
    page = (ROOT / "docs/reference/python-api.md").read_text()
    missing = [name for name in boolgrad.__all__ if callable(getattr(boolgrad, name)) and f"### {name}\n" not in page]
    assert missing == []


def test_the_script_of_the_readme():
    scripts = BLOCK.findall((ROOT / "README.md").read_text())
    assert len(scripts) == 1
    pytest.importorskip("sklearn")
    exec(compile(scripts[0], "README.md", "exec"), {})
    assert pathlib.Path("digits.v").exists()
