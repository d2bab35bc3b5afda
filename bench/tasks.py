#!/usr/bin/env python3
"""How many seeds solve a built-in Boolean task, and when.

    python3 bench/tasks.py                                   # all tasks, seeds 1 to 20
    python3 bench/tasks.py add --knockout 0.1 --seeds 100    # damage half-way, then repair
    python3 bench/tasks.py multiply --set training.loss=bce  # a variation

Every run is `boolgrad train TASK --seed S`. Prints one row per task: the number of runs whose hardened circuit
is right on every case at the end, the steps of those runs, and the time of the slowest. Needs no packages.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TASKS = ["multiply", "add", "and", "xor", "gray", "reverse", "copy", "popcount", "parity"]


def train(options, task, seed, folder):
    command = [options.boolgrad, "train", task, "--seed", seed, "--out", folder, "--quiet", "--json"]
    command += ["--threads", options.threads]
    for setting in options.set:
        command += ["--set", setting]
    if options.knockout is not None:
        command += ["--knockout", options.knockout]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout.splitlines()[-1])


def row(options, task, folder):
    runs = [train(options, task, seed, folder) for seed in range(1, options.seeds + 1)]
    solved = [run for run in runs if run["hard_accuracy"] == 1]
    steps = [run["steps"] for run in solved] or [0]
    return (
        f"| {task} | {len(solved)} of {len(runs)} | {sum(steps) / len(steps):.0f} | {max(steps)} "
        f"| {max(run['seconds'] for run in runs):.2f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--knockout", type=float)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--boolgrad", type=pathlib.Path, default=ROOT / "build/release/boolgrad")
    options = parser.parse_args()
    print("| task | solved | steps, mean | steps, max | slowest, s |")
    print("|---|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for task in options.tasks:
            print(row(options, task, folder), flush=True)


if __name__ == "__main__":
    main()
