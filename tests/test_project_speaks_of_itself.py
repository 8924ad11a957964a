"""The tree holds the project and nothing else: no machine's paths, no notes for later, no big or generated files."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

LIMIT_BYTES = 1_000_000
# Directories of a working copy that are not part of the project (as in .gitignore).
NOT_OURS = re.compile(r"^(\.git|\.venv|build[^/]*|.*\.egg-info|.*__pycache__|\.[a-z]+_cache|\.hypothesis)(/|$)")

# Written with brackets so that this file does not hold what it looks for.
FORBIDDEN = {
    "a note for later": re.compile(r"\b(TO[D]O|FIX[M]E|XX[X])\b"),
    "a path of someone's machine": re.compile(r"(?<![\w.})$/-])/(wor[k]|roo[t]|hom[e]/\w+)(?=[/\s\"'`,;:)]|$)", re.MULTILINE),
    "a word about how it was written": re.compile(
        r"\b(clau[d]e|anthro[p]ic|chat[g]pt|copi[l]ot|language mo[d]el|AI assis[t]ant|sub-?agen[t]|issu[e]s? #?\d+)\b",
        re.IGNORECASE,
    ),
    "a merge conflict": re.compile(r"^(<{7}|>{7}) ", re.MULTILINE),
}


def tracked_files() -> list[Path]:
    """Lists what git tracks and what it would add; all files where the tree is no git checkout."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
    return sorted(ROOT / name for name in names if name and not NOT_OURS.match(name) and (ROOT / name).is_file())


def offences(text: str) -> list[str]:
    return [f"{what}: {found.group(0)}" for what, pattern in FORBIDDEN.items() if (found := pattern.search(text))]


@pytest.mark.parametrize(
    "text", ["x // TO" + "DO later", "cd /wor" + "k/main", '"/roo' + 't/x"', "see issu" + "e 12", "/hom" + "e/me/x"]
)
def test_an_offence_is_noticed(text: str) -> None:
    assert len(offences(text)) == 1


@pytest.mark.parametrize(
    "text", ["$(DESTDIR)/work", "a/work/b", "framework/", "the root of the tree", "https://x/root/", "session"]
)
def test_ordinary_text_passes(text: str) -> None:
    assert offences(text) == []


def test_the_tree_speaks_of_the_project_only() -> None:
    found = {}
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # judged by test_no_big_or_binary_files
        if wrong := offences(name) + offences(text):
            found[name] = wrong
    assert not found


def test_no_big_or_binary_files() -> None:
    files = tracked_files()
    assert files
    big = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in files if path.stat().st_size > LIMIT_BYTES}
    assert not big
    binary = [path.relative_to(ROOT).as_posix() for path in files if path.read_bytes()[:4] in (b"\x7fELF", b"!<ar")]
    assert not binary
