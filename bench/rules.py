#!/usr/bin/env python3
"""Rules learned from their definition and from examples, run against an independent implementation.

    python3 bench/rules.py              # HighLife, Seeds and Brian's Brain, both ways
    python3 bench/rules.py B36/S23      # one rule; writes nothing

The examples are 60 steps of a random torus of 128x128 cells, computed here. Each trained rule then takes 300 steps on
another random torus of 128x128 cells; the last state, as `boolgrad run` draws it, is compared with NumPy's from the
same start. `boolgrad eval` compares every step as well. Writes the table between the markers in docs/rules.md. Fails
if a rule is not learned or differs.
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess
import tempfile
import zlib

import common
import numpy

RULES = {"B36/S23": "HighLife", "B2/S": "Seeds", "B2/S/3": "Brian's Brain"}
SIDE, STEPS, EXAMPLE_STEPS = 128, 300, 60


def boolgrad(program, *arguments):
    answer = subprocess.run([str(part) for part in (program, *arguments, "--json", "--quiet")], check=True,
                            capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def step(rule, states):
    """The next states of a torus."""
    birth, survival, count = re.fullmatch(r"B(\d*)/S(\d*)(?:/(\d))?", rule).groups()
    living = (states == 1).astype(int)
    around = sum(numpy.roll(living, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - living
    born = (states == 0) & numpy.isin(around, [int(digit) for digit in birth])
    stays = (states == 1) & numpy.isin(around, [int(digit) for digit in survival])
    older = numpy.where(states == 0, 0, (states + 1) % int(count or 2))
    return numpy.where(born | stays, 1, older).astype(numpy.uint8)


def pixels(path):
    """An RGB picture of 8 bits per sample, as in the PNG standard."""
    data, at, packed = pathlib.Path(path).read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            if (depth, colour) not in ((8, 2), (8, 0)):
                raise SystemExit(f"{path}: expected 8 bits per sample, grey or RGB")
        if kind == b"IDAT":
            packed += body
        at += length + 12
    samples = 3 if colour == 2 else 1
    raw, rows = zlib.decompress(packed), [bytearray(width * samples)]
    for y in range(height):
        line = bytearray(raw[y * (width * samples + 1):(y + 1) * (width * samples + 1)])
        kind, row = line[0], line[1:]
        for i in range(len(row)):
            left = row[i - samples] if i >= samples else 0
            up = rows[-1][i]
            corner = rows[-1][i - samples] if i >= samples else 0
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, paeth)[kind]) % 256
        rows.append(row)
    return numpy.array([list(row) for row in rows[1:]], numpy.uint8).reshape(height, width, samples)


def states_in(path):
    """The states that `boolgrad run` has drawn: black, white and blue."""
    picture = pixels(path)
    return numpy.where(picture[..., 0] > 0, 1, numpy.where(picture[..., -1] > 0, 2, 0)).astype(numpy.uint8)


def drawn(program, model, steps, path):
    boolgrad(program, "run", model, "--size", f"{SIDE}x{SIDE}", "--steps", steps, "--seed", 77, "--scale", 1, "--png",
             path)
    return states_in(path)


def write_examples(rule, path):
    count = int(rule.split("/")[2]) if rule.count("/") == 2 else 2
    states = numpy.random.default_rng(5).integers(0, count, (SIDE, SIDE), numpy.uint8)
    steps = [states]
    while len(steps) < EXAMPLE_STEPS:
        steps.append(step(rule, steps[-1]))
    numpy.save(path, numpy.stack(steps))
    return numpy.stack(steps)


def seen(steps):
    """The number of different neighbourhoods inside of the grids, and of all there are."""
    inner = steps[:-1].astype(numpy.int64)
    states = max(2, int(steps.max()) + 1)
    numbers = numpy.zeros_like(inner[:, 1:-1, 1:-1])
    for n in range(9):
        y, x = divmod(n, 3)
        numbers += inner[:, y:inner.shape[1] - 2 + y, x:inner.shape[2] - 2 + x] * states**n
    return len(numpy.unique(numbers)), states**9


def row(program, rule, source, folder):
    options, known = ["--rule", rule], "all"
    if source == "examples":
        path = folder / "examples.npy"
        count, every = seen(write_examples(rule, path))
        options, known = ["--examples", path], f"{count:,} of {every:,}"
    trained = boolgrad(program, "train", "rule", *options, "--out", folder / "run")
    model = folder / "run/model.safetensors"
    evaluated = boolgrad(program, "eval", model)["scenarios"]
    start = drawn(program, model, 0, folder / "start.png")
    last = drawn(program, model, STEPS, folder / "last.png")
    expected = start
    for _ in range(STEPS):
        expected = step(rule, expected)
    return {"rule": rule, "source": source, "known": known, "updates": trained["steps"],
            "seconds": trained["seconds"], "wrong": trained["hard_loss"],
            "wrong_in_steps": evaluated[1]["wrong_bits"],
            "wrong_at_last": int((last != expected).sum()), "living": int((expected == 1).sum())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rules", nargs="*", default=list(RULES))
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    lines = ["| rule | learned from | neighbourhoods | updates | seconds | wrong bits in 300 steps | "
             "cells that differ from NumPy's after 300 steps |", "|---|---|---|---:|---:|---:|---:|"]
    failed = []
    for rule in options.rules:
        for source in ("definition", "examples"):
            with tempfile.TemporaryDirectory() as name:
                result = row(options.boolgrad, rule, source, pathlib.Path(name))
            title = f"{RULES[rule]}, `{rule}`" if rule in RULES else f"`{rule}`"
            lines.append(f"| {title} | {source} | {result['known']} | {result['updates']:,} | "
                         f"{result['seconds']:.0f} | {result['wrong_in_steps']:.0f} | {result['wrong_at_last']} |")
            print(lines[-1], f"living: {result['living']}", flush=True)
            if result["wrong"] or (source == "definition" and result["wrong_at_last"]):
                failed.append(f"{rule} from {source}")
    if not options.dry_run and options.rules == list(RULES):
        common.write_documentation("bench/rules.py", "\n".join(lines), "docs/rules.md")
    if failed:
        raise SystemExit("not learned: " + ", ".join(failed))


if __name__ == "__main__":
    main()
