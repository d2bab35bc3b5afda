#!/usr/bin/env python3
"""Builds the documentation site from docs/ with mkdocs: `make docs`.

    python3 tools/build_site.py                    # into build/docs/site
    python3 tools/build_site.py --output /tmp/docs # elsewhere

Pages are copied to OUTPUT/pages first, because Markdown files link to files outside of docs/ too: to CONTRIBUTING.md, to
sources, to experiments. On GitHub such links work as they are; here the Markdown files among them become pages of the
site, and each other file or folder becomes a plain HTML page under source/. Notebooks become pages with their outputs. mkdocs
then reads OUTPUT/pages and writes OUTPUT/site; a warning is an error. Needs the Debian packages mkdocs and mkdocs-material.
"""

import argparse
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

import notebooks

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Files outside of docs/ that are pages of the site.
EXTRA_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"(`+)(?:.|\n)*?\1")

SOURCE_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 2rem; font: 0.9rem/1.5 sans-serif; color-scheme: light dark; }}
pre {{ font: 0.85rem/1.45 monospace; overflow-x: auto; }}
</style>
</head>
<body>
<p><a href="{home}">boolgrad</a> / {title}</p>
{body}
</body>
</html>
"""


def page_of(path):
    """Where a file of the repository is in the site, or None where it is no page."""
    if path.parts[:1] == ("docs",):
        page = path.relative_to("docs")
        return page.with_suffix(".md") if page.suffix == ".ipynb" else page
    extra = EXTRA_PAGES.get(str(path))
    return pathlib.Path(extra) if extra else None


def source_page(path, pages):
    """Writes a file or a folder of the repository as HTML; returns where."""
    place = pathlib.Path("source") / f"{path}.html"
    target = pages / place
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            entries = sorted(entry for entry in (ROOT / path).iterdir() if not entry.name.startswith("."))
            items = []
            for entry in entries:
                name = html.escape(entry.name)
                if entry.is_file() and entry.suffix not in (".safetensors", ".png", ".gif"):
                    source_page(path / entry.name, pages)
                    name = f'<a href="{path.name}/{name}.html">{name}</a>'
                items.append(f"<li>{name}</li>")
            body = "<ul>\n" + "\n".join(items) + "\n</ul>"
        else:
            body = f"<pre>{html.escape((ROOT / path).read_text())}</pre>"
        home = "../" * (len(place.parts) - 1) + "index.html"
        target.write_text(SOURCE_PAGE.format(title=html.escape(str(path)), home=home, body=body))
    return place


def staged(text, path, page, pages):
    """The text of a page with its links to files as they are in the site."""

    def replaced(match):
        target, _, anchor = match.group(2).partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match.group(0)
        repository = pathlib.Path(os.path.normpath(path.parent / target))
        if not (ROOT / repository).exists():
            # What exists in the site only, as the API reference does; mkdocs checks the rest.
            return match.group(0)
        place = page_of(repository) or source_page(repository, pages)
        if (ROOT / repository).is_dir() and repository.parts[:1] == ("docs",):
            place = source_page(repository, pages)
        link = os.path.relpath(place, page.parent)
        return match.group(1) + link + ("#" + anchor if anchor else "") + match.group(3)

    result = []
    end = 0
    for code in CODE.finditer(text):
        result.append(LINK.sub(replaced, text[end : code.start()]))
        result.append(code.group(0))
        end = code.end()
    result.append(LINK.sub(replaced, text[end:]))
    return "".join(result)


def stage(pages):
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("Doxy*", "*.in"))
    paths = [path.relative_to(ROOT) for path in sorted((ROOT / "docs").rglob("*.md"))]
    paths += [pathlib.Path(name) for name in EXTRA_PAGES if name != "README.md"]
    # Doxygen writes the real one.
    (pages / "api").mkdir()
    (pages / "api/index.html").write_text(
        SOURCE_PAGE.format(title="API reference", home="../index.html", body="<p><code>make api-docs</code> writes it.</p>")
    )
    for path in paths:
        page = page_of(path)
        (pages / page).write_text(staged((ROOT / path).read_text(), path, page, pages))
    for path in sorted((ROOT / "docs").rglob("*.ipynb")):
        path = path.relative_to(ROOT)
        page = page_of(path)
        text, pictures = notebooks.markdown(notebooks.load(ROOT / path), path.stem)
        # The link to the notebook itself, which is copied, is the only one that stays.
        title, notebook, rest = text.partition(f"({path.name})")
        (pages / page).write_text(staged(title, path, page, pages) + notebook + staged(rest, path, page, pages))
        for name, content in pictures.items():
            (pages / page).with_name(name).write_bytes(content)


def relative_links(site):
    """Makes links of the navigation to `/...` relative: mkdocs knows no others to what is not one of its pages."""
    for page in site.rglob("*.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        text = page.read_text()
        changed = re.sub(r'href="/(?=[a-z])', f'href="{up}', text)
        if changed != text:
            page.write_text(changed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/docs")
    options = parser.parse_args()
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    stage(output / "pages")
    # The configuration has folders of the source tree; those of this build go into a copy.
    config = (ROOT / "mkdocs.yml").read_text()
    config += f"\ndocs_dir: {output / 'pages'}\nsite_dir: {output / 'site'}\n"
    (output / "mkdocs.yml").write_text(config)
    command = ["mkdocs", "build", "--strict", "--clean", "--quiet", "--config-file", str(output / "mkdocs.yml")]
    code = subprocess.run(command).returncode
    if code == 0:
        relative_links(output / "site")
    sys.exit(code)


if __name__ == "__main__":
    main()
