#!/usr/bin/env python3
"""Checks that every C++ block of the documentation is compiled: it must be part of a source file, word for word.

    python3 tests/docs/snippets.py

Indentation may differ, and a line of dots stands for what was left out. Needs no packages.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ("boolgrad", "examples", "tests", "docs/tutorials")
SUFFIXES = (".h", ".cpp", ".cu", ".cuh")
BLOCK = re.compile(r"^```(?:cpp|c\+\+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def compared(text):
    """Lines without indentation, empty ones left out."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def fragments(block):
    """The parts of a block between lines of dots."""
    result = [[]]
    for line in compared(block):
        if line in ("...", "// ..."):
            result.append([])
        else:
            result[-1].append(line)
    return [fragment for fragment in result if fragment]


def contains(lines, fragment):
    first = fragment[0]
    return any(
        lines[i : i + len(fragment)] == fragment for i, line in enumerate(lines) if line == first
    )


def faults(pages, sources):
    """What is wrong with the blocks of `pages`, a mapping from names to texts."""
    found = []
    for name, text in pages.items():
        for match in BLOCK.finditer(text):
            number = text[: match.start()].count("\n") + 1
            for fragment in fragments(match.group(1)):
                if not any(contains(lines, fragment) for lines in sources):
                    found.append(f"{name}:{number}: no source file contains the lines from: {fragment[0]}")
    return found


def main():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    sources = [
        compared(path.read_text())
        for folder in SOURCES
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES
    ]
    found = faults({str(page.relative_to(ROOT)): page.read_text() for page in pages}, sources)
    print("\n".join(found) or f"the C++ of {len(pages)} pages is compiled")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
