"""Adds to docs/ the pages that are elsewhere in the tree, and a page for each manual.

A link that leads out of docs/ leads to the page of that file, if there is one; to any other file of the tree it becomes plain
text, because the site does not hold it. A link to nothing is an error.
"""

from __future__ import annotations

import logging
import os
import posixpath
import re
import subprocess
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("ECOSORT_PROGRAM") or ROOT / "build" / "ecosort")
LOG = logging.getLogger("mkdocs.plugins.ecosort")

# Files of the tree that are pages, and where.
PAGES = {
    "power/README.md": "energy.md",
    "tuning/README.md": "tuning.md",
    "appliance/README.md": "appliance.md",
    "python/README.md": "python-reference.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "design/contributing.md",
    "SECURITY.md": "design/security.md",
    "ecosort/DESIGN.md": "design/engine.md",
    "ecosort/run/FORMAT.md": "design/run-format.md",
    "demsort_inplace/DESIGN.md": "design/in-place.md",
    "power/DESIGN.md": "design/power.md",
    "python/DESIGN.md": "design/python.md",
    "appliance/DESIGN.md": "design/appliance.md",
}
_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s]+)\)")


def _ask(*words: str) -> str:
    return subprocess.run([str(PROGRAM), *words], capture_output=True, text=True, check=True).stdout


def _manual(*words: str) -> str:
    """A manual as `man` shows it."""
    command = ["groff", "-man", "-Tutf8", "-P-cbou", "-rLL=100n"]
    page = _ask("manual", "man", *words)
    return subprocess.run(command, input=page, capture_output=True, text=True, check=True).stdout


def _manuals() -> dict[str, str]:
    """Markdown by place."""
    commands = re.findall(r"^  ([a-z]+) +(\w.*)$", _ask("--help").partition("Commands:")[2], re.MULTILINE)
    found = {f"man/ecosort-{name}.md": f"# ecosort {name}\n\n```text\n{_manual(name)}```\n" for name, _ in commands}
    rows = "".join(f"| [`ecosort {name}`](ecosort-{name}.md) | {what} |\n" for name, what in commands)
    found["man/index.md"] = f"# Manual pages\n\n| command | |\n| --- | --- |\n{rows}\n```text\n{_manual()}```\n"
    return found


def _designs() -> str:
    places = [place for place in PAGES.values() if place.startswith("design/")]
    heads = {place: next(s for s, p in PAGES.items() if p == place) for place in places}
    titles = [((ROOT / heads[p]).read_text().partition("\n")[0].removeprefix("# "), p.removeprefix("design/")) for p in places]
    return "# Design\n\nFor those who change it.\n\n" + "".join(f"- [{title}]({place})\n" for title, place in titles)


def on_files(files: Files, config: Any) -> Files:
    pages = {place: (ROOT / source).read_text() for source, place in PAGES.items()} | _manuals() | {"design/index.md": _designs()}
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    return files


def source_of(place: str) -> str:
    """Returns where a page of the site is in the tree."""
    return next((source for source, page in PAGES.items() if page == place), f"docs/{place}")


def _target(link: str, place: str, label: str) -> str:
    """A link of the page at `place`, as the site has it."""
    path, _, anchor = link.partition("#")
    if re.match(r"[a-z]+:", link) or not path or place.startswith(("man/", "design/index")):
        return f"[{label}]({link})"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(place)), path))
    if target == "README.md":
        target = "docs/index.md"
    page = PAGES.get(target) or (
        target.removeprefix("docs/") if target.startswith("docs/") and "examples" not in target else None
    )
    if page:
        there = posixpath.relpath(page, posixpath.dirname(place) or ".")
        return f"[{label}]({there}{'#' + anchor if anchor else ''})"
    if not (ROOT / target).exists():
        LOG.warning("%s links to %s, which is not in the tree", source_of(place), link)
    return label


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    place: str = page.file.src_uri

    def mended(text: str) -> str:
        return _LINK.sub(lambda found: _target(found[2], place, found[1]), text)

    # Code stays as it is, but a link may have code in its label.
    pieces = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(piece if piece.startswith("```") else mended(piece) for piece in pieces)
