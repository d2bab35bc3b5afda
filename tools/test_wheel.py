#!/usr/bin/env python3
"""Tests a wheel where a user would install it: in a fresh virtual environment, with another version of Python.

    python3 tools/test_wheel.py build/wheel/boolgrad-*.whl --python python3.12
    python3 tools/test_wheel.py build/wheel/boolgrad-*.whl --python python3.10 -- -k "not notebook"

Creates the environment in a scratch folder, installs the wheel with its test packages, and runs python/tests there; arguments
after -- go to pytest. The environment has no PyTorch, so tests of boolgrad.torch are skipped. Needs the interpreters that
--python names, and downloads packages.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def test(wheel, interpreter, arguments):
    """The exit status of the tests."""
    with tempfile.TemporaryDirectory(prefix="boolgrad-wheel-") as folder:
        folder = pathlib.Path(folder)
        subprocess.run([interpreter, "-m", "venv", folder / "venv"], check=True)
        python = folder / "venv/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}[test]"], check=True)
        where = "import boolgrad, sys; print(sys.version.split()[0], boolgrad.__version__, boolgrad.__file__)"
        shown = subprocess.run([python, "-I", "-c", where], cwd=folder, check=True, capture_output=True, text=True).stdout
        print(f"Python {shown.strip()}", flush=True)
        if not pathlib.Path(shown.split()[-1]).is_relative_to(folder):
            sys.exit(f"expected the package of the wheel, received {shown.split()[-1]}")
        # Tests find files of the repository by their own path; the package is that of the environment.
        command = [python, "-I", "-m", "pytest", "-q", "--rootdir", ROOT, ROOT / "python/tests", *arguments]
        return subprocess.run(command, cwd=folder).returncode


def main():
    own = sys.argv[1:]
    split = own.index("--") if "--" in own else len(own)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--python", action="append", required=True, help="an interpreter; may be given more than once")
    options = parser.parse_args(own[:split])
    wheel = options.wheel.resolve()
    if not wheel.is_file():
        sys.exit(f"cannot read {options.wheel}: make wheel makes one")
    failed = [name for name in options.python if test(wheel, name, own[split + 1 :]) != 0]
    if failed:
        sys.exit(f"the tests failed with {', '.join(failed)}")


if __name__ == "__main__":
    main()
