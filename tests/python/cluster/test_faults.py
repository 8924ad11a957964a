"""Anything may be killed, full, lost or damaged in the middle of a job: it continues, and the output is the same bytes."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from capabilities import SOAK
from conftest import ROOT
from ecosort.cluster import PhaseState, check, resume, sort
from ecosort.cluster.scheduler import Observe
from sort_support import mounted, wait_until

from ecosort import NotEnoughSpace

from .support import KEYS, RECORDS, joined, numbered, only_inputs_and_output_are_left, parts_of, remove, sorted_records

KILLS, SEED = 240 if SOAK else 3, 11
MIB = 1 << 20
SORT = ["sort", "--format=records", "--record-size=100", "--key=0:10", "--memory=4MiB", "--parts=4", "--workers=2", "--quiet"]


@pytest.fixture
def data(here: Path) -> bytes:
    made = numbered(KEYS["zipf"](60_000))
    Path("in").write_bytes(made)
    return made


def start(words: list[str]) -> subprocess.Popen[bytes]:
    """A driver, in a process of its own."""
    script = "import sys; from ecosort.cluster.cli import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def children(pid: int) -> list[int]:
    """All processes below this one."""
    try:
        own = [int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [*own, *(below for child in own for below in children(child))]


def lose(node: Path) -> str:
    """A node that is lost: all that works for it is killed, and its slices are gone. It comes back empty."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and os.fsencode(node) in (entry / "cmdline").read_bytes() and is_program(entry):
                os.kill(int(entry.name), signal.SIGKILL)
    for made in node.iterdir():
        shutil.rmtree(made, ignore_errors=True)
    return "node"


def is_program(process: Path) -> bool:
    return (process / "comm").read_text().strip() == "ecosort"


def kill_someone(driver: subprocess.Popen[bytes], generator: random.Random, nodes: list[Path]) -> str | None:
    """The driver, a worker, the program that a worker runs, or a node. None where the job was over."""
    below = children(driver.pid)
    if below and generator.random() < 0.2:
        return lose(generator.choice(nodes)) if driver.poll() is None else None
    victim = driver.pid if not below or generator.random() < 0.4 else generator.choice(below)
    if driver.poll() is not None:
        return None
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return "driver" if victim == driver.pid else "worker"


@pytest.mark.timeout(7200 if SOAK else 300)
@pytest.mark.parametrize("kind", ["parts", "single"])
def test_kills_at_random_moments_lose_nothing(data: bytes, here: Path, nodes: list[Path], kind: str) -> None:
    generator = random.Random(SEED)
    job = [*SORT, *(["--single"] if kind == "single" else []), *(f"--nodes-temp={node}" for node in nodes), "in", "-o", "out"]
    killed = dict.fromkeys(("driver", "worker", "node"), 0)
    jobs = 0
    begin = time.monotonic()
    assert start(job).wait() == 0
    usual_s = time.monotonic() - begin
    while sum(killed.values()) < KILLS:
        remove(Path("out"))
        words = job
        while True:
            driver = start(words)
            time.sleep(generator.uniform(0, usual_s))
            if victim := kill_someone(driver, generator, nodes):
                killed[victim] += 1
            _, said = driver.communicate()
            if driver.returncode == 0:
                break
            is_lost = victim == "node" and b"No such file or directory" in said  # while a file was made there
            assert driver.returncode == -signal.SIGKILL or b"was ended by signal 9" in said or is_lost, said
            if Path("out.ecosort/journal").exists():
                words = ["resume", "--quiet", "out"]
            elif Path("out/MANIFEST.json").exists() or Path("out").is_file():  # killed after its last step
                shutil.rmtree("out.ecosort", ignore_errors=True)
                break
        assert output_of(Path("out")) == sorted_records(data)
        wait_for_orphans()
        only_inputs_and_output_are_left(here, *nodes)
        jobs += 1
        print(f"{kind}: {sum(killed.values())} kills in {jobs} jobs", flush=True)
    assert min(killed.values()) > 0 or not SOAK
    print(f"{kind}: {sum(killed.values())} kills {killed} with seed {SEED} in {jobs} jobs, 0 losses")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_a_job_and_says_how_it_continues(data: bytes, here: Path, nodes: list[Path], number: int) -> None:
    driver = start([*SORT, *(f"--nodes-temp={node}" for node in nodes), "in", "-o", "out"])
    journal = here / "out.ecosort" / "journal"
    wait_until(lambda: journal.exists() and b'"done"' in journal.read_bytes(), what="the first task")
    driver.send_signal(number)
    _, said = driver.communicate(timeout=60)
    told = f"ecosort cluster: interrupted; `ecosort cluster resume {here}/out` continues\n"
    assert (driver.returncode, said.decode()) == (128 + number, told)
    assert not children(driver.pid)
    resume("out")
    assert joined(Path("out")) == sorted_records(data)
    only_inputs_and_output_are_left(here, *nodes)


def output_of(path: Path) -> bytes:
    """Reads a file, or all parts, whose manifest is checked."""
    if path.is_file():
        assert check(path).rows == path.stat().st_size // 100
        return path.read_bytes()
    assert check(path).rows == sum(part.stat().st_size for part in parts_of(path)) // 100
    return joined(path)


