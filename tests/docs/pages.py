#!/usr/bin/env python3
"""Checks what pages promise one another: versions, included files, the navigation, the size of the README.

    python3 tests/docs/pages.py

Needs no packages.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDED = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def only(pattern, path):
    """The first match of a pattern in a file of the repository."""
    match = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    return match.group(1) if match else f"none in {path}"


def version_faults():
    versions = {
        "CMakeLists.txt": only(r"^\s*VERSION (\d+\.\d+\.\d+)", "CMakeLists.txt"),
        "CHANGELOG.md": only(r"^## \[(\d+\.\d+\.\d+)\]", "CHANGELOG.md"),
        "CITATION.cff": only(r"^version: (\S+)$", "CITATION.cff"),
        "pyproject.toml": only(r'^version = "(\S+)"$', "pyproject.toml"),
    }
    dates = {
        "CHANGELOG.md": only(r"^## \[\d+\.\d+\.\d+\] - (\S+)$", "CHANGELOG.md"),
        "CITATION.cff": only(r"^date-released: (\S+)$", "CITATION.cff"),
    }
    return [f"expected one version, received {values}" for values in (versions, dates) if len(set(values.values())) > 1]


def included_faults(page):
    """Blocks after a comment `file: PATH` that are not that file, word for word."""
    result = []
    for name, text in INCLUDED.findall(page.read_text()):
        if (page.parent / name).read_text() != text:
            result.append(f"{page.relative_to(ROOT)}: the block of {name} differs from the file")
    return result


def navigation_faults():
    """Pages of docs/ that the navigation leaves out. Notebooks are pages too."""
    navigation = (ROOT / "mkdocs.yml").read_text()
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    pages = [path.relative_to(ROOT / "docs").with_suffix(".md") for path in sorted(files)]
    listed = set(re.findall(r"(\S+\.md)$", navigation, re.MULTILINE))
    return [f"mkdocs.yml: docs/{page} is not in the navigation" for page in pages if str(page) not in listed]


def readme_faults():
    words = len((ROOT / "README.md").read_text().split())
    return [f"README.md: expected at most 950 words, received {words}"] if words > 950 else []


def main():
    found = version_faults() + navigation_faults() + readme_faults()
    including = 0
    for page in sorted((ROOT / "docs").rglob("*.md")):
        including += len(INCLUDED.findall(page.read_text()))
        found += included_faults(page)
    if including == 0:
        found.append("no page includes a file: the pattern is out of date")
    print("\n".join(found + [f"{len(found)} faults"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
