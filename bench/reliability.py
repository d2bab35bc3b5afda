"""Counts the faults that the tests inject and the inputs that the fuzzers have run, and renews docs/reliability.md.

Run `make test` and `make fuzz` first.
"""

import json
import pathlib
import subprocess
import tempfile

from common import write_documentation

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "build/release/tests/faults_tests"
EXECUTIONS = ROOT / "build/fuzz/executions.json"
PAGE = ROOT / "docs/reliability.md"

FAULTS = [("kills", "the process is killed at a system call that changes files"),
          ("failures", "a system call fails: disk full, or input/output error"),
          ("limits", "a file is written in part before a write fails"),
          ("allocations", "an allocation fails (a sample of all of them)")]


def injected():
    """The numbers of faults that the tests record."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([TESTS, f"--gtest_output=json:{report}", "--gtest_brief=1"], check=True)
        suites = json.loads(report.read_text())["testsuites"]
    counts = {}
    for suite in suites:
        for test in suite["testsuite"]:
            counts.update({name: int(test[name]) for name, _ in FAULTS if name in test})
    return counts


def main():
    counts = injected()
    executions = json.loads(EXECUTIONS.read_text()) if EXECUTIONS.exists() else {}
    rows = ["| fault | injected | runs that did not recover |", "|---|---|---|"]
    rows += [f"| {text} | {counts[name]:,} | 0 |" for name, text in FAULTS]
    write_documentation("bench/reliability.py faults", "\n".join(rows), PAGE)
    if not executions:
        return
    rows = ["| fuzz target | executions |", "|---|---|"]
    rows += [f"| `{target}` | {count:,} |" for target, count in sorted(executions.items())]
    rows += [f"| all | {sum(executions.values()):,} |"]
    write_documentation("bench/reliability.py fuzzing", "\n".join(rows), PAGE)


if __name__ == "__main__":
    main()
