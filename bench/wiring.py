#!/usr/bin/env python3
"""Learned wires: test accuracy of the built-in recipes over five seeds, and an ablation on validation samples.

Part `rows` trains each recipe with seeds 1 to 5 and evaluates every model once on the test samples. Part `ablation` varies
the wiring of one recipe and reads validation samples only. Part `steps` times one training step on each device
(`boolgrad bench wires`).

The GPU need not be where the repository is: --save keeps a run in a file, and --load writes the tables between the
markers in docs/learned-wires.md, and bench/results/wiring.json, from it. A run of bench/torchlogix_steps.py may be
loaded with it.

  bench/wiring.py --mnist DIR --device cuda --jobs 5 --save run.json
  bench/wiring.py --load run.json peers.json
"""
import argparse
import json
import pathlib
from concurrent.futures import ThreadPoolExecutor

import classifier_runs
import common
from classifier_runs import percent

SEEDS = range(1, 6)
# Recipe, data set, kind of gate, and the published results of the same size.
ROWS = [
    ("mnist-s", "mnist", "two-input gates", "97.96 % (LILogicNet, 4,000)"),
    ("mnist-m", "mnist", "two-input gates", "98.45 % (LILogicNet, 8,000)"),
    ("mnist-l", "mnist", "two-input gates", "98.95 % (LILogicNet, 32,000)"),
    ("mnist-lut6", "mnist", "six-input tables", "98.3 % (DWN, 4,082), 97.9 % (DWN, 1,413)"),
    ("fashion-mnist-l", "fashion", "two-input gates", "90.26 % (LILogicNet, 64,000)"),
]
# What all variations share, so that they compare whatever the recipe's own settings are: one layer, trained straight through.
ABLATION_BASE = ["network.hidden=[]", "head.outputs=8000", "hardening.kind=straight_through"]
NOISE = ["hardening.kind=noise", "hardening.threshold=10", "hardening.steps=5000", "hardening.learning_rate_factor=1"]
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
    ("two layers of 3,000 and 5,000, noise instead of straight-through",
     [*NOISE, "network.hidden=[3000]", "head.outputs=5000"]),
    ("the same, 4,000 and 4,000", [*NOISE, "network.hidden=[4000]", "head.outputs=4000"]),
    ("the same, three layers of 2,500, 2,500 and 3,000, temperature 6",
     [*NOISE, "network.hidden=[2500,2500]", "head.outputs=3000", "head.temperature=6"]),
    ("the same, 3,000 and 5,000, twice the noise",
     [*NOISE, "network.hidden=[3000]", "head.outputs=5000", "hardening.noise=2"]),
    ("the same, 3,000 and 5,000, learning rate 0.1",
     [*NOISE, "network.hidden=[3000]", "head.outputs=5000", "training.learning_rate=0.1"]),
]
ABLATION_RECIPE = "mnist-m"
ABLATION_EPOCHS = 40


def measure(options):
    runner = classifier_runs.Runner(options)
    data = {"mnist": options.mnist, "fashion": options.fashion}
    result = {"device": options.device, "program": runner.version(), "peers": []}
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = [(name, data[source], seed) for name, source, _, _ in ROWS for seed in SEEDS
                if data[source] and name in options.rows]
        ablation = [pool.submit(runner.train, f"ablation-{i}", ABLATION_RECIPE, options.mnist,
                                ["--epochs", str(options.epochs or ABLATION_EPOCHS),
                                 *(word for one in [*ABLATION_BASE, *sets] for word in ("--set", one))])
                    for i, (_, sets) in enumerate(ABLATION)] if options.ablation else []
        measured = [pool.submit(runner.row, *one) for one in rows]
        result["rows"] = [one.result() for one in measured]
        result["ablation"] = [one.result() for one in ablation]
    result["steps"] = {device: runner.answer("bench", "wires", "--device", device)["benchmarks"]
                       for device in options.steps}
    return result


def row_table(runs):
    columns = ["experiment", "gates", "after passes", "LUT6", "LUT6, with encoder", "published, same size",
               "validation", "test, hard", "soft − hard", "seconds"]
    rows = []
    for name, _, kind, published in ROWS:
        own = [run for run in runs if run["experiment"] == name]
        if not own:
            continue
        cells = classifier_runs.row_cells(own, has_tables=kind != "two-input gates")
        cells |= {"experiment": f"`{name}`", "gates": f"{cells['gates']} {kind}", "published, same size": published}
        rows.append([cells[column] for column in columns])
    return classifier_runs.table(columns, rows)


def ablation_table(runs):
    rows = [[label, percent(run["last"]), percent(run["last_soft"]), classifier_runs.seconds([run])]
            for (label, _), run in zip(ABLATION, runs)]
    return classifier_runs.table(["wiring of 8,000 gates", "validation, hard", "soft", "seconds"], rows)


def step_table(steps):
    devices = list(steps)
    rows = []
    for i, row in enumerate(steps[devices[0]]):
        times = [cell for d in devices for cell in (f"{steps[d][i]['ms']:.3f}",
                                                    f"{steps[d][i]['ms'] / steps[d][0]['ms']:.1f}×")]
        error = max(steps[d][i]["max_error"] for d in devices)
        rows.append([row["name"].removeprefix("wires."), *times, f"{error:.0e}"])
    columns = [column for device in devices for column in (f"{device}, ms", "of fixed")]
    return classifier_runs.table(["candidates", *columns, "largest error"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    classifier_runs.add_options(parser, "wiring")
    parser.add_argument("--rows", nargs="*", default=[row[0] for row in ROWS])
    options = parser.parse_args()
    result = classifier_runs.joined(options.load) if options.load else measure(options)
    if options.save:
        pathlib.Path(options.save).write_text(json.dumps(result, indent=1) + "\n")
        return
    page = "docs/learned-wires.md"
    if result["rows"]:
        common.write_documentation("bench/wiring.py rows", row_table(result["rows"]), page)
    if result["ablation"]:
        common.write_documentation("bench/wiring.py ablation", ablation_table(result["ablation"]), page)
    if result["steps"]:
        common.write_documentation("bench/wiring.py steps", step_table(result["steps"]), page)
    peers = [peer for peer in result["peers"] if peer["problem"].startswith("wires")]
    times = {(device, row["name"]): row["ms"] for device, rows in result["steps"].items() for row in rows}
    if peers:
        common.write_documentation("bench/wiring.py peers", classifier_runs.peer_table(peers, times), page)
    common.write_results("wiring", {"revision": common.revision(), "device": result["device"],
                                    "program": result["program"]}, result)


if __name__ == "__main__":
    main()
