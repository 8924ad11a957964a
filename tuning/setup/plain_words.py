#!/usr/bin/env python3
"""Finds comments that are no sentences, and words that a reader of plain English stumbles over.

    plain_words.py [FILE...]     without FILE: all that git tracks, but for CHANGELOG.md

Prints `file:line: what is wrong: the text`, and exits with 1 if it found something.

A comment or docstring that begins with "What", "Of", "Whether" and the like is mostly a fragment ("Of the first record."), and
even where it is a sentence its subject comes late: it shall begin with its subject or its verb. "Where" and "When" may open a
sentence whose main clause follows a comma. A comment that begins with a small letter is the label of a value or of a line, and
may be short: `// bytes of the header`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FRAGMENT = re.compile(
    r"(?:What(?:ever)?|Of|Whether|How|Who(?:ever|se)?|Which(?:ever)?)\b"
    r"|(?:Those|That|Than) (?:of|in|for|from|that|which|with|whose)\b"
    r"|The same(?:[,:;.]| (?:of|for|as|when|where|but|in|with)\b)"
    r"|(?:Where|When|As)\b(?!.*,)"
)

# Words to drop, each with the plain ones; looked for in comments, docstrings, texts of programs and pages.
DROPPED = {
    r"(?:is|are|be|been|was|were|being) (?:not |never |also |only )?told(?! (?:\w+ )?(?:apart|from)\b)": "gets, reads, prints",
    r"tells?(?![^.]{0,60} apart\b)": "says, reports, prints, shows",
    r"(?:stands?|stood)(?! (?:for|in for|still)\b)": "is, is at, lies, comes",
    r"(?:goes|go|going) without": "cannot be combined with, has no",
    r"whoever": "a caller that, a user who, the process that",
    r"wish(?:es|ed)?": "request, options",
    r"foresee\w*|foresaw|foresight": "predict, estimate",
    r"granules?": "run block",
    r"tellers?|desks?": "input-output queue, backend",
}
# Phrases in which such a word is the usual one, or a name. No more than a dozen.
USUAL = re.compile(
    r"as far as (?:we|one|anyone) can tell"
    r"|\bwish TEXT"  # a column of the queue's database
)

SOURCES = (".h", ".hpp", ".cpp", ".py", ".sh", ".cmake", ".txt", ".md", ".html", "")
SKIPPED = re.compile(r"CHANGELOG\.md|LICENSE|.*(?:\.lock|requirements.*\.txt)|(?:.*/)?plain_words\.py")

_CPP = re.compile(
    r'(?P<comment>//[^\n]*)|/\*(?P<block>.*?)\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_SCRIPT = re.compile(
    r'(?P<comment>#[^\n]*)|[rbfRBF]{0,2}"{3}(?P<doc>.*?)"{3}|[rbfRBF]{0,2}(?:"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?P<single>(?:\\.|[^\'\\\n])*)\')',
    re.DOTALL,
)


@dataclass(frozen=True)
class Passage:
    """A comment, docstring, literal or line of a page, from `line` to `end`."""

    kind: str
    line: int
    end: int
    text: str


def _joined(comments: Sequence[tuple[int, int, bool, str]]) -> Iterator[Passage]:
    """Joins comments of lines that follow each other and begin at the same column."""
    i = 0
    while i < len(comments):
        line, column, is_alone, text = comments[i]
        end = line
        while i + 1 < len(comments) and comments[i + 1][:3] == (end + 1, column, True):
            i, end = i + 1, end + 1
            text += "\n" + comments[i][3]
        yield Passage("comment" if is_alone else "trailing", line, end, text)
        i += 1


def _code(text: str, token: re.Pattern[str], mark: str) -> Iterator[Passage]:
    comments = []
    for found in token.finditer(text):
        begin, groups = found.start(), found.groupdict()
        line, start = text.count("\n", 0, begin) + 1, text.rfind("\n", 0, begin) + 1
        is_alone = not text[start:begin].strip()
        end = line + found[0].count("\n")
        if groups["comment"] is not None:
            body = groups["comment"].lstrip(mark)
            comments.append((line, begin - start, is_alone, body.removeprefix(" ")))
        elif groups.get("doc") is not None:
            yield Passage("docstring" if is_alone else "text", line, end, groups["doc"])
        elif body := next((groups[name] for name in ("block", "raw", "text", "single") if groups.get(name)), ""):
            yield Passage("text", line, end, body)
    yield from _joined(comments)


def _page(text: str) -> Iterator[Passage]:
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        is_code ^= line.lstrip().startswith("```")
        if not is_code and not line.startswith("    "):
            yield Passage("page", number, number, line)


def passages(path: Path) -> list[Passage]:
    """Returns what people read in a file, in its order."""
    text = path.read_text()
    if path.suffix in (".h", ".hpp", ".cpp"):
        found = _code(text, _CPP, "/")
    elif path.suffix in (".md", ".html"):
        found = _page(text)
    else:
        found = _code(text, _SCRIPT, "#")
    return sorted(found, key=lambda passage: passage.line)


def first_sentence(text: str) -> str:
    """Returns what comes before the first full stop that ends a sentence, on one line."""
    line = " ".join(text.split("\n\n")[0].split())
    return re.split(r"[.:](?= [\"'(`]?[A-Z0-9]|$)", line, maxsplit=1)[0]


def is_fragment(passage: Passage) -> bool:
    """Returns whether one of its paragraphs begins as a fragment does."""
    return passage.kind in ("comment", "trailing", "docstring") and any(
        FRAGMENT.match(first_sentence(paragraph.strip()) + ".") for paragraph in passage.text.split("\n\n")
    )


def dropped_words(passage: Passage) -> list[tuple[str, str]]:
    """Returns the words that are to be dropped, and the plain ones; names in backticks are none."""
    if passage.kind == "text" and " " not in passage.text:
        return []
    text = USUAL.sub("", re.sub(r"`[^`\n]*`|\{[^{}\n]*\}", "``", passage.text))
    found = []
    for word, plain in DROPPED.items():
        found += [(match[0], plain) for match in re.finditer(rf"(?<![\w./`-])(?:{word})(?![\w(`-]|\.\w)", text, re.IGNORECASE)]
    return found


def findings(path: Path) -> Iterator[str]:
    try:
        found = passages(path)
    except UnicodeDecodeError:
        return
    for passage in found:
        shown = " ".join(passage.text.split())[:100]
        if is_fragment(passage):
            yield f"{path}:{passage.line}: begin with the subject or the verb: {shown}"
        for word, plain in dropped_words(passage):
            yield f"{path}:{passage.line}: write {plain} for '{word}': {shown}"


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [Path(name) for name in listed.split("\0") if name and not SKIPPED.fullmatch(name)]
    return [name for name in names if name.suffix in SOURCES and (ROOT / name).is_file()]


def main(names: Sequence[str]) -> int:
    found = [finding for path in ([Path(name) for name in names] or tracked()) for finding in findings(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
