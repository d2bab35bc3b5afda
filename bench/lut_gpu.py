#!/usr/bin/env python3
"""A classifier of two-input soft gates, 784 -> 64,000 x 6, on one GPU: a training step (sixteen logits
per gate to tables, forward, group sums, cross-entropy of 10 classes, backward, AdamW) in boolgrad and in
PyTorch under torch.compile, in one run.

PyTorch computes it twice: by the plain formula, sixteen gates for every sample weighted by a softmax,
and with the four coefficients that these weights reduce to. All start from the same wires (as in the
published code, every input is read equally often), logits, inputs and labels; loss and gradients are
compared before anything is timed. With --vulkan, boolgrad also takes the step through Vulkan.

The GPU need not be where the repository is: --save keeps a run in a file, and --load writes the table
between the markers in docs/benchmarks/layers.md, and bench/results/lut_gpu.json, from it.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy

import common

INPUTS, WIDTH, LAYERS, CLASSES = 784, 64000, 6, 10
TEMPERATURE = 30.0
LEARNING_RATE = 0.01

# Milliseconds by batch, measured in another run on a GPU of the same kind.
PUBLISHED = {
    "difflogic, its CUDA kernels": {100: 5.42, 1024: 19.0},
    "torchlogix, torch.compile, 16 logits": {100: 5.79},
    "torchlogix, torch.compile, 4 parameters": {100: 2.75},
}


def make_problem(width, layers, batch):
    rng = numpy.random.default_rng(1)
    sizes = [INPUTS] + [width] * layers
    wires = []
    for before in sizes[:-1]:
        dealt = rng.permutation(before)[rng.permutation(2 * width) % before]
        wires.append(dealt.reshape(2, width).astype(numpy.int32))
    logits = [rng.standard_normal((width, 16)).astype(numpy.float32) for _ in range(layers)]
    inputs = rng.random((INPUTS, batch)).astype(numpy.float32)
    labels = rng.integers(0, CLASSES, batch).astype(numpy.int32)
    return wires, logits, inputs, labels


def gate_tables(torch, device):
    """The sixteen gates as c0 + c1 a + c2 b + c3 ab, by index 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1)."""
    rows = []
    for index in range(16):
        f00, f01, f10, f11 = (index >> 3) & 1, (index >> 2) & 1, (index >> 1) & 1, index & 1
        rows.append([f00, f10 - f00, f01 - f00, f11 - f10 - f01 + f00])
    return torch.tensor(rows, dtype=torch.float32, device=device)


class TorchRun:
    """One form of the step in PyTorch, with samples first, as is usual there."""

    def __init__(self, torch, problem, form, compiled=True):
        wires, logits, inputs, labels = problem
        self.torch = torch
        self.wires = [torch.from_numpy(w.astype(numpy.int64)).cuda() for w in wires]
        self.logits = [torch.from_numpy(z.copy()).cuda().requires_grad_() for z in logits]
        self.x = torch.from_numpy(inputs.T.copy()).cuda()
        self.labels = torch.from_numpy(labels.astype(numpy.int64)).cuda()
        self.coefficients = gate_tables(torch, "cuda")
        layer = {"gates": self.sixteen_gates, "coefficients": self.four_coefficients}[form]
        self.layer = torch.compile(layer, dynamic=False) if compiled else layer
        self.optimiser = torch.optim.AdamW(
            self.logits, lr=LEARNING_RATE, betas=(0.9, 0.99), weight_decay=0, fused=True)

    def sixteen_gates(self, x, logits, a_wire, b_wire):
        weights = self.torch.softmax(logits, dim=-1)
        a, b = x[:, a_wire], x[:, b_wire]
        ab = a * b
        total = 0
        for index in range(16):
            f00, f01, f10, f11 = (index >> 3) & 1, (index >> 2) & 1, (index >> 1) & 1, index & 1
            gate = f00 + (f10 - f00) * a + (f01 - f00) * b + (f11 - f10 - f01 + f00) * ab
            total = total + weights[:, index] * gate
        return total

    def four_coefficients(self, x, logits, a_wire, b_wire):
        c = self.torch.softmax(logits, dim=-1) @ self.coefficients
        a, b = x[:, a_wire], x[:, b_wire]
        return c[:, 0] + c[:, 1] * a + (c[:, 2] + c[:, 3] * a) * b

    def loss(self):
        x = self.x
        for logits, wires in zip(self.logits, self.wires):
            x = self.layer(x, logits, wires[0], wires[1])
        scores = x.reshape(len(x), CLASSES, -1).sum(-1) / TEMPERATURE
        return self.torch.nn.functional.cross_entropy(scores, self.labels)

    def gradients(self):
        loss = self.loss()
        gradients = self.torch.autograd.grad(loss, self.logits)
        return loss.item(), [g.cpu().numpy() for g in gradients]

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimiser.step()

    def median_ms(self, rounds=7, steps=20):
        events = self.torch.cuda.Event
        for _ in range(5):
            self.step()
        times = []
        for _ in range(rounds):
            begin, end = events(enable_timing=True), events(enable_timing=True)
            begin.record()
            for _ in range(steps):
                self.step()
            end.record()
            self.torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) / steps)
        return sorted(times)[rounds // 2]


def write_problem(torch, path, problem, loss, gradients):
    wires, logits, inputs, labels = problem
    tensors = {"x": inputs, "labels": labels, "classes": numpy.array([CLASSES], numpy.int32),
               "temperature": numpy.array([TEMPERATURE], numpy.float64),
               "loss": numpy.array([loss], numpy.float64)}
    common.write_network(path, torch, INPUTS, tensors, list(zip(wires, logits, gradients)))


def relative(a, b):
    return float(numpy.abs(a - b).max() / numpy.abs(b).max())


class ResultTable(list):
    """Results, printed as they arrive: compiling takes longer than measuring."""

    def append(self, row):
        super().append(row)
        print(f"{row[0]}: {row[1]:.3f} ms, error {row[2]:.1e}", flush=True)


def boolgrad(options, path, device):
    answer = subprocess.run(
        [options.boolgrad, "bench", "lut", "--device", device, "--file", str(path), "--json"],
        check=True, capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def measure(options, batch):
    import torch

    problem = make_problem(options.width, options.layers, batch)
    rows = ResultTable()
    coefficients = TorchRun(torch, problem, "coefficients")
    loss, reference = coefficients.gradients()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "network.safetensors"
        write_problem(torch, path, problem, loss, reference)
        report = boolgrad(options, path, "cuda")
        through_vulkan = boolgrad(options, path, options.vulkan) if options.vulkan else None
    ours = report["benchmarks"][0]
    rows.append(("boolgrad", ours["ms"], ours["max_error"]))
    if through_vulkan:
        ours = through_vulkan["benchmarks"][0]
        rows.append(("boolgrad through Vulkan", ours["ms"], ours["max_error"]))
    rows.append(("PyTorch, four coefficients, torch.compile", coefficients.median_ms(), 0.0))
    del coefficients
    gates = TorchRun(torch, problem, "gates")
    error = max(relative(g, r) for g, r in zip(gates.gradients()[1], reference))
    rows.append(("PyTorch, sixteen gates, torch.compile", gates.median_ms(), error))
    return {"batch": batch, "rows": rows, "floor": report["floor"]}


def run(options):
    import torch

    results = [measure(options, batch) for batch in options.batches]
    facts = common.machine(options.boolgrad, 1, f"PyTorch {torch.__version__}")
    facts["revision"] = options.revision
    facts["gpu"] = torch.cuda.get_device_name(0)
    return {"machine": facts, "results": results}


def table(done):
    lines = ["| batch | | ms per step | boolgrad speed-up | max gradient error |",
             "|---:|---|---:|---:|---:|"]
    for result in done["results"]:
        ours = result["rows"][0][1]
        for name, ms, error in result["rows"]:
            ahead = "" if name == "boolgrad" else f"{ms / ours:.1f}×"
            lines.append(f"| {result['batch']} | {name} | {ms:.3f} | {ahead} | {error:.1e} |")
        for name, published in PUBLISHED.items():
            if result["batch"] in published:
                ms = published[result["batch"]]
                lines.append(f"| {result['batch']} | {name} (another run) | {ms:.2f} | "
                             f"{ms / ours:.1f}× | |")
    lines += ["", "Lower bound: the bytes that a step must move, at the measured bandwidths of the same GPU.", "",
              "| batch | L2 traffic | at | memory traffic | at | lower bound, ms | "
              "share reached |", "|---:|---:|---:|---:|---:|---:|---:|"]
    for result in done["results"]:
        floor = result["floor"]
        lines.append(
            f"| {result['batch']} | {floor['cache_gigabyte']:.2f} GB | "
            f"{floor['cache_gigabytes_per_second']:.0f} GB/s | {floor['memory_gigabyte']:.2f} GB | "
            f"{floor['memory_gigabytes_per_second']:.0f} GB/s | {floor['ms']:.3f} | "
            f"{100 * floor['share_reached']:.0f} % |")
    return "\n".join(lines)


def check(done):
    worst = max(error for result in done["results"] for _, _, error in result["rows"])
    if not worst <= 1e-4:
        raise SystemExit(f"gradients differ by {worst}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--vulkan", metavar="DEVICE", help="also measure vulkan or vulkan:N")
    parser.add_argument("--batches", type=int, nargs="+", default=[100, 1024])
    parser.add_argument("--save", type=pathlib.Path, help="save the run to this file, write no table")
    parser.add_argument("--load", type=pathlib.Path, help="read a run from this file, measure nothing")
    parser.add_argument("--revision", default=common.revision(), help="revision that boolgrad was built from")
    options = parser.parse_args()
    done = json.loads(options.load.read_text()) if options.load else run(options)
    check(done)
    text = table(done)
    print(text)
    if options.save:
        options.save.write_text(json.dumps(done, indent=1) + "\n")
        return
    facts = done["machine"]
    about = f"{facts['gpu']}. boolgrad {facts['revision']}. " + " ".join(
        f"{peer}." for peer in facts["peers"])
    common.write_documentation("bench/lut_gpu.py", about + "\n\n" + text, "docs/benchmarks/layers.md")
    common.write_results("lut_gpu", facts, done["results"])


if __name__ == "__main__":
    main()
