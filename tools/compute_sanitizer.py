"""Runs the tests of CUDA under the tools of NVIDIA's compute-sanitizer. `make compute-sanitizer` calls it.

Needs a GPU. Ends with 1 if a tool reports an error or a test fails.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALL = "*Cuda*:*/cuda"
BITS = "*CudaBit*"
# The training of automata uses more barriers than the tools count by default. Counting them takes memory that the tests
# on bits need, so that these have a run of their own. A test lets an allocation fail on purpose: failing calls of the API
# are not reported.
BARRIERS = ["--num-cuda-barriers", "8192"]
RUNS = [("memcheck", ["--report-api-errors", "no"], ALL),
        ("initcheck", [], ALL),
        ("racecheck", BARRIERS, f"{ALL}:-{BITS}"),
        ("racecheck", [], BITS),
        ("synccheck", BARRIERS, f"{ALL}:-{BITS}"),
        ("synccheck", [], BITS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", default=ROOT / "build/release/tests/backend_tests", help="the tests to run")
    options = parser.parse_args()
    if shutil.which("compute-sanitizer") is None:
        sys.exit("compute_sanitizer.py: compute-sanitizer is missing: the CUDA toolkit has it")
    if not pathlib.Path(options.tests).exists():
        sys.exit(f"compute_sanitizer.py: {options.tests} does not exist: build the target backend_tests first")
    failed = []
    for tool, arguments, tests in RUNS:
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "1", *arguments, options.tests,
                   "--gtest_brief=1", f"--gtest_filter={tests}"]
        print(" ".join(map(str, command)), flush=True)
        if subprocess.run(command, check=False).returncode != 0:
            failed.append(f"{tool} of {tests}")
    if failed:
        sys.exit(f"compute_sanitizer.py: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
