"""`ecosort power`, `ecosort tune` and `--io stxxl` run as the user nothing that somebody else can have planted."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from capabilities import require
from sort_support import NOBODY, copy_program, directory_for_everyone, sanitizers

TOOL = "#!/bin/sh\necho planted $ECOSORT_PROGRAM\n"


def plant(directory: Path, name: str = "ecosort-power") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    tool = directory / name
    tool.write_text(TOOL)
    tool.chmod(0o755)
    return tool


def called(
    program: Path, command: str = "power", path: str = "/usr/bin:/bin", **options: object
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path}
    environment.pop("ECOSORT_PROGRAM", None)
    return subprocess.run(
        [program, command],
        capture_output=True,
        text=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=False,
        cwd=options.get("cwd"),  # type: ignore[arg-type]
    )


def is_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, done
    assert "planted" not in done.stdout
    assert done.stderr.count("\n") == 1, done
    for word in words:
        assert word in done.stderr, done


@pytest.fixture
def place(ecosort: Path, tmp_path: Path) -> Path:
    """build/ecosort in a tree of our own."""
    (tmp_path / "build").mkdir()
    return copy_program(ecosort, tmp_path / "build")


@pytest.mark.parametrize("command", ["power", "tune"])
def test_a_tree_that_nobody_else_writes_is_used(place: Path, tmp_path: Path, command: str) -> None:
    plant(tmp_path / ".venv" / "bin", f"ecosort-{command}")
    done = called(place, command)
    assert (done.returncode, done.stdout) == (0, f"planted {place}\n"), done


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_what_stands_where_others_can_write_is_not_run(place: Path, tmp_path: Path, mode: int, beside: bool) -> None:
    holder = place.parent if beside else tmp_path / ".venv" / "bin"
    plant(holder)
    holder.chmod(mode)
    is_refused(called(place), f"'{holder}' can be written by others", "PATH")
    assert called(place, path=f"/usr/bin:{holder}").stdout.startswith("planted")  # who names it may have it
    holder.chmod(0o755)
    if mode != 0o1777 and not beside:  # anywhere on the way
        (tmp_path / ".venv").chmod(mode)
        is_refused(called(place), f"'{tmp_path / '.venv'}' can be written by others")


def test_root_runs_nothing_that_belongs_to_another_user(place: Path, tmp_path: Path) -> None:
    require("setpriv")
    tool = plant(tmp_path / ".venv" / "bin")
    os.chown(tool, NOBODY, NOBODY)
    is_refused(called(place), f"'{tool}' belongs to user")
    os.chown(tool, 0, 0)
    link = tmp_path / "elsewhere"
    (tmp_path / ".venv").rename(link)
    (tmp_path / ".venv").symlink_to(link)
    assert called(place).returncode == 0
    os.chown(link, NOBODY, NOBODY)
    is_refused(called(place), f"'{link}' belongs to user")


def test_relative_and_empty_entries_of_path_are_not_searched(place: Path, tmp_path: Path) -> None:
    plant(tmp_path / "work" / "bin")
    plant(tmp_path / "work")
    for path in ("", ".", "bin", ":/usr/bin", "/usr/bin:", "/usr/bin::/bin"):
        is_refused(called(place, path=path, cwd=tmp_path / "work"), "is not installed")


def test_the_stxxl_module_is_loaded_only_from_a_place_of_our_own(ecosort: Path, tmp_path: Path) -> None:
    if not ecosort.with_name("ecosort_stxxl.so").exists():
        pytest.skip("built without STXXL")
    (tmp_path / "in").write_bytes(b"x" * 1000)
    with directory_for_everyone() as directory:
        program = copy_program(ecosort, directory)
        words = [program, "sort", "--key", "0:10", "--io", "stxxl", tmp_path / "in", "-o", tmp_path / "out"]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        is_refused(done, "was not loaded", f"'{directory}' can be written by others", "--io pool")
        directory.chmod(0o755)
        subprocess.run(words, check=True)
        (directory / "ecosort_stxxl.so").unlink()
        if not sanitizers():
            done = subprocess.run(
                words, capture_output=True, text=True, env={"LD_LIBRARY_PATH": str(ecosort.parent)}, check=False
            )
            is_refused(done, "neither beside the program")
        shutil.copy(ecosort.with_name("ecosort_stxxl.so"), directory)
        subprocess.run(words, check=True)
