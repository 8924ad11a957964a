"""An error that ends a run is also a line of JSON where --progress=json is given; the line for people stays as it is."""

import errno
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sort_support import KIB, MIB, Run, mounted


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The error's line, of one schema, before the one line for people."""
    *before, line, people = done.stderr.splitlines()
    assert people.startswith(("ecosort: ", "ecosort lines: ")), people
    assert all('"schema":"ecosort.progress/1"' in other for other in before)
    error = json.loads(line)
    assert isinstance(error, dict)
    assert error["schema"] == "ecosort.error/1"
    assert error["message"] in people
    return error


@pytest.fixture
def big(tmp_path: Path) -> Path:
    (tmp_path / "in").write_bytes(bytes(100) * 100_000)
    return tmp_path


RECORDS = ("--record-size", "100", "--key", "0:10")


def test_without_progress_for_programs_there_is_no_json(run: Run, tmp_path: Path) -> None:
    done = run("sort", "absent", "-o", "out", cwd=tmp_path)
    assert done.stderr.count("\n") == 1
    assert "{" not in done.stderr


@pytest.mark.parametrize("words", [("--progress=json",), ("--progress", "json")])
@pytest.mark.parametrize("command", ["sort absent -o out", "lines absent", "sort --no-such-option", "inplace absent"])
def test_a_wrong_wish(run: Run, tmp_path: Path, command: str, words: tuple[str, ...]) -> None:
    done = run(*command.split(), *words, cwd=tmp_path)
    assert done.returncode == 2
    error = told(done)
    assert error["kind"] == "usage"
    assert set(error) == {"schema", "kind", "message"}


@pytest.mark.parametrize("option", [(), ("--resumable",)])
def test_too_little_memory(run: Run, big: Path, option: tuple[str, ...]) -> None:
    command = ("sort", *option, *RECORDS, "in", "-o", "out")
    error = told(run(*command, "--memory", "64KiB", "--progress=json", cwd=big))
    assert (error["kind"], error["have_bytes"]) == ("not enough memory", 64 * KIB)
    done = run(*command, "--memory", f"{error['need_bytes']}B", cwd=big)
    assert done.returncode == 0, done


@pytest.mark.parametrize("command", [("sort", *RECORDS, "-", "-o", "-"), ("lines", "in")])
def test_more_memory_than_the_machine_has(run: Run, big: Path, command: tuple[str, ...]) -> None:
    done = run(*command, "--memory", "1000TiB", "--progress=json", cwd=big)
    error = told(done)
    assert error["kind"] == "not enough memory"
    assert error["need_bytes"] > error["have_bytes"] > 0
    assert "; try" not in done.stderr.splitlines()[-1]


def test_too_little_space(run: Run, big: Path, require: Callable[[str], None]) -> None:
    require("root")
    with mounted(big, "tmpfs", 4 * MIB) as system:
        error = told(run("sort", *RECORDS, "in", "-o", system.root / "out", "--progress=json", cwd=big))
        text = told(run("lines", "in", "-o", system.root / "out", "--progress=json", cwd=big))
    assert (error["kind"], error["for"], error["places"]) == ("not enough space", "output", [str(system.root)])
    assert error["need_bytes"] >= 10_000_000 > 4 * MIB >= error["have_bytes"]
    assert text["kind"] == "not enough space"


@pytest.mark.parametrize("command", [("inplace",), ("sort", "--resumable", "-o", "out")])
def test_too_little_space_for_a_job(run: Run, big: Path, require: Callable[[str], None], command: tuple[str, ...]) -> None:
    require("loop_mount")
    with mounted(big, "ext4", 32 * MIB) as system:
        shutil.copy(big / "in", system.root / "in")
        system.fill_until(64 * KIB)
        error = told(run(*command, *RECORDS, "in", "--memory", "2MiB", "--progress=json", cwd=system.root))
    assert (error["kind"], error["for"]) == ("not enough space", "job")
    assert error["places"] == ["."]
    assert error["have_bytes"] <= 64 * KIB < error["need_bytes"]


def test_an_io_error_has_its_number(run: Run, ecosort: Path, big: Path) -> None:
    done = subprocess.run(
        ["prlimit", "--fsize=100000", ecosort, "sort", *RECORDS, "in", "-o", "out", "--progress=json"],
        cwd=big,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    error = told(done)
    assert (error["kind"], error["errno"]) == ("io", errno.EFBIG)


@pytest.mark.parametrize("command", [("sort", *RECORDS), ("sort", "--resumable", *RECORDS), ("csv", "--by=1", "--resumable")])
def test_a_plan_for_programs_says_what_is_short(run: Run, big: Path, command: tuple[str, ...]) -> None:
    """In place of the plan, on standard output, with the exit code that it had without."""
    words = ("plan", *command, "in", "-o", "out", "--memory=64KiB")
    done = run(*words, "--json", cwd=big)
    assert done.returncode == 2
    error = json.loads(done.stdout)
    assert (error["schema"], error["kind"]) == ("ecosort.error/1", "not enough memory")
    assert error["message"] in done.stderr
    assert done.stderr.count("\n") == 1
    assert run(*words, cwd=big).stdout == ""


def test_a_plan_for_programs_says_how_much_space_is_missing(
    run: Run, require: Callable[[str], None], tmp_path: Path, big: Path
) -> None:
    require("loop_mount")
    with mounted(tmp_path, "tmpfs", 4 * MIB) as drive:
        output = str(drive.root / "out")
        done = run("plan", "sort", *RECORDS, "in", "-o", output, "--temp", str(big), "--json", cwd=big)
    here = json.loads(done.stdout)["here"]
    assert (done.returncode, here["fits"]) == (2, False)
    (output_space,) = (need for need in here["space"] if need["directories"] == [str(drive.root)])
    assert output_space["needed_bytes"] > 10_000_000 > output_space["free_bytes"]
