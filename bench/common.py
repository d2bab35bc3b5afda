"""What the benchmarks share: facts about the machine, and where results go."""

import json
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))


def other_load(work):
    """Returns the result of `work`, and how many cores other processes used in the meantime."""

    def seconds():
        ticks = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        idle = int(ticks[3]) + int(ticks[4])
        busy = (sum(map(int, ticks)) - idle) / os.sysconf("SC_CLK_TCK")
        return busy - sum(os.times()[:4])

    start, others = time.perf_counter(), seconds()
    result = work()
    return result, (seconds() - others) / (time.perf_counter() - start)


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def revision():
    def git(*arguments):
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = git("rev-parse", "--short=12", "HEAD") or "uncommitted"
    # Result files may differ, because this run writes them.
    changed = git("status", "--porcelain", "--", ".", ":!docs/benchmarks", ":!bench/results")
    return commit + ("-modified" if changed and commit != "uncommitted" else "")


def machine(program, threads, *peers):
    """Facts about a run; `peers` names the programs that boolgrad is compared with, and their versions."""
    lines = subprocess.run([str(program), "--version"], capture_output=True, text=True).stdout
    facts = dict(line.split(None, 1) for line in lines.splitlines()[1:] if len(line.split()) > 1)
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "threads": threads,
        "peers": peers,
        "compiler": facts.get("compiler", "unknown"),
        "libraries": facts.get("libraries", "unknown"),
        "simd": facts.get("SIMD", "unknown"),
        "revision": revision(),
    }


def describe(facts):
    """One paragraph about the machine and both programs."""
    return (
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads. "
        f"boolgrad {facts['revision']}: {facts['compiler']}, {facts['simd']}, "
        f"{facts['libraries']}. " + " ".join(f"{peer}." for peer in facts["peers"])
    ).strip()


def write_documentation(script, text, page):
    """Replaces the text between the markers of `script` in a page of the documentation."""
    begin, end = f"<!-- begin: {script} -->", f"<!-- end: {script} -->"
    path = ROOT / page
    before, rest = path.read_text().split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def write_network(path, torch, inputs, tensors, layers):
    """Writes a network as `boolgrad bench lut --file` reads it: `tensors` and (wires, logits, gradient) of
    each layer. `torch` is the module, which not every benchmark imports."""
    import reference_file

    tensors = {**tensors, "input_mask": numpy_ones(inputs)}
    for i, (wires, logits, gradient) in enumerate(layers):
        tensors[f"layer.{i}.wires"] = wires
        tensors[f"layer.{i}.logits"] = logits
        tensors[f"layer.{i}.mask"] = numpy_ones(len(logits))
        tensors[f"gradient.{i}"] = gradient
    network = {"inputs": inputs, "layers": len(layers), "parametrisation": "softmax16",
               "group_sizes": [1] * len(layers)}
    reference_file.write_tensors(
        path, {name: torch.from_numpy(value) for name, value in tensors.items()},
        {"logic_network": json.dumps(network)})


def numpy_ones(count):
    import numpy

    return numpy.ones(count, numpy.float32)


def write_results(name, facts, results):
    """Adds the run to bench/results/NAME.json, keyed by revision."""
    path = ROOT / f"bench/results/{name}.json"
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    known[facts["revision"]] = {"machine": facts, "rows": results}
    path.write_text(json.dumps(known, indent=1) + "\n")
