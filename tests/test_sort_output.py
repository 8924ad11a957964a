"""An output gets its name complete or not at all, and with the attributes of what it replaces."""

import os
import re
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from sort_support import (
    MIB,
    NOBODY,
    Require,
    Run,
    as_plain_user,
    copy_program,
    directory_for_everyone,
    expected,
    listing,
    make_records,
    mounted,
    refused,
    sanitizers,
    succeeded,
    wait_until,
)


@pytest.fixture(scope="session")
def data(ecosort: Path) -> bytes:
    return make_records(ecosort, "skewed", 40_000)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])  # two passes and one
def test_direct_writes_are_whole_blocks_of_the_file_system(
    run: Run, require: Require, tmp_path: Path, data: bytes, memory: str
) -> None:
    """The drive takes units of 512 bytes as well, but the file system does such writes one at a time."""
    require("loop_mount")
    with mounted(tmp_path, "ext4", 64 * MIB, block_bytes=4096) as drive:
        (drive.root / "in").write_bytes(data)
        succeeded(run("sort", "in", "-o", "out", "--memory", memory, "--trace", tmp_path / "trace", cwd=drive.root))
        assert (drive.root / "out").read_bytes() == expected(data)
    requests = [line.split() for line in (tmp_path / "trace").read_text().splitlines()[1:]]
    writes = [(role, int(offset), int(size)) for operation, role, _, offset, size, _ in requests if operation == "write"]
    assert ("run" in {role for role, _, _ in writes}) == (memory == "2MiB")
    assert [write for write in writes if write[1] % 4096 != 0 or write[2] % 4096 != 0] == []


@pytest.mark.parametrize(("umask", "wanted"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_output_has_the_mode_of_any_new_file(run: Run, place: Path, umask: int, wanted: int) -> None:
    succeeded(run("sort", "in", "-o", "out", cwd=place, umask=umask))
    assert mode(place / "out") == wanted


@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])
def test_a_replaced_output_keeps_mode_and_attributes(run: Run, place: Path, data: bytes, memory: str) -> None:
    out = place / "out"
    out.write_bytes(b"old")
    out.chmod(0o640)
    os.setxattr(out, "user.project", b"alpha")
    inode = out.stat().st_ino
    succeeded(run("sort", "in", "-o", "out", "--memory", memory, cwd=place))
    assert out.read_bytes() == expected(data)
    assert mode(out) == 0o640
    assert os.getxattr(out, "user.project") == b"alpha"
    assert out.stat().st_ino != inode
    assert listing(place) == [str(place / "in"), str(out)]


def test_a_replaced_output_keeps_its_owner(run: Run, require: Require, place: Path) -> None:
    require("root")
    out = place / "out"
    out.write_bytes(b"old")
    os.chown(out, NOBODY, 12345)
    out.chmod(0o4750)
    succeeded(run("sort", "in", "-o", "out", cwd=place))
    assert (out.stat().st_uid, out.stat().st_gid) == (NOBODY, 12345)


