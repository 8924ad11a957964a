"""A job directory names files to read and to write: `resume` takes only one that no one else can have made or changed."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from capabilities import require
from sort_support import NOBODY, Run, as_plain_user, copy_program, directory_for_everyone, faults, refused, succeeded

from .support import SMALL, drive_of, interrupted_in_merge, job_directory, signal_at_sync


@pytest.fixture
def job(ecosort: Path, run: Run, file4: Path, tmp_path: Path) -> Path:
    """An in-place job, interrupted in the middle of its second phase."""
    require("setpriv")
    return interrupted_in_merge(ecosort, run, file4, tmp_path)


def contents(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        path.name: (path.lstat().st_uid, path.lstat().st_mode, path.read_bytes())
        for path in sorted(directory.iterdir())
        if path.is_file()
    }


def refused_in_every_way(run: Run, job: Path, *words: str) -> None:
    before = contents(job_directory(job))
    for option in ((), ("--status",), ("--abandon",)):
        refused(run("resume", *option, job), 2, *words)
        assert contents(job_directory(job)) == before


def given_away(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


@pytest.mark.parametrize("name", ["", "journal", "output", "spare", "run-000000", "input"])
def test_what_belongs_to_somebody_else_is_refused(run: Run, job: Path, wanted: bytes, name: str) -> None:
    path = job_directory(job) / name if name else job_directory(job)
    given_away(path)
    refused_in_every_way(run, job, f"'{path}' belongs to user", "--trust-owner")
    refused(run("resume", "--trust-owner", "daemon", job), 2, f"'{path}' belongs to user")
    refused(run("resume", "--trust-owner", "nobody-of-that-name", job), 2, "--trust-owner: there is no user")
    if name:  # of a directory of ours
        succeeded(run("resume", "--trust-owner", str(NOBODY), job))
        assert job.read_bytes() == wanted


def linked(path: Path) -> None:
    target = path.parent.with_name("target-of-a-link")
    path.rename(target)
    path.symlink_to(target)


@pytest.mark.parametrize("name", ["journal", "output", "run-000000", "input"])
def test_symbolic_links_are_refused(run: Run, job: Path, wanted: bytes, name: str) -> None:
    path = job_directory(job) / name
    linked(path)
    for option in ((), ("--status",), ("--abandon",), ("--trust-owner", str(NOBODY))):
        refused(run("resume", *option, job), 2, f"'{path}' is a symbolic link")
    path.unlink()
    path.parent.with_name("target-of-a-link").rename(path)
    succeeded(run("resume", job))
    assert job.read_bytes() == wanted


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_directory_that_others_can_write_is_refused(run: Run, job: Path, wanted: bytes, mode: int) -> None:
    directory = job_directory(job)
    directory.chmod(mode)
    refused_in_every_way(run, job, f"'{directory}' can be written by others", "chmod go-w")
    directory.chmod(0o755)
    (directory / "output").chmod(0o620)
    refused_in_every_way(run, job, f"'{directory / 'output'}' can be written by others")
    directory.chmod(0o700)
    (directory / "journal").chmod(0o606)  # which no one but the program makes
    refused_in_every_way(run, job, f"'{directory / 'journal'}' can be written by others", "chmod go-w")
    (directory / "journal").chmod(0o600)
    # No one else gets to the output, whose mode is that of the file it replaces.
    succeeded(run("resume", job))
    assert job.read_bytes() == wanted


def test_a_planted_end_of_a_job_is_refused(run: Run, file4: Path, data: bytes) -> None:
    require("setpriv")
    trace = file4.with_name(file4.name + ".ecosort-done")
    trace.write_bytes(b"")
    given_away(trace)
    refused(run("resume", file4), 2, f"'{trace}' belongs to user")
    assert trace.exists()
    assert file4.read_bytes() == data


def test_root_goes_on_with_a_trusted_job_as_the_user_it_belongs_to(ecosort: Path, run: Run, data: bytes) -> None:
    """The journal of a resumable sort names inputs and an output: they are read and written with its owner's rights."""
    require("setpriv")
    with directory_for_everyone() as directory, drive_of("ext4", directory) as drive:
        program = copy_program(ecosort, directory)
        secret, home, traces = drive.root / "secret", drive.root / "home", directory / "traces"
        secret.write_bytes(data)
        secret.chmod(0o600)
        for place in (home, traces):
            place.mkdir()
            given_away(place)
        given_away(secret)
        out = home / "out"
        words = faults(traces, "fdatasync:signal=KILL:when=3")
        sort = (program, "sort", "--resumable", secret, "-o", out, "--memory", "2MiB", "--io", "pool", "-q")
        subprocess.run(as_plain_user(*words, *map(str, sort)), stdin=subprocess.DEVNULL, check=False)
        assert job_directory(out).is_dir()
        refused(run("resume", out), 2, "belongs to user", "--trust-owner")
        os.chown(secret, 0, 0)  # now the user may not read it any more, and root does not for him
        done = run("resume", "--trust-owner", str(NOBODY), out)
        assert done.returncode == 3, done
        assert "ermission denied" in done.stderr, done
        assert not out.exists()
        given_away(secret)
        done = run("resume", "--trust-owner", str(NOBODY), out)
        assert done.returncode == 0, done
        assert "working as user " in done.stderr
        assert (out.stat().st_uid, out.stat().st_gid) == (NOBODY, NOBODY)


def test_an_interrupted_job_of_somebody_elses_file_says_whom_to_trust(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes
) -> None:
    require("setpriv")
    os.chown(file4, NOBODY, NOBODY)
    done = signal_at_sync(ecosort, tmp_path, 4, signal.SIGINT, "inplace", file4, *SMALL)
    assert done.returncode == 128 + signal.SIGINT, done
    words = re.search(r"ecosort (resume --trust-owner \S+ \S+)", done.stderr)
    assert words, done
    refused(run("resume", file4), 2, f"'{job_directory(file4) / 'input'}' belongs to user")
    succeeded(run(*words.group(1).split()))
    assert file4.read_bytes() == wanted
    assert file4.stat().st_uid == NOBODY
