#!/usr/bin/env python3
"""Runs the commands of Markdown pages and checks or renews the output that the pages show.

    python3 tools/doc_commands.py README.md docs/tutorials/automata.md            # check
    python3 tools/doc_commands.py --write README.md docs/tutorials/automata.md    # renew

Every ```sh block of a page is run by bash, word for word and in order, in a scratch folder of the page that is empty
at first. A ```text block right after it is the expected standard output. A block after a comment that starts with
`not run` is skipped:

    <!-- not run: needs a GPU -->

A command that fails fails the check. Times and rates are not compared. The rest is compared exactly, but only where
compiler, libraries and instruction set are those of tests/docs/recorded_with.txt: training gives the same bits on any
number of threads, but not on every CPU. Elsewhere the commands have to succeed, and the output is not compared.

--write replaces blocks whose output differs in more than times, and renews recorded_with.txt. Needs no packages.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDED_WITH = ROOT / "tests/docs/recorded_with.txt"

FENCE = re.compile(r"^(`{3,})(\S*).*$")
# What differs from run to run: durations, and numbers per second.
VARIABLE = [
    (re.compile(r"\b\d[\d.]* ?(s|ms|sec|seconds|minutes)\b"), "TIME"),
    (re.compile(r"\b\d[\d.,e+]*( thousand| million| billion)?( [a-z]+)* (a|per) second\b"), "RATE"),
]
LAST_NUMBER = re.compile(r" +\d[\d.]*$")


class Block:
    """A fenced block: its language, its lines and where they are in the page."""

    def __init__(self, language, first, lines, skipped):
        self.language = language
        self.first = first  # index of the first line inside the fence
        self.lines = lines
        self.skipped = skipped


def fenced_blocks(lines):
    """All fenced blocks of a page. `skipped` says that a comment `not run` stands right before one."""
    blocks = []
    fence = None
    skipped = False
    for number, line in enumerate(lines):
        match = FENCE.match(line)
        if fence is None and match:
            fence = match.group(1)
            block = Block(match.group(2), number + 1, [], skipped)
            skipped = False
        elif fence is not None and line.strip() == fence:
            blocks.append(block)
            fence = None
        elif fence is not None:
            block.lines.append(line)
        elif line.strip():
            skipped = line.startswith("<!-- not run")
    if fence is not None:
        raise SystemExit(f"a block that starts in line {block.first} has no end")
    return blocks


def commands(lines):
    """Pairs (sh block to run, text block with its output or None)."""
    blocks = fenced_blocks(lines)
    pairs = []
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block.language != "sh" or block.skipped:
            continue
        if following is not None:
            between = lines[block.first + len(block.lines) + 1 : following.first - 1]
            if following.language != "text" or any(line.strip() for line in between):
                following = None
        pairs.append((block, following))
    return pairs


def normalised(lines):
    """Lines without what differs from run to run."""
    result = []
    timed = False  # whether this is a row of a table whose last column is seconds
    for line in lines:
        timed = line.endswith(" seconds") or (timed and LAST_NUMBER.search(line) is not None)
        if timed:
            line = LAST_NUMBER.sub(" TIME", line)
        for pattern, word in VARIABLE:
            line = pattern.sub(word, line)
        result.append(line.rstrip())
    return result


def run(block, folder, program):
    """Standard output of a block as lines, and None or why it failed."""
    environment = dict(os.environ)
    environment["PATH"] = f"{program.parent}{os.pathsep}{environment['PATH']}"
    environment["LC_ALL"] = "C.UTF-8"
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", "\n".join(block.lines)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    output = [line.rstrip() for line in done.stdout.splitlines()]
    while output and not output[-1]:
        output.pop()
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-5:]
        return output, "\n".join([f"exit code {done.returncode}"] + last)
    return output, None


def build_of(program):
    """What has to be the same for the same bits: compiler, libraries and instruction set, one per line."""
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True)
    wanted = ("compiler", "libraries", "SIMD")
    return [line for line in done.stdout.splitlines() if line.startswith(wanted)]


def check_page(page, program, compared, write):
    """Runs the commands of one page; returns how many blocks failed or differ."""
    lines = page.read_text().splitlines()
    faults = 0
    changes = []
    with tempfile.TemporaryDirectory(prefix="boolgrad-docs-") as folder:
        pairs = commands(lines)
        if not pairs:
            print(f"{page}: no commands found")
            return 1
        for block, shown in pairs:
            output, failure = run(block, folder, program)
            if failure is not None:
                print(f"{page}:{block.first + 1}: {failure}")
                print("\n".join(block.lines))
                return faults + 1
            if shown is None or normalised(output) == normalised(shown.lines):
                continue
            if write:
                changes.append((shown, output))
            elif compared:
                faults += 1
                print(f"{page}:{shown.first + 1}: the output differs")
                old, new = normalised(shown.lines), normalised(output)
                print("\n".join(difflib.unified_diff(old, new, "page", "program", lineterm="")))
    for shown, output in reversed(changes):
        lines[shown.first : shown.first + len(shown.lines)] = output
    if changes:
        page.write_text("\n".join(lines) + "\n")
    counted = f"{len(pairs)} blocks run"
    print(f"{page}: {counted}, {len(changes)} outputs renewed" if write else f"{page}: {counted}, {faults} differ")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="renew the output in the pages")
    parser.add_argument("--boolgrad", type=pathlib.Path, default=ROOT / "build/release/boolgrad")
    parser.add_argument("--recorded-with", type=pathlib.Path, default=RECORDED_WITH)
    options = parser.parse_args()
    program = options.boolgrad.resolve()
    build = build_of(program)
    if options.write:
        options.recorded_with.write_text("\n".join(build) + "\n")
    compared = options.recorded_with.read_text().splitlines() == build
    if not compared:
        print("Another compiler, library or instruction set than in recorded_with.txt: output is not compared.")
    faults = sum(check_page(page, program, compared, options.write) for page in options.pages)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
