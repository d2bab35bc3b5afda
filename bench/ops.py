#!/usr/bin/env python3
"""Compares boolgrad with PyTorch: forward plus backward of every op, float32, on the CPU.

    make bench                        # or: python bench/ops.py --boolgrad build/release/boolgrad
    make bench ARGS="--only softmax"  # some rows only; writes nothing

Both run on the same inputs with the same number of threads. Errors are measured against PyTorch's
float64 result. The two alternate on each row and each keeps the better of its medians, so that a
temporary slowdown affects both. A turn during which other processes used the cores is repeated: it
would cost PyTorch, whose threads busy-wait for each other, far more than boolgrad.

Writes the table between the markers in docs/benchmarks/ops.md and adds the run to bench/results/ops.json.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn import functional

import common
import reference_file
from common import ROOT

WARM_UP_SECONDS, MEASURED_SECONDS, MIN_RUNS = 0.1, 0.3, 5
# A turn is repeated if other processes used more than this share of a core.
MAX_OTHER_LOAD, MAX_ATTEMPTS, PAUSE_SECONDS = 0.3, 20, 0.2


class Row:
    """One op on one set of inputs."""

    def __init__(self, name, function, inputs, options=None, note=""):
        self.name = name
        self.function = function
        self.inputs = inputs
        self.options = options or {}
        self.note = note

    @property
    def shapes(self):
        return ", ".join("×".join(str(n) for n in x.shape) or "1" for x in self.inputs)


def normal(*shape):
    return torch.randn(shape)


def uniform(low, high, *shape):
    return torch.rand(shape) * (high - low) + low


def tied(*shape):
    """Few distinct values, so that every maximum is a tie."""
    return torch.randint(0, 8, shape).float()


SQUARE = (1000, 1000)


def arithmetic_rows():
    positive = uniform(0.3, 2, *SQUARE)
    return [
        Row("add", torch.add, [normal(*SQUARE), normal(*SQUARE)]),
        Row("add.row", torch.add, [normal(*SQUARE), normal(1000)], note="broadcast"),
        Row("add.column", torch.add, [normal(*SQUARE), normal(1000, 1)], note="broadcast"),
        Row("subtract", torch.sub, [normal(*SQUARE), normal(*SQUARE)]),
        Row("multiply", torch.mul, [normal(*SQUARE), normal(*SQUARE)]),
        Row("multiply.row", torch.mul, [normal(*SQUARE), normal(1000)], note="broadcast"),
        Row("multiply.column", torch.mul, [normal(*SQUARE), normal(1000, 1)], note="broadcast"),
        Row("multiply.outer", torch.mul, [normal(1000, 1), normal(1000)], note="broadcast"),
        Row("divide", torch.div, [normal(*SQUARE), positive]),
        Row("divide.row", torch.div, [normal(*SQUARE), positive[0]], note="broadcast"),
        Row("divide.column", torch.div, [normal(*SQUARE), positive[:, :1]], note="broadcast"),
        Row("power", torch.pow, [positive, normal(*SQUARE)]),
        Row("power.row", torch.pow, [positive, normal(1000)], note="broadcast"),
        # Quotients stay away from whole numbers, where rounding would decide the result.
        Row(
            "floor_divide",
            lambda a, b: torch.div(a, b, rounding_mode="floor"),
            [uniform(2.2, 2.8, *SQUARE), uniform(1, 1.05, *SQUARE)],
        ),
        Row(
            "modulo",
            torch.remainder,
            [uniform(2.2, 2.8, *SQUARE), uniform(1, 1.05, *SQUARE)],
        ),
    ]


def matrix_rows():
    return [
        Row("matmul", torch.matmul, [normal(512, 512), normal(512, 512)]),
        # The result is materialised in both: a view would time nothing.
        Row("transpose", lambda x: x.t().contiguous(), [normal(*SQUARE)]),
        Row(
            "transpose.021",
            lambda x: x.permute(0, 2, 1).contiguous(),
            [normal(100, 100, 100)],
            {"axes": [0, 2, 1]},
        ),
    ]


def reduction_rows():
    rows = []
    for name, function in (
        ("sum", torch.sum),
        ("mean", torch.mean),
        ("max", torch.amax),
        ("min", torch.amin),
    ):
        rows.append(Row(name, function, [normal(*SQUARE)]))
        for axis in (0, 1):
            rows.append(
                Row(
                    f"{name}.axis{axis}",
                    lambda x, f=function, a=axis: f(x, dim=a),
                    [normal(*SQUARE)],
                    {"axis": axis},
                )
            )
    for name, function in (("max", torch.amax), ("min", torch.amin)):
        rows.append(Row(f"{name}.ties", function, [tied(*SQUARE)], note="ties"))
        for axis in (0, 1):
            rows.append(
                Row(
                    f"{name}.ties_axis{axis}",
                    lambda x, f=function, a=axis: f(x, dim=a),
                    [tied(*SQUARE)],
                    {"axis": axis},
                    note="ties",
                )
            )
    return rows


def elementwise_rows():
    positive = uniform(0.3, 2, *SQUARE)
    return [
        Row("exp", torch.exp, [normal(*SQUARE)]),
        Row("log", torch.log, [positive]),
        Row("log2", torch.log2, [positive]),
        Row("log10", torch.log10, [positive]),
        Row("sqrt", torch.sqrt, [positive]),
        Row("abs", torch.abs, [normal(*SQUARE)]),
        Row(
            "clip",
            lambda x: torch.clamp(x, -1, 1),
            [normal(*SQUARE)],
            {"min": -1, "max": 1},
        ),
    ]


def softmax_row(name, axis, *shape):
    return Row(
        name,
        lambda x: torch.softmax(x, axis),
        [normal(*shape)],
        {"axis": axis},
        note=f"axis {axis}",
    )


def activation_rows():
    return [
        Row("relu", torch.relu, [normal(*SQUARE)]),
        Row(
            "leaky_relu",
            lambda x: functional.leaky_relu(x, 0.01),
            [normal(*SQUARE)],
            {"alpha": 0.01},
        ),
        Row("prelu.scalar", functional.prelu, [normal(*SQUARE), torch.full((1,), 0.25)]),
        Row("prelu.channel", functional.prelu, [normal(*SQUARE), uniform(0, 1, 1000)]),
        Row("sigmoid", torch.sigmoid, [normal(*SQUARE)]),
        Row("tanh", torch.tanh, [normal(*SQUARE)]),
        Row("gelu", functional.gelu, [normal(*SQUARE)]),
        Row(
            "gelu.tanh",
            lambda x: functional.gelu(x, approximate="tanh"),
            [normal(*SQUARE)],
        ),
        softmax_row("softmax", -1, *SQUARE),
        softmax_row("softmax.short", -1, 62500, 16),
        softmax_row("softmax.first", 0, *SQUARE),
        softmax_row("softmax.middle", 1, 100, 100, 100),
    ]


def focal(y, t):
    """As boolgrad/ops/loss.h defines it; PyTorch has no single op for it."""
    y = torch.clamp(y, 1e-7, 1 - 1e-7)
    return -(
        t * (1 - y) ** 2 * torch.log(y) + (1 - t) * y**2 * torch.log(1 - y)
    ).sum()


def loss_rows():
    y, t = normal(*SQUARE), normal(*SQUARE)
    probability, target = uniform(0.02, 0.98, *SQUARE), uniform(0, 1, *SQUARE).round()
    return [
        Row(
            "sum_of_squares",
            lambda a, b: functional.mse_loss(a, b, reduction="sum"),
            [y, t],
        ),
        Row("mean_squares", functional.mse_loss, [y, t]),
        Row("l4", lambda a, b: ((a - b) ** 4).sum(), [y, t]),
        Row(
            "binary_cross_entropy",
            lambda a, b: functional.binary_cross_entropy(a, b, reduction="sum"),
            [probability, target],
        ),
        Row("focal", focal, [probability, target], {"gamma": 2}),
        Row(
            "cross_entropy",
            functional.cross_entropy,
            [normal(*SQUARE), torch.randint(0, 1000, (1000,))],
        ),
    ]


def all_rows():
    torch.manual_seed(7)
    families = (
        arithmetic_rows,
        matrix_rows,
        reduction_rows,
        elementwise_rows,
        activation_rows,
        loss_rows,
    )
    return [row for family in families for row in family()]


def relative_error(value, reference):
    """As `boolgrad verify` measures it."""
    difference = (value.double() - reference).abs().max().item()
    largest = reference.abs().max().item()
    return difference / largest if largest > 0 else difference


def differentiated(row):
    """The inputs that get a gradient; for a loss, only the prediction."""
    losses = {"sum_of_squares", "mean_squares", "l4", "binary_cross_entropy", "focal"}
    if row.name in losses:
        return [0]
    return [i for i, x in enumerate(row.inputs) if x.is_floating_point()]


class TorchRun:
    """Forward and backward of a row in PyTorch, as one would write it."""

    def __init__(self, row, upstream):
        self.row = row
        self.leaves = [x.clone() for x in row.inputs]
        for i in differentiated(row):
            self.leaves[i].requires_grad_()
        self.upstream = upstream

    def __call__(self):
        for leaf in self.leaves:
            leaf.grad = None
        out = self.row.function(*self.leaves)
        out.backward(self.upstream)
        return out

    def error(self, reference):
        """Maximum relative error against the tensors of a float64 case."""
        values = {"out": self()}
        for i in differentiated(self.row):
            values[f"grad{i}"] = self.leaves[i].grad
        return max(relative_error(v.detach(), reference[n]) for n, v in values.items())


def time_torch(work):
    """Median ms, by the protocol of `boolgrad bench`: warm up, then run for 0.3 s."""
    end = time.perf_counter() + WARM_UP_SECONDS
    while time.perf_counter() < end:
        work()
    times = []
    while len(times) < MIN_RUNS or sum(times) < MEASURED_SECONDS:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def boolgrad_bench(program, path, threads):
    command = [program, "bench", "ops", "--file", path, "--threads", threads, "--json", "--quiet"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"ops.py: expected boolgrad bench to succeed, received {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])["benchmarks"][0]


def reference_case(row):
    """PyTorch's float64 results for the float32 inputs of a row."""
    inputs = [x.double() if x.is_floating_point() else x for x in row.inputs]
    with torch.no_grad():
        upstream = torch.randn(row.function(*inputs).shape)
    case = reference_file.case(
        row.function, inputs, row.options, upstream.double(), differentiated(row)
    )
    return case, upstream


