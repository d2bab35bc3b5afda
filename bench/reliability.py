"""Counts the faults that the tests inject, the inputs that the fuzzers have run and the circuits that others have run
after their export, and renews docs/reliability.md.

Run `make test` and `make fuzz` first. Arguments choose parts: faults, fuzzing, exports.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from common import write_documentation

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "build/release/tests"
EXECUTIONS = ROOT / "build/fuzz/executions.json"
PAGE = ROOT / "docs/reliability.md"

FAULTS = [("kills", "the process is killed at a system call that changes files"),
          ("failures", "a system call fails: disk full, or input/output error"),
          ("limits", "a file is written in part before a write fails"),
          ("allocations", "an allocation fails (a sample of all of them)")]
EXPORTS = [("InC", "C, compiled by GCC"),
           ("InVerilog", "Verilog, simulated by Icarus Verilog"),
           ("InBlifAndAiger", "BLIF and AIGER, proven equivalent by ABC"),
           ("InHtml", "HTML, run by Chromium")]


def tests_of(program, *arguments, **variables):
    """The results of a test program, which must pass, by the names of its tests."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([TESTS / program, f"--gtest_output=json:{report}", "--gtest_brief=1", *arguments], check=True,
                       env=dict(os.environ, **variables))
        suites = json.loads(report.read_text())["testsuites"]
    return {test["name"]: test for suite in suites for test in suite["testsuite"]}


def faults(_):
    counts = {}
    for test in tests_of("faults_tests").values():
        counts.update({name: int(test[name]) for name, _ in FAULTS if name in test})
    rows = ["| fault | injected | runs that did not recover |", "|---|---|---|"]
    rows += [f"| {text} | {counts[name]:,} | 0 |" for name, text in FAULTS]
    write_documentation("bench/reliability.py faults", "\n".join(rows), PAGE)


def fuzzing(_):
    if not EXECUTIONS.exists():
        return
    executions = json.loads(EXECUTIONS.read_text())
    rows = ["| fuzz target | executions |", "|---|---|"]
    rows += [f"| `{target}` | {count:,} |" for target, count in sorted(executions.items())]
    rows += [f"| all | {sum(executions.values()):,} |"]
    write_documentation("bench/reliability.py fuzzing", "\n".join(rows), PAGE)


def exports(options):
    tests = tests_of("circuit_tests", "--gtest_filter=ExportsAgree.*", BOOLGRAD_EXPORTED_CIRCUITS=str(options.circuits))
    rows = ["| export | random circuits | differences |", "|---|---|---|"]
    rows += [f"| {text} | {int(tests[name]['circuits']):,} | 0 |" for name, text in EXPORTS]
    write_documentation("bench/reliability.py exports", "\n".join(rows), PAGE)


PARTS = {"faults": faults, "fuzzing": fuzzing, "exports": exports}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="faults, fuzzing, exports; all by default")
    parser.add_argument("--circuits", type=int, default=5000, help="random circuits of `exports`")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"expected {', '.join(PARTS)}, received {', '.join(sorted(unknown))}")
    for name in options.parts or PARTS:
        PARTS[name](options)


if __name__ == "__main__":
    main()
