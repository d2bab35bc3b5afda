"""Builds the program twice, from copies of the sources in folders of different names, and compares the bytes.

`make reproducible` calls it. Files are those that git knows. No compiler cache is used.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The second name is longer, so that a path in the output would also change lengths.
NAMES = ["one", "another-folder-of-another-length"]


def copy_sources(to):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source = ROOT / name
        if not source.is_file():
            continue  # deleted, and not yet committed
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to / name)


def build(sources, targets, jobs, definitions):
    environment = dict(os.environ, CCACHE_DISABLE="1")
    commands = [["cmake", "--preset", "release", *(f"-D{each}" for each in definitions)],
                ["cmake", "--build", "build/release", "-j", str(jobs), "--target", *targets]]
    for command in commands:
        done = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}\nreproducible.py: {' '.join(command)} failed")


def built_files(sources):
    """The digests of programs and libraries by name."""
    folder = sources / "build/release"
    paths = [*folder.glob("lib*.a"), *folder.glob("lib*.so*"), folder / "boolgrad"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}


def first_difference(one, other):
    a, b = one.read_bytes(), other.read_bytes()
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"sizes {len(a)} and {len(b)}, first difference at byte {at}: {a[max(at - 40, 0):at + 40]!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=["boolgrad_cli"], help="CMake targets; the program by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-D", action="append", default=[], dest="definitions", metavar="NAME=VALUE",
                        help="a definition for CMake")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = [pathlib.Path(scratch) / name / "boolgrad" for name in NAMES]
        for folder in folders:
            copy_sources(folder)
            build(folder, options.targets, options.jobs, options.definitions)
        one, other = (built_files(folder) for folder in folders)
        if not one or one.keys() != other.keys():
            sys.exit(f"reproducible.py: the builds have different files: {sorted(one)} and {sorted(other)}")
        differing = sorted(name for name in one if one[name] != other[name])
        for name in differing:
            print(f"{name}: {first_difference(*(folder / 'build/release' / name for folder in folders))}")
    print(f"{len(one) - len(differing)} of {len(one)} files have the same bytes")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
