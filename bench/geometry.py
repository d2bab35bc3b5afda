#!/usr/bin/env python3
"""Area and gradient, in float64, of a million pairs of disks and of one union of 10,000 disks, in boolgrad and
in JAX, in one run and on the same cores; and how boolgrad's time grows from 1,000 to 100,000 disks.

JAX computes pairs from arc cosines, with `jnp.where` around and inside every formula, so that branches not taken
do not spoil the gradient. It computes a union from a table of neighbours, made before timing starts, by sorting arcs
and differentiating Green's formula. It is timed on one device and with the work sharded over as many devices as there
are threads; the faster counts. boolgrad finds the neighbours each time.

Writes the tables between the markers in docs/benchmarks/geometry.md and adds the run to bench/results/geometry.json.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy
import safetensors.numpy
import scipy.spatial

import common

PAIRS, DISKS = 1_000_000, 10_000
TOLERANCE = 1e-5  # an arc cosine loses half of its digits next to a tangency


def random_pairs(count):
    rng = numpy.random.default_rng(1)
    low, high = numpy.array([0, 0, 0.1]), numpy.array([2, 2, 1.1])
    return low + (high - low) * rng.random((count, 2, 3))


def random_disks(count):
    """Each meets about seven others."""
    rng = numpy.random.default_rng(2)
    side = math.sqrt(count)
    return numpy.array([0, 0, 0.25]) + numpy.array([side, side, 0.5]) * rng.random((count, 3))


# ------------------------------------------------------------------------------------------------
# Pairs in JAX


def pair_areas(disks):
    (x1, y1, r1), (x2, y2, r2) = disks[:, 0].T, disks[:, 1].T
    squared = (x2 - x1) ** 2 + (y2 - y1) ** 2
    apart = squared >= (r1 + r2) ** 2
    inside = squared <= (r1 - r2) ** 2
    meets = ~(apart | inside)
    # Dummy input for branches not taken: two unit disks at distance 1.
    squared = jnp.where(meets, squared, 1.0)
    a, b = jnp.where(meets, r1, 1.0), jnp.where(meets, r2, 1.0)
    d = jnp.sqrt(squared)
    at_a = jnp.arccos(jnp.clip((squared + a * a - b * b) / (2 * d * a), -1, 1))
    at_b = jnp.arccos(jnp.clip((squared + b * b - a * a) / (2 * d * b), -1, 1))
    kite = 0.5 * jnp.sqrt(jnp.maximum((a + b - d) * (d + a - b) * (d - a + b) * (d + a + b), 1e-300))
    meeting = a * a * (jnp.pi - at_a) + b * b * (jnp.pi - at_b) + kite
    return jnp.where(apart, jnp.pi * (r1 * r1 + r2 * r2),
                     jnp.where(inside, jnp.pi * jnp.maximum(r1, r2) ** 2, meeting))


def pair_areas_and_gradients(disks):
    areas, backward = jax.vjp(pair_areas, disks)
    return areas, backward(jnp.ones_like(areas))[0]


# ------------------------------------------------------------------------------------------------
# One union in JAX


def neighbour_table(disks):
    """[disks, max neighbours]: overlapping disks, padded with the disk itself."""
    tree = scipy.spatial.cKDTree(disks[:, :2])
    near = tree.query_pairs(2 * disks[:, 2].max(), output_type="ndarray")
    distance = numpy.linalg.norm(disks[near[:, 0], :2] - disks[near[:, 1], :2], axis=1)
    near = near[distance < disks[near[:, 0], 2] + disks[near[:, 1], 2]]
    lists = [[] for _ in disks]
    for i, j in near:
        lists[i].append(j)
        lists[j].append(i)
    table = numpy.arange(len(disks))[:, None].repeat(max(map(len, lists)), axis=1)
    for i, others in enumerate(lists):
        table[i, :len(others)] = others
    return table


def union_parts(own, others, itself):
    """Green's formula for the exposed arcs of each disk. own [n, 3], others [n, k, 3], itself [n, k]."""
    x, y, r = own.T[:, :, None]
    other_r = others[..., 2]
    dx, dy = others[..., 0] - x, others[..., 1] - y
    squared = dx ** 2 + dy ** 2
    hidden = jnp.any(~itself & (squared <= (other_r - r) ** 2) & (other_r > r), axis=1)
    meets = ~itself & (squared < (r + other_r) ** 2) & (squared > (r - other_r) ** 2)
    dx, dy = jnp.where(meets, dx, 1.0), jnp.where(meets, dy, 0.0)
    a, b = jnp.where(meets, r, 1.0), jnp.where(meets, other_r, 1.0)
    squared = dx ** 2 + dy ** 2
    cosine = (squared + a * a - b * b) / (2 * jnp.sqrt(squared) * a)
    half = jnp.where(meets, jnp.arccos(jnp.clip(cosine, -1, 1)), 0.0)
    turn = 2 * jnp.pi
    begin = jnp.mod(jnp.arctan2(dy, dx) - half, turn)
    end = begin + 2 * half
    # An arc that crosses angle 0 is split in two. Padding gives arcs of length 0.
    begins = jnp.concatenate([jnp.where(meets, begin, 0.0), jnp.zeros_like(begin)], axis=1)
    ends = jnp.concatenate([jnp.where(meets, jnp.minimum(end, turn), 0.0),
                            jnp.where(meets, jnp.maximum(end - turn, 0.0), 0.0)], axis=1)
    order = jnp.argsort(begins, axis=1)
    begins = jnp.take_along_axis(begins, order, axis=1)
    ends = jax.lax.cummax(jnp.take_along_axis(ends, order, axis=1), axis=1)
    zeros, turns = jnp.zeros_like(x), jnp.full_like(x, turn)
    start = jnp.concatenate([zeros, ends], axis=1)
    stop = jnp.maximum(jnp.concatenate([begins, turns], axis=1), start)
    green = r * r * (stop - start) + r * x * (jnp.sin(stop) - jnp.sin(start)) \
        - r * y * (jnp.cos(stop) - jnp.cos(start))
    return jnp.where(hidden, 0.0, 0.5 * jnp.sum(green, axis=1))


