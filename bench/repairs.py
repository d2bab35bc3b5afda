#!/usr/bin/env python3
"""How often training repairs a circuit with one wrong table entry.

    python3 bench/repairs.py      # the trained adder, with every entry of every table changed in turn

Trains `add`, exports it as a netlist, and continues with `boolgrad train add --init`, for at most 300 steps. Writes the table
between the markers in docs/circuit-files.md.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import common

SETTINGS = [[], ["network.arity=2"]]
STEPS = 300


def boolgrad(program, *arguments):
    answer = subprocess.run([str(part) for part in (program, *arguments, "--json", "--quiet")], check=True,
                            capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def damaged(text):
    """The netlist with one table entry changed, for every entry."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        words = line.split()
        if words[0] != "gate":
            continue
        for entry, bit in enumerate(words[2]):
            table = words[2][:entry] + "10"[int(bit)] + words[2][entry + 1:]
            yield "\n".join([*lines[:at], " ".join([*words[:2], table, *words[3:]]), *lines[at + 1:], ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    program = parser.parse_args().boolgrad
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        boolgrad(program, "train", "add", "--out", folder / "add")
        boolgrad(program, "export", folder / "add", "-o", folder / "adder.net")
        circuits = list(damaged((folder / "adder.net").read_text()))
        for settings in SETTINGS:
            steps = []
            for circuit in circuits:
                (folder / "wrong.net").write_text(circuit)
                report = boolgrad(program, "train", "add", "--init", folder / "wrong.net", "--steps", STEPS, "--out",
                                  folder / "run", "--overwrite", *(word for one in settings for word in ("--set", one)))
                if report["hard_loss"] == 0:
                    steps.append(report["steps"])
            rows.append(f"| {', '.join(f'`{one}`' for one in settings) or 'those of `add`'} | {len(steps)} of "
                        f"{len(circuits)} | {statistics.median(steps):.0f} |")
            print(rows[-1], flush=True)
    table = ["| settings | repaired | steps, median |", "|---|---:|---:|", *rows]
    common.write_documentation("bench/repairs.py", "\n".join(table), "docs/circuit-files.md")


if __name__ == "__main__":
    main()