def test_what_cannot_be_kept_is_said(require: Require, ecosort: Path, data: bytes) -> None:
    """A user who replaces somebody else's file in a directory of their own becomes its owner, and reads a notice."""
    require("setpriv")
    with directory_for_everyone() as directory:
        program = copy_program(ecosort, directory)
        (directory / "in").write_bytes(data)
        (directory / "out").write_bytes(b"of root")
        command = as_plain_user(program, "sort", "in", "-o", "out")
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert done.stderr.count("\n") == 1
        assert "could not keep" in done.stderr
        assert "owner" in done.stderr
        assert (directory / "out").stat().st_uid == NOBODY
        assert (directory / "out").read_bytes() == expected(data)
        os.chown(directory / "out", 0, 0)
        done = subprocess.run([*command, "--quiet"], cwd=directory, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_other_names_of_a_replaced_file_keep_the_old_contents_which_is_said(run: Run, place: Path, data: bytes) -> None:
    (place / "out").write_bytes(b"old")
    (place / "other").hardlink_to(place / "out")
    done = run("sort", "in", "-o", "out", cwd=place)
    assert done.returncode == 0
    assert (
        done.stderr
        == "ecosort: could not keep of the replaced 'out': its other names (1 hard link), where the old contents stay\n"
    )
    assert ((place / "other").read_bytes(), (place / "out").read_bytes()) == (b"old", expected(data))


def test_a_symbolic_link_stays_and_its_target_is_replaced(run: Run, place: Path, data: bytes) -> None:
    (place / "real").mkdir()
    (place / "real" / "file").write_bytes(b"old")
    (place / "link").symlink_to("real/file")
    succeeded(run("sort", "in", "-o", "link", cwd=place))
    assert (place / "link").is_symlink()
    assert (place / "real" / "file").read_bytes() == expected(data)
    (place / "dangling").symlink_to("real/fresh")
    succeeded(run("sort", "in", "-o", "dangling", cwd=place))
    assert (place / "real" / "fresh").read_bytes() == expected(data)


def test_a_link_to_itself(run: Run, place: Path) -> None:
    (place / "loop").symlink_to("loop")
    before = listing(place)
    refused(run("sort", "in", "-o", "loop", cwd=place), 2, "'loop'", "symbolic links")
    assert listing(place) == before


def test_output_in_another_directory_and_relative_names(run: Run, place: Path, data: bytes) -> None:
    (place / "a" / "b").mkdir(parents=True)
    succeeded(run("sort", "../../in", "-o", "../out", cwd=place / "a" / "b"))
    assert (place / "a" / "out").read_bytes() == expected(data)


# --- what must be durable, in which order --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def traced(require: Require, ecosort: Path, tmp_path_factory: pytest.TempPathFactory, data: bytes) -> list[str]:
    """The system calls of a two-pass sort that replaces its output, with flags and names of files, which only strace prints."""
    require("strace")
    place = tmp_path_factory.mktemp("traced")
    (place / "in").write_bytes(data)
    (place / "out").write_bytes(b"old")
    calls = "openat,open,pwrite64,write,fsync,fdatasync,linkat,renameat,renameat2,rename,unlinkat,ftruncate,fallocate,close"
    leaks = ["-E", "ASAN_OPTIONS=detect_leaks=0"] if "address" in sanitizers() else []  # looking for them needs ptrace, too
    trace = ["strace", "-f", "-qq", "-y", "--seccomp-bpf", *leaks, "-o", place / "trace", "-e", f"trace={calls}"]
    command = [*trace, ecosort, "sort", "in", "-o", "out", "--memory", "2MiB", "--io", "pool"]
    subprocess.run(command, cwd=place, check=True, timeout=120)
    assert (place / "out").read_bytes() == expected(data)
    lines = [line.split(" ", 1)[1].strip() for line in (place / "trace").read_text().splitlines()]
    return [line for line in lines if "resumed>" not in line]


def position(lines: list[str], *words: str, last: bool = False) -> int:
    found = [number for number, line in enumerate(lines) if all(word in line for word in words)]
    assert found, words
    return found[-1] if last else found[0]


def test_the_output_is_synced_before_it_gets_a_name_and_the_directory_after(traced: list[str]) -> None:
    link = position(traced, "linkat(", "/proc/self/fd/")
    rename = position(traced, "renameat", '"out"')
    written = position(traced, "pwrite64(", last=True)
    synced = [n for n, line in enumerate(traced) if line.startswith(("fsync(", "fdatasync("))]
    assert written < min(n for n in synced)
    assert any(written < n < link for n in synced)
    assert link < rename
    assert any(re.search(r"/traced\d*>\)", traced[n]) for n in synced if n > rename)  # the directory itself
    assert ".ecosort-" in traced[link]
    assert ".tmp" in traced[link]


def test_temporary_files_have_no_name(traced: list[str]) -> None:
    created = [line for line in traced if "O_CREAT" in line and "/dev/" not in line]
    unnamed = [line for line in traced if "O_TMPFILE" in line]
    assert created == []
    assert len(unnamed) >= 3
    assert all("0600" in line for line in unnamed)
    assert sum("O_EXCL" in line for line in unnamed) == len([line for line in unnamed if "O_EXCL" in line]) >= 2  # the runs


def test_space_is_reserved_before_anything_is_written(traced: list[str]) -> None:
    first_write = position(traced, "pwrite64(")
    reservations = [n for n, line in enumerate(traced) if line.startswith("fallocate(") and "PUNCH" not in line]
    runs = [line for line in traced if "O_TMPFILE" in line and "O_EXCL" in line]
    assert len([n for n in reservations if n < first_write]) >= len(runs)


def test_runs_are_given_back_while_the_merge_goes_on(traced: list[str]) -> None:
    punched = [n for n, line in enumerate(traced) if line.startswith("fallocate(") and "PUNCH_HOLE" in line]
    assert punched
    assert punched[0] < position(traced, "pwrite64(", last=True)


# --- a file system without unnamed files ---------------------------------------------------------------------------------

# FAT and NFS answer so; few test machines have either.
NO_UNNAMED_FILES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>
#define REFUSE(name)                                                       \
  int name(const char* path, int flags, ...) {                             \
    va_list words;                                                         \
    va_start(words, flags);                                                \
    mode_t mode = va_arg(words, mode_t);                                   \
    va_end(words);                                                         \
    if ((flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;   \
    return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode); \
  }
REFUSE(open)
REFUSE(open64)
"""


@pytest.fixture(scope="module")
def without_unnamed_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which no file system has O_TMPFILE."""
    source = tmp_path_factory.mktemp("preload") / "no_unnamed_files.c"
    source.write_text(NO_UNNAMED_FILES)
    library = source.with_suffix(".so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS", ""), "verify_asan_link_order=0"]))
    return os.environ | {"LD_PRELOAD": str(library), "ASAN_OPTIONS": options}


