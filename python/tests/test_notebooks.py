"""The notebooks of the documentation: their cells run in order and give the outputs that they show."""

import ast
import contextlib
import io
import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "docs/notebooks"


def run(source, name, variables):
    """What a cell prints, and the value of its last expression."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), variables)
        value = None if last is None else eval(compile(last, name, "eval"), variables)
    return printed.getvalue(), "" if value is None else repr(value)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path):
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    variables = {}
    for cell in cells:
        shown = {"stream": "", "execute_result": ""}
        for output in cell["outputs"]:
            shown[output["output_type"]] += "".join(output.get("text", output.get("data", {}).get("text/plain")))
        assert run("".join(cell["source"]), path.name, variables) == (shown["stream"], shown["execute_result"])


def test_there_are_notebooks():
    assert len(list(FOLDER.glob("*.ipynb"))) >= 2
