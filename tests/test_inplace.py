"""Sorting a file in its own space: the result, what is refused before anything is changed, and how an interrupted job goes on."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import require
from inplace_support import (
    KINDS,
    calls_of,
    drive_of,
    ended,
    job_directory,
    kill_at_sync,
    plan_of,
    records_of,
    signal_at_sync,
    stopped_after,
    syncs_of,
    take_all_space,
)
from sort_support import (
    MIB,
    FileSystem,
    Run,
    as_plain_user,
    copy_program,
    directory_for_everyone,
    expected,
    listing,
    make_records,
    mounted,
    read_json,
    refused,
    strace,
    succeeded,
    wait_until,
)

RECORDS = 100_000  # 10 MB
SMALL = ("--memory", "4MiB")


@pytest.fixture(scope="module")
def data(ecosort: Path) -> bytes:
    return make_records(ecosort, "skewed ascii", RECORDS)


@pytest.fixture(scope="module")
def wanted(data: bytes) -> bytes:
    return expected(data)


@pytest.fixture(scope="module", params=KINDS)
def drive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileSystem]:
    with drive_of(request.param, tmp_path_factory.mktemp("inplace")) as drive:
        yield drive


@pytest.fixture(scope="module")
def ext4(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileSystem]:
    with drive_of("ext4", tmp_path_factory.mktemp("inplace")) as drive:
        yield drive


@pytest.fixture
def file(drive: FileSystem, data: bytes) -> Iterator[Path]:
    """A file to sort; afterwards the drive is empty again."""
    yield from fresh_file(drive, data)


@pytest.fixture
def file4(ext4: FileSystem, data: bytes) -> Iterator[Path]:
    """The same on ext4 only, where the kind of drive does not matter."""
    yield from fresh_file(ext4, data)


def fresh_file(drive: FileSystem, data: bytes) -> Iterator[Path]:
    path = drive.root / "data"
    path.write_bytes(data)
    yield path
    subprocess.run(["rm", "-rf", *drive.root.iterdir()], check=True)


def untouched(path: Path, data: bytes) -> None:
    assert path.read_bytes() == data
    assert not job_directory(path).exists()


# --- the result --------------------------------------------------------------------------------------------------------


def test_the_file_is_sorted_and_nothing_else_is_left(run: Run, file: Path, wanted: bytes) -> None:
    file.chmod(0o640)
    succeeded(run("inplace", file, *SMALL))
    assert file.read_bytes() == wanted
    assert listing(file.parent) == [str(file)]
    assert file.stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("backend", ["uring", "pool", "stxxl"])
def test_every_backend_sorts(run: Run, file: Path, wanted: bytes, backend: str) -> None:
    if backend == "uring":
        require("io_uring")
    succeeded(run("inplace", file, *SMALL, "--io", backend))
    assert file.read_bytes() == wanted


@pytest.mark.parametrize(("size", "keys"), [(1, []), (7, ["2:3"]), (101, ["90:11:desc", "0:4"]), (4_096, ["4000:16"])])
def test_other_records_and_keys(run: Run, drive: FileSystem, data: bytes, size: int, keys: list[str]) -> None:
    path = drive.root / "other"
    part = data[: len(data) // size // 4 * size]
    path.write_bytes(part)
    words = [word for key in keys for word in ("--key", key)]
    succeeded(run("inplace", path, "--record-size", str(size), *words, *SMALL))
    assert path.read_bytes() == expected(part, size, keys)
    path.unlink()


@pytest.mark.parametrize("count", [0, 1, 2, 41])
def test_files_with_few_records(run: Run, ext4: FileSystem, data: bytes, count: int) -> None:
    path = ext4.root / "few"
    path.write_bytes(data[: count * 100])
    succeeded(run("inplace", path))
    assert path.read_bytes() == expected(data[: count * 100])
    path.unlink()


def test_stats_and_events_tell_both_phases(run: Run, file4: Path, tmp_path: Path, data: bytes) -> None:
    succeeded(run("inplace", file4, *SMALL, "--stats", tmp_path / "stats", "--events", tmp_path / "events"))
    stats = read_json(tmp_path / "stats")
    assert stats["schema"] == "ecosort.stats/1"
    assert stats["records"] == RECORDS
    assert [phase["name"] for phase in stats["phases"]] == ["prepare", "run_formation", "merge", "sync", "publish"]
    moved = len(data) * 2
    assert moved <= stats["bytes_read"] <= moved * 1.05
    assert moved <= stats["bytes_written"] <= moved * 1.05
    assert stats["peak_counted_memory_bytes"] <= 4 * MIB
    assert '"phase":"merge"' in (tmp_path / "events").read_text()


# --- the plan ----------------------------------------------------------------------------------------------------------


def test_the_plan_is_printed_and_changes_nothing(run: Run, file: Path, data: bytes) -> None:
    done = run("plan", "inplace", file, *SMALL)
    assert done.returncode == 0, done
    assert re.search(r"free space needed +[\d.]+ [KM]iB \(\d+ bytes\)", done.stdout)
    plan = plan_of(run, file, *SMALL)
    assert plan["plan"]["peak_memory_bytes"] <= 4 * MIB
    assert plan["needed_bytes"] == plan["least"]["need_bytes"] <= plan["plan"]["need_bytes"] <= plan["free_bytes"]
    untouched(file, data)


def test_no_more_space_is_taken_than_allowed(run: Run, file: Path, data: bytes, wanted: bytes) -> None:
    ample, least = (plan_of(run, file, *SMALL)[name]["need_bytes"] for name in ("plan", "least"))
    assert least < ample
    between = (least + ample) // 2
    assert least <= plan_of(run, file, *SMALL, "--space", f"{between}B")["plan"]["need_bytes"] <= between
    refused(
        run("inplace", file, *SMALL, "--space", f"{least - 1}B"), 2, f"--space {least - 1}B is too little", f"({least} bytes)"
    )
    refused(run("plan", "sort", "--space", "1GB", "in", "-o", "out"), 2, "--space")
    untouched(file, data)
    succeeded(run("inplace", file, *SMALL, "--space", f"{least}B"))
    assert file.read_bytes() == wanted


def test_the_terabyte_of_the_paper_fits_its_space(run: Run) -> None:
    done = run("plan", "inplace", "--assume-size", "1TB", "--memory", "3328MiB")
    assert done.returncode == 0, done
    need = re.search(r"free space needed .*\((\d+) bytes\)", done.stdout)
    assert need, done
    assert int(need.group(1)) <= 24_000_000_000
    done = run("plan", "inplace", "--json", "--assume-size", "1TB", "--memory", "4GiB", "--space", "24GB")
    spare = json.loads(done.stdout)
    assert spare["plan"]["need_bytes"] <= spare["free_bytes"] == 24_000_000_000
    done = run("plan", "inplace", "--assume-size", "1TB", "--memory", "3328MiB", "--json")
    plan = json.loads(done.stdout)
    assert plan["least"]["need_bytes"] == plan["needed_bytes"] <= plan["recommended_bytes"] <= plan["plan"]["need_bytes"]
    assert plan["least"]["checkpoints"] <= 4_200
    assert plan["recommended"]["checkpoints"] < plan["least"]["checkpoints"]
    refused(run("plan", "sort", "--assume-size", "1TB", "in", "-o", "out"), 2, "--assume-size")
    refused(run("plan", "inplace", "--assume-size", "1TB", "file"), 2, "--assume-size")


# --- refusals ----------------------------------------------------------------------------------------------------------


def test_what_is_no_plain_file_of_its_own_is_refused(run: Run, file4: Path, data: bytes) -> None:
    link = file4.with_name("link")
    link.symlink_to(file4)
    refused(run("inplace", link), 2, "symbolic link")
    link.unlink()
    link.hardlink_to(file4)
    refused(run("inplace", file4), 2, "2 hard links")
    link.unlink()
    os.mkfifo(link)
    refused(run("inplace", link), 2, "not a regular file")
    refused(run("inplace", file4.parent), 2, "directory")
    refused(run("inplace", file4.with_name("missing")), 2, "No such file")
    link.unlink()
    untouched(file4, data)


def test_holes_and_partial_records_are_refused(run: Run, file: Path) -> None:
    os.truncate(file, file.stat().st_size + 50 * 100)
    refused(run("inplace", file), 2, "sparse", "cp --sparse=never")
    os.truncate(file, 1_050)
    refused(run("inplace", file), 2, "50 bytes are left over")
    assert listing(file.parent) == [str(file)]


def test_shared_blocks_are_refused(run: Run, tmp_path: Path, data: bytes) -> None:
    with drive_of("xfs", tmp_path) as drive:
        path = drive.root / "data"
        path.write_bytes(data)
        copy = subprocess.run(["cp", "--reflink=always", path, drive.root / "copy"], check=False, capture_output=True)
        if copy.returncode != 0:
            pytest.skip("this XFS has no reflinks")
        refused(run("inplace", path), 2, "shares blocks", "--reflink=never")
        untouched(path, data)


def test_a_file_that_someone_writes_is_refused(run: Run, file: Path, data: bytes) -> None:
    with file.open("r+b"):
        refused(run("inplace", file), 2, "open for writing")
    with file.open("rb"):
        untouched(file, data)
    succeeded(run("inplace", file, *SMALL))


def test_what_may_not_be_written_is_refused(ecosort: Path, data: bytes) -> None:
    require("setpriv")
    with directory_for_everyone() as directory, drive_of("ext4", directory) as drive:
        path = drive.root / "data"
        path.write_bytes(data)
        program = copy_program(ecosort, drive.root)

        def run_plain(*words: str | Path) -> subprocess.CompletedProcess[str]:
            command = as_plain_user(program, *words)
            return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

        path.chmod(0o644)
        refused(run_plain("inplace", path), 2, "ermission denied")
        path.chmod(0o666)
        drive.root.chmod(0o755)
        refused(run_plain("inplace", path), 2, "directory is not writable")
        drive.root.chmod(0o1777)
        refused(run_plain("inplace", path), 2, "sticky")
        drive.root.chmod(0o777)
        subprocess.run(["chattr", "+i", path], check=True)
        refused(run_plain("inplace", path), 2, "immutable")
        subprocess.run(["chattr", "-i", path], check=True)
        untouched(path, data)


@pytest.mark.parametrize("kind", ["tmpfs", "btrfs", "ext2", "ext4 without a journal"])
def test_other_file_systems_are_refused(run: Run, tmp_path: Path, data: bytes, kind: str) -> None:
    require("loop_mount")
    if kind in ("tmpfs", "btrfs"):
        if kind == "btrfs":
            require("btrfs")
        with mounted(tmp_path, kind, 128 * MIB) as drive:
            path = drive.root / "data"
            path.write_bytes(data)
            refused(run("inplace", path), 2, f"its file system is {kind}, and must be ext4 or XFS")
            untouched(path, data)
        return
    image, root = tmp_path / "image", tmp_path / "mnt"
    root.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    make = ["mkfs.ext2", "-q"] if kind == "ext2" else ["mkfs.ext4", "-q", "-O", "^has_journal"]
    subprocess.run([*make, image], check=True)
    with mounted(tmp_path, "tmpfs", MIB):  # enters a mount namespace of our own
        subprocess.run(["mount", "-o", "loop", image, root], check=True)
    try:
        path = root / "data"
        path.write_bytes(data)
        refused(run("inplace", path), 2, "journal" if kind != "ext2" else "ext")
        untouched(path, data)
    finally:
        subprocess.run(["umount", root], check=True)


def test_unique_and_options_that_mean_nothing_are_refused(run: Run, file4: Path, data: bytes) -> None:
    refused(run("inplace", "--unique", file4), 2, "--unique cannot be had in place", "ecosort sort --unique")
    refused(run("plan", "inplace", file4, "-o", "x"), 2, "--output means nothing in place")
    refused(run("inplace", file4, file4), 2, "name one file")
    refused(run("inplace", "--memory", "64kiB", file4), 2, "--memory")
    refused(run("inplace", "--key", "95:10", file4), 2)
    untouched(file4, data)


def test_a_project_quota_that_is_too_small_is_refused(run: Run, tmp_path: Path, data: bytes) -> None:
    require("xfs")
    image, root = tmp_path / "image", tmp_path / "mnt"
    root.mkdir()
    with image.open("wb") as file:
        file.truncate(320 * MIB)
    subprocess.run(["mkfs.xfs", "-q", image], check=True)
    with mounted(tmp_path, "tmpfs", MIB):
        mount = subprocess.run(["mount", "-o", "loop,pquota", image, root], check=False, capture_output=True)
    if mount.returncode != 0:
        pytest.skip(f"no XFS quotas here: {mount.stderr.decode()}")
    try:
        project = root / "project"
        project.mkdir()
        for command in (f"project -s -p {project} 7", f"limit -p bhard={len(data) // 1024 + 64}k 7"):
            subprocess.run(["xfs_quota", "-x", "-c", command, str(root)], check=True, capture_output=True)
        path = project / "data"
        path.write_bytes(data)
        refused(run("inplace", path), 2, "quota of project 7")
        untouched(path, data)
    finally:
        subprocess.run(["umount", root], check=True)


def test_a_quota_that_is_too_small_is_refused(ecosort: Path, tmp_path: Path, data: bytes) -> None:
    require("xfs")
    require("setpriv")
    image, root = tmp_path / "image", tmp_path / "mnt"
    root.mkdir()
    with image.open("wb") as file:
        file.truncate(320 * MIB)
    subprocess.run(["mkfs.xfs", "-q", image], check=True)
    with mounted(tmp_path, "tmpfs", MIB):
        mount = subprocess.run(["mount", "-o", "loop,uquota", image, root], check=False, capture_output=True)
    if mount.returncode != 0:
        pytest.skip(f"no XFS quotas here: {mount.stderr.decode()}")
    try:
        root.chmod(0o777)
        path = root / "data"
        path.write_bytes(data)
        os.chown(path, 65534, 65534)
        limit = ["xfs_quota", "-x", "-c", f"limit -u bhard={len(data) // 1024 + 64}k 65534", str(root)]
        subprocess.run(limit, check=True)
        program = copy_program(ecosort, root)
        done = subprocess.run(
            as_plain_user(program, "inplace", path), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        refused(done, 2, "quota of user 65534")
        untouched(path, data)
    finally:
        subprocess.run(["umount", root], check=True)


# --- interruptions -----------------------------------------------------------------------------------------------------


def test_a_killed_job_is_resumed_from_every_step(
    ecosort: Path, run: Run, file: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    words = ("inplace", file, *SMALL)
    drive = FileSystem("", file.parent, None)
    need = plan_of(run, file, *SMALL)["needed_bytes"]
    filler = drive.fill_until(need + MIB)  # little space: many pieces and checkpoints
    syncs = syncs_of(ecosort, tmp_path, *words)
    assert syncs > 20
    phases = set()
    for nth in [1, 2, 3, *range(4, syncs, max(1, syncs // 10)), syncs]:
        file.write_bytes(data)
        if not kill_at_sync(ecosort, tmp_path, nth, *words):
            assert file.read_bytes() == wanted
            continue
        if file.exists():  # before it began, or all but the last removals
            assert file.read_bytes() in (data, wanted)
            run("resume", file)
            assert not job_directory(file).exists()
            continue
        refused(run("inplace", file), 2, "ecosort resume")
        status = run("resume", "--status", file)
        assert status.returncode == 0, status
        phases.add(status.stdout.splitlines()[0].split(": ")[1])
        succeeded(run("resume", job_directory(file) if nth % 2 else file))
        assert file.read_bytes() == wanted
    assert phases >= {"run formation", "merge"}
    filler.unlink()
    assert listing(file.parent) == [str(file)]


def test_a_killed_job_can_be_abandoned_in_every_phase(ecosort: Path, run: Run, file: Path, tmp_path: Path, data: bytes) -> None:
    words = ("inplace", file, *SMALL)
    drive = FileSystem("", file.parent, None)
    drive.fill_until(plan_of(run, file, *SMALL)["needed_bytes"] + MIB)
    syncs = syncs_of(ecosort, tmp_path, *words)
    want = records_of(data)
    for nth in range(2, syncs, max(1, syncs // 6)):
        file.write_bytes(data)
        if kill_at_sync(ecosort, tmp_path, nth, *words):
            done = run("resume", "--abandon", file)
            assert done.returncode == 0, done
        assert records_of(file.read_bytes()) == want
        assert not job_directory(file).exists()


def test_ctrl_c_stops_at_a_checkpoint_and_says_how_to_go_on(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    drive = FileSystem("", file4.parent, None)
    filler = drive.fill_until(plan_of(run, file4, *SMALL)["needed_bytes"] + MIB)
    syncs = syncs_of(ecosort, tmp_path, "inplace", file4, *SMALL)
    for nth, phase in ((3, "run formation"), (syncs * 2 // 3, "merge")):
        file4.write_bytes(data)
        done = signal_at_sync(ecosort, tmp_path, nth, signal.SIGINT, "inplace", file4, *SMALL)
        assert done.returncode == 128 + signal.SIGINT, done
        assert f"no record is lost; go on with: ecosort resume {file4}" in done.stderr
        assert not file4.exists()
        status = run("resume", "--status", file4)
        assert status.stdout.splitlines()[0].endswith(f": {phase}"), status
        done = signal_at_sync(ecosort, tmp_path, 5, signal.SIGTERM, "resume", file4)
        assert done.returncode == 128 + signal.SIGTERM, done
        succeeded(run("resume", file4))
        assert file4.read_bytes() == wanted
    filler.unlink()


def test_without_a_job_there_is_nothing_to_resume(run: Run, file4: Path, data: bytes) -> None:
    refused(run("resume", file4), 2, "no interrupted job")
    refused(run("resume", "--status", "--abandon", file4), 2, "--status or --abandon")
    untouched(file4, data)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.75])
def test_a_disk_that_someone_fills_stops_the_job_until_there_is_room(
    ecosort: Path, run: Run, file: Path, tmp_path: Path, data: bytes, wanted: bytes, share: float
) -> None:
    """Between giving up space and taking it again another program takes all there is: in the first phase, and in the second."""
    words = ("inplace", file, *SMALL)
    FileSystem("", file.parent, None).fill_until(plan_of(run, file, *SMALL)["needed_bytes"] + MIB)
    cuts = calls_of(ecosort, tmp_path, "ftruncate", *words)
    file.write_bytes(data)
    with stopped_after(ecosort, tmp_path, "ftruncate", max(1, int(cuts * share)), *words) as process:
        greedy = take_all_space(file.parent)
    code, text = ended(process)
    assert code == 3, text
    assert "No space left on device" in text
    assert f"make room there; no record is lost; go on with: ecosort resume {file}" in text
    refused(run("resume", file, "-q"), 3, "No space left on device", "ecosort resume")
    greedy.unlink()
    succeeded(run("resume", file))
    assert file.read_bytes() == wanted


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_sync_that_fails_once_ends_the_job(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes, call: str
) -> None:
    """Whatever the next one says: what was not durable then may be gone. The job ends, and is resumed from what was durable."""
    words = ("inplace", file4, *SMALL)
    filler = FileSystem("", file4.parent, None).fill_until(plan_of(run, file4, *SMALL)["needed_bytes"] + MIB)
    hit = resumed = 0
    for nth in range(1, 11):  # of some thread's: strace counts for each
        file4.write_bytes(data)
        command = [*strace(tmp_path, call, f"{call}:error=EIO:when={nth}"), ecosort, *words, "--io", "pool", "-q"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)
        if "INJECTED" not in (tmp_path / "trace").read_text():
            assert done.returncode == 0, (nth, done)
            continue
        hit += 1
        assert done.returncode == 3, (nth, done)
        assert "Input/output error" in done.stderr, (nth, done)
        if file4.exists():
            assert file4.read_bytes() in (data, wanted)
            run("resume", file4)
        else:
            succeeded(run("resume", file4))
            assert file4.read_bytes() == wanted
            resumed += 1
        assert not job_directory(file4).exists()
    assert hit >= 4
    assert resumed >= 2
    filler.unlink()


def test_a_flipped_bit_stops_the_job_and_nothing_more_is_given_up(
    ecosort: Path, run: Run, file: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    drive = FileSystem("", file.parent, None)
    drive.fill_until(plan_of(run, file, *SMALL)["needed_bytes"] + MIB)
    syncs = syncs_of(ecosort, tmp_path, "inplace", file, *SMALL)
    file.write_bytes(data)
    assert kill_at_sync(ecosort, tmp_path, syncs // 2, "inplace", file, *SMALL)
    victim = max(job_directory(file).glob("run-*"), key=lambda path: path.stat().st_size)
    at = victim.stat().st_size // 2
    with victim.open("r+b") as broken:
        byte = os.pread(broken.fileno(), 1, at)
        os.pwrite(broken.fileno(), bytes([byte[0] ^ 8]), at)
    os.sync()
    line = refused(run("resume", file), 3, "damaged", "nothing more was changed; go on with: ecosort resume")
    assert "no record is lost" not in line
    assert victim.stat().st_size > at
    with victim.open("r+b") as broken:
        os.pwrite(broken.fileno(), byte, at)
    os.sync()
    succeeded(run("resume", file))
    assert file.read_bytes() == wanted


def interrupted_in_the_middle(ecosort: Path, run: Run, file: Path, directory: Path, data: bytes) -> None:
    """A job on a drive with little space, killed at half of its syncs."""
    FileSystem("", file.parent, None).fill_until(plan_of(run, file, *SMALL)["needed_bytes"] + MIB)
    syncs = syncs_of(ecosort, directory, "inplace", file, *SMALL)
    file.write_bytes(data)
    assert kill_at_sync(ecosort, directory, syncs // 2, "inplace", file, *SMALL)


def test_a_job_is_looked_at_and_refused_where_nothing_can_be_written(
    ecosort: Path, run: Run, file: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    interrupted_in_the_middle(ecosort, run, file, tmp_path, data)
    before = run("resume", "--status", file)
    subprocess.run(["mount", "-o", "remount,ro", file.parent], check=True)
    try:
        status = run("resume", "--status", file)
        assert (status.returncode, status.stdout) == (0, before.stdout), status
        refused(run("resume", file), 2, "Read-only file system")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", file.parent], check=True)
    file.write_bytes(b"somebody's")
    status = run("resume", "--status", file)
    assert "exists, although its records are in the job; move it away" in status.stdout
    refused(run("resume", file), 2, "exists beside the job", "move it away")
    file.unlink()
    succeeded(run("resume", file))
    assert file.read_bytes() == wanted


def test_a_job_copied_to_another_file_system_does_not_go_on_there(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    require("btrfs")
    interrupted_in_the_middle(ecosort, run, file4, tmp_path, data)
    with mounted(tmp_path, "btrfs", 256 * MIB) as drive:
        copy = drive.root / "data"
        subprocess.run(["cp", "-a", job_directory(file4), job_directory(copy)], check=True)
        before = listing(drive.root)
        for words in (["resume"], ["resume", "--abandon"]):
            refused(run(*words, copy), 2, "file system is btrfs", "copy the directory to ext4")
        assert listing(drive.root) == before
    succeeded(run("resume", file4))
    assert file4.read_bytes() == wanted


def test_buffered_drives_are_refused(run: Run, tmp_path: Path, data: bytes) -> None:
    """With data=journal all goes through the page cache, from which a later run would read what the drive never got."""
    with drive_of("ext4", tmp_path) as drive:
        subprocess.run(["umount", drive.root], check=True)
        assert drive.image
        subprocess.run(["mount", "-o", "loop,data=journal", drive.image, drive.root], check=True)
        path = drive.root / "data"
        path.write_bytes(data)
        refused(run("inplace", path), 2, "no direct I/O", "use ecosort sort")
        untouched(path, data)


def test_a_name_that_ends_like_a_job_directory(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    path = file4.rename(file4.with_name("x.ecosort"))
    interrupted_in_the_middle(ecosort, run, path, tmp_path, data)
    assert run("resume", "--status", path).stdout.startswith(f"{path}: ")
    succeeded(run("resume", path))
    assert path.read_bytes() == wanted


def test_a_limit_of_file_sizes_is_noticed_before(ecosort: Path, run: Run, file4: Path, data: bytes) -> None:
    limit = ["prlimit", f"--fsize={len(data) // 2}", ecosort, "inplace", file4]
    done = subprocess.run(limit, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    refused(done, 2, "ulimit -f")
    untouched(file4, data)


def test_a_name_that_goes_wrong_in_the_middle_is_no_wrong_option(ecosort: Path, run: Run, file4: Path, tmp_path: Path) -> None:
    require("strace")
    words = [*strace(tmp_path, "unlink", "unlink:error=EROFS:when=1"), ecosort, "inplace", file4, *SMALL, "--io", "pool"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    refused(done, 3, "Read-only file system", f"go on with: ecosort resume {file4}")
    succeeded(run("resume", file4, "-q"))


def test_set_id_bits_are_refused(run: Run, file4: Path, data: bytes) -> None:
    file4.chmod(0o4755)
    refused(run("inplace", file4), 2, "set-id bits", "chmod ug-s")
    untouched(file4, data)


def test_the_result_is_read_back_where_that_is_wanted(run: Run, file4: Path, tmp_path: Path, wanted: bytes) -> None:
    refused(run("inplace", file4, "--verify", "never"), 2, "--verify")
    succeeded(run("inplace", file4, *SMALL, "--verify", "reread", "--stats", tmp_path / "stats"))
    assert "reread" in [phase["name"] for phase in read_json(tmp_path / "stats")["phases"]]
    assert file4.read_bytes() == wanted


@pytest.mark.parametrize("moment", ["in the middle", "when all is written"])
def test_whoever_completes_a_job_tells_which_attributes_are_not_kept(
    ecosort: Path, tmp_path: Path, data: bytes, wanted: bytes, moment: str
) -> None:
    """A file of root, which its group may write but its owner may not, sorted by a member of the group."""
    require("setpriv")
    require("strace")
    with directory_for_everyone() as directory, drive_of("ext4", directory) as drive:
        path, traces = drive.root / "data", drive.root / "traces"
        path.write_bytes(data)
        os.chown(path, 0, 65534)
        path.chmod(0o460)
        traces.mkdir(mode=0o777)
        traces.chmod(0o777)
        program = copy_program(ecosort, drive.root)
        call = "ftruncate:signal=SIGKILL:when=3" if moment == "in the middle" else "fsync:signal=SIGKILL:when=5"
        words = as_plain_user(*strace(traces, call.split(":")[0], call), program, "inplace", path, *SMALL, "--io", "pool")
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), done
        assert not path.exists()
        again = subprocess.run(
            as_plain_user(program, "resume", path), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        assert again.returncode == 0, again
        assert f"could not keep of '{path}': the owner" in again.stderr
        assert path.read_bytes() == wanted
        status = path.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (65534, 65534, 0o460)


@pytest.mark.parametrize("when", ["1+", "5+", "60+", "200+"])
def test_io_uring_that_breaks_loses_nothing(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes, when: str
) -> None:
    """Requests are in flight and cannot be awaited any more: the program ends at once, and the job goes on."""
    require("io_uring")
    require("strace")
    broken = strace(tmp_path, "io_uring_enter", f"io_uring_enter:error=EBADF:when={when}")
    words = [*broken, ecosort, "inplace", file4, "--io", "uring", *SMALL]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done
    assert "Bad file descriptor" in done.stderr
    if job_directory(file4).exists():
        assert f"ecosort resume {file4}" in done.stderr
        again = run("resume", file4)
        if again.returncode == 2 and "is whole" in again.stderr:  # nothing had begun
            again = run("inplace", file4, *SMALL)
        succeeded(again)
    else:
        succeeded(run("inplace", file4, *SMALL))
    assert file4.read_bytes() == wanted


@pytest.mark.parametrize(
    ("call", "nth", "state"),
    [("rename", 1, "complete, to be cleaned up"), ("rmdir", 1, "complete and sorted; nothing to resume")],
)
def test_a_kill_in_the_last_moments_leaves_nothing_to_resume(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes, call: str, nth: int, state: str
) -> None:
    require("strace")
    kill = strace(tmp_path, call, f"{call}:signal=SIGKILL:when={nth}")
    subprocess.run([*kill, ecosort, "inplace", file4, *SMALL, "--io", "pool"], stdin=subprocess.DEVNULL, check=False)
    assert file4.read_bytes() == wanted
    status = run("resume", "--status", file4)
    assert (status.returncode, status.stdout.splitlines()[0]) == (0, f"{file4}: {state}")
    succeeded(run("resume", file4), f"ecosort: '{file4}' is complete and sorted; nothing to resume\n")
    assert listing(file4.parent) == [str(file4)]
    refused(run("resume", file4), 2, "no interrupted job")


def test_a_kill_in_the_first_moments_leaves_the_file_to_be_sorted(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes
) -> None:
    require("strace")
    kill = strace(tmp_path, "fallocate", "fallocate:signal=SIGKILL:when=1")
    subprocess.run([*kill, ecosort, "inplace", file4, *SMALL, "--io", "pool"], stdin=subprocess.DEVNULL, check=False)
    assert job_directory(file4).exists()
    refused(run("resume", file4), 2, "is whole", "start the sort again")
    untouched(file4, data)


def test_a_resumption_that_finds_a_job_just_begun_cannot_harm_it(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    """The sort has made its directory and nothing else; whoever resumes that has it for himself until he is done."""
    with stopped_after(ecosort, tmp_path / "sort", "mkdir", 1, "inplace", file4, *SMALL) as sort:
        with stopped_after(ecosort, tmp_path / "resume", "getdents64", 1, "resume", file4) as resumption:
            os.kill(int(Path(f"/proc/{sort.pid}/task/{sort.pid}/children").read_text()), signal.SIGCONT)
            code, text = ended(sort)
            assert (code, "another process" in text) == (2, True), text
            assert file4.read_bytes() == data
        code, text = ended(resumption)
        assert (code, "is whole" in text) == (2, True), text
        untouched(file4, data)
    succeeded(run("inplace", file4, *SMALL))
    assert file4.read_bytes() == wanted


def test_a_job_is_locked_before_its_journal_is_there(ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes) -> None:
    with stopped_after(ecosort, tmp_path / "sort", "flock", 2, "inplace", file4, *SMALL) as sort:
        assert list(job_directory(file4).iterdir()) == []
        refused(run("resume", file4), 2, "another process")
        assert run("resume", "--status", file4).stdout == f"{file4}: not begun\n  another process is working on it\n"
    assert ended(sort)[0] == 0
    assert file4.read_bytes() == wanted


def test_two_processes_cannot_work_on_one_job(ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes) -> None:
    require("strace")
    words = [
        *strace(tmp_path, "fdatasync", "fdatasync:delay_enter=1000000:when=2+"),
        ecosort,
        "inplace",
        file4,
        "--io",
        "pool",
        *SMALL,
    ]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    wait_until(lambda: (job_directory(file4) / "input").exists(), what="the beginning of the job")
    refused(run("resume", file4), 2, "another process")
    status = run("resume", "--status", file4)
    assert status.returncode == 0, status
    assert "  another process is working on it\n" in status.stdout
    assert process.wait(timeout=60) == 0
    assert file4.read_bytes() == wanted
