"""Lists the scripts of findings/ by their heads; `--write` puts the list into docs/findings.md."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "findings"
PAGE = ROOT / "docs" / "findings.md"
LABELS = ("In short", "Package", "One would guess", "What happens", "Why it matters", "Source")
LONGEST = 80  # lines of a script
_LABEL = re.compile(r"(In short|Package|One would guess|What happens|Why it matters|Source)s?: +")
_PART = re.compile(r"(<!-- findings: begin.*?-->\n).*?(<!-- findings: end -->)", re.DOTALL)


def head(script: str) -> dict[str, str]:
    """Returns the parts of a script's head by their labels, each as one line. A script that lacks one raises ValueError."""
    lines = script.splitlines()[1:]
    comment = lines[: next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))]
    found: dict[str, str] = {}
    for line in (line[1:].strip() for line in comment):
        if label := _LABEL.match(line):
            found[label[1]] = line[label.end() :]
        elif found:
            found[next(reversed(found))] += f" {line}"
    if tuple(found) != LABELS:
        raise ValueError(f"its head has {', '.join(found) or 'nothing'}; it needs {', '.join(LABELS)}, in this order")
    return found


def section(name: str, parts: dict[str, str]) -> str:
    said = parts["In short"].removesuffix(".")
    rows = "".join(f"- **{label}:** {parts[label]}\n" for label in LABELS[2:])
    return f"## {said[0].upper()}{said[1:]}\n\n{parts['Package']} Shown by `findings/{name}`.\n\n{rows}\n"


def listed() -> str:
    """Returns the list as the page has it."""
    found = []
    for path in sorted(SCRIPTS.glob("*.sh")):
        try:
            found.append(section(path.name, head(path.read_text())))
        except ValueError as error:
            raise ValueError(f"findings/{path.name}: {error}") from error
    return "\n" + "".join(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(";")[0])
    parser.add_argument("--write", action="store_true", help="put it into docs/findings.md")
    text = listed()
    if not parser.parse_args().write:
        print(text, end="")
        return 0
    PAGE.write_text(_PART.sub(lambda found: found[1] + text + found[2], PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
