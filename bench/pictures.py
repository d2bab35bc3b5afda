#!/usr/bin/env python3
"""Ten pictures of 16x16 cells that no setting was chosen on, trained with the default recipe from several seeds.

    python3 bench/pictures.py                        # five seeds of every picture on the CPU
    python3 bench/pictures.py --device cuda --jobs 4
    python3 bench/pictures.py --seeds 1 heart cat    # some of them; writes nothing

Every picture in bench/pictures is trained by `boolgrad train picture --target`. A run counts as solved if every cell is
right after its steps, and as lasting if it still is after four times the steps. Runs that have ended are not repeated.
Writes the table between the markers in docs/automata.md.
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import subprocess

import common

PICTURES = common.ROOT / "bench/pictures"
LASTING = 4  # times the steps of the training


def boolgrad(program, *arguments):
    answer = subprocess.run([str(part) for part in (program, *arguments, "--json", "--quiet")], check=True,
                            capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def run(program, picture, seed, device, folder):
    """One run: whether it is solved and lasts, updates and seconds."""
    out = folder / f"{picture.stem}-{seed}"
    result = out / "result.json"
    if result.exists():
        return json.loads(result.read_text())
    trained = boolgrad(program, "train", "picture", "--target", picture, "--seed", seed, "--device", device,
                       "--out", out, "--overwrite")
    evaluated = boolgrad(program, "eval", out)
    longer = next(row for row in evaluated["scenarios"] if row["name"] == "four times the steps")
    row = {"picture": picture.stem, "seed": seed, "solved": trained["hard_loss"] == 0,
           "lasting": trained["hard_loss"] == 0 and longer["accuracy"] == 1, "updates": trained["steps"],
           "seconds": trained["seconds"]}
    result.write_text(json.dumps(row))
    return row


def table(rows):
    lines = [f"| picture | solved | still right after {LASTING} times the steps | updates, median | seconds, median |",
             "|---|---:|---:|---:|---:|"]
    groups = {}
    for row in rows:
        groups.setdefault(row["picture"], []).append(row)
    for name, runs in [*sorted(groups.items()), ("all", rows)]:
        solved = [each for each in runs if each["solved"]]
        updates = f"{statistics.median(each['updates'] for each in solved):,.0f}" if solved else "–"
        seconds = f"{statistics.median(each['seconds'] for each in solved):.0f}" if solved else "–"
        lines.append(f"| {name} | {len(solved)} of {len(runs)} | {sum(each['lasting'] for each in runs)} | {updates} "
                     f"| {seconds} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="*", help="names of pictures; all by default")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--program", default=common.ROOT / "build/release/boolgrad")
    parser.add_argument("--folder", type=pathlib.Path, default=common.ROOT / "build/bench-pictures")
    options = parser.parse_args()
    paths = sorted(PICTURES.glob("*.txt"))
    if options.pictures:
        paths = [PICTURES / f"{name}.txt" for name in options.pictures]
    folder = options.folder / options.device.replace(":", "-")
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [(path, seed) for seed in range(1, options.seeds + 1) for path in paths]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda task: run(options.program, *task, options.device, folder), tasks):
            print(f"{row['picture']:<10} seed {row['seed']}: {'solved' if row['solved'] else 'not solved'}"
                  f"{', lasting' if row['lasting'] else ''}, {row['updates']} updates, {row['seconds']:.0f} s", flush=True)
            rows.append(row)
    print(table(rows))
    if not options.pictures:
        facts = common.machine(str(options.program), 0)
        common.write_results("pictures", facts, rows)
        common.write_documentation("bench/pictures.py", f"{table(rows)}\n\nDevice: {options.device}. {facts['cpu']}.",
                                   "docs/automata.md")


if __name__ == "__main__":
    main()