def test_without_unnamed_files(run: Run, place: Path, data: bytes, without_unnamed_files: dict[str, str]) -> None:
    words = ("sort", "in", "-o", "out", "--memory")
    assert ".ecosort-*.tmp" in run("plan", *words, "2MiB", cwd=place, env=without_unnamed_files).stdout
    assert ".ecosort-*.tmp" not in run("plan", *words, "2MiB", cwd=place).stdout
    for memory in ("2MiB", "64MiB"):
        succeeded(run(*words, memory, cwd=place, env=without_unnamed_files))
        assert (place / "out").read_bytes() == expected(data)
        assert listing(place) == [str(place / "in"), str(place / "out")]


def test_what_a_killed_run_left_is_reported(
    run: Run, ecosort: Path, place: Path, data: bytes, without_unnamed_files: dict[str, str]
) -> None:
    """A run that is killed where files cannot be unnamed leaves its output under a name that the next run recognises."""
    command = [ecosort, "sort", "-", "-o", "out", "--memory", "2MiB"]
    process = subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, env=without_unnamed_files)
    assert process.stdin
    process.stdin.write(data[:3_000_000])
    process.stdin.flush()
    wait_until(lambda: len(list(place.glob(".ecosort-*.tmp"))) == 1, what="the temporary name")
    (name,) = place.glob(".ecosort-*.tmp")
    assert mode(name) == 0o600
    succeeded(run("sort", "in", "-o", "other", cwd=place))  # while that run lives, its file is no one's leftover
    process.kill()
    process.wait()
    process.stdin.close()
    assert listing(place) == sorted(map(str, [name, place / "in", place / "other"]))
    done = run("sort", "in", "-o", "other", cwd=place)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert name.name in done.stderr
    assert "left behind" in done.stderr


def test_an_interrupted_run_removes_its_temporary_name(
    ecosort: Path, place: Path, data: bytes, without_unnamed_files: dict[str, str]
) -> None:
    command = [ecosort, "sort", "-", "-o", "out", "--memory", "2MiB"]
    process = subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=without_unnamed_files)
    assert process.stdin
    process.stdin.write(data[:3_000_000])
    process.stdin.flush()
    wait_until(lambda: len(list(place.glob(".ecosort-*.tmp"))) == 1, what="the temporary name")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    process.stdin.close()
    assert listing(place) == [str(place / "in")]
