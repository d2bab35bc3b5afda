#!/usr/bin/env python3
"""Areas of boolgrad's mapping to cells, compared with ABC on the exported files.

    python3 bench/area.py            # writes the tables in docs/cost.md
    python3 bench/area.py life       # some of the models; writes nothing

Each model is trained with its own seed and exported as BLIF, once as by default and once with `--target cells`. ABC maps
both files: `strash; dch; map -a` with libraries/cells.genlib. `boolgrad cost` counts the same circuit, without the encoder
of a classifier. LUTs are those of `strash; dch; if -K 6 -a`, the better of both files. The classifiers are small ones for
handwritten digits (`--digits DIR`, the folder of the four MNIST files), trained for one epoch. The second table is monk1,
trained with penalties on gates, the third heads of ten classes. Fails if the area of boolgrad differs from ABC's on the `cells` file by more than 10 %.
Needs yosys-abc.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import common

LIBRARY = common.ROOT / "libraries/cells.genlib"
TASKS = ["add", "multiply", "popcount", "life", "checkerboard", "monk1"]

# Weights of the penalty on gates.
PENALTIES = ["0", "0.0001", "0.001", "0.003", "0.01"]

# Outputs per class.
HEADS = [20, 50, 100, 800]

# Shapes of classifiers: what differs from the built-in mnist.
CLASSIFIERS = {
    "gates, 200 outputs": {"network.hidden": "[400, 300]", "head.outputs": "200"},
    "gates, 500 outputs": {"network.hidden": "[800, 600]", "head.outputs": "500"},
    "tables of six inputs, 400 outputs": {"network.hidden": "[]", "network.arity": "6", "head.outputs": "400"},
}


def run(*arguments):
    done = subprocess.run([str(part) for part in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def boolgrad(program, *arguments):
    return json.loads(run(program, *arguments, "--json", "--quiet").splitlines()[-1])


def abc_area(path):
    output = run("yosys-abc", "-c", f"read_genlib {LIBRARY}; read_blif {path}; strash; dch; map -a; print_stats")
    return float(re.search(r"area =\s*([0-9.]+)", output)[1])


def abc_luts(path):
    """Six-input LUTs by ABC's mapping for area."""
    output = run("yosys-abc", "-c", f"read_blif {path}; strash; dch; if -K 6 -a; print_stats")
    return int(re.search(r"nd =\s*([0-9]+)", output)[1])


def models(arguments, folder):
    """Names and trained models."""
    for name in TASKS:
        if arguments.models and name not in arguments.models:
            continue
        run(arguments.program, "train", name, "--out", folder / name, "--quiet")
        yield name, folder / name
    if arguments.digits and not arguments.models:
        for name, changes in CLASSIFIERS.items():
            path = folder / name.replace(" ", "_").replace(",", "")
            settings = {"training.epochs": "1", "hardening.steps": "300", **changes}
            options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            run(arguments.program, "train", "mnist", "--data", arguments.digits, "--out", path, "--quiet", *options)
            yield name, path


def head_lines(program, folder):
    """The table of heads alone: ten classes, behind inputs without gates."""
    lines = ["| outputs per class | gates | GE, boolgrad | GE, ABC on `--target cells` | GE, ABC on the default file |",
             "|---:|---:|---:|---:|---:|"]
    for size in HEADS:
        count = 10 * size
        names = [[f"{letter}{i}" for i in range(count)] for letter in "xy"]
        wires = folder / "wires.blif"
        wires.write_text(f".model wires\n.inputs {' '.join(names[0])}\n.outputs {' '.join(names[1])}\n"
                         + "".join(f".names {x} {y}\n1 1\n" for x, y in zip(*names)) + ".end\n")
        # As the head of a classifier, which no pass changes.
        run(program, "import", wires, "--classes", "10", "--as-read", "--no-proof", "-o", folder / "a.blif")
        run(program, "import", wires, "--classes", "10", "--target", "cells", "-o", folder / "b.blif")
        cost = boolgrad(program, "cost", folder / "a.blif", "--as-trained")
        lines.append(f"| {size} | {cost['gates']:,} | {cost['ge']:,.0f} | {abc_area(folder / 'b.blif'):,.0f} "
                     f"| {abc_area(folder / 'a.blif'):,.0f} |")
        print(lines[-1], flush=True)
    return lines


def penalty_lines(program, folder):
    """The table of monk1 trained with penalties on gates."""
    lines = ["| `training.gate_penalty` | test accuracy | GE of the logic | GE of all |", "|---:|---:|---:|---:|"]
    for weight in PENALTIES:
        model = folder / f"penalty_{weight}"
        run(program, "train", "monk1", "--set", f"training.gate_penalty={weight}", "--out", model, "--quiet")
        accuracy = boolgrad(program, "eval", model)["hard_accuracy"]
        cost = boolgrad(program, "cost", model)
        logic = next(part["ge"] for part in cost["parts"] if part["name"] == "logic")
        lines.append(f"| {weight} | {100 * accuracy:.1f} % | {logic:,.0f} | {cost['ge']:,.0f} |")
        print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", choices=[[], *TASKS])
    parser.add_argument("--program", type=pathlib.Path, default=common.ROOT / "build/release/boolgrad")
    parser.add_argument("--digits", type=pathlib.Path, help="the folder of the four MNIST files")
    arguments = parser.parse_args()
    lines = ["| model | GE, boolgrad | GE, ABC on `--target cells` | ratio | GE, ABC on the default file | LUT6, boolgrad "
             "| LUT6, ABC |", "|---|---:|---:|---:|---:|---:|---:|"]
    worst = 1.0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, model in models(arguments, folder):
            cost = boolgrad(arguments.program, "cost", model)
            encoder = [part for part in cost["parts"] if part["name"] == "encoder"]
            own = cost["ge"] - sum(part["ge"] for part in encoder)
            luts = cost["lut6"] - sum(part["lut6"] for part in encoder)
            areas, covers = [], []
            for target in (["--target", "cells"], []):
                boolgrad(arguments.program, "export", model, "-o", folder / "a.blif", *target)
                areas.append(abc_area(folder / "a.blif"))
                covers.append(abc_luts(folder / "a.blif"))
            ratio = own / areas[0]
            worst = max(worst, ratio, 1 / ratio)
            lines.append(f"| {name} | {own:,.0f} | {areas[0]:,.0f} | {ratio:.2f} | {areas[1]:,.0f} | {luts:,} "
                         f"| {min(covers):,} |")
            print(lines[-1], flush=True)
        if not arguments.models:
            penalties = penalty_lines(arguments.program, folder)
            heads = head_lines(arguments.program, folder)
    if not arguments.models:
        common.write_documentation("bench/area.py", "\n".join(lines), "docs/cost.md")
        common.write_documentation("bench/area.py, penalties", "\n".join(penalties), "docs/cost.md")
        common.write_documentation("bench/area.py, heads", "\n".join(heads), "docs/cost.md")
    if worst > 1.1:
        sys.exit(f"an area differs from ABC's by a factor of {worst:.2f}")


if __name__ == "__main__":
    main()
