#!/usr/bin/env python3
"""One training step (forward, backward through time, AdamW) of the checkerboard automaton in boolgrad and in
JAX, in one run and on the same cores; the other built-in automata; and the hardened rule of life compared with
Conway's rule written by hand.

JAX computes the step in three ways (bench/jax_automaton.py): as it is usually written, with features last and
sixteen gates per sample; with samples last; and with samples last and four coefficients per gate. All start from the same
wires, logits and states as boolgrad, whose loss and gradients are compared with theirs in float64 first.

Writes the table between the markers in docs/benchmarks/automata.md and adds the run to bench/results/automata.json.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import common
import jax_automaton

PEERS = {
    "usual": "JAX, features last, sixteen gates",
    "plain": "JAX, samples last, sixteen gates",
    "coefficients": "JAX, samples last, four coefficients",
}


def boolgrad(program, *arguments):
    answer = subprocess.run([program, *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def fastest(runs):
    """The run whose first row is fastest: other load can only add time."""
    return min(runs, key=lambda run: run["benchmarks"][0]["ms"])


def jax_rows(problem, cores, seconds):
    for form, name in PEERS.items():
        gate = jax_automaton.FORMS[form]
        step, start = jax_automaton.training_step(problem, gate, weight_decay=0.0, cores=cores)
        yield name, jax_automaton.timed(step, start, seconds, least=2 if gate is None else 5)


def training_table(rows, error):
    ours = rows[0][1]
    lines = ["| | ms per step | boolgrad speed-up |", "|---|---:|---:|"]
    for name, ms in rows:
        ahead = "" if ms == ours else f"{ms / ours:.0f}×"
        lines.append(f"| {name} | {ms:.1f} | {ahead} |")
    lines += ["", f"Maximum error of boolgrad's loss and gradients in float32, relative to the largest float64 "
              f"value of each: {error:.1e}."]
    return lines


def share_table(report):
    rates = report["machine"]
    lines = ["| training step | ms | GFLOP/s | share of the arithmetic peak |", "|---|---:|---:|---:|"]
    for row in report["benchmarks"]:
        if "operations" in row:
            gflops = row["operations"] / row["ms"] * 1e-6
            lines.append(f"| {row['name'].removeprefix('automata.')} | {row['ms']:.1f} | {gflops:.0f} | "
                         f"{100 * gflops / rates['gflops']:.0f} % |")
    lines += ["", f"Measured peak: {rates['gflops']:.0f} GFLOP/s of fused multiply-adds in float32. Operations per "
              "gate, cell and step: 6 forward and 15 backward. The recomputed forward pass is not counted.", "",
              "| stored for the backward pass of the checkerboard | MB | ms, forward and backward |", "|---|---:|---:|"]
    names = {"states": "the state of every step", "everything": "every activation",
             "some_states": "every 4th state"}
    for row in report["benchmarks"]:
        kind = row["name"].removeprefix("automata.memory.")
        if kind in names:
            lines.append(f"| {names[kind]} | {row['bytes'] * 1e-6:.1f} | {row['ms']:.1f} |")
    return lines


def hard_table(report):
    rows = [("the trained rule of life", report["cell_updates_per_second"]),
            ("Conway's rule by hand", report["by_hand_per_second"])]
    lines = ["| on one core, 2048x2048 cells | cell updates per second |", "|---|---:|"]
    lines += [f"| {name} | {rate:.2g} |" for name, rate in rows]
    wrong = report["benchmarks"][0]["max_error"]
    lines += ["", f"The trained rule takes {report['operations']} word operations per cell after simplification; after "
              f"eight steps it differs from Conway's rule in {wrong:.0f} cells."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10, help="time spent on each JAX row")
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    jax_automaton.use_cores(options.threads)
    threads = ["--threads", str(options.threads)]

    problem = jax_automaton.make_problem(jax_automaton.CHECKERBOARD)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "checkerboard.safetensors"
        jax_automaton.write_problem(path, "checkerboard", problem)
        step = fastest([boolgrad(options.boolgrad, "bench", "automata", "--file", path, *threads)
                        for _ in range(3)])
        boolgrad(options.boolgrad, "train", "life", "--out", folder, "--quiet")
        hard = boolgrad(options.boolgrad, "bench", "automata", "--file",
                        pathlib.Path(folder) / "model.safetensors", "--threads", "1")
    ours = step["benchmarks"][0]
    built_in = boolgrad(options.boolgrad, "bench", "automata", *threads)
    rows = [("boolgrad", ours["ms"])]
    rows += jax_rows(problem, options.threads, options.seconds)

    text = "\n".join([*training_table(rows, ours["max_error"]), "", *share_table(built_in), "",
                      *hard_table(hard)])
    print(text)
    facts = common.machine(
        options.boolgrad, options.threads, f"JAX {jax_automaton.jax.__version__}")
    print(common.describe(facts))
    if not options.dry_run:
        common.write_documentation("bench/automata.py", common.describe(facts) + "\n\n" + text,
                                   "docs/benchmarks/automata.md")
        common.write_results("automata", facts, {"step": step, "built_in": built_in, "hard": hard,
                                                 "peers": dict(rows)})


if __name__ == "__main__":
    main()