def measure(row, options, folder):
    case, upstream = reference_case(row)
    path = pathlib.Path(folder) / "case.safetensors"
    reference_file.write(path, {row.name: case}, "made by bench/ops.py")
    run = TorchRun(row, upstream)
    result = {
        "name": row.name,
        "shapes": row.shapes,
        "note": row.note,
        "torch_error": run.error(case[1]),
    }
    turns = take_turns(
        lambda: time_torch(run),
        lambda: boolgrad_bench(options.boolgrad, path, options.threads),
        options.rounds,
        float("inf") if options.busy else MAX_OTHER_LOAD,
    )
    result["quiet"] = turns is not None
    if turns is not None:
        answers = [answer for _, answer in turns]
        errors = [answer["max_error"] for answer in answers]
        result["max_error"] = float("nan") if None in errors else max(errors)
        result["torch_ms"] = min(ms for ms, _ in turns)
        result["ms"] = min(answer["ms"] for answer in answers)
        result["ratio"] = result["torch_ms"] / result["ms"]
    return result


def take_turns(torch_turn, boolgrad_turn, rounds, max_load):
    """`rounds` pairs of PyTorch's median and boolgrad's answer; None where the machine was busy."""
    turns = []
    for _ in range(MAX_ATTEMPTS):
        turn, load = common.other_load(lambda: (torch_turn(), boolgrad_turn()))
        if load <= max_load:
            turns.append(turn)
        else:
            time.sleep(PAUSE_SECONDS)
        if len(turns) == rounds:
            return turns
    return None


