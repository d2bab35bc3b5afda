#!/usr/bin/env python3
"""Compares two builds of boolgrad on the same benchmarks, in alternation on one machine.

Every row of `boolgrad bench` is measured with both programs, several times in alternation, so that both see the same
load. The time of a row is the smallest median. Prints a table and lists the rows that are slower by more than the limit;
--json FILE saves the rows.

  bench/before_after.py --before old/boolgrad --after build/release/boolgrad
  bench/before_after.py --before old/boolgrad --after build/release/boolgrad --device cuda --problems build/problems
"""

import argparse
import json
import pathlib
import subprocess


def rows_of(program, arguments):
    done = subprocess.run([program, "bench", *arguments, "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{program} bench {' '.join(arguments)}: {done.stderr.strip()}")
    return {row["name"]: row for row in json.loads(done.stdout.splitlines()[-1])["benchmarks"]}


def measured(programs, arguments, rounds):
    """The smallest time of every row for both programs, and the largest error of the second."""
    best = {}
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            for name, row in rows_of(programs[which], arguments).items():
                times, errors = best.setdefault(name, ([float("inf")] * 2, [0.0] * 2))
                times[which] = min(times[which], row["ms"])
                errors[which] = max(errors[which], row.get("max_error") or 0.0)
    return best


def jobs(options):
    """Name and arguments of every benchmark."""
    if options.device == "cpu":
        for name in options.benchmarks:
            yield name, [name, "--threads", str(options.threads)]
        return
    for batch in (100, 1024):
        yield f"lut, batch {batch}", ["lut", "--device", options.device, "--batch", str(batch)]
    for problem in sorted(options.problems.glob("*.safetensors")) if options.problems else []:
        yield problem.stem, ["automata", "--file", str(problem), "--device", options.device]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--limit", type=float, default=0.03, help="tolerated slow-down, as a share")
    parser.add_argument("--benchmarks", nargs="+", default=["ops", "lut", "automata", "geometry"])
    parser.add_argument("--problems", type=pathlib.Path, help="folder of automata to step on a GPU (written by automata_vulkan.py)")
    parser.add_argument("--json", type=pathlib.Path, help="save the rows to this file")
    options = parser.parse_args()
    kept, slower = [], []
    print("| benchmark | before, ms | after, ms | after / before |\n|---|---:|---:|---:|")
    for title, arguments in jobs(options):
        for name, (times, errors) in measured((options.before, options.after), arguments, options.rounds).items():
            ratio = times[1] / times[0]
            label = name if options.device == "cpu" else f"{title}: {name}"
            print(f"| {label} | {times[0]:.4g} | {times[1]:.4g} | {ratio:.3f} |", flush=True)
            kept.append({"name": label, "device": options.device, "before_ms": times[0], "after_ms": times[1],
                         "max_error": errors[1]})
            if ratio > 1 + options.limit:
                slower.append(f"{label} {ratio:.3f}")
    print(f"\n{len(kept)} rows, {len(slower)} slower by more than {options.limit:.0%}: {', '.join(slower) or 'none'}")
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
