#!/usr/bin/env python3
"""Checks the links of all Markdown files: relative targets exist, and so do the headings that anchors name.

    python3 tests/docs/links.py            # every Markdown file of the repository
    python3 tests/docs/links.py a.md b.md  # some

Links to other hosts are not followed. Needs no network and no packages.
"""

import pathlib
import re
import sys
import unicodedata
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = {".git", ".cache", "build", "runs"}

FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1`*\s*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# ](target), ](target "title") and src="target", href="target".
LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)>?(?:\s+["'][^)]*)?\)|(?:src|href)=["']([^"']+)["']""")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
EXPLICIT_ANCHOR = re.compile(r"""<a (?:id|name)=["']([^"']+)["']""")


def markdown_files(root):
    return [path for path in sorted(root.rglob("*.md")) if not SKIPPED & set(path.relative_to(root).parts)]


def blanked(pattern, text):
    """The text with every match replaced by blanks, so that positions stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def slug_on_github(heading):
    text = re.sub(r"[^\w\- ]", "", heading.lower())
    return text.replace(" ", "-")


def slug_on_site(heading):
    """As the extension toc of Python-Markdown makes it."""
    text = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    text = re.sub(r"[^\w\s-]", "", text).strip().lower()
    return re.sub(r"[-\s]+", "-", text)


def anchors(path):
    """Anchors of a page that mean the same heading on GitHub and on the site."""
    text = blanked(COMMENT, blanked(FENCED, path.read_text()))
    result = set(EXPLICIT_ANCHOR.findall(text))
    seen = {}
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        github, site = slug_on_github(plain), slug_on_site(plain)
        count = seen.get(github, 0)
        seen[github] = count + 1
        if github == site and count == 0:
            result.add(github)
    return result


def links(text):
    """Pairs (line, target) of the links outside of code and comments."""
    text = blanked(INLINE_CODE, blanked(COMMENT, blanked(FENCED, text)))
    found = [(match.start(), match.group(1) or match.group(2)) for match in LINK.finditer(text)]
    found += [(match.start(), match.group(1)) for match in REFERENCE.finditer(text)]
    return [(text.count("\n", 0, position) + 1, target) for position, target in sorted(found)]


def faults(path, root=ROOT):
    """One line for each link of the file that leads nowhere."""
    result = []
    for line, target in links(path.read_text()):
        if re.match(r"[a-z][a-z+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        where = f"{path.relative_to(root)}:{line}"
        page = (path.parent / urllib.parse.unquote(name)).resolve() if name else path
        if not page.exists() or not page.is_relative_to(root.resolve()):
            result.append(f"{where}: {target}: no such file")
        elif anchor and page.suffix == ".md" and anchor not in anchors(page):
            result.append(f"{where}: {target}: no such heading, or its anchor differs between GitHub and the site")
    return result


def main():
    files = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or markdown_files(ROOT)
    found = [fault for path in files for fault in faults(path)]
    print("\n".join(found + [f"{len(files)} files, {len(found)} broken links"]))
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
