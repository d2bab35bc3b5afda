"""Runs the fuzzer of every target, or minimises the corpora. `make fuzz` and `make fuzz-merge` call it."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/fuzz"
FUZZER = BUILD / "tests/boolgrad_fuzz"
CORPORA = ROOT / "tests/fuzz/corpora"
DICTIONARIES = ROOT / "tests/fuzz/dictionaries"
LARGEST_INPUT = 16384
# Seconds of the clock for one input: the machine may be busy with other work.
LONGEST = 60
# What is longer than this shows nothing new: short inputs run faster.
LARGEST_INPUTS = {"grid-text": 64, "rule": 128, "overrides": 512, "tape": 512, "passes": 1024, "bitmap": 1024, "cifar": 8192}
# These run tens of thousands of inputs per second, and get more of the time.
SHARES = {"grid-text": 4, "rule": 4, "npy": 2, "idx": 2, "png": 2, "safetensors": 2}
# Executions of all runs so far, by target.
TOTALS = BUILD / "executions.json"


def fuzzer(target, *arguments):
    environment = dict(os.environ, BOOLGRAD_FUZZ_TARGET=target, ASAN_OPTIONS="detect_leaks=1")
    return subprocess.run([FUZZER, *arguments], env=environment, capture_output=True, text=True, check=False)


def largest_input(target):
    return LARGEST_INPUTS.get(target, LARGEST_INPUT)


def run(target, seconds):
    """Fuzzes one target. Returns its line of the report and whether it found nothing."""
    found = BUILD / "corpora" / target
    findings = BUILD / "findings"
    found.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-max_len={largest_input(target)}", f"-timeout={LONGEST}", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-artifact_prefix={findings}/{target}-"]
    dictionary = DICTIONARIES / f"{target}.dict"
    if dictionary.exists():
        options.append(f"-dict={dictionary}")
    result = fuzzer(target, *options, found, CORPORA / target)
    executions = re.search(r"stat::number_of_executed_units:\s*(\d+)", result.stderr)
    covered = re.findall(r" cov: (\d+)", result.stderr)
    count = int(executions[1]) if executions else 0
    line = f"{target:<14} {count:>12,} executions, {covered[-1] if covered else '?':>6} edges"
    if result.returncode == 0:
        return target, count, line, True
    wanted = re.compile(r"ERROR|SUMMARY|does not hold|Test unit written|what\(\)|BOOLGRAD_FUZZ_TARGET|runtime error")
    why = [each for each in result.stderr.splitlines() if wanted.search(each)]
    return target, count, "\n  ".join([line + ", FAILED", *why[:8]]), False


def run_all(targets, seconds, jobs):
    totals = json.loads(TOTALS.read_text()) if TOTALS.exists() else {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = []
        for target, count, line, passed in pool.map(lambda each: run(each, seconds * SHARES.get(each, 1)), targets):
            print(line, flush=True)
            totals[target] = totals.get(target, 0) + count
            TOTALS.write_text(json.dumps(totals, indent=1))
            results.append(passed)
    print(f"{sum(totals.values()):,} executions in all runs of this build folder")
    return all(results)


def merge(target):
    """Replaces a corpus by the smallest set of inputs, old and found, with the same coverage."""
    merged = BUILD / "merged" / target
    merged.mkdir(parents=True, exist_ok=True)
    for old in merged.iterdir():
        old.unlink()
    found = BUILD / "corpora" / target
    found.mkdir(parents=True, exist_ok=True)
    result = fuzzer(target, "-merge=1", f"-max_len={largest_input(target)}", merged, CORPORA / target, found)
    if result.returncode != 0 or not any(merged.iterdir()):
        print(result.stderr, file=sys.stderr)
        return False
    before = len(list((CORPORA / target).iterdir()))
    for old in (CORPORA / target).iterdir():
        # Inputs with a name of their own are kept: valid seeds, and inputs that once failed.
        if re.fullmatch(r"[0-9a-f]{40}", old.name):
            old.unlink()
    named = {each.read_bytes() for each in (CORPORA / target).iterdir()}
    for each in merged.iterdir():
        if each.read_bytes() not in named:
            (CORPORA / target / each.name).write_bytes(each.read_bytes())
    print(f"{target:<14} {before} inputs before, {len(list((CORPORA / target).iterdir()))} now")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["run", "merge"])
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.action == "merge":
        passed = all([merge(target) for target in options.targets])
    else:
        passed = run_all(options.targets, options.seconds, options.jobs)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
