"""Training runs of classifiers, as the benchmarks of accuracy share them: training, evaluation and sizes of models."""

import json
import pathlib
import statistics
import subprocess
import time

import common


class Runner:
    """Runs the program in a folder of results."""

    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.folder)

    def answer(self, *words):
        done = subprocess.run([self.options.program, *words, "--quiet", "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout.splitlines()[-1])

    def version(self):
        done = subprocess.run([self.options.program, "--version"], capture_output=True, text=True)
        return done.stdout.splitlines()[0]

    def model(self, name):
        return str(self.folder / name / "model.safetensors")

    def train(self, name, experiment, data, words):
        out = self.folder / name
        start = time.perf_counter()
        self.answer("train", experiment, "--out", str(out), "--data", data, "--device", self.options.device,
                    "--threads", str(self.options.threads), *words)
        seconds = time.perf_counter() - start
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        lines = [line for line in lines if "hard_accuracy" in line]
        return {"name": name, "seconds": seconds, "best_validation": max(line["hard_accuracy"] for line in lines),
                "last": statistics.mean(line["hard_accuracy"] for line in lines[-5:]),
                "last_soft": statistics.mean(line["soft_accuracy"] for line in lines[-5:])}

    def row(self, experiment, data, seed):
        """Trains a recipe, evaluates it once on the test samples, and counts gates and LUT6."""
        words = ["--epochs", str(self.options.epochs)] if self.options.epochs else []
        run = self.train(f"{experiment}-{seed}", experiment, data, ["--seed", str(seed), *words])
        test = self.answer("eval", self.model(run["name"]), "--data", data, "--no-simplify")
        sizes = self.answer("inspect", self.model(run["name"]), "--passes", "--lut6",
                            "--threads", str(self.options.threads))
        return run | {"experiment": experiment, "seed": seed, "test": test["hard_accuracy"],
                      "test_soft": test["soft_accuracy"], "gates": test["gates"],
                      "simplified": sizes["passes"][-1]["gates"], "lut6": sizes["lut6"]}


def add_options(parser, folder):
    """The options of all benchmarks of training runs."""
    parser.add_argument("--mnist", help="folder of the MNIST files")
    parser.add_argument("--fashion", help="folder of the Fashion-MNIST files")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--program", default=str(common.ROOT / "build/release/boolgrad"))
    parser.add_argument("--folder", default=str(common.ROOT / "build" / folder), help="where runs are kept")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run")
    parser.add_argument("--epochs", type=int, help="of every run, to try the script; by default its own")
    parser.add_argument("--no-ablation", dest="ablation", action="store_false")
    parser.add_argument("--steps", nargs="*", default=[], help="devices whose steps are timed")
    parser.add_argument("--save", help="keep the run in this file, and write no tables")
    parser.add_argument("--load", nargs="+", help="write the tables of saved runs, also of bench/torchlogix_steps.py")


def joined(files):
    """The parts of several runs as one."""
    result = {"device": None, "program": None, "rows": [], "ablation": [], "steps": {}, "peers": []}
    for file in files:
        run = json.loads(pathlib.Path(file).read_text())
        for part in ("rows", "ablation", "peers"):
            result[part] += run.get(part, [])
        result["steps"] |= run.get("steps", {})
        for fact in ("device", "program"):
            result[fact] = result[fact] or run.get(fact)
    return result


def percent(value):
    return f"{100 * value:.2f} %"


def mean(runs, value):
    return statistics.mean(value(run) for run in runs)


def seconds(runs):
    """The mean time of runs; empty if a run shared its machine with others, and its time was not kept."""
    times = [run["seconds"] for run in runs]
    return "" if None in times else f"{statistics.mean(times):.0f}"


def row_cells(runs, has_tables=False):
    """The cells that follow the name of an experiment: sizes, accuracies and time of its runs. `has_tables`: the
    gates are tables of more than two inputs, which passes would split."""
    test = [run["test"] for run in runs]
    spread = f" ± {100 * statistics.stdev(test):.2f}" if len(test) > 1 else ""
    sized = [run for run in runs if "lut6" in run]
    lut6 = f"{mean(sized, lambda run: run['lut6']['tables']):,.0f}" if sized else ""
    encoded = [run for run in sized if "encoder" in run["lut6"]]
    with_encoder = (f"{mean(encoded, lambda run: run['lut6']['tables'] + run['lut6']['encoder']):,.0f}"
                    if encoded else "")
    return {
        "gates": f"{runs[0]['gates']:,}",
        "after passes": "" if has_tables else f"{mean(runs, lambda run: run['simplified']):,.0f}",
        "LUT6": lut6,
        "LUT6, with encoder": with_encoder,
        "validation": percent(mean(runs, lambda run: run["best_validation"])),
        "test, hard": f"**{percent(statistics.mean(test))}**{spread} ({len(runs)} {'seed' if len(runs) == 1 else 'seeds'})",
        "soft − hard": f"{100 * mean(runs, lambda run: run['test_soft'] - run['test']):+.2f}",
        "seconds": seconds(runs),
    }


def table(columns, rows):
    """A table of rows of cells, as text."""
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def peer_table(peers, steps):
    """Steps of other programs, with the reason where one could not be measured, and a line above them. `steps` are
    boolgrad's milliseconds by device and name, where measured."""
    rows = []
    for peer in peers:
        ours = steps.get((peer["device"], peer["problem"]))
        ms, ahead, error = "–", "", printable(peer.get("failure", ""))
        if "ms" in peer:
            ms, error = f"{peer['ms']:.3f}", f"{peer['max_error']:.0e}"
            ahead = f"{peer['ms'] / ours:.1f}×" if ours else ""
        rows.append([f"{peer['program']}, {peer['variant']}", f"`{peer['problem']}`", peer["device"], ms, ahead, error])
    about = ("The same networks with other programs, by `bench/torchlogix_steps.py`. The last column is the largest "
             "difference of the outputs from those of the same network in NumPy:\n\n")
    return about + table(["program", "step", "device", "ms", "boolgrad speed-up", "largest error"], rows)


def printable(text, width=60):
    """One line that fits a table."""
    line = " ".join(text.replace("|", "/").split())
    return line if len(line) <= width else line[: width - 1] + "…"
