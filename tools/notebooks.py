#!/usr/bin/env python3
"""Runs notebooks, and checks or renews the outputs that they show.

    build/python/bin/python tools/notebooks.py docs/notebooks/*.ipynb            # check
    build/python/bin/python tools/notebooks.py --write docs/notebooks/*.ipynb    # renew

The cells of a notebook run in order, in a scratch folder that is empty at first. What they print and the value of their
last expression are compared with the notebook, but only where the extension, the instruction set and the packages are
those that the notebook was recorded with: training gives the same bits for any number of threads, but not on every CPU.
Pictures of matplotlib are recorded, and their number is compared. `markdown` makes a page for the documentation.

Running needs the Python package and what the notebooks import; `markdown` needs no packages.
"""

import argparse
import ast
import base64
import contextlib
import importlib.metadata
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PACKAGES = ("matplotlib", "numpy", "scikit-learn", "torch")
# What a notebook shows of a value, best first.
KINDS = ("text/html", "image/png", "text/plain")


def load(path):
    return json.loads(pathlib.Path(path).read_text())


def environment():
    """What decides the bits of results, besides the number of threads."""
    from boolgrad._data import PROGRAM

    printed = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    found = [line for line in lines if line.startswith(("compiler", "libraries", "SIMD"))]
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return found


def _pictures():
    """The figures that the cell has drawn, which are closed, as a notebook does."""
    plot = sys.modules.get("matplotlib.pyplot")
    pictures = []
    for number in plot.get_fignums() if plot else []:
        file = io.BytesIO()
        plot.figure(number).savefig(file, format="png", dpi=80, bbox_inches="tight", metadata={"Software": None})
        pictures.append(base64.b64encode(file.getvalue()).decode())
    if plot:
        plot.close("all")
    return pictures


def run_cell(source, name, variables):
    """The outputs of a cell: what it prints, the value of its last expression, and its pictures."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), variables)
        value = None if last is None else eval(compile(last, name, "eval"), variables)
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        outputs.append({"output_type": "execute_result", "data": data, "metadata": {}})
    for picture in _pictures():
        outputs.append({"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}})
    return outputs


def run(notebook, name):
    """The outputs of all code cells, run in the working folder."""
    if importlib.util.find_spec("matplotlib"):
        import matplotlib

        matplotlib.use("agg")
    variables = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [run_cell("".join(cell["source"]), name, variables) for cell in cells]


def shown(outputs):
    """What is compared of the outputs of a cell."""
    texts = {"stream": "", "execute_result": ""}
    pictures = 0
    for output in outputs:
        if output["output_type"] == "display_data":
            pictures += 1
        else:
            texts[output["output_type"]] += "".join(output.get("text") or output["data"]["text/plain"])
    return texts["stream"], texts["execute_result"], pictures


def recorded(notebook):
    return [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


def recorded_here(notebook):
    return notebook["metadata"].get("recorded_with") == environment()


def faults(notebook, name):
    """Runs the notebook; one line for each cell that shows something else. Exceptions of cells pass through."""
    received = run(notebook, name)
    if not recorded_here(notebook):
        return []
    return [
        f"{name}, code cell {number}: expected {shown(old)!r}, received {shown(new)!r}"
        for number, (old, new) in enumerate(zip(recorded(notebook), received), 1)
        if shown(old) != shown(new)
    ]


def renew(path):
    """Runs the notebook and writes its outputs."""
    notebook = load(path)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, run(notebook, path.name)), 1):
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
        # A picture that shows the same is not written again: its bytes differ between versions of libraries.
        if shown(cell["outputs"]) != shown(outputs) or any("image/png" in o.get("data", {}) for o in outputs):
            cell["outputs"] = outputs
        cell["execution_count"] = number
    notebook["metadata"]["recorded_with"] = environment()
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def _fenced(text, language):
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def markdown(notebook, name):
    """The notebook as a Markdown page, and its pictures: {file name: bytes}."""
    parts = []
    pictures = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source + "\n")
            if len(parts) == 1:
                parts.append(f"[This page is a notebook]({name}.ipynb), which the tests run.\n")
            continue
        parts.append(_fenced(source, "python"))
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                parts.append(_fenced("".join(output["text"]), "text"))
                continue
            kind = next(kind for kind in KINDS if kind in output["data"])
            data = "".join(output["data"][kind])
            if kind == "image/png":
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(data)
                parts.append(f"![Output]({file})\n")
            else:
                parts.append(_fenced(data, "text") if kind == "text/plain" else f"<div>{data}</div>\n")
    return "\n".join(parts), pictures


@contextlib.contextmanager
def scratch_folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="renew the outputs")
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    found = []
    for path in [path.resolve() for path in options.notebooks]:
        with scratch_folder():
            if options.write:
                renew(path)
            else:
                found += faults(load(path), path.name)
    print("\n".join(found + [f"{len(options.notebooks)} notebooks, {len(found)} faults"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
