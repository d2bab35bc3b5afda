#!/usr/bin/env python3
"""Builds the documentation site into a folder and looks at what came out.

    python3 tests/docs/built_site.py build/docs-test

Every link of every page leads to a file, pages of more than 1,000 words have a table of contents, and the search finds each
page. Exits with 77, which ctest reports as skipped, where mkdocs is not installed.
"""

import html.parser
import json
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONG = 1000


class Page(html.parser.HTMLParser):
    """Words of the article, entries of its table of contents, links, and whether it is one of mkdocs' pages."""

    def __init__(self, path):
        super().__init__()
        self.words = 0
        self.contents = set()
        self.links = []
        self.in_article = False
        self.secondary = 0  # depth inside of the table of contents
        self.hidden = 0
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        classes = (attributes.get("class") or "").split()
        if tag == "article":
            self.in_article = True
        if tag == "nav" and (self.secondary or "md-nav--secondary" in classes):
            self.secondary += 1
        if tag in ("script", "style"):
            self.hidden += 1
        if tag == "a" and self.secondary and "md-nav__link" in classes:
            self.contents.add(attributes.get("href"))
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])

    def handle_endtag(self, tag):
        if tag == "article":
            self.in_article = False
        if tag == "nav" and self.secondary:
            self.secondary -= 1
        if tag in ("script", "style"):
            self.hidden -= 1

    def handle_data(self, data):
        if self.in_article and not self.hidden:
            self.words += len(data.split())


def link_faults(path, page, site):
    result = []
    for link in page.links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc or not parts.path:
            continue
        if not (path.parent / urllib.parse.unquote(parts.path)).exists():
            result.append(f"{path.relative_to(site)}: {link}: no such file")
    return result


def site_faults(site):
    found = []
    pages = [path for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] not in ("api", "source")]
    long_pages = 0
    for path in pages:
        if path.name == "404.html":  # its links start at the root of a server
            continue
        page = Page(path)
        found += link_faults(path, page, site)
        if page.words > LONG:
            long_pages += 1
            if not page.contents:
                found.append(f"{path.relative_to(site)}: {page.words} words and no table of contents")
    for path in sorted((site / "source").rglob("*.html")):
        found += link_faults(path, Page(path), site)
    index = json.loads((site / "search/search_index.json").read_text())
    searched = {entry["location"].partition("#")[0] for entry in index["docs"]}
    for path in pages:
        name = str(path.relative_to(site))
        if name != "404.html" and name not in searched:
            found.append(f"{name}: not in the search index")
    if long_pages == 0:
        found.append("no page is long: words are not counted any more")
    print(f"{len(pages)} pages, {long_pages} of more than {LONG} words")
    return found


def main():
    if shutil.which("mkdocs") is None:
        print("mkdocs is not installed")
        sys.exit(77)
    output = pathlib.Path(sys.argv[1]).resolve()
    command = [sys.executable, str(ROOT / "tools/build_site.py"), "--output", str(output)]
    if subprocess.run(command).returncode != 0:
        sys.exit("mkdocs found faults")
    found = site_faults(output / "site")
    print("\n".join(found + [f"{len(found)} faults"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
