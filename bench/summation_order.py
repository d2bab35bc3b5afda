#!/usr/bin/env python3
"""Does the order of floating-point sums decide whether the checkerboard is learned?

    python3 bench/summation_order.py --ways float32 float64      # on any machine
    python3 bench/summation_order.py --ways cuda                 # needs an NVIDIA GPU
    python3 bench/summation_order.py --ways none                 # only writes the table

Trains the checkerboard by gradient descent alone, from the same seeds, in three ways that differ only in how sums are
rounded: float32 on the CPU, float64 on the CPU, and float32 on a GPU, which adds in a different order. The seeds, and
with them wiring, initial logits and starts, are the same. Adds the runs to
bench/results/summation_order.json and writes the table between the markers in
docs/studies/summation-order.md. Needs no packages.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results/summation_order.json"
STUDY = ROOT / "docs/studies/summation-order.md"
SCRIPT = "bench/summation_order.py"
WAYS = {
    "float32": ["--device", "cpu"],
    "float64": ["--device", "cpu", "--set", "network.dtype=float64"],
    "cuda": ["--device", "cuda"],
}
# The recipe of the study: gradient descent alone on the full task, with softmax16.
RECIPE = ["network.parametrisation=softmax16", "network.init_strength=5", "training.learning_rate=0.05",
          "training.loss=squares", "hardening.kind=blend", "hardening.threshold=0.01", "hardening.steps=250",
          "hardening.learning_rate_factor=0.2", "hardening.saturate=false", "automaton.evaluation_starts=32", "curriculum.until=[]",
          "curriculum.height=[]", "curriculum.width=[]", "curriculum.steps=[]", "curriculum.batch=[]",
          "search.members=1", "search.restart=none"]
NAMES = {"float32": "CPU, float32", "float64": "CPU, float64", "cuda": "GPU, float32"}
# Half of the loss of predicting 0.5 everywhere: two grids of 16 by 16 cells, 0.25 per cell.
LEFT_PLATEAU = 64
# Two curves have diverged where they differ by this share.
APART = 0.01


def train(options, way, seed, folder):
    command = [options.boolgrad, "train", "checkerboard", "--seed", seed, "--steps", options.steps,
               "--out", folder, "--quiet", *WAYS[way], *(part for key in RECIPE for part in ("--set", key))]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    lines = pathlib.Path(folder, "metrics.jsonl").read_text().splitlines()
    return [{key: entry[key] for key in ("step", "soft_loss", "hard_loss")} for entry in map(json.loads, lines)]


def first_step(curve, holds):
    return next((entry["step"] for entry in curve if holds(entry)), None)


def left(curve):
    return first_step(curve, lambda entry: entry["soft_loss"] < LEFT_PLATEAU)


def solved(curve):
    return first_step(curve, lambda entry: entry["hard_loss"] == 0)


def diverged(one, other):
    """The first step at which two curves have diverged."""
    for a, b in zip(one, other):
        if abs(a["soft_loss"] - b["soft_loss"]) > APART * max(a["soft_loss"], b["soft_loss"]):
            return a["step"]
    return None


def shown(step):
    return "–" if step is None else str(step)


def table(runs, steps):
    ways = [way for way in WAYS if way in runs]
    seeds = sorted({int(seed) for way in ways for seed in runs[way]})
    head = ["seed"] + [f"{NAMES[way]}: left, solved" for way in ways]
    head += [f"{NAMES[way]} diverges from {NAMES[ways[0]]} at" for way in ways[1:]]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for seed in seeds:
        curves = {way: runs[way].get(str(seed)) for way in ways}
        row = [str(seed)]
        row += ["" if curve is None else f"{shown(left(curve))}, {shown(solved(curve))}"
                for curve in curves.values()]
        base = curves[ways[0]]
        row += [shown(diverged(base, curves[way])) if base and curves[way] else "" for way in ways[1:]]
        lines.append("| " + " | ".join(row) + " |")
    lines.append("")
    for way in ways:
        curves = list(runs[way].values())
        lines.append(f"- {NAMES[way]}: {sum(left(c) is not None for c in curves)} of {len(curves)} seeds left the "
                     f"plateau, {sum(solved(c) is not None for c in curves)} were solved, within {steps} updates.")
    return "\n".join(lines)


def write_table(known):
    begin, end = f"<!-- begin: {SCRIPT} -->", f"<!-- end: {SCRIPT} -->"
    before, rest = STUDY.read_text().split(begin)
    after = rest.split(end)[1]
    STUDY.write_text(f"{before}{begin}\n{table(known['runs'], known['steps'])}\n{end}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ways", nargs="+", choices=[*WAYS, "none"], default=["float32", "float64"])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--boolgrad", type=pathlib.Path, default=ROOT / "build/release/boolgrad")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    options = parser.parse_args()
    known = {"steps": options.steps, "runs": {}}
    if options.results.exists():
        known = json.loads(options.results.read_text())
    if known["steps"] != options.steps:
        raise SystemExit(f"{options.results} holds runs of {known['steps']} updates, not of {options.steps}")
    for way in options.ways:
        if way == "none":
            continue
        runs = known["runs"].setdefault(way, {})
        for seed in range(1, options.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                runs[str(seed)] = train(options, way, seed, folder)
            options.results.write_text(json.dumps(known) + "\n")
            print(f"{way} seed {seed}: left {shown(left(runs[str(seed)]))}, "
                  f"solved {shown(solved(runs[str(seed)]))}", flush=True)
    print(table(known["runs"], known["steps"]))
    if options.results == RESULTS and STUDY.exists():
        write_table(known)


if __name__ == "__main__":
    main()
