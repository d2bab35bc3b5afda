#!/usr/bin/env python3
"""Convolutions: test accuracy of the built-in recipes, an ablation on validation samples, and the time of a step.

Part `rows` trains each recipe with seeds 1 to 5 and evaluates every model once on the test samples. Part `ablation`
varies kernels, initialisation and hardening of one recipe in fewer epochs, and reads validation samples only. Part
`steps` times one training step on each device (`boolgrad bench convolutions`).

The GPU need not be where the repository is: --save keeps a run in a file, and --load writes the tables between the
markers in docs/convolutions.md, and bench/results/convolutions.json, from it. A run of bench/torchlogix_steps.py may be
loaded with it.

  bench/convolutions.py --mnist DIR --device cuda --jobs 5 --steps cuda vulkan --save run.json
  bench/convolutions.py --load run.json peers.json
"""
import argparse
import json
import pathlib
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed

import classifier_runs
import common
from classifier_runs import percent

# Recipe, data set, and the published results of a similar size.
ROWS = [
    ("mnist-conv-s", "mnist", "98.46 % (LogicTreeNet S, 147,000)"),
    ("mnist-conv-m", "mnist", "99.23 % (LogicTreeNet M, 566,000)"),
    ("mnist-conv-l", "mnist", "99.35 % (LogicTreeNet L, 1,270,000)"),
    ("fashion-mnist-conv", "fashion", "90.26 % (LILogicNet, 64,000, no convolutions)"),
]
ABLATION_RECIPE = "mnist-conv-s"
ABLATION_EPOCHS = 10
TRAINING_IMAGES = 54_000
# What all variations share, so that they compare whatever the recipe's own settings are.
ABLATION_BASE = ["convolution.depth=3", "convolution.pool=2", "convolution.stride=1", "convolution.groups=1",
                 "convolution.candidates=1", "network.init=residual", "network.init_strength=2",
                 "hardening.kind=noise", "hardening.threshold=10", "hardening.learning_rate_factor=1"]
# Noise grows for this share of the steps.
ABLATION_NOISE_SHARE = 0.6
ABLATION = [
    ("depth 3, OR of 2×2 positions, residual 2, noise", []),
    ("depth 1", ["convolution.depth=1"]),
    ("depth 2", ["convolution.depth=2"]),
    ("depth 4", ["convolution.depth=4"]),
    ("no pooling, stride 2", ["convolution.pool=1", "convolution.stride=2"]),
    ("residual 0.5", ["network.init_strength=0.5"]),
    ("residual 1", ["network.init_strength=1"]),
    ("residual 4", ["network.init_strength=4"]),
    ("pass-through 2", ["network.init=pass_through"]),
    ("pass-through 5", ["network.init=pass_through", "network.init_strength=5"]),
    ("Gaussian 1", ["network.init=gaussian", "network.init_strength=1"]),
    ("8 candidates per leaf", ["convolution.candidates=8", "network.wire_init_strength=0.1"]),
    ("2 groups that do not mix", ["convolution.groups=[1, 2, 2]"]),
    ("8 groups that do not mix", ["convolution.groups=[1, 8, 8]"]),
    ("straight through", ["hardening.kind=straight_through"]),
    ("no hardening", ["hardening.kind=none"]),
]


def variation(runner, i, options):
    label, sets = ABLATION[i]
    name = f"ablation-{i}"
    epochs = options.epochs or ABLATION_EPOCHS
    recipe = tomllib.loads((common.ROOT / f"experiments/{ABLATION_RECIPE}.toml").read_text())
    noise_steps = round(ABLATION_NOISE_SHARE * epochs * TRAINING_IMAGES / recipe["training"]["batch"])
    every = [*ABLATION_BASE, f"hardening.steps={noise_steps}", *sets]
    run = runner.train(name, ABLATION_RECIPE, options.mnist,
                       ["--epochs", str(epochs), *(word for one in every for word in ("--set", one))])
    return run | {"variation": i, "label": label, "epochs": epochs,
                  "gates": runner.answer("inspect", runner.model(name))["gates"]}


def measure(options):
    runner = classifier_runs.Runner(options)
    data = {"mnist": options.mnist, "fashion": options.fashion}
    result = {"device": options.device, "program": runner.version(), "rows": [], "ablation": [], "peers": []}
    # Before the runs, which would share the device with it.
    result["steps"] = {device: runner.answer("bench", "convolutions", "--device", device) for device in options.steps}
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = {pool.submit(runner.row, name, data[source], seed): "rows"
                 for name, source, _ in ROWS for seed in options.seeds
                 if data[source] and name in options.rows and (common.ROOT / f"experiments/{name}.toml").exists()}
        if options.ablation:
            parts |= {pool.submit(variation, runner, i, options): "ablation" for i in options.variations}
        for done in as_completed(parts):
            result[parts[done]].append(done.result())
            save(options, result)  # what is measured survives a run that is stopped
    return result


