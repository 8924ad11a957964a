"""The seeded faults (tests/mutants) fit the sources as they are, so that `make mutants` can try all of them."""

import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATCHES = sorted((ROOT / "tests/mutants").glob("*.patch"))


def test_every_mutant_applies_to_the_tree() -> None:
    done = subprocess.run(["git", "apply", "--check", *PATCHES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_every_mutant_names_tests_that_exist() -> None:
    heads = {patch.stem: patch.read_text().split("\n--- a/")[0].splitlines() for patch in PATCHES}
    runs = {name: [shlex.split(line)[1:] for line in head if line.startswith("tests: ")] for name, head in heads.items()}
    assert [name for name in runs if not runs[name]] == []
    files = {word for words in runs.values() for run in words for word in run if word.startswith("tests/")}
    assert [file for file in sorted(files) if not (ROOT / file).exists()] == []


def test_every_mutant_was_caught_when_it_was_tried_last() -> None:
    rows = dict(line.split("\t")[:2] for line in (ROOT / "tests/mutants/caught.tsv").read_text().splitlines()[1:])
    assert sorted(rows) == sorted(patch.stem for patch in PATCHES)
    assert [name for name, caught_by in rows.items() if not caught_by.startswith("tests/")] == []
