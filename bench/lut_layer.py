#!/usr/bin/env python3
"""A network of two-input soft gates, 784 -> 8,000 x 6, batch 256: one training step (forward, backward,
AdamW) in boolgrad and in PyTorch, in one run, on the same number of threads.

PyTorch computes it twice: by the plain formula, sixteen gates for every sample weighted by a softmax,
and by the four-coefficient form under torch.compile. All three start from the same wires, logits,
inputs and targets; loss and gradients are compared before anything is timed.

Writes the table between the markers in docs/benchmarks/layers.md and adds the run to
bench/results/lut_layer.json.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy
import torch

import common

INPUTS, WIDTH, LAYERS, BATCH = 784, 8000, 6, 256
LEARNING_RATE = 0.01


def make_problem(width, layers, batch):
    rng = numpy.random.default_rng(1)
    sizes = [INPUTS] + [width] * layers
    wires = [rng.integers(0, before, (2, width)).astype(numpy.int32) for before in sizes[:-1]]
    logits = [rng.standard_normal((width, 16)).astype(numpy.float32) for _ in range(layers)]
    inputs = rng.random((INPUTS, batch)).astype(numpy.float32)
    target = rng.integers(0, 2, (width, batch)).astype(numpy.float32)
    return wires, logits, inputs, target


# The sixteen gates in the order of their truth tables 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
def sixteen_gates(a, b):
    ab = a * b
    one = torch.ones_like(a)
    return [
        torch.zeros_like(a), ab, a - ab, a, b - ab, b, a + b - 2 * ab, a + b - ab,
        1 - (a + b - ab), 1 - (a + b - 2 * ab), 1 - b, 1 - b + ab, 1 - a, 1 - a + ab, 1 - ab, one,
    ]


def plain_layer(x, logits, wires):
    weights = torch.softmax(logits, dim=-1)
    a, b = x[:, wires[0]], x[:, wires[1]]
    total = torch.zeros_like(a)
    for i, gate in enumerate(sixteen_gates(a, b)):
        total = total + weights[:, i] * gate
    return total


COEFFICIENTS = torch.tensor([
    [0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, -1], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 1, 0],
    [0, 1, 1, -2], [0, 1, 1, -1], [1, -1, -1, 1], [1, -1, -1, 2], [1, 0, -1, 0], [1, 0, -1, 1],
    [1, -1, 0, 0], [1, -1, 0, 1], [1, 0, 0, -1], [1, 0, 0, 0]], dtype=torch.float32)


def coefficient_layer(x, logits, wires):
    c = torch.softmax(logits, dim=-1) @ COEFFICIENTS
    a, b = x[:, wires[0]], x[:, wires[1]]
    return c[:, 0] + c[:, 1] * a + (c[:, 2] + c[:, 3] * a) * b


def loss_of(layer, x, logits, wires, target):
    for z, w in zip(logits, wires):
        x = layer(x, z, w)
    return ((x - target) ** 2).sum()


class TorchRun:
    """One form of the step in PyTorch, with samples first, as is usual there."""

    def __init__(self, problem, layer, compiled):
        wires, logits, inputs, target = problem
        self.wires = [torch.from_numpy(w.astype(numpy.int64)) for w in wires]
        self.logits = [torch.from_numpy(z.copy()).requires_grad_() for z in logits]
        self.x = torch.from_numpy(inputs.T.copy())
        self.target = torch.from_numpy(target.T.copy())
        self.layer = torch.compile(layer) if compiled else layer
        self.optimiser = torch.optim.AdamW(
            self.logits, lr=LEARNING_RATE, betas=(0.9, 0.99), weight_decay=0, fused=True)

    def loss(self):
        return loss_of(self.layer, self.x, self.logits, self.wires, self.target)

    def gradients(self):
        loss = self.loss()
        return loss, torch.autograd.grad(loss, self.logits)

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimiser.step()


def write_problem(path, problem, loss, gradients):
    wires, logits, inputs, target = problem
    tensors = {"x": inputs, "target": target, "loss": numpy.array([loss], numpy.float64)}
    common.write_network(path, torch, INPUTS, tensors, list(zip(wires, logits, gradients)))


def median_ms(step, seconds):
    step()
    times = []
    while sum(times) < seconds * 1000 or len(times) < 3:
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1000)
    return sorted(times)[len(times) // 2]


def relative(a, b):
    return float(numpy.abs(a - b).max() / numpy.abs(b).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--seconds", type=float, default=5, help="time spent on each PyTorch row")
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    problem = make_problem(options.width, options.layers, options.batch)
    plain = TorchRun(problem, plain_layer, compiled=False)
    loss, gradients = plain.gradients()
    reference = [g.numpy() for g in gradients]

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "network.safetensors"
        write_problem(path, problem, loss.item(), reference)
        del gradients
        for attempt in range(2):
            answer = subprocess.run(
                [options.boolgrad, "bench", "lut", "--file", str(path), "--threads",
                 str(options.threads), "--json"], check=True, capture_output=True, text=True)
            result = json.loads(answer.stdout.splitlines()[-1])
            row = next(r for r in result["benchmarks"] if r["name"] == "lut.step")
            if attempt == 0 or row["ms"] < ours["ms"]:
                ours, report = row, result
    rows.append(("boolgrad", ours["ms"], ours["max_error"]))
    rows.append(("PyTorch, sixteen gates", median_ms(plain.step, options.seconds), 0.0))
    try:
        compiled = TorchRun(problem, coefficient_layer, compiled=True)
        compiled_loss, compiled_gradients = compiled.gradients()
        error = max(relative(g.numpy(), r) for g, r in zip(compiled_gradients, reference))
        rows.append(("PyTorch, four coefficients, torch.compile",
                     median_ms(compiled.step, options.seconds), error))
    except Exception as reason:  # the compiler of torch.compile may be missing
        print(f"torch.compile did not run: {reason}")
        eager = TorchRun(problem, coefficient_layer, compiled=False)
        eager_loss, eager_gradients = eager.gradients()
        error = max(relative(g.numpy(), r) for g, r in zip(eager_gradients, reference))
        rows.append(("PyTorch, four coefficients", median_ms(eager.step, options.seconds), error))

    lines = ["| | ms per step | boolgrad speed-up | max gradient error |", "|---|---:|---:|---:|"]
    for name, ms, error in rows:
        ahead = "" if name == "boolgrad" else f"{ms / rows[0][1]:.1f}×"
        lines.append(f"| {name} | {ms:.2f} | {ahead} | {error:.1e} |")
    lines += ["", "Where the time goes, and the share of the machine's measured peaks:", "",
              "| part | ms | GFLOP/s | share of peak | GB/s | share of bandwidth |",
              "|---|---:|---:|---:|---:|---:|"]
    rates = report["machine"]
    for part in report["benchmarks"]:
        if "operations" not in part:
            continue
        gflops = part["operations"] / part["ms"] * 1e-6
        gigabytes = part["bytes"] / part["ms"] * 1e-6
        lines.append(f"| {part['name'].removeprefix('lut.')} | {part['ms']:.2f} | {gflops:.1f} | "
                     f"{100 * gflops / rates['gflops']:.0f} % | {gigabytes:.1f} | "
                     f"{100 * gigabytes / rates['gigabytes']:.0f} % |")
    lines += ["", f"Measured peaks: {rates['gflops']:.0f} GFLOP/s of fused multiply-adds in float32, "
              f"{rates['gigabytes']:.0f} GB/s copying memory. Peak memory of the boolgrad process "
              f"{report['peak_memory'] / 1e6:.0f} MB; parameters, moments and activations "
              f"together are {report['needed_memory'] / 1e6:.0f} MB "
              f"({report['peak_memory'] / report['needed_memory']:.2f}×)."]
    text = "\n".join(lines)
    print(text)
    facts = common.machine(
        options.boolgrad, options.threads,
        f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
    worst = max(error for _, _, error in rows)
    if not worst <= 1e-4:
        raise SystemExit(f"gradients differ by {worst}")
    if not options.dry_run:
        common.write_documentation("bench/lut_layer.py", common.describe(facts) + "\n\n" + text,
                                   "docs/benchmarks/layers.md")
        common.write_results("lut_layer", facts, {"rows": rows, "report": report})


if __name__ == "__main__":
    main()
