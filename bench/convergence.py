#!/usr/bin/env python3
"""How many seeds converge, and what each part of the recipe contributes.

    python3 bench/convergence.py final checkerboard life          # built-in experiments, seeds 101 to 120
    python3 bench/convergence.py final letter-g --device cuda
    python3 bench/convergence.py pieces                           # one initialisation, one change at a time, seeds 1 to 10
    python3 bench/convergence.py plateau                          # per-layer diagnostics of one run of the full task
    python3 bench/convergence.py penalty                          # effect of a gate penalty, seeds 101 to 110
    python3 bench/convergence.py tables                           # only writes the tables

Runs `boolgrad sweep`, evaluates the trained checkerboards with `boolgrad eval` and counts operations and gates with
`boolgrad inspect`. Adds the results to bench/results/convergence.json and writes the tables between the markers in
docs/studies/convergence.md. Sweeps are kept in build/convergence, so that an interrupted one resumes. Needs no packages.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results/convergence.json"
STUDY = ROOT / "docs/studies/convergence.md"
FOLDER = ROOT / "build/convergence"
AUTOMATA = ["checkerboard", "life", "checkerboard-async", "letter-g", "lizard-torus"]
# Updates in the literature; twice as many are allowed here.
LITERATURE = {"checkerboard": 500, "life": 3000, "checkerboard-async": 800, "lizard-torus": 3500, "letter-g": 3000}

# Gate penalties per experiment.
PENALTIES = {"life": [0, 0.01, 0.03], "checkerboard": [0, 0.01, 0.03]}

# One initialisation on the small problem that the checkerboard starts with, evaluated on the full task.
ONE_MEMBER = ["search.members=1", "search.restart=none", "training.steps=300"]
# What each row changes, in addition to ONE_MEMBER.
PIECES = {
    "the recipe": [],
    "softmax16, sixteen logits per gate": ["network.parametrisation=softmax16", "network.init_strength=5",
                                           "training.learning_rate=0.05"],
    "initial logit 2": ["network.init_strength=2"],
    "initial logit 5": ["network.init_strength=5"],
    "learning rate 0.05": ["training.learning_rate=0.05"],
    "learning rate 0.2": ["training.learning_rate=0.2"],
    "weight decay 0.01": ["training.weight_decay=0.01"],
    "fourth-power loss": ["training.loss=l4", "hardening.threshold=0.001"],
    "cross-entropy": ["training.loss=bce", "hardening.threshold=0.03"],
    "focal loss": ["training.loss=focal", "hardening.threshold=0.01"],
    "no hardening": ["hardening.kind=none"],
    "blended tables": ["hardening.kind=blend"],
    "rounded states": ["hardening.kind=states"],
    "temperature": ["hardening.kind=temperature"],
    "Gumbel noise": ["hardening.kind=noise"],
    "freezing": ["hardening.kind=freeze"],
    "straight through": ["hardening.kind=straight_through"],
    "loss of the last 3 states": ["automaton.loss_steps=3"],
    "10 to 15 steps": ["automaton.extra_steps=5"],
    "fire rate 0.8": ["automaton.training_fire_rate=0.8"],
    "a pool of 16 states": ["automaton.pool=16"],
    "gradient noise 0.1": ["training.gradient_noise=0.1"],
    "local search over 64 table entries": ["search.local_search=64", "search.local_search_every=50", "search.local_search_max_error=0.05"],
    "gate penalty 0.01": ["training.gate_penalty=0.01"],
    "full task from the start": ["curriculum.until=[]", "curriculum.height=[]", "curriculum.width=[]",
                                 "curriculum.steps=[]", "curriculum.batch=[]"],
}


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout.splitlines()[-1])


def wilson(good, count):
    """The 95 % confidence interval of a share."""
    z = 1.96
    share = good / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def share_text(good, count):
    low, high = wilson(good, count)
    return f"{good} of {count} ({100 * low:.0f}–{100 * high:.0f} %)"


def sweep(options, experiment, folder, seeds, first, changes=()):
    """The runs of a sweep, in the order of their seeds."""
    command = [options.boolgrad, "sweep", experiment, "--first-seed", first, "--seeds", seeds, "--jobs", options.jobs,
               "--device", options.device, "--out", folder, "--quiet", "--json"]
    for change in changes:
        command += ["--set", change]
    run(command)
    runs = []
    for seed in range(first, first + seeds):
        place = pathlib.Path(folder, f"seed-{seed}")
        result = json.loads((place / "result.json").read_text())
        runs.append({"seed": seed, "model": str(place / "model.safetensors"),
                     **{key: result[key] for key in ("steps_to_converge", "steps", "soft_loss", "hard_loss", "seconds")}})
    return runs


def counted(options, model):
    """Word operations per cell, and gates after the passes of an export."""
    inspected = run([options.boolgrad, "inspect", model, "--passes", "--quiet", "--json"])
    return {"operations": inspected["operations"], "gates": inspected["passes"][-1]["gates"]}


def evaluated(options, entry):
    """Accuracy of the hardened model in other scenarios, and its size."""
    entry = dict(entry)
    model = entry.pop("model")
    if entry["steps_to_converge"] is None:
        return entry
    entry.update(counted(options, model))
    scenarios = run([options.boolgrad, "eval", model, "--quiet", "--json"]).get("scenarios", [])
    entry["scenarios"] = {line["name"]: line["accuracy"] for line in scenarios}
    return entry


def final(options, known):
    for name in options.names or AUTOMATA:
        runs = sweep(options, name, FOLDER / f"final-{name}", options.seeds or 20, options.first or 101)
        known.setdefault("final", {})[name] = [evaluated(options, entry) for entry in runs]
        save(options, known)


def pieces(options, known):
    for number, (name, changes) in enumerate(PIECES.items()):
        if options.names and name not in options.names:
            continue
        runs = sweep(options, "checkerboard", FOLDER / f"piece-{number}", options.seeds or 10, options.first or 1,
                     [*ONE_MEMBER, *changes])
        for entry in runs:
            del entry["model"]
        known.setdefault("pieces", {})[name] = runs
        save(options, known)
        print(f"{name}: {share_text(converged(runs), len(runs))}", flush=True)


def penalty(options, known):
    for name in options.names or PENALTIES:
        for strength in PENALTIES[name]:
            runs = sweep(options, name, FOLDER / f"penalty-{name}-{strength}", options.seeds or 10,
                         options.first or 101, [f"training.gate_penalty={strength}"])
            for entry in runs:
                model = entry.pop("model")
                if entry["steps_to_converge"] is not None:
                    entry.update(counted(options, model))
            known.setdefault("penalty", {}).setdefault(name, {})[str(strength)] = runs
            save(options, known)


def plateau(options, known):
    folder = FOLDER / "plateau"
    run([options.boolgrad, "train", "checkerboard", "--seed", options.first or 1, "--out", folder, "--quiet", "--json",
         "--set", "training.diagnose_every=20", "--set", "training.log_every=20",
         *(part for change in [*ONE_MEMBER, *PIECES["full task from the start"]] for part in ("--set", change))])
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    known["plateau"] = [{key: line[key] for key in ("step", "soft_loss", "hard_loss", "layers")}
                        for line in lines if "layers" in line]
    save(options, known)


def converged(runs):
    return sum(entry["steps_to_converge"] is not None for entry in runs)


def shown(what, values, digits=5):
    return f"{what(values):.{digits}g}" if values else "–"


def final_table(runs_of):
    lines = ["| experiment | converged | updates, median | max | limit | wrong bits of the others "
             "| final soft − hard loss | seconds, median |", "|---|---|--:|--:|--:|---|--:|--:|"]
    for name in (name for name in AUTOMATA if name in runs_of):
        runs = runs_of[name]
        solved = [entry for entry in runs if entry["steps_to_converge"] is not None]
        updates = [entry["steps_to_converge"] for entry in solved]
        others = sorted(int(entry["hard_loss"]) for entry in runs if entry["steps_to_converge"] is None)
        gaps = [abs(entry["soft_loss"] - entry["hard_loss"]) for entry in solved]
        lines.append(f"| {name} | {share_text(len(solved), len(runs))} | {shown(statistics.median, updates)} | "
                     f"{shown(max, updates)} | {2 * LITERATURE[name]} | {', '.join(map(str, others)) or '–'} | "
                     f"{shown(max, gaps, 2)} | "
                     f"{statistics.median(entry['seconds'] for entry in runs):.1f} |")
    return "\n".join(lines)


def scenario_table(runs_of):
    lines = ["| experiment | scenario | rules right from every start | starts that end right, mean |",
             "|---|---|---|--:|"]
    for name in ("checkerboard", "checkerboard-async"):
        solved = [entry for entry in runs_of.get(name, []) if entry.get("scenarios")]
        for scenario in solved[0]["scenarios"] if solved else []:
            shares = [entry["scenarios"][scenario] for entry in solved]
            lines.append(f"| {name} | {scenario} | {sum(share == 1 for share in shares)} of {len(shares)} | "
                         f"{100 * statistics.mean(shares):.0f} % |")
    for name in (name for name in AUTOMATA if name in runs_of):
        counts = [entry["gates"] for entry in runs_of[name] if "gates" in entry]
        if counts:
            lines.append(f"\n{name}: {statistics.median(counts):g} gates after the passes of an export in the median "
                         f"({min(counts)} to {max(counts)}).")
    return "\n".join(lines)


def pieces_table(runs_of):
    lines = ["| change | converged within 300 updates | updates, median | soft solved, hard not | "
             "wrong bits of the others, median |", "|---|---|--:|--:|--:|"]
    for name in (name for name in PIECES if name in runs_of):
        runs = runs_of[name]
        solved = [entry["steps_to_converge"] for entry in runs if entry["steps_to_converge"] is not None]
        others = [entry for entry in runs if entry["steps_to_converge"] is None]
        # Two grids of 16 by 16 cells: one wrong bit costs about 1.
        apart = sum(entry["soft_loss"] < 1 and entry["hard_loss"] > 0 for entry in others)
        wrong = f"{statistics.median(entry['hard_loss'] for entry in others):g}" if others else "–"
        lines.append(f"| {name} | {share_text(len(solved), len(runs))} | "
                     f"{format(statistics.median(solved), 'g') if solved else '–'} | {apart} | {wrong} |")
    return "\n".join(lines)


def penalty_table(runs_of):
    lines = ["| experiment | penalty | converged | updates, median | gates after the passes, median | min | max |",
             "|---|--:|---|--:|--:|--:|--:|"]
    for name, strengths in runs_of.items():
        for strength, runs in strengths.items():
            solved = [entry for entry in runs if entry["steps_to_converge"] is not None]
            gates = [entry["gates"] for entry in solved] or [float("nan")]
            updates = [entry["steps_to_converge"] for entry in solved] or [float("nan")]
            lines.append(f"| {name} | {strength} | {share_text(len(solved), len(runs))} | "
                         f"{statistics.median(updates):g} | {statistics.median(gates):g} | {min(gates)} | {max(gates)} |")
    return "\n".join(lines)


def plateau_table(entries):
    count = len(entries[0]["layers"])
    shown = sorted({0, 1, 2, 3, count // 2, count - 3, count - 2, count - 1})
    lines = ["| update | soft loss, wrong bits | " + " | ".join(f"layer {i + 1}" for i in shown) + " |",
             "|--:|---|" + "---|" * len(shown)]
    for entry in entries:
        cells = [f"{layer['gradient_norm']:.2g}, {100 * layer['undecided']:.0f} %"
                 for layer in (entry["layers"][i] for i in shown)]
        lines.append(f"| {entry['step']} | {entry['soft_loss']:.3g}, {entry['hard_loss']:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_tables(known):
    tables = {}
    if "final" in known:
        tables["final"] = final_table(known["final"])
        tables["scenarios"] = scenario_table(known["final"])
    if "pieces" in known:
        tables["pieces"] = pieces_table(known["pieces"])
    if "penalty" in known:
        tables["penalty"] = penalty_table(known["penalty"])
    if "plateau" in known:
        tables["plateau"] = plateau_table(known["plateau"])
    text = STUDY.read_text()
    for name, table in tables.items():
        begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    STUDY.write_text(text)


def save(options, known):
    options.results.write_text(json.dumps(known, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["final", "pieces", "plateau", "penalty", "tables"])
    parser.add_argument("names", nargs="*", help="experiments or changes; all by default")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--first", type=int, help="first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--boolgrad", type=pathlib.Path, default=ROOT / "build/release/boolgrad")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    options = parser.parse_args()
    known = json.loads(options.results.read_text()) if options.results.exists() else {}
    {"final": final, "pieces": pieces, "plateau": plateau, "penalty": penalty, "tables": lambda *_: None}[options.part](options, known)
    if options.results == RESULTS and STUDY.exists():
        write_tables(known)


if __name__ == "__main__":
    main()
