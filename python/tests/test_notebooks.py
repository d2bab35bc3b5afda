"""The notebooks of the documentation: their cells run in order and give the outputs that they show."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "docs/notebooks"

spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools/notebooks.py")
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)


def test_there_are_notebooks():
    names = {path.stem for path in FOLDER.glob("*.ipynb")}
    assert names == {"automaton", "difflogic", "images", "iris", "shapes"}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path):
    notebook = notebooks.load(path)
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 4
    for package, import_line in [("torch", "import torch"), ("sklearn", "from sklearn"), ("matplotlib", "matplotlib")]:
        if any(import_line in source for source in code):
            pytest.importorskip(package)
    assert notebooks.faults(notebook, path.name) == []


def small_notebook(*cells):
    return {
        "cells": [{"cell_type": "code", "source": source, "outputs": outputs} for source, outputs in cells],
        "metadata": {"recorded_with": notebooks.environment()},
    }


VALUE = [{"output_type": "execute_result", "data": {"text/plain": ["3"]}, "metadata": {}}]
TEXT = [{"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}]


def test_other_outputs_are_faults():
    same = small_notebook(("x = 1\nx + 2", VALUE), ("print('a\\nb')", TEXT), ("None", []))
    assert notebooks.faults(same, "same") == []
    other = small_notebook(("1 + 1", VALUE), ("print('a')", TEXT))
    assert notebooks.faults(other, "other") == [
        "other, code cell 1: expected ('', '3', 0), received ('', '2', 0)",
        "other, code cell 2: expected ('a\\nb\\n', '', 0), received ('a\\n', '', 0)",
    ]
    other["metadata"]["recorded_with"] = ["another compiler"]
    assert notebooks.faults(other, "other") == []
    with pytest.raises(ZeroDivisionError):
        notebooks.faults(small_notebook(("1 / 0", [])), "broken")


def test_pages():
    picture = [{"output_type": "display_data", "data": {"image/png": "iVBORw0="}, "metadata": {}}]
    notebook = small_notebook(("1 + 2", VALUE), ("print('```')", [{**TEXT[0], "text": ["```\n"]}]), ("draw()", picture))
    notebook["cells"].insert(0, {"cell_type": "markdown", "source": ["# Title\n", "text"]})
    page, pictures = notebooks.markdown(notebook, "small")
    assert page.startswith("# Title\ntext\n\n[This page is a notebook](small.ipynb)")
    assert "```python\n1 + 2\n```\n\n```text\n3\n```\n" in page
    assert "````text\n```\n````\n" in page
    assert "![Output](small-1.png)" in page and pictures == {"small-1.png": b"\x89PNG\r"}
