"""An in-place sort that was stopped, killed or disturbed continues: no record is lost."""

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from capabilities import SOAK, require
from sort_support import (
    MIB,
    NOBODY,
    FileSystem,
    Run,
    as_plain_user,
    copy_program,
    directory_for_everyone,
    faults,
    listing,
    mounted,
    refused,
    succeeded,
)

from .support import (
    SMALL,
    calls_of,
    drive_of,
    ended,
    job_directory,
    kill_at_sync,
    killed_at_call,
    plan_of,
    records_of,
    signal_at_sync,
    stopped_after,
    syncs_of,
    take_all_space,
    untouched,
    with_faults,
)


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
    for nth in [1, 2, 3, *range(4, syncs, 1 if SOAK else max(1, syncs // 6)), syncs]:
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
        assert f"no record is lost; continue with: ecosort resume {file4}" in done.stderr
        assert not file4.exists()
        status = run("resume", "--status", file4)
        assert status.stdout.splitlines()[0].endswith(f": {phase}"), status
        done = signal_at_sync(ecosort, tmp_path, 5, signal.SIGTERM, "resume", file4)
        assert done.returncode == 128 + signal.SIGTERM, done
        succeeded(run("resume", file4))
        assert file4.read_bytes() == wanted
    filler.unlink()


def test_without_a_job_there_is_nothing_to_resume(run: Run, file4: Path, data: bytes) -> None:
    whole = f"no interrupted job of '{file4}': there is no '{file4}.ecosort', and the file is whole; nothing to resume\n"
    for name in (file4, job_directory(file4)):
        succeeded(run("resume", name), f"ecosort: {whole}")
    assert run("resume", "--status", file4).stdout == whole
    refused(run("resume", file4.with_name("other")), 5, "was begun", "start the sort")
    refused(run("resume", file4.parent), 2, "is no file")
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
    for nth in range(max(1, int(cuts * share)), cuts):  # to the first moment behind which space is taken again
        file.write_bytes(data)
        with stopped_after(ecosort, tmp_path, "ftruncate", nth, *words) as process:
            greedy = take_all_space(file.parent)
        code, text = ended(process)
        if code != 0:
            break
        assert file.read_bytes() == wanted
        greedy.unlink()
    assert code == 3, text
    assert "No space left on device" in text
    assert f"make room there; no record is lost; continue with: ecosort resume {file}" in text
    refused(run("resume", file, "-q"), 3, "No space left on device", "ecosort resume")
    greedy.unlink()
    succeeded(run("resume", file))
    assert file.read_bytes() == wanted


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_sync_that_fails_once_ends_the_job(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes, call: str
) -> None:
    """The next sync may say anything: what was not durable may be gone. The job ends, and is resumed from what was durable."""
    words = ("inplace", file4, *SMALL)
    filler = FileSystem("", file4.parent, None).fill_until(plan_of(run, file4, *SMALL)["needed_bytes"] + MIB)
    hit = resumed = 0
    for nth in range(1, 11):
        file4.write_bytes(data)
        done = with_faults(ecosort, tmp_path, f"{call}:error=EIO:when={nth}", *words, "-q")
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
    line = refused(run("resume", file), 3, "damaged", "nothing more was changed; continue with: ecosort resume")
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


@pytest.mark.parametrize("harm", ["removed", "cut"])
@pytest.mark.parametrize("nth", [4, 6])
def test_a_run_that_is_lost_costs_no_record_of_another(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, harm: str, nth: int
) -> None:
    assert kill_at_sync(ecosort, tmp_path, nth, "inplace", file4, *SMALL)
    victim = job_directory(file4) / "run-000000"
    had = victim.stat().st_size
    assert had > 0
    if harm == "removed":
        victim.unlink()
    else:
        os.truncate(victim, had // 2)
    for words in ((), ("--abandon",)):
        refused(run("resume", *words, file4), 3, "run-000000", f"ecosort resume --abandon {file4}", "with --trust-drive")
    done = run("resume", "--abandon", "--trust-drive", file4)
    assert done.returncode == 0, done
    assert "zeros are in place of the rest" in done.stderr
    given = file4.read_bytes()
    missing = Counter(records_of(data)) - Counter(records_of(given))
    assert len(given) == len(data)
    assert 0 < missing.total() * 100 <= had


def test_an_input_that_somebody_cut_is_not_given_back_in_silence(ecosort: Path, run: Run, file4: Path, tmp_path: Path) -> None:
    """No run is done: the file gets its name back as it is."""
    size = file4.stat().st_size
    assert kill_at_sync(ecosort, tmp_path, 2, "inplace", file4, *SMALL)
    os.truncate(job_directory(file4) / "input", 1000)
    done = run("resume", "--abandon", file4)
    assert done.returncode == 0, done
    assert f"'{file4}' had {size} bytes when the job began and has 1000 now" in done.stderr
    assert file4.stat().st_size == 1000


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
    assert "exists, although its contents are in the job; move it away" in status.stdout
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


def test_a_name_that_ends_like_a_job_directory(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    path = file4.rename(file4.with_name("x.ecosort"))
    interrupted_in_the_middle(ecosort, run, path, tmp_path, data)
    assert run("resume", "--status", path).stdout.startswith(f"{path}: ")
    succeeded(run("resume", path))
    assert path.read_bytes() == wanted


def test_a_name_that_goes_wrong_in_the_middle_is_no_wrong_option(ecosort: Path, run: Run, file4: Path, tmp_path: Path) -> None:
    done = with_faults(ecosort, tmp_path, "unlinkat:error=EROFS:when=1", "inplace", file4, *SMALL)
    refused(done, 3, "Read-only file system", f"continue with: ecosort resume {file4}")
    succeeded(run("resume", file4, "-q"))


@pytest.mark.parametrize("moment", ["in the middle", "when all is written"])
def test_whoever_completes_a_job_tells_which_attributes_are_not_kept(
    ecosort: Path, tmp_path: Path, data: bytes, wanted: bytes, moment: str
) -> None:
    """A file of root, which its group may write but its owner may not, sorted by a member of the group."""
    require("setpriv")
    with directory_for_everyone() as directory, drive_of("ext4", directory) as drive:
        path, traces = drive.root / "data", drive.root / "traces"
        path.write_bytes(data)
        os.chown(path, 0, NOBODY)
        path.chmod(0o460)
        traces.mkdir(mode=0o777)
        traces.chmod(0o777)
        program = copy_program(ecosort, directory)
        rule = "ftruncate:signal=KILL:when=3" if moment == "in the middle" else "fsync:signal=KILL:when=6"
        words = as_plain_user(*faults(traces, rule), program, "inplace", path, *SMALL, "--io", "pool")
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == -signal.SIGKILL, done
        assert not path.exists()
        again = subprocess.run(
            as_plain_user(program, "resume", path), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        assert again.returncode == 0, again
        assert f"could not keep of '{path}': the owner" in again.stderr
        assert path.read_bytes() == wanted
        status = path.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (NOBODY, NOBODY, 0o460)


@pytest.mark.parametrize("when", ["1+", "5+", "60+", "120+"])
def test_io_uring_that_breaks_loses_nothing(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes, when: str
) -> None:
    """Requests are in flight and cannot be awaited any more: the program ends at once, and the job continues."""
    require("io_uring")
    broken = faults(tmp_path, f"io_uring_enter:error=EBADF:when={when}")
    words = [*broken, ecosort, "inplace", file4, "--io", "uring", *SMALL]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done
    assert "Bad file descriptor" in done.stderr
    if job_directory(file4).exists():
        assert f"ecosort resume {file4}" in done.stderr
        again = run("resume", file4)
        if again.returncode == 5 and "is whole" in again.stderr:  # nothing had begun
            again = run("inplace", file4, *SMALL)
        succeeded(again)
    else:
        succeeded(run("inplace", file4, *SMALL))
    assert file4.read_bytes() == wanted


@pytest.mark.parametrize(
    ("call", "nth", "state"),
    [("renameat", 1, "complete, to be cleaned up"), ("rmdir", 1, "complete and sorted; nothing to resume")],
)
def test_a_kill_in_the_last_moments_leaves_nothing_to_resume(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes, call: str, nth: int, state: str
) -> None:
    assert killed_at_call(ecosort, tmp_path, call, nth, "inplace", file4, *SMALL)
    assert file4.read_bytes() == wanted
    status = run("resume", "--status", file4)
    assert (status.returncode, status.stdout.splitlines()[0]) == (0, f"{file4}: {state}")
    succeeded(run("resume", file4), f"ecosort: '{file4}' is complete and sorted; nothing to resume\n")
    assert listing(file4.parent) == [str(file4)]
    succeeded(run("resume", "-q", file4))


def test_a_kill_in_the_first_moments_leaves_the_file_to_be_sorted(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes
) -> None:
    assert killed_at_call(ecosort, tmp_path, "fallocate", 1, "inplace", file4, *SMALL)
    assert job_directory(file4).exists()
    refused(run("resume", file4), 5, "is whole", "start the sort again")
    untouched(file4, data)


def test_a_resumption_that_finds_a_job_just_begun_cannot_harm_it(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, data: bytes, wanted: bytes
) -> None:
    """The sort has made its directory and nothing else; a process that resumes it has it for itself until it is done."""
    with stopped_after(ecosort, tmp_path / "sort", "mkdir", 1, "inplace", file4, *SMALL) as sort:
        with stopped_after(ecosort, tmp_path / "resume", "getdents64", 1, "resume", file4) as resumption:
            sort.send_signal(signal.SIGCONT)
            code, text = ended(sort)
            assert (code, "another process" in text) == (2, True), text
            assert file4.read_bytes() == data
        code, text = ended(resumption)
        assert (code, "is whole" in text) == (5, True), text
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
    with stopped_after(ecosort, tmp_path, "fdatasync", 2, "inplace", file4, *SMALL) as process:
        assert (job_directory(file4) / "input").exists()
        refused(run("resume", file4), 2, "another process")
        status = run("resume", "--status", file4)
        assert status.returncode == 0, status
        assert "  another process is working on it\n" in status.stdout
    assert ended(process)[0] == 0
    assert file4.read_bytes() == wanted


@pytest.mark.parametrize(
    "words",
    [
        *(
            f"{sort} in -o NAME"
            for sort in ("sort --key 0:10", "lines", "csv --by a", "merge --key 0:10", "merge --lines", "shuffle")
        ),
        "gen 1 NAME",
        "check -o NAME in",
        "sample records --key 0:10 in --count 1 -o NAME",
        "sort --key 0:10 in -o other --stats NAME",
    ],
)
def test_nothing_else_is_written_where_a_job_waits(ecosort: Path, tmp_path: Path, words: str) -> None:
    """When it is continued the job would replace it, or a sort in place has its records there."""
    (tmp_path / "in").write_bytes(b"a" * 99 + b"\n")
    (tmp_path / "out").write_bytes(b"before")
    (tmp_path / "link").symlink_to("out")
    (tmp_path / "out.ecosort").mkdir()
    (tmp_path / "out.ecosort" / "journal").touch()
    for name in ("out", "link"):
        done = subprocess.run(
            [ecosort, *words.replace("NAME", name).split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == (1 if words.startswith(("gen", "check")) else 2)  # as gensort and valsort have it
        assert "out.ecosort' holds a job that was interrupted; continue with: ecosort resume " in done.stderr
        assert (tmp_path / "out").read_bytes() == b"before"