def save(options, result):
    if options.save:
        pathlib.Path(options.save).write_text(json.dumps(result, indent=1) + "\n")


def row_table(runs):
    columns = ["experiment", "gates", "after passes", "LUT6", "LUT6, with encoder", "published", "validation",
               "test, hard", "soft − hard", "seconds"]
    rows = []
    for name, _, published in ROWS:
        own = [run for run in runs if run["experiment"] == name]
        if own:
            cells = classifier_runs.row_cells(own) | {"experiment": f"`{name}`", "published": published}
            rows.append([cells[column] for column in columns])
    return classifier_runs.table(columns, rows)


def ablation_section(runs):
    about = (f"### Ablation\n\nVariations of `{ABLATION_RECIPE}`, {runs[0]['epochs']} epochs, one seed. Validation "
             "accuracy, mean of the last five epochs; the test samples were not read:\n\n")
    rows = [[run["label"], f"{run['gates']:,}", percent(run["last"]), percent(run["last_soft"]),
             f"{run['seconds']:.0f}"] for run in sorted(runs, key=lambda run: run["variation"])]
    return about + classifier_runs.table(["variation", "gates", "validation, hard", "soft", "seconds"], rows)


def bandwidth(steps, device):
    """GB/s of memory, where measured: Vulkan runs on the GPU whose rates the CUDA run has."""
    for name in (device, "cuda" if device.startswith("vulkan") else device):
        if "machine" in steps.get(name, {}):
            return steps[name]["machine"]["gigabytes"]
    return None


def step_table(steps):
    devices = list(steps)
    columns = ["size", "GB", "GFLOP"]
    for device in devices:
        columns += [f"{device}, ms", "share of bandwidth"]
    rows = []
    for i, row in enumerate(steps[devices[0]]["benchmarks"]):
        cells = [row["name"].removeprefix("convolutions.").upper(), f"{row['bytes'] * 1e-9:.2f}",
                 f"{row['operations'] * 1e-9:.2f}"]
        for device in devices:
            ms = steps[device]["benchmarks"][i]["ms"]
            rate = bandwidth(steps, device)
            cells += [f"{ms:.3f}", f"{row['bytes'] * 1e-4 / ms / rate:.0f} %" if rate else ""]
        error = max(steps[device]["benchmarks"][i]["max_error"] for device in devices)
        rows.append([*cells, f"{error:.0e}"])
    measured = [f"{device} {steps[device]['machine']['gigabytes']:,.0f} GB/s" for device in devices
                if "machine" in steps[device]]
    about = f"\n\nMeasured bandwidth of copies: {', '.join(measured)}." if measured else ""
    return classifier_runs.table([*columns, "largest error"], rows) + about


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    classifier_runs.add_options(parser, "convolutions")
    parser.add_argument("--rows", nargs="*", default=[row[0] for row in ROWS], help="recipes that are trained")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 6)), help="seeds of every recipe")
    parser.add_argument("--variations", type=int, nargs="+", default=list(range(len(ABLATION))),
                        help="those of the ablation, by number from 0")
    options = parser.parse_args()
    result = classifier_runs.joined(options.load) if options.load else measure(options)
    save(options, result)
    if options.save:
        return
    page = "docs/convolutions.md"
    peers = [peer for peer in result["peers"] if peer["problem"].startswith("convolutions")]
    times = {(device, row["name"]): row["ms"] for device, answer in result["steps"].items()
             for row in answer["benchmarks"]}
    if result["rows"]:
        common.write_documentation("bench/convolutions.py rows", row_table(result["rows"]), page)
    if result["ablation"]:
        common.write_documentation("bench/convolutions.py ablation", ablation_section(result["ablation"]), page)
    if result["steps"]:
        common.write_documentation("bench/convolutions.py steps", step_table(result["steps"]), page)
    if peers:
        common.write_documentation("bench/convolutions.py peers", classifier_runs.peer_table(peers, times), page)
    common.write_results("convolutions", {"revision": common.revision(), "device": result["device"],
                                          "program": result["program"]}, result)


if __name__ == "__main__":
    main()