def union_area_and_gradient(disks, table):
    numbers = jnp.arange(len(disks))[:, None]
    area = lambda d: jnp.sum(union_parts(d, d[table], table == numbers))
    return jax.value_and_grad(area)(disks)


# ------------------------------------------------------------------------------------------------
# Timing


def median_ms(work, seconds):
    jax.block_until_ready(work())
    times = []
    while sum(times) < seconds * 1000 or len(times) < 5:
        start = time.perf_counter()
        jax.block_until_ready(work())
        times.append((time.perf_counter() - start) * 1000)
    return sorted(times)[len(times) // 2]


def sharded(arguments, cores):
    """Shards the first dimension of every argument over `cores` devices."""
    mesh = jax.make_mesh((cores,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = jax.sharding.NamedSharding(mesh, jax.P("rows"))
    return [jax.device_put(a, rows) for a in arguments]


def jax_ms(function, arguments, cores, seconds):
    compiled = jax.jit(function)
    on_one = [jax.device_put(a, jax.devices()[0]) for a in arguments]
    times = [median_ms(lambda: compiled(*on_one), seconds)]
    if cores > 1:
        shards = sharded(arguments, cores)
        times.append(median_ms(lambda: compiled(*shards), seconds))
    return min(times)


def boolgrad(program, threads, *arguments):
    answer = subprocess.run(
        [program, "bench", "geometry", *map(str, arguments), "--threads", str(threads), "--json"],
        check=True, capture_output=True, text=True)
    result = json.loads(answer.stdout.splitlines()[-1])
    return {row["name"].removeprefix("geometry."): row for row in result["benchmarks"]}


def faster(runs):
    """The fastest of each row: other load can only add time."""
    return {name: min((run[name] for run in runs), key=lambda row: row["ms"]) for name in runs[0]}


def write_problem(path, pairs, disks, table):
    areas, gradients = jax.jit(pair_areas_and_gradients)(pairs)
    area, gradient = jax.jit(union_area_and_gradient)(disks, table)
    safetensors.numpy.save_file({
        "pairs/disks": pairs, "pairs/area": numpy.asarray(areas), "pairs/grad": numpy.asarray(gradients),
        "pairs/label": numpy.zeros(len(pairs), numpy.int32),
        "union/disks": disks, "union/area": numpy.asarray(area).reshape(1), "union/grad": numpy.asarray(gradient),
    }, path)


def tables(ours, peers, growth, pairs, disks):
    lines = ["| area and gradient, float64 | boolgrad ms | JAX ms | boolgrad speed-up | max difference |",
             "|---|---:|---:|---:|---:|"]
    names = {"pairs": f"{pairs:,} pairs", "union": f"one union of {disks:,} disks"}
    for case, name in names.items():
        row = ours[case]
        lines.append(f"| {name} | {row['ms']:.2f} | {peers[case]:.1f} | {peers[case] / row['ms']:.1f}× | "
                     f"{row['max_error']:.1e} |")
    lines += ["", "| disks in one union | ms | ns per disk | max change under a quarter turn |", "|---:|---:|---:|---:|"]
    for name, row in growth.items():
        if name.startswith("union."):
            count = int(name.removeprefix("union."))
            lines.append(f"| {count:,} | {row['ms']:.2f} | {row['ms'] * 1e6 / count:.0f} | {row['max_error']:.1e} |")
    return "\n".join(lines)


def measured(options, pairs, disks):
    """Rows of boolgrad, milliseconds of JAX, rows of growing unions. The two programs alternate."""
    table = neighbour_table(disks)
    runs, peer_runs = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "disks.safetensors"
        write_problem(path, pairs, disks, table)
        for _ in range(options.turns):
            runs.append(boolgrad(options.boolgrad, options.threads, "--file", path))
            peer_runs.append({
                "pairs": jax_ms(pair_areas_and_gradients, [pairs], options.threads, options.seconds),
                "union": jax_ms(union_area_and_gradient, [disks, table], options.threads, options.seconds)})
    peers = {name: min(run[name] for run in peer_runs) for name in peer_runs[0]}
    growth = faster([boolgrad(options.boolgrad, options.threads) for _ in range(2)])
    return faster(runs), peers, growth


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--disks", type=int, default=DISKS)
    parser.add_argument("--seconds", type=float, default=3, help="time spent on each JAX row and turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_num_cpu_devices", options.threads)

    pairs, disks = random_pairs(options.pairs), random_disks(options.disks)
    (ours, peers, growth), load = common.other_load(lambda: measured(options, pairs, disks))
    text = tables(ours, peers, growth, options.pairs, options.disks)
    text += f"\n\nOther processes used {max(load, 0):.1f} cores during the run."
    print(text)
    worst = max(row["max_error"] for row in ours.values())
    if not worst <= TOLERANCE:
        raise SystemExit(f"areas and gradients differ by {worst}")
    if not options.dry_run:
        facts = common.machine(options.boolgrad, options.threads, f"JAX {jax.__version__}")
        common.write_documentation("bench/geometry.py", common.describe(facts) + "\n\n" + text,
                                   "docs/benchmarks/geometry.md")
        common.write_results("geometry", facts, {"boolgrad": ours, "jax": peers, "growth": growth})


if __name__ == "__main__":
    main()
