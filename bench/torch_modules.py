#!/usr/bin/env python3
"""Training steps of the same models in one process: torchlogix, boolgrad.compat.torchlogix, and boolgrad's own trainer.

A step is a forward pass, cross-entropy of 10 classes, a backward pass and torch.optim.Adam. Both packages have the same
wires and weights, and before they are timed, outputs (1e-5) and gradients are compared. boolgrad's own trainer takes the steps
of `boolgrad bench` on networks of the same shape. Variants take turns, so that they share what else the machine does;
times are medians.

torchlogix need not be installed: a folder with its unpacked wheel is enough.

  pip download torchlogix --no-deps -d wheels && unzip -d torchlogix wheels/torchlogix-*.whl
  bench/torch_modules.py --package torchlogix --program build/release/boolgrad --threads 1 2 --compile --save run.json
  bench/torch_modules.py --load run.json
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import common
import torchlogix_steps

PAGE = "docs/pytorch.md"
# Problem: its name, the benchmark of `boolgrad bench` and the row of it.
PROBLEMS = {
    "dense": ("6 layers of 8,000 gates, 16 logits", "lut", "lut.step"),
    "wires.fixed": ("one layer of 8,000 gates, straight-through", "wires", "wires.fixed"),
    "convolutions.s": ("3 convolutions, 3 layers (MNIST, S)", "convolutions", "convolutions.s"),
}
# Of gradients. Where two values of a pooled square differ by rounding only, the gradient may go to the other one.
LARGEST_ERROR = {"dense": 1e-5, "wires.fixed": 1e-5, "convolutions.s": 1e-3}
PARAMETRISATIONS = {"dense": "raw", "wires.fixed": "light", "convolutions.s": "light"}


class Dense(torchlogix_steps.Problem):
    """The network of `boolgrad bench lut`."""

    def wires(self, layers, size, common_arguments, options):
        gates, self.inputs = (200, 64) if options.small else (8000, 784)
        sides = [self.inputs] + [gates] * 6
        arguments = common_arguments | {"parametrization_kwargs": {"forward_sampling": "soft"}}
        return [*(layers.LogicDense(a, b, **arguments) for a, b in zip(sides, sides[1:])),
                layers.GroupSum(torchlogix_steps.CLASSES, tau=8.0)]


class Convolutions(torchlogix_steps.Problem):
    """Convolutions with their initial weights. Random tables contract: values in a pooled square then differ by
    rounding only, and so would the place that receives the gradient."""

    def convolutions(self, layers, size, common_arguments, options):
        parts = super().convolutions(layers, size, common_arguments, options)
        self.initial = [parameter.detach().clone() for part in parts for parameter in part.parameters()]
        return parts


def make_problem(torch, layers, name, options):
    if name == "dense":
        return Dense(torch, layers, "wires.dense", PARAMETRISATIONS[name], options)
    if name.startswith("wires"):
        return torchlogix_steps.Problem(torch, layers, name, PARAMETRISATIONS[name], options)
    problem = Convolutions(torch, layers, name, PARAMETRISATIONS[name], options)
    with torch.no_grad():
        for parameter, initial in zip(problem.model.parameters(), problem.initial, strict=True):
            parameter.copy_(initial)
    return problem


def gradients(torch, problem, forward):
    """Outputs, and the gradients of all parameters."""
    problem.model.zero_grad()
    outputs = forward(problem.x)
    torch.nn.functional.cross_entropy(outputs, problem.labels).backward()
    return [outputs.detach()] + [parameter.grad.clone() for parameter in problem.model.parameters()]


def largest_difference(expected, received):
    """Relative to the largest value of each tensor."""
    return max(float((one - other).abs().max() / one.abs().max())
               for one, other in zip(expected, received, strict=True))


def stepper(torch, problem, forward):
    optimiser = torch.optim.Adam(problem.model.parameters(), lr=0.01)

    def step():
        optimiser.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(forward(problem.x), problem.labels).backward()
        optimiser.step()

    return step


def own_milliseconds(options, threads, benchmark, row):
    done = subprocess.run([str(options.program), "bench", benchmark, "--json", "--threads", str(threads)],
                          capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout.splitlines()[-1])["benchmarks"]
    return next(one["ms"] for one in rows if one["name"] == row)


def milliseconds(step):
    start = time.perf_counter()
    step()
    return (time.perf_counter() - start) * 1e3


def measure(torch, theirs, ours, name, threads, options):
    import boolgrad
    from boolgrad.torch import fuse

    torch.set_num_threads(threads)
    boolgrad.set_thread_count(threads)
    reference = make_problem(torch, theirs, name, options)
    problem = make_problem(torch, ours, name, options)
    problem.model.load_state_dict(reference.model.state_dict())
    expected = gradients(torch, reference, reference.model)
    variants = {"torchlogix": stepper(torch, reference, reference.model)}
    if options.compile:
        compiled = torch.compile(reference.model, dynamic=False)
        variants["torchlogix, torch.compile"] = stepper(torch, reference, compiled)
    errors = {}
    for label, change in (("boolgrad.compat", lambda model: model), ("boolgrad.compat, fused", fuse)):
        twin = make_problem(torch, ours, name, options)
        twin.model.load_state_dict(reference.model.state_dict())
        twin.model = change(twin.model)
        received = gradients(torch, twin, twin.model)
        outputs, errors[label] = (largest_difference(expected[part], received[part])
                                  for part in (slice(1), slice(1, None)))
        if not (outputs <= 1e-5 and errors[label] <= LARGEST_ERROR[name]):
            raise SystemExit(f"{name}: {label} differs by {outputs:.1e} in outputs, {errors[label]:.1e} in gradients")
        variants[label] = stepper(torch, twin, twin.model)
    times = {label: [] for label in variants} | {"boolgrad train": []}
    for step in variants.values():
        for _ in range(2):
            step()
    for _ in range(options.rounds):
        for label, step in variants.items():
            times[label] += [milliseconds(step) for _ in range(1 if label.startswith("torchlogix") else 5)]
        if options.program and not options.small and len(times["boolgrad train"]) < 3:
            times["boolgrad train"].append(own_milliseconds(options, threads, *PROBLEMS[name][1:]))
    return [{"problem": name, "threads": threads, "variant": label, "ms": statistics.median(taken),
             "error": errors.get(label)} for label, taken in times.items() if taken]


def table(result):
    rows = ["| model | threads | variant | ms per step | of torchlogix | of boolgrad train | largest difference of a gradient |",
            "|---|---|---|---|---|---|---|"]
    for row in result["rows"]:
        group = {one["variant"]: one["ms"] for one in result["rows"]
                 if (one["problem"], one["threads"]) == (row["problem"], row["threads"])}
        own = group.get("boolgrad train")
        error = "" if row["error"] is None else f"{row['error']:.0e}"
        ratio = "" if own is None else f"{row['ms'] / own:.2f}×"
        faster = group["torchlogix"] / row["ms"]
        rows.append(f"| {PROBLEMS[row['problem']][0]} | {row['threads']} | {row['variant']} | {row['ms']:.1f} | "
                    f"{faster:.1f}× faster | {ratio} | {error} |")
    facts = result["machine"]
    return ("\n".join(rows) + f"\n\n{facts['cpu']}, {facts['cores']} cores; other processes used "
            f"{result['other_load']:.1f} cores in the meantime. torch {result['torch']}, torchlogix "
            f"{result['torchlogix']}, batch 256.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", help="folder with the unpacked wheel of torchlogix; by default the installed one")
    parser.add_argument("--program", type=pathlib.Path, help="the program boolgrad, for its own trainer")
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--threads", nargs="+", type=int, default=[2])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--compile", action="store_true", help="also time torchlogix under torch.compile")
    parser.add_argument("--small", action="store_true", help="small networks, to try the script")
    parser.add_argument("--save", type=pathlib.Path, help="keep the results in this file")
    parser.add_argument("--load", type=pathlib.Path, help=f"write the table of a saved run into {PAGE}")
    options = parser.parse_args()
    options.device = "cpu"
    if options.load:
        common.write_documentation("bench/torch_modules.py", table(json.loads(options.load.read_text())), PAGE)
        return
    import torch

    from boolgrad.compat import torchlogix as ours

    theirs, version = torchlogix_steps.import_layers(options.package)
    rows = []

    def work():
        for threads in options.threads:
            for name in options.problems:
                rows.extend(measure(torch, theirs, ours, name, threads, options))
                for row in rows[-5:]:
                    print(json.dumps(row), flush=True)

    _, load = common.other_load(work)
    program = options.program or "boolgrad"
    result = {"torch": torch.__version__, "torchlogix": version, "other_load": load, "rows": rows,
              "machine": common.machine(program, max(options.threads)) if options.program else
              {"cpu": common.cpu_model(), "cores": common.os.cpu_count()}}
    if options.save:
        options.save.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main()
