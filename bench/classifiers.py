#!/usr/bin/env python3
"""Classifiers of gates on the test samples: soft and hard accuracy, gates, training time, samples per second on one
core. With --peers also a multilayer perceptron (PyTorch) and gradient-boosted trees (scikit-learn) on the same images.

Models in build/classifiers are reused; --fresh trains again. With --verilog, the hardened models are also exported,
compiled and simulated (Icarus Verilog, 1,000 test samples), and the run fails if one of them differs from the network in
any prediction. Writes the table between the markers in docs/classifiers.md and adds the run to bench/results/classifiers.json.
"""
import argparse
import gzip
import json
import pathlib
import shlex
import statistics
import subprocess
import time

import common

PROGRAM = common.ROOT / "build/release/boolgrad"
FOLDER = common.ROOT / "build/classifiers"
FASHION = "/usr/share/datasets/fashion-mnist"
MONK_SEEDS = 5


def answer(*words):
    done = subprocess.run([str(PROGRAM), *words, "--quiet", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def result_of(name, experiment, words, options):
    """Trains unless there is a model, and evaluates it."""
    out = FOLDER / name
    model = out / "model.safetensors"
    if options.fresh or not model.exists():
        answer("train", experiment, "--out", str(out), *words)
    # Decomposing six-input tables into two-input gates takes minutes.
    how = ["--no-simplify"] if experiment == "mnist-tables" else []
    how += ["--compiled", "--simulated"] if options.verilog else []
    evaluated = answer("eval", str(model), *how)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return evaluated | {"seconds": lines[-1]["seconds"]}


def monk_row(number, options):
    runs = [result_of(f"monk{number}-{seed}", f"monk{number}", ["--seed", str(seed)], options)
            for seed in range(1, MONK_SEEDS + 1)]
    middle = statistics.median_low([run["hard_accuracy"] for run in runs])
    row = next(run for run in runs if run["hard_accuracy"] == middle)
    return {"name": f"MONK {number}, median of {MONK_SEEDS} seeds", "command": f"`boolgrad train monk{number}`", **row}


def sizes(options):
    """Rows: name, run folder, experiment, further arguments."""
    rows = []
    device = ["--device", options.device] if options.device != "cpu" else []
    on_gpu = ", on a GPU" if device else ""
    if options.mnist:
        data = ["--data", options.mnist]
        rows += [("MNIST, 8,000 gates", "mnist", "mnist", data),
                 ("MNIST, 8,000 tables of six inputs", "mnist-tables", "mnist-tables", data),
                 (f"MNIST, 48,000 gates{on_gpu}", "mnist-48k", "mnist-48k", data + device)]
        if options.large:
            rows.append((f"MNIST, 384,000 gates{on_gpu}", "mnist-384k", "mnist-384k", data + device))
    if not options.no_fashion:
        rows.append(("Fashion-MNIST, 8,000 gates", "fashion-mnist", "fashion-mnist", []))
        if options.large:
            rows += [(f"Fashion-MNIST, 48,000 gates{on_gpu}", "fashion-mnist-48k", "fashion-mnist-48k", device),
                     (f"Fashion-MNIST, 384,000 gates{on_gpu}", "fashion-mnist-384k", "fashion-mnist-384k", device)]
    return rows


def images(folder, prefix):
    import numpy

    def read(name, header):
        path = pathlib.Path(folder) / name
        raw = gzip.open(path.with_name(name + ".gz")).read() if not path.exists() else path.read_bytes()
        return numpy.frombuffer(raw, numpy.uint8)[header:]

    labels = read(f"{prefix}-labels-idx1-ubyte", 8)
    return read(f"{prefix}-images-idx3-ubyte", 16).reshape(len(labels), -1), labels


def rate(work, samples):
    """Samples per second, the fastest of five runs."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return samples / best


def perceptron(folder, hidden, epochs):
    import torch

    torch.manual_seed(1)
    x, y = (torch.from_numpy(part.copy()) for part in images(folder, "train"))
    tx, ty = (torch.from_numpy(part.copy()) for part in images(folder, "t10k"))
    x, tx = x.float() / 255, tx.float() / 255
    model = torch.nn.Sequential(torch.nn.Linear(784, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 10))
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    start = time.perf_counter()
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(100):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(x[batch]), y[batch].long()).backward()
            optimiser.step()
    seconds = time.perf_counter() - start
    torch.set_num_threads(1)
    with torch.no_grad():
        accuracy = (model(tx).argmax(1) == ty).float().mean().item()
        speed = rate(lambda: model(tx).argmax(1), len(tx))
    weights = sum(p.numel() for p in model.parameters())
    return {"size": f"{weights:,} weights", "hard_accuracy": accuracy, "seconds": seconds, "samples_per_second": speed}


def trees(folder, count):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    x, y = images(folder, "train")
    tx, ty = images(folder, "t10k")
    model = HistGradientBoostingClassifier(max_iter=count, max_leaf_nodes=15, early_stopping=False, random_state=1)
    start = time.perf_counter()
    model.fit(x, y)
    seconds = time.perf_counter() - start
    with threadpool_limits(1):
        accuracy = float((model.predict(tx) == ty).mean())
        speed = rate(lambda: model.predict(tx), len(tx))
    return {"size": f"{10 * count} trees of 15 leaves", "hard_accuracy": accuracy, "seconds": seconds,
            "samples_per_second": speed}


def percent(share):
    return f"{100 * share:.2f} %" if share is not None else ""


def line(row):
    size = row.get("size") or f"{row['gates']:,}"
    if "gates_simplified" in row:
        size += f", {row['gates_simplified']:,} simplified"
    speed = row["samples_per_second"] / 1e6
    seconds = f"{row['seconds']:.0f} s" if row["seconds"] >= 10 else f"{row['seconds']:.1f} s"
    return (f"| {row['name']} | {size} | {seconds} | {percent(row.get('soft_accuracy'))} | "
            f"{percent(row['hard_accuracy'])} | {speed:.2g} million | {row.get('command', '')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", metavar="DIR", help="folder of the four MNIST files; without it, MNIST is skipped")
    parser.add_argument("--large", action="store_true", help="also experiments that need a GPU, or hours")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"],
                        help="device for classifiers of 48,000 gates and more")
    parser.add_argument("--verilog", action="store_true", help="also compile the exported C and simulate the Verilog")
    parser.add_argument("--no-monks", action="store_true", help="skip the MONK's problems")
    parser.add_argument("--print", action="store_true", help="print the table and write nothing")
    parser.add_argument("--no-fashion", action="store_true", help="skip Fashion-MNIST")
    parser.add_argument("--peers", action="store_true", help="also PyTorch and scikit-learn, on Fashion-MNIST")
    parser.add_argument("--fresh", action="store_true", help="train again")
    options = parser.parse_args()
    rows = [] if options.no_monks else [monk_row(number, options) for number in (1, 2, 3)]
    for name, folder, experiment, words in sizes(options):
        shown = shlex.join(w.replace(options.mnist or "DIR", "DIR") for w in words)
        rows.append({"name": name, "command": f"`boolgrad train {experiment} {shown}`".replace(" `", "`"),
                     **result_of(folder, experiment, words, options)})
    if options.peers:
        rows.append({"name": "Fashion-MNIST, a multilayer perceptron", "command": "PyTorch",
                     **perceptron(FASHION, 16, 5)})
        rows.append({"name": "Fashion-MNIST, boosted trees", "command": "scikit-learn", **trees(FASHION, 20)})
    table = ["| task | size | trained in | soft | hard | samples per second | command |", "|---|---|---|---|---|---|---|"]
    table += [line(row) for row in rows]
    facts = common.machine(PROGRAM, 2)
    table += ["", "Trained with two threads, or on the GPU where a row says so; run with one thread. " +
              common.describe(facts)]
    if options.verilog:
        table += ["", "For every model of this table, the exported C and, on the first 1,000 test samples, the simulated "
                  "Verilog give the same predictions as the network."]
    print("\n".join(table))
    if options.print:
        return
    common.write_documentation("bench/classifiers.py", "\n".join(table), "docs/classifiers.md")
    common.write_results("classifiers", facts, rows)


if __name__ == "__main__":
    main()