def summary(row):
    if not row["quiet"]:
        return f"{row['name']:<24}{'not measured: the machine is busy':>42}"
    return (
        f"{row['name']:<24}{row['ms']:>12.3f}{row['torch_ms']:>12.3f}{row['ratio']:>8.2f}"
        f"{row['max_error']:>10.0e}"
    )


def table(results, facts):
    lines = [
        common.describe(facts),
        "",
        "| op | shapes | boolgrad ms | PyTorch ms | PyTorch / boolgrad | boolgrad error "
        "| PyTorch error |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in results:
        note = f" ({row['note']})" if row["note"] else ""
        lines.append(
            f"| {row['name']}{note} | {row['shapes']} | {row['ms']:.3f} | {row['torch_ms']:.3f} "
            f"| {row['ratio']:.2f} | {row['max_error']:.0e} | {row['torch_error']:.0e} |"
        )
    return "\n".join(lines)


def check(results):
    """Rejects wrong results and a busy machine."""
    busy = [r["name"] for r in results if not r["quiet"]]
    if busy:
        sys.exit(f"ops.py: other processes used the cores during {busy}; stop them, or pass --busy")
    wrong = [r["name"] for r in results if not r["max_error"] <= 1e-5]
    if wrong:
        sys.exit(f"ops.py: errors above 1e-5 in {wrong}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", type=pathlib.Path, default=ROOT / "build/release/boolgrad")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2, help="turns per program and row")
    parser.add_argument("--only", help="only rows whose name contains this; writes nothing")
    parser.add_argument(
        "--busy", action="store_true", help="accept other load on the cores; writes nothing"
    )
    return parser.parse_args()


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    rows = [row for row in all_rows() if options.only is None or options.only in row.name]
    results = []
    print(f"{'op':<24}{'boolgrad ms':>12}{'PyTorch ms':>12}{'ratio':>8}{'error':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            result = measure(row, options, folder)
            results.append(result)
            print(summary(result), flush=True)
    check(results)
    if options.only is None and not options.busy:
        facts = common.machine(
            options.boolgrad, options.threads,
            f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
        common.write_documentation("bench/ops.py", table(results, facts), "docs/benchmarks/ops.md")
        common.write_results("ops", facts, results)


if __name__ == "__main__":
    main()