def wait_for_orphans() -> None:
    """Programs whose worker was killed end by themselves."""
    here = str(Path.cwd())
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(here in words for words in programs_of_others()):
        time.sleep(0.05)


def programs_of_others() -> Iterator[str]:
    """The command lines of the sorts that run on this machine."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and is_program(entry):
                yield (entry / "cmdline").read_text(errors="replace")


def sort_with(hook: Observe, nodes: list[Path]) -> tuple[int, int]:
    """Attempts and tasks of a job, with `hook` called after each change."""
    report = sort("in", "out", nodes_temp=nodes, parts=4, memory="4MiB", progress=hook, **RECORDS)  # type: ignore[arg-type]
    return report.attempts, report.tasks


def test_the_slices_of_a_lost_node_are_made_again(data: bytes, here: Path, nodes: list[Path]) -> None:
    lost: list[Path] = []

    def lose(state: PhaseState) -> None:
        if state.phase == "reduce" and state.done >= 1 and not lost:
            lost.extend(nodes[0].glob("ecosort-*"))
            shutil.rmtree(lost[0])

    attempts, tasks = sort_with(lose, nodes)
    assert lost
    assert attempts > tasks
    assert joined(Path("out")) == sorted_records(data)
    only_inputs_and_output_are_left(here, *nodes)


def test_the_slices_of_a_part_go_when_it_is_there(data: bytes, nodes: list[Path]) -> None:
    """A job had all rows twice until its commit, beside its inputs."""
    left: dict[int, set[str]] = {}

    def look(state: PhaseState) -> None:
        if state.phase == "reduce":
            slices = {path.name for node in nodes for path in node.rglob("slice.*")}
            left[state.done] = {name.removeprefix("slice.").partition(".")[0] for name in slices}

    sort_with(look, nodes)
    assert {done: len(parts) for done, parts in left.items()} == {done: 4 - done for done in left}
    assert left[4] == set()
    assert joined(Path("out")) == sorted_records(data)


def test_a_wrong_byte_on_the_way_is_found_and_its_slice_made_again(data: bytes, nodes: list[Path]) -> None:
    flipped: list[Path] = []

    def flip(state: PhaseState) -> None:
        if state.phase == "partition" and state.done == state.tasks and not flipped:
            flipped.extend(sorted(path for path in nodes[1].rglob("slice.*") if path.stat().st_size > 1000))
            held = bytearray(flipped[0].read_bytes())
            held[555] ^= 4
            flipped[0].write_bytes(held)

    attempts, tasks = sort_with(flip, nodes)
    assert flipped
    assert attempts > tasks
    assert joined(Path("out")) == sorted_records(data)


def test_a_job_whose_last_directories_a_power_cut_took_goes_on(data: bytes, nodes: list[Path]) -> None:
    def stop(state: PhaseState) -> None:
        if state.phase == "reduce" and state.done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort_with(stop, nodes)
    shutil.rmtree("out/attempts")
    shutil.rmtree("out.ecosort/samples")
    Path("out.ecosort/samples").mkdir()
    assert resume("out").rows == len(data) // 100
    assert joined(Path("out")) == sorted_records(data)


def test_a_full_node_hands_its_tasks_to_the_others(
    data: bytes, tmp_path: Path, nodes: list[Path], require: Callable[[str], None]
) -> None:
    require("loop_mount")
    with mounted(tmp_path, "tmpfs", MIB) as drive:
        attempts, tasks = sort_with(lambda state: None, [drive.root, nodes[1]])
        assert attempts > tasks
        assert joined(Path("out")) == sorted_records(data)
        assert list(drive.root.iterdir()) == []


def test_full_everywhere_ends_with_a_job_that_goes_on_where_there_is_room(
    data: bytes, tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("loop_mount")
    with mounted(tmp_path, "tmpfs", 12 * MIB) as drive:
        (drive.root / "filler").write_bytes(bytes(9 * MIB))
        with pytest.raises(NotEnoughSpace, match=r"make room, then `ecosort cluster resume .*/out`$"):
            sort_with(lambda state: None, [drive.root])
        (drive.root / "filler").unlink()
        assert resume("out").rows == len(data) // 100
    assert joined(Path("out")) == sorted_records(data)


def test_a_program_that_is_killed_while_the_driver_checks_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its death says neither that it is another program, nor that parts are not in order."""
    dying = tmp_path / "ecosort"
    dying.write_text(f"""#!/bin/sh
if [ -e {tmp_path}/$1 ]; then rm {tmp_path}/$1; kill -KILL $$; fi
exec {os.environ["ECOSORT_PROGRAM"]} "$@"
""")
    dying.chmod(0o755)
    for word in ("--version", "run"):
        (tmp_path / word).touch()
    monkeypatch.setenv("ECOSORT_PROGRAM", str(dying))
    Path("in").write_bytes(numbered(KEYS["uniform"](500)))
    sort("in", "out", memory="4MiB", parts=2, **RECORDS)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "--version").exists()
    assert check("out").rows == 500
