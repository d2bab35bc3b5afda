#!/usr/bin/env python3
"""Gate counts of the built-in models after simplification, compared with Yosys and ABC on the same files.

    python3 bench/circuit_counts.py                  # the models that train in seconds
    python3 bench/circuit_counts.py life multiply    # some of them; writes nothing

Each model is trained with its own seed and exported as BLIF, as trained and simplified. Both files go through
Yosys: `techmap; opt; abc -g gates`. The count includes two-input cells and inverters. Fails if boolgrad needs over 10 %
more gates. Writes the table between the markers in docs/circuits.md. Needs yosys.
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


def boolgrad(program, *arguments):
    answer = subprocess.run([str(part) for part in (program, *arguments, "--json", "--quiet")], check=True,
                            capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def cells(path):
    """The number of cells after Yosys and ABC."""
    subprocess.run(["yosys", "-q", "-p", f"read_blif {path}; techmap; opt; abc -g gates; opt_clean; tee -o "
                    f"{path}.cells stat"], check=True, capture_output=True)
    return int(re.search(r"Number of cells:\s*(\d+)", pathlib.Path(f"{path}.cells").read_text())[1])


def row(program, name, folder):
    model = folder / name / "model.safetensors"
    trained = boolgrad(program, "train", name, "--out", model.parent)
    before, after = folder / "trained.blif", folder / "ours.blif"
    boolgrad(program, "export", model, "--format", "blif", "--as-trained", "--no-proof", "-o", before)
    exported = boolgrad(program, "export", model, "--format", "blif", "-o", after)
    return {"model": name, "solved": trained["hard_accuracy"] == 1, "trained": exported["gates_before"],
            "ours": exported["gates"], "abc_of_trained": cells(before), "abc_of_ours": cells(after)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    lines = ["| model | tables as trained | boolgrad | Yosys + ABC, as trained | Yosys + ABC, of boolgrad's |",
             "|---|---:|---:|---:|---:|"]
    worse = []
    with tempfile.TemporaryDirectory() as name:
        for model in options.models:
            counts = row(options.boolgrad, model, pathlib.Path(name))
            lines.append(f"| {model}{'' if counts['solved'] else ' (not solved)'} | {counts['trained']} | "
                         f"{counts['ours']} | {counts['abc_of_trained']} | {counts['abc_of_ours']} |")
            print(lines[-1], flush=True)
            if counts["ours"] > 1.1 * min(counts["abc_of_trained"], counts["abc_of_ours"]):
                worse.append(model)
    if not options.dry_run and options.models == MODELS:
        common.write_documentation("bench/circuit_counts.py", "\n".join(lines), "docs/circuits.md")
    if worse:
        raise SystemExit("over 10 % more gates than Yosys and ABC: " + ", ".join(worse))


if __name__ == "__main__":
    main()
