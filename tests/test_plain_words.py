"""The check of comments and words in `make lint` finds what it is for, and lets ordinary sentences pass."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT

findings: Callable[[Path], Iterator[str]] = runpy.run_path(str(ROOT / "tuning/setup/plain_words.py"))["findings"]


def found_in(directory: Path, name: str, text: str) -> list[str]:
    (directory / name).write_text(text)
    return list(findings(directory / name))


# Each begins as a fragment does, or has a word to drop. Split, so that this file has none of them.
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.h", "// Wh" + "at a block holds.\nstruct Block {};\n"),
        ("a.h", "int a;  // O" + "f the first record.\n"),
        ("a.h", "// Wh" + "ere the rows of a run lie.\nint a;\n"),
        ("a.cpp", "// The sa" + "me for rows.\nvoid f();\n"),
        ("a.py", 'def f():\n    """Whe' + 'ther it is open."""\n'),
        ("a.cmake", "# Ho" + "w it is built.\n"),
        ("a.cpp", 'say("--a go' + 'es without --b");\n'),
        ("a.py", 'print(f"{a} is to' + 'ld, and {b}")\n'),
        ("a.md", "Who" + "ever reads this.\n"),
        ("a.h", "// Reads it; it wraps and st\n// and\n// st" + "ands there.\n"),
    ],
)
def test_a_fragment_or_a_word_is_found(tmp_path: Path, name: str, text: str) -> None:
    assert len(found_in(tmp_path, name, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.h", "// Returns whether the block holds a row.\nbool f();\nint a;  // of the first record\n"),
        ("a.h", "// Where the kernel says nothing, the file is read.\nint a;\n"),
        ("a.cpp", 'auto text = "gran' + 'ule";  // `granule_bytes` stands for a size; two kinds are told apart\n'),
        ("a.py", '"""Tries it."""\nname = "tel' + 'ler"\nprint("the meter stands still")\n'),
        ("a.md", "A page.\n\n```\nwhoever\n```\n"),
    ],
)
def test_plain_text_passes(tmp_path: Path, name: str, text: str) -> None:
    assert found_in(tmp_path, name, text) == []
