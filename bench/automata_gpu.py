#!/usr/bin/env python3
"""One training step of every built-in automaton on an NVIDIA GPU, in boolgrad and in JAX, in one run.

A step is the forward pass, the backward pass through time, clipping, AdamW, and a rollout of the hardened rule from the
same starts. JAX computes it in two ways (bench/jax_automaton.py): as it is usually written, with features last and
sixteen gates per sample, and with samples last and four coefficients per gate. Both start from the same wires,
logits and states as boolgrad, whose loss and gradients are compared with JAX's in float64.

Writes the table between the markers in docs/benchmarks/automata.md and adds the run to bench/results/automata_gpu.json.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import common
import jax_automaton

PEERS = {"usual": "JAX, as usually written", "coefficients": "JAX, four coefficients"}
# Milliseconds of the published JAX code on an H200.
PUBLISHED = {"life": 3.9, "checkerboard": 29.8, "checkerboard-async": 55.7, "lizard-torus": 29.4, "letter-g": 18.9}


def boolgrad(program, *arguments):
    answer = subprocess.run([program, *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def ours(program, problem, name, folder):
    path = pathlib.Path(folder) / f"{name}.safetensors"
    jax_automaton.write_problem(path, name, problem)
    return boolgrad(program, "bench", "automata", "--file", path, "--device", "cuda")["benchmarks"][0]


def peers(problem, seconds):
    for form in PEERS:
        step, start = jax_automaton.training_step(
            problem, jax_automaton.FORMS[form], weight_decay=0.0, with_hard=True)
        yield form, jax_automaton.timed(step, start, seconds)


def table(rows):
    names = list(PEERS.values())
    lines = [f"| | boolgrad, ms | {' | '.join(f'{name}, ms' for name in names)} | published JAX, ms "
             "| boolgrad speed-up | max error |",
             "|---" + "|---:" * (len(names) + 4) + "|"]
    for row in rows:
        times = [row["peers"][form] for form in PEERS] + [PUBLISHED[row["name"]]]
        ahead = ", ".join(f"{ms / row['ms']:.0f}×" for ms in times)
        lines.append(f"| {row['name']} | {row['ms']:.3f} | " + " | ".join(f"{ms:.1f}" for ms in times)
                     + f" | {ahead} | {row['error']:.1e} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--automata", nargs="+", choices=list(jax_automaton.AUTOMATA),
                        default=list(jax_automaton.AUTOMATA))
    parser.add_argument("--seconds", type=float, default=1, help="time spent on each JAX figure")
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    parser.add_argument("--save", type=pathlib.Path, help="also write the rows to this file")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.automata:
            problem = jax_automaton.make_problem(
                jax_automaton.AUTOMATA[name], wires=jax_automaton.paired_wires)
            mine = ours(options.boolgrad, problem, name, folder)
            rows.append({"name": name, "ms": mine["ms"], "error": mine["max_error"],
                         "peers": dict(peers(problem, options.seconds))})
            print(rows[-1], flush=True)
            if options.save:
                options.save.write_text(json.dumps(rows))
    print(table(rows))
    device = jax_automaton.jax.devices()[0].device_kind
    facts = {**common.machine(options.boolgrad, 1, f"JAX {jax_automaton.jax.__version__}"), "gpu": device}
    if not options.dry_run:
        write(rows, facts)


def write(rows, facts):
    text = f"{facts['gpu']}. boolgrad {facts['revision']}. {facts['peers'][0]}.\n\n{table(rows)}"
    common.write_documentation("bench/automata_gpu.py", text, "docs/benchmarks/automata.md")
    common.write_results("automata_gpu", facts, rows)


if __name__ == "__main__":
    main()
