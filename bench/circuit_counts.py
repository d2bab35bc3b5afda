#!/usr/bin/env python3
"""Gates and LUTs of the built-in models after simplification, compared with Yosys and ABC on the same files.

    python3 bench/circuit_counts.py                  # the models that train in seconds
    python3 bench/circuit_counts.py life multiply    # some of them; writes nothing

Each model is trained with its own seed and exported as BLIF, as trained and simplified. Both files go through
Yosys: `techmap; opt; abc -g gates`. The count includes two-input cells and inverters. LUTs of boolgrad are those of
`boolgrad inspect --lut4 --lut6`, LUTs of Yosys and ABC those of `abc -lut N` on boolgrad's circuit. The last column is the
function written by hand in Verilog, synthesised by `synth_ice40`. Fails if boolgrad needs over 10 % more gates. Writes the
table between the markers in docs/circuits.md. Needs yosys.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import common

MODELS = ["life", "checkerboard", "multiply", "multiply_gates", "add", "add_gates", "popcount", "parity", "gray",
          "and", "xor", "copy", "reverse"]

# The functions by hand, of 8 inputs or of two numbers of 4 bits.
FORMULAS = {"multiply": (8, "x[3:0] * x[7:4]"), "add": (5, "x[3:0] + x[7:4]"), "popcount": (4, " + ".join(
    f"x[{i}]" for i in range(8))), "parity": (1, "^x"), "gray": (8, "x ^ (x >> 1)"), "and": (4, "x[3:0] & x[7:4]"),
            "xor": (4, "x[3:0] ^ x[7:4]"), "copy": (8, "x"),
            "reverse": (8, "{" + ", ".join(f"x[{i}]" for i in range(8)) + "}")}


def boolgrad(program, *arguments):
    answer = subprocess.run([str(part) for part in (program, *arguments, "--json", "--quiet")], check=True,
                            capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def cells(path):
    """The number of cells after Yosys and ABC."""
    subprocess.run(["yosys", "-q", "-p", f"read_blif {path}; techmap; opt; abc -g gates; opt_clean; tee -o "
                    f"{path}.cells stat"], check=True, capture_output=True)
    return int(re.search(r"Number of cells:\s*(\d+)", pathlib.Path(f"{path}.cells").read_text())[1])


def luts(path, inputs):
    """The LUTs of ABC."""
    subprocess.run(["yosys", "-q", "-p", f"read_blif {path}; techmap; opt; abc -lut {inputs}; opt_clean; tee -o "
                    f"{path}.luts stat"], check=True, capture_output=True)
    return int(re.search(r"Number of cells:\s*(\d+)", pathlib.Path(f"{path}.luts").read_text())[1])


def by_hand(name, folder):
    """LUT4 of iCE40 and carries, as text."""
    task = name.removesuffix("_gates")
    if task not in FORMULAS:
        return ""
    outputs, formula = FORMULAS[task]
    design = folder / f"{name}.v"
    design.write_text(f"module top(input [7:0] x, output [{outputs - 1}:0] y); assign y = {formula}; endmodule\n")
    subprocess.run(["yosys", "-q", "-p", f"read_verilog {design}; synth_ice40 -top top; tee -o {design}.stat stat"],
                   check=True, capture_output=True)
    count = {kind: 0 for kind in ("SB_LUT4", "SB_CARRY")}
    for kind, number in re.findall(r"(SB_\w+)\s+(\d+)", pathlib.Path(f"{design}.stat").read_text()):
        count[kind] = int(number)
    return f"{count['SB_LUT4']}" + (f" + {count['SB_CARRY']} carries" if count["SB_CARRY"] else "")


def row(program, name, folder):
    model = folder / name / "model.safetensors"
    trained = boolgrad(program, "train", name, "--out", model.parent)
    before, after = folder / "trained.blif", folder / "ours.blif"
    boolgrad(program, "export", model, "--format", "blif", "--as-trained", "--no-proof", "-o", before)
    exported = boolgrad(program, "export", model, "--format", "blif", "-o", after)
    size = boolgrad(program, "inspect", after, "--lut4", "--lut6")
    return {"lut4": size["lut4"]["tables"], "lut6": size["lut6"]["tables"], "abc_lut4": luts(after, 4),
            "abc_lut6": luts(after, 6), "by_hand": by_hand(name, folder), "model": name, "solved": trained["hard_accuracy"] == 1, "trained": exported["gates_before"],
            "ours": exported["gates"], "abc_of_trained": cells(before), "abc_of_ours": cells(after)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    lines = ["| model | tables as trained | gates: boolgrad | Yosys + ABC, as trained | Yosys + ABC, of boolgrad's "
             "| LUT4: boolgrad | Yosys + ABC | LUT6: boolgrad | Yosys + ABC | LUT4 by hand |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
    worse = []
    with tempfile.TemporaryDirectory() as name:
        for model in options.models:
            counts = row(options.boolgrad, model, pathlib.Path(name))
            lines.append(f"| {model}{'' if counts['solved'] else ' (not solved)'} | {counts['trained']} | "
                         f"{counts['ours']} | {counts['abc_of_trained']} | {counts['abc_of_ours']} | "
                         f"{counts['lut4']} | {counts['abc_lut4']} | {counts['lut6']} | {counts['abc_lut6']} | "
                         f"{counts['by_hand']} |")
            print(lines[-1], flush=True)
            if counts["ours"] > 1.1 * min(counts["abc_of_trained"], counts["abc_of_ours"]):
                worse.append(model)
    if not options.dry_run and options.models == MODELS:
        common.write_documentation("bench/circuit_counts.py", "\n".join(lines), "docs/circuits.md")
    if worse:
        raise SystemExit("over 10 % more gates than Yosys and ABC: " + ", ".join(worse))


if __name__ == "__main__":
    main()
