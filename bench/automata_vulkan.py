#!/usr/bin/env python3
"""One training step of every built-in automaton on one GPU, through CUDA and through Vulkan, in one run; with
Vulkan also with one dispatch per step of the automaton, the fallback where workgroups cannot wait for one another.

A step is the forward pass, the backward pass through time, clipping, AdamW, and a rollout of the hardened rule from the
same starts. Loss and gradients of both are compared with JAX's in float64 (bench/jax_automaton.py), which writes the
problems to the folder --problems. If they are there already, JAX is not needed.

Writes the table between the markers in docs/benchmarks/automata.md and adds the run to bench/results/automata_vulkan.json.
"""

import argparse
import json
import os
import pathlib
import subprocess

import common

AUTOMATA = ["life", "checkerboard", "checkerboard-async", "lizard-torus", "letter-g"]


def boolgrad(program, *arguments, **variables):
    answer = subprocess.run([program, *arguments, "--json"], check=True, capture_output=True, text=True,
                            env={**os.environ, **variables})
    return json.loads(answer.stdout.splitlines()[-1])


def make_problem(name, path):
    import jax_automaton

    path.parent.mkdir(parents=True, exist_ok=True)
    problem = jax_automaton.make_problem(jax_automaton.AUTOMATA[name], wires=jax_automaton.paired_wires)
    jax_automaton.write_problem(path, name, problem)


def step(options, path, device, **variables):
    report = boolgrad(options.boolgrad, "bench", "automata", "--file", path, "--device", device, **variables)
    row = report["benchmarks"][0]
    return {"ms": row["ms"], "error": row["max_error"]}


def described(options):
    """Name and driver of the Vulkan device."""
    for device in boolgrad(options.boolgrad, "devices")["devices"]:
        if device["device"] in (options.device, options.device + ":0"):
            return f"{device['name']}, driver {device['driver']}"
    raise SystemExit(f"no device {options.device}")


def table(rows):
    lines = ["| | CUDA, ms | Vulkan, ms | times CUDA | one dispatch per step, ms | max error, CUDA "
             "| max error, Vulkan |",
             "|---|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        cuda, vulkan = row["cuda"], row["vulkan"]
        lines.append(f"| {row['name']} | {cuda['ms']:.3f} | {vulkan['ms']:.3f} | {vulkan['ms'] / cuda['ms']:.2f} "
                     f"| {row['step by step']['ms']:.3f} | {cuda['error']:.1e} | {vulkan['error']:.1e} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--device", default="vulkan", help="vulkan or vulkan:N")
    parser.add_argument("--problems", type=pathlib.Path, default=common.ROOT / "build/problems")
    parser.add_argument("--make-problems", action="store_true", help="write the problems and exit")
    options = parser.parse_args()
    for name in AUTOMATA:
        if options.make_problems or not (options.problems / f"{name}.safetensors").exists():
            make_problem(name, options.problems / f"{name}.safetensors")
    if options.make_problems:
        return
    rows = []
    for name in AUTOMATA:
        path = options.problems / f"{name}.safetensors"
        rows.append({"name": name, "cuda": step(options, path, "cuda"), "vulkan": step(options, path, options.device),
                     "step by step": step(options, path, options.device, BOOLGRAD_VULKAN_WAITING="0")})
        print(rows[-1], flush=True)
    facts = {**common.machine(options.boolgrad, 1), "gpu": described(options)}
    common.write_documentation("bench/automata_vulkan.py", f"{facts['gpu']}. boolgrad {facts['revision']}.\n\n{table(rows)}",
                               "docs/benchmarks/automata.md")
    common.write_results("automata_vulkan", facts, rows)


if __name__ == "__main__":
    main()
