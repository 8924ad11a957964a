"""The Makefile and what it calls: what a newcomer types first."""

import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import BUILD, ROOT
from ecosort.version import __version__ as VERSION  # noqa: N812

DEMO = ROOT / "tuning" / "demo.py"
SETUP = ROOT / "tuning" / "setup"


def commit_of_the_build() -> str:
    return re.findall(r'ECOSORT_COMMIT "(.*)"', (BUILD / "build_info.h").read_text())[0]


def make(*words: str) -> subprocess.CompletedProcess[str]:
    # The tests may themselves run below make: its flags and job server are not for this one. The program stays as it is where
    # something was committed after it was built, or other tests would miss it while it is linked again.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment["ECOSORT_COMMIT"] = commit_of_the_build()
    command = ["make", "--no-print-directory", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_help_names_every_target() -> None:
    told = set(re.findall(r"^  make ([\w-]+)", make("help").stdout, re.MULTILINE))
    there = set(re.findall(r"^\.PHONY: ([\w-]+)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert told == there


def test_unknown_sanitizers_are_refused() -> None:
    done = make("SAN=adress", "help")
    assert done.returncode == 2
    assert "give address,undefined or thread" in done.stderr


def test_install_puts_program_man_page_and_completions_below_the_prefix(ecosort: Path, tmp_path: Path) -> None:
    done = make("install", f"SAN={os.environ.get('ECOSORT_SAN', '')}", f"DESTDIR={tmp_path}", "PREFIX=/opt/eco")
    assert done.returncode == 0, done.stderr
    assert b".debug_info" not in (tmp_path / "opt/eco/bin/ecosort").read_bytes()
    commands = re.findall(
        r"^  (\w+) +\w",
        subprocess.run([ecosort, "--help"], capture_output=True, text=True).stdout.partition("\nCommands:")[2],
        re.M,
    )
    installed = {path.relative_to(tmp_path / "opt/eco").as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert installed == {
        "bin/ecosort",
        "lib/ecosort/ecosort_stxxl.so",
        *(
            f"include/ecosort/{header}"
            for header in ("ecosort.h", "ecosort.hpp", "errors.hpp", "record_types.hpp", "request.hpp", "value_types.hpp")
        ),
        *(f"lib/{name}" for name in ("libecosort.a", "libecosort.so", "libecosort.so.1", f"libecosort.so.1.{VERSION}")),
        *(f"lib/cmake/ecosort/ecosort{part}.cmake" for part in ("Config", "ConfigVersion", "Targets", "Targets-relwithdebinfo")),
        "lib/pkgconfig/ecosort.pc",
        "share/man/man1/ecosort.1",
        *(f"share/man/man1/ecosort-{command}.1" for command in commands),
        "share/bash-completion/completions/ecosort",
        "share/fish/vendor_completions.d/ecosort.fish",
    }
    records = tmp_path / "records"
    records.write_bytes(bytes(range(100, 0, -1)) * 100)
    sort: list[str | Path] = [
        tmp_path / "opt/eco/bin/ecosort",
        "sort",
        "--key",
        "0:10",
        "--io",
        "stxxl",
        "--stats",
        tmp_path / "stats",
        records,
        "-o",
        tmp_path / "sorted",
    ]
    subprocess.run(sort, check=True)
    assert json.loads((tmp_path / "stats").read_text())["io_backend"] == "stxxl"
    version = subprocess.run([tmp_path / "opt/eco/bin/ecosort", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == subprocess.run([ecosort, "--version"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "opt/eco/bin/other").write_text("not ours")
    done = make("uninstall", f"SAN={os.environ.get('ECOSORT_SAN', '')}", f"DESTDIR={tmp_path}", "PREFIX=/opt/eco")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "opt").rglob("*") if path.is_file()] == ["other"]


def open_to_everyone(directory: Path) -> None:
    for path in (directory, *directory.parents[:3]):
        path.chmod(path.stat().st_mode | 0o055)


@pytest.fixture
def stubs(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """`stubs(sudo="exit 1")`: an environment in which these programs do that, and note in `called` that they were."""

    def make_stubs(**scripts: str) -> dict[str, str]:
        directory = tmp_path / "stubs"
        directory.mkdir(mode=0o755)
        for name, script in scripts.items():
            program = directory / name.replace("_", "-")
            program.write_text(f'#!/bin/sh\necho "$(basename "$0") $*" >>"{directory}/called"\n{script}\n')
            program.chmod(0o755)
        (directory / "called").write_text("")
        (directory / "called").chmod(0o666)
        own = {name: value for name, value in os.environ.items() if name != "YES"}  # an answer to what is asked here
        return {**own, "PATH": f"{directory}:{own['PATH']}", "STUBS": str(directory)}

    return make_stubs


def test_where_cmake_finds_everything_no_package_is_asked_for(tmp_path: Path, stubs: Callable[..., dict[str, str]]) -> None:
    none = dict.fromkeys(("sudo", "apt_get", "apt_cache", "dpkg_query"), "exit 1")
    environment = stubs(**none)
    build = tmp_path / "build"
    command = [str(SETUP / "configure"), str(build), "-DECOSORT_TESTS=OFF"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "stubs/called").read_text() == ""
    targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    assert "\necosort: " in targets
    assert "unit_tests" not in targets
    assert "bench/" not in targets


def test_where_cmake_finds_nothing_the_missing_packages_are_named(
    tmp_path: Path, stubs: Callable[..., dict[str, str]], plain_user_setup: Path, require: Callable[[str], None]
) -> None:
    require("setpriv")
    environment = stubs(
        cmake="echo CMake Error: no such library >&2; exit 1", dpkg_query="exit 1", apt_cache="exit 1", sudo="exit 1"
    )
    open_to_everyone(tmp_path)
    plain_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = [*plain_user, str(plain_user_setup / "configure"), "/nowhere"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1
    assert "libmd-dev" in done.stderr
    assert "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends build-essential" in done.stderr
    assert "libgtest-dev" not in done.stderr
    assert "sudo" not in (tmp_path / "stubs/called").read_text()


def everything_from(terminal: int) -> bytes:
    """Reads what is in it still; one read may give the echo alone."""
    found = b""
    with contextlib.suppress(OSError):  # EIO: no one has the other end, and all is read
        while part := os.read(terminal, 65536):
            found += part
    return found


@pytest.mark.parametrize(("answer", "allows"), [("n\n", False), ("\n", False), ("y\n", True)])
def test_sudo_is_used_when_somebody_says_so(
    tmp_path: Path,
    stubs: Callable[..., dict[str, str]],
    plain_user_setup: Path,
    require: Callable[[str], None],
    answer: str,
    allows: bool,
) -> None:
    require("setpriv")
    (plain_user_setup / "debian.txt").write_text("[absent]\nno-such-package\n")
    environment = stubs(sudo="exit 1", dpkg_query="exit 1")
    open_to_everyone(tmp_path)
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    plain_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = [*plain_user, str(plain_user_setup / "deps"), "absent"]
    done = subprocess.run(
        command, env=environment, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL, timeout=60, check=False
    )
    os.close(theirs)
    text = everything_from(ours).decode()
    os.close(ours)
    assert done.returncode == 1
    assert "missing Debian packages: no-such-package" in text
    assert "install them with apt-get, as root? [y/N]" in text
    assert ("sudo apt-get update" in (tmp_path / "stubs/called").read_text()) == allows
    if not allows:
        assert "nothing was installed; run: apt-get update" in text


def test_the_newest_clang_is_taken(stubs: Callable[..., dict[str, str]]) -> None:
    newest = str(SETUP / "newest")
    environment = stubs(clang_format_17="", clang_format_16="", clang_format="")
    path = environment["STUBS"]
    only = {"PATH": path, "HOME": "/"}

    def found(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["/bin/bash", newest, name], env=only, capture_output=True, text=True, check=False)

    assert found("clang-format").stdout == "clang-format-17\n"
    done = found("no-such-tool")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no no-such-tool of LLVM 16 to 19 is installed" in done.stderr


def demo(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DEMO), "--program", str(BUILD / "ecosort"), "--directory", str(directory), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def disk_directory() -> Iterator[Path]:
    """Beside the build: the temporary directory of a machine may be memory, which the demo refuses."""
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        yield Path(name)


def test_the_demo_sorts_in_two_passes_and_explains_itself(ecosort: Path, disk_directory: Path) -> None:
    done = demo(disk_directory / "demo", "--records", "300000", "--memory", "8MiB")
    assert done.returncode == 0, done.stderr
    rows = dict(
        re.findall(r"^  (records|memory allowed|passes|bytes moved|checksum|order|energy|processor) +(.+)$", done.stdout, re.M)
    )
    assert rows["records"] == "300,000 of 100 bytes = 0.03 GB"
    assert rows["passes"].startswith("2 over the data")
    assert 3.0 < float(rows["bytes moved"].split()[0]) <= 4.1
    inside, outside = re.fullmatch(r"in ([0-9a-f]+) = out ([0-9a-f]+)", rows["checksum"]).groups()  # type: ignore[union-attr]
    # The same records generated again, without a file: the checksum is known from elsewhere than the sort.
    generated = subprocess.run(
        [ecosort, "gen", "-a", "-c", "300000", "/dev/null"], capture_output=True, text=True, check=True
    ).stderr
    assert inside == outside == generated.split()[-1]
    assert rows["order"] == "all records are in order"
    assert rows["energy"]
    assert list(disk_directory.iterdir()) == []


def test_make_demo_takes_its_size_from_variables(disk_directory: Path) -> None:
    """The front door itself: everything is there already, so that nothing is installed and nothing built."""
    sizes = ("DEMO_RECORDS=100000", "DEMO_MEMORY=4MiB", f"DEMO_DIR={disk_directory / 'demo'}")
    done = make("demo", f"SAN={os.environ.get('ECOSORT_SAN', '')}", *sizes)
    assert done.returncode == 0, done.stderr
    assert "100,000 of 100 bytes = 0.01 GB" in done.stdout
    assert "all records are in order" in done.stdout
    assert list(disk_directory.iterdir()) == []


def test_the_demo_keeps_what_is_not_its_own(disk_directory: Path) -> None:
    precious = disk_directory / "input.dat"
    precious.write_text("mine")
    done = demo(disk_directory, "--records", "1000")
    assert done.returncode == 1
    assert "already holds input.dat" in done.stderr
    assert precious.read_text() == "mine"


def test_the_demo_says_when_the_disk_is_too_small(disk_directory: Path) -> None:
    records = shutil.disk_usage(disk_directory).free // 100
    done = demo(disk_directory, "--records", str(records))
    assert done.returncode == 1
    assert "GB free, the demo needs" in done.stderr
    assert done.stdout == ""


def test_the_demo_refuses_memory_posing_as_a_disk() -> None:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    if [kind for _, place, kind, *_ in mounts if place == "/dev/shm"][-1:] != ["tmpfs"]:
        pytest.skip("/dev/shm is no tmpfs here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        done = demo(Path(name), "--records", "1000")
    assert done.returncode == 1
    assert "is memory (tmpfs)" in done.stderr


@pytest.fixture
def plain_user_setup() -> Iterator[Path]:
    """A copy of the dependency installer that a plain user can read."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name, "tree", "tuning", "setup")
        shutil.copytree(SETUP, copy)
        for path in [Path(name), *Path(name).rglob("*")]:
            path.chmod(0o755)
        yield copy


def test_missing_packages_are_named_where_nobody_may_install_them(plain_user_setup: Path, require: Callable[[str], None]) -> None:
    require("setpriv")
    listing = plain_user_setup / "debian.txt"
    listing.write_text(listing.read_text() + "\n[absent]\nmake\nno-such-package-one\nno-such-package-two\n")
    plain_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
    done = subprocess.run(
        [*plain_user, str(plain_user_setup / "deps"), "absent"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 1
    assert "missing Debian packages: no-such-package-one no-such-package-two" in done.stderr
    assert "apt-get install -y --no-install-recommends no-such-package-one no-such-package-two" in done.stderr


def test_installed_packages_need_neither_root_nor_network(plain_user_setup: Path, require: Callable[[str], None]) -> None:
    require("setpriv")
    plain_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
    done = subprocess.run(
        ["unshare", "--net", *plain_user, str(plain_user_setup / "deps"), "program", "build"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_locked_package_is_pinned_with_hashes() -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", (SETUP / "python.lock").read_text())
    packages = [block for block in blocks if not block.startswith("#")]
    assert len(packages) > 20
    assert [block.split()[0] for block in packages if not re.match(r"[\w.-]+==\S+", block) or "--hash=sha256:" not in block] == []
