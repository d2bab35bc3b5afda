#!/usr/bin/env python3
"""Build times of fresh build folders, without a compiler cache.

Configures and builds the program, the program without GPU backends, and everything with tests and examples. Wall-clock
time depends on what else the machine does; CPU seconds (user and system, all processes) much less. With --before REVISION
the same builds of an earlier revision are measured first, in a temporary git worktree. Adds the times to
bench/results/build_time.json and renews the table in docs/install.md.

  bench/build_time.py --before v0.1
  bench/build_time.py --only program --no-table
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import time

import common

NO_CUDA = "-DBOOLGRAD_USE_CUDA=OFF"
NO_VULKAN = "-DBOOLGRAD_USE_VULKAN=OFF"
BUILDS = {
    "program": ("program (CPU, Vulkan)", [NO_CUDA], ["boolgrad_cli"]),
    "cpu": ("program without CUDA and Vulkan", [NO_CUDA, NO_VULKAN], ["boolgrad_cli"]),
    "tests": ("program, tests and examples", [NO_CUDA, "-DBOOLGRAD_REQUIRE_TESTS=ON"], ["all"]),
    "cuda": ("program (CPU, CUDA, Vulkan)", [], ["boolgrad_cli"]),
}


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(source, name, jobs):
    """Wall and CPU seconds of one build of the sources in a folder, from nothing."""
    _, options, targets = BUILDS[name]
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    with tempfile.TemporaryDirectory(prefix="boolgrad-build-") as folder:
        start, used = time.perf_counter(), cpu_seconds()
        for command in (
            ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options],
            ["cmake", "--build", folder, "-j", str(jobs), "--target", *targets],
        ):
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        row = {
            "build": name,
            "wall_s": round(time.perf_counter() - start, 1),
            "cpu_s": round(cpu_seconds() - used, 1),
            "files": compiled_files(folder),
        }
        print(row, flush=True)
        return row


def user_program():
    """Median seconds to compile the program of the C++ tutorial, which includes one header."""
    command = ["c++", "-std=c++20", "-O2", "-I", str(common.ROOT), "-c", "-o", "/dev/null",
               str(common.ROOT / "docs/tutorials/cpp/main.cpp")]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(command, check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def compiled_files(folder):
    """How many objects the build left."""
    return sum(1 for _ in pathlib.Path(folder).rglob("*.o"))


def minutes(seconds):
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"


def table(facts, before, after):
    def cells(row):
        return [str(row["files"]), f"{row['cpu_s']:.0f}", minutes(row["wall_s"])] if row else ["", "", ""]

    known = {row["build"]: row for row in before}
    lines = [
        f"{facts['cpu']}, {facts['jobs']} parallel jobs, {facts['compiler']}; other processes used "
        f"{facts['other_cores']:.1f} cores meanwhile. Revision {facts['revision']}"
        + (f", before: {facts['before']}." if before else "."),
        "",
    ]
    heads = ["files", "CPU seconds", "wall (min:s)"]
    columns = (heads if not before else [f"{head}, before" for head in heads] + heads)
    lines.append("| build | " + " | ".join(columns) + " |")
    lines.append("|---|" + "---|" * len(columns))
    for row in after:
        values = (cells(known.get(row["build"])) if before else []) + cells(row)
        lines.append(f"| {BUILDS[row['build']][0]} | " + " | ".join(values) + " |")
    lines += ["", f"The program of the [C++ tutorial](tutorials/cpp.md), which includes `boolgrad/boolgrad.h`, compiles in "
              f"{facts['user_program_s']:.1f} s. The eight headers that version 0.1 needed took 2.5 s, measured in another run."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", help="a revision to compare with")
    parser.add_argument("--before-only", nargs="+", choices=BUILDS, help="the builds of that revision; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="+", choices=BUILDS, default=["program", "cpu", "tests"])
    parser.add_argument("--no-table", action="store_true", help="print only")
    options = parser.parse_args()

    def work():
        before = []
        if options.before:
            with tempfile.TemporaryDirectory(prefix="boolgrad-before-") as folder:
                git = ["git", "-C", str(common.ROOT), "worktree"]
                subprocess.run([*git, "add", "--detach", "--force", folder, options.before], check=True,
                               capture_output=True)
                try:
                    before = [measured(folder, name, options.jobs) for name in options.before_only or options.only]
                finally:
                    subprocess.run([*git, "remove", "--force", folder], check=True)
        return before, [measured(common.ROOT, name, options.jobs) for name in options.only]

    (before, after), others = common.other_load(work)
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    compiler = re.sub(r"^c\+\+ ", "GCC ", compiler)
    facts = {
        "cpu": common.cpu_model(),
        "cores": os.cpu_count(),
        "jobs": options.jobs,
        "compiler": compiler,
        "other_cores": round(others, 2),
        "revision": common.revision(),
        "before": options.before,
        "user_program_s": round(user_program(), 2),
    }
    text = table(facts, before, after)
    print(text)
    if not options.no_table:
        common.write_results("build_time", facts, {"before": before, "after": after})
        common.write_documentation("bench/build_time.py", text, "docs/install.md")


if __name__ == "__main__":
    main()
