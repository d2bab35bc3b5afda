#!/usr/bin/env python3
"""Learned wires: test accuracy of the built-in recipes over five seeds, and an ablation on validation samples.

Part `rows` trains each recipe with seeds 1 to 5 and evaluates every model once on the test samples. Part `ablation` varies
the wiring of one recipe and reads validation samples only. Part `steps` times one training step on each device
(`boolgrad bench wires`).

The GPU need not be where the repository is: --save keeps a run in a file, and --load writes the tables between the
markers in docs/learned-wires.md, and bench/results/wiring.json, from it.

  bench/wiring.py --mnist DIR --device cuda --jobs 5 --save run.json
  bench/wiring.py --load run.json
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import common

SEEDS = range(1, 6)
# Recipe, data set, kind of gate, and the published results of the same size.
ROWS = [
    ("mnist-s", "mnist", "two-input gates", "97.96 % (LILogicNet, 4,000)"),
    ("mnist-m", "mnist", "two-input gates", "98.45 % (LILogicNet, 8,000)"),
    ("mnist-l", "mnist", "two-input gates", "98.95 % (LILogicNet, 32,000)"),
    ("mnist-lut6", "mnist", "six-input tables", "98.3 % (DWN, 4,082), 97.9 % (DWN, 1,413)"),
    ("fashion-mnist-l", "fashion", "two-input gates", "90.26 % (LILogicNet, 64,000)"),
]
ABLATION = [
    ("fixed, random", ["network.candidates=1"]),
    ("fixed, butterfly", ["network.candidates=1", "network.wiring=butterfly"]),
    ("fixed, window of 5 pixels", ["network.candidates=1", "network.wiring=window"]),
    ("4 candidates", ["network.candidates=4", "network.redraw_every=0"]),
    ("8 candidates", ["network.candidates=8", "network.redraw_every=0"]),
    ("16 candidates", ["network.candidates=16", "network.redraw_every=0"]),
    ("32 candidates", ["network.candidates=32", "network.redraw_every=0"]),
    ("all sources", ["network.candidates=0", "network.redraw_every=0"]),
    ("8 candidates, redrawn by gradient", ["network.candidates=8"]),
    ("16 candidates, redrawn by gradient", ["network.candidates=16"]),
    ("32 candidates, redrawn by gradient", []),
    ("16 candidates, redrawn at random", ["network.candidates=16", "network.redraw=random"]),
    ("16 candidates from a window, redrawn by gradient", ["network.candidates=16", "network.wiring=window"]),
    ("all sources, soft mixture", ["network.candidates=0", "network.redraw_every=0", "network.wire_forward=soft",
                                   "hardening.kind=none"]),
    ("two layers of 4,000, redrawn by gradient", ["network.hidden=[4000]", "head.outputs=4000"]),
    ("initial wire logits of deviation 1", ["network.wire_init_strength=1"]),
]
ABLATION_RECIPE = "mnist-m"
ABLATION_EPOCHS = 40


class Runner:
    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.folder)

    def answer(self, *words):
        done = subprocess.run([self.options.program, *words, "--quiet", "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout.splitlines()[-1])

    def train(self, name, experiment, data, words):
        out = self.folder / name
        start = time.perf_counter()
        self.answer("train", experiment, "--out", str(out), "--data", data, "--device", self.options.device,
                    "--threads", str(self.options.threads), *words)
        seconds = time.perf_counter() - start
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        lines = [line for line in lines if "hard_accuracy" in line]
        return {"name": name, "seconds": seconds, "best_validation": max(line["hard_accuracy"] for line in lines),
                "last": statistics.mean(line["hard_accuracy"] for line in lines[-5:]),
                "last_soft": statistics.mean(line["soft_accuracy"] for line in lines[-5:])}

    def row(self, experiment, data, seed):
        run = self.train(f"{experiment}-{seed}", experiment, data, ["--seed", str(seed)])
        how = ["--no-simplify"] if experiment == "mnist-lut6" else []
        test = self.answer("eval", str(self.folder / run["name"] / "model.safetensors"), "--data", data, *how)
        return run | {"experiment": experiment, "seed": seed, "test": test["hard_accuracy"],
                      "test_soft": test["soft_accuracy"], "gates": test["gates"],
                      "simplified": test.get("gates_simplified")}


def measure(options):
    runner = Runner(options)
    data = {"mnist": options.mnist, "fashion": options.fashion}
    result = {"device": options.device, "program": subprocess.run([options.program, "--version"], capture_output=True,
                                                                  text=True).stdout.splitlines()[0]}
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = [(name, data[source], seed) for name, source, _, _ in ROWS for seed in SEEDS
                if data[source] and name in options.rows]
        ablation = [pool.submit(runner.train, f"ablation-{i}", ABLATION_RECIPE, options.mnist,
                                ["--epochs", str(ABLATION_EPOCHS), *(word for one in sets for word in ("--set", one))])
                    for i, (_, sets) in enumerate(ABLATION)] if options.ablation else []
        measured = [pool.submit(runner.row, *one) for one in rows]
        result["rows"] = [one.result() for one in measured]
        result["ablation"] = [one.result() for one in ablation]
    if options.steps:
        result["steps"] = {device: runner.answer("bench", "wires", "--device", device)["benchmarks"]
                           for device in options.steps}
    return result


def joined(files):
    """The parts of several runs as one."""
    runs = [json.loads(pathlib.Path(file).read_text()) for file in files]
    result = dict(runs[0], rows=[], ablation=[], steps={})
    for run in runs:
        result["rows"] += run["rows"]
        result["ablation"] += run["ablation"]
        result["steps"] |= run.get("steps", {})
    return result


def percent(value):
    return f"{100 * value:.2f} %"


def row_table(runs):
    lines = ["| experiment | gates | after passes | published, same size | validation | test, hard | soft − hard | "
             "seconds |", "|---|---|---|---|---|---|---|---|"]
    for name, _, kind, published in ROWS:
        own = [run for run in runs if run["experiment"] == name]
        if not own:
            continue
        test = [run["test"] for run in own]
        spread = f" ± {100 * statistics.stdev(test):.2f}" if len(test) > 1 else ""
        gap = statistics.mean(run["test_soft"] - run["test"] for run in own)
        simplified = [run["simplified"] for run in own if run["simplified"]]
        lines.append(
            f"| `{name}` | {own[0]['gates']:,} {kind} | "
            f"{f'{statistics.mean(simplified):,.0f}' if simplified else ''} | {published} | "
            f"{percent(statistics.mean(run['best_validation'] for run in own))} | "
            f"**{percent(statistics.mean(test))}**{spread} ({len(own)} seeds) | {100 * gap:+.2f} | "
            f"{statistics.mean(run['seconds'] for run in own):.0f} |")
    return "\n".join(lines)


def ablation_table(runs):
    lines = ["| wiring of 8,000 gates | validation, hard | soft | seconds |", "|---|---|---|---|"]
    for (label, _), run in zip(ABLATION, runs):
        lines.append(f"| {label} | {percent(run['last'])} | {percent(run['last_soft'])} | {run['seconds']:.0f} |")
    return "\n".join(lines)


def step_table(steps):
    devices = list(steps)
    lines = ["| candidates | " + " | ".join(f"{device}, ms | of fixed" for device in devices) + " | largest error |",
             "|---|" + "---|" * (2 * len(devices) + 1)]
    for i, row in enumerate(steps[devices[0]]):
        cells = [f"{steps[d][i]['ms']:.3f} | {steps[d][i]['ms'] / steps[d][0]['ms']:.1f}×" for d in devices]
        error = max(steps[d][i]["max_error"] for d in devices)
        lines.append(f"| {row['name'].removeprefix('wires.')} | " + " | ".join(cells) + f" | {error:.0e} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", help="folder of the MNIST files")
    parser.add_argument("--fashion", help="folder of the Fashion-MNIST files")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--program", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--folder", default=str(common.ROOT / "build/wiring"))
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run")
    parser.add_argument("--rows", nargs="*", default=[row[0] for row in ROWS])
    parser.add_argument("--no-ablation", dest="ablation", action="store_false")
    parser.add_argument("--steps", nargs="*", default=[], help="devices whose steps are timed")
    parser.add_argument("--save", help="keep the run in this file, and write no tables")
    parser.add_argument("--load", nargs="+", help="write the tables of saved runs")
    options = parser.parse_args()
    result = joined(options.load) if options.load else measure(options)
    if options.save:
        pathlib.Path(options.save).write_text(json.dumps(result, indent=1) + "\n")
        return
    page = "docs/learned-wires.md"
    for part, table, key in (("rows", row_table, "rows"), ("ablation", ablation_table, "ablation"),
                             ("steps", step_table, "steps")):
        if result.get(key):
            common.write_documentation(f"bench/wiring.py {part}", table(result[key]), page)
    common.write_results("wiring", {"revision": common.revision(), "device": result["device"],
                                    "program": result["program"]}, result)


if __name__ == "__main__":
    main()
