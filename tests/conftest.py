"""Every test module shares this: the program under test and the way to run it."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import capabilities
import durations
import pytest
from order_of_tests import in_order
from sort_support import BACKENDS, directory_for_everyone, spread_over_the_drive

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("ECOSORT_BUILD") or ROOT / "build")
DURATIONS = BUILD / "test-durations.tsv"

# The tests start Python a thousand times: what it compiles is kept, whatever the environment of who runs them says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# With several threads numpy spins for 25 ms of every start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(durations.Durations(config, DURATIONS))
    take_signals_as_usual()


def take_signals_as_usual() -> None:
    """Under nohup SIGHUP is ignored, in the background of a script SIGINT and SIGQUIT; and so they would be in all programs under
    test, which respect that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart() -> None:
    if not Path(os.devnull).is_char_device():
        pytest.exit("/dev/null is a file here, so that tests would fail; as root: rm /dev/null; mknod -m 666 /dev/null c 1 3", 4)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """A test that renames or removes an output could take the machine's device away, and later ones would fail for it."""
    assert Path(os.devnull).is_char_device(), f"{item.nodeid} replaced or removed /dev/null"


def pytest_report_header() -> str:
    sanitizers = os.environ.get("ECOSORT_SAN") or "none"
    return f"build: {BUILD}, sanitizers: {sanitizers}, strict: {capabilities.STRICT}, soak: {capabilities.SOAK}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = in_order(items, durations.read(DURATIONS))


def pytest_collection_finish() -> None:
    """Keeps the collector of garbage away from what was imported and collected: a million objects, which stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    from scheduler import InTwoPhases  # it needs xdist, which is there where this is called

    return InTwoPhases(config, log)


@pytest.fixture(scope="session", autouse=True)
def no_profile_of_mine() -> Iterator[None]:
    """Hides the profile of the user who runs the tests; what libraries configure goes away with the tests."""
    with directory_for_everyone() as directory, pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CONFIG_HOME", str(directory))
        yield


@pytest.fixture(scope="session", autouse=True)
def directories_lie_apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """ext4 puts what is below a directory near it, and gives no inode again for minutes. So where tests make and remove thousands
    of files, each new one searched for its inode for half a millisecond; now the directory of each test has its own place."""
    spread_over_the_drive(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def ecosort() -> Path:
    """The program under test (`make` builds it; ECOSORT_BUILD names another build directory)."""
    program = BUILD / "ecosort"
    assert program.exists(), f"{program} is not built: run make"
    return program


@pytest.fixture(scope="session")
def run(ecosort: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run("sort", "in", "-o", "out", cwd=tmp_path)`: runs the program to its end; the caller judges the exit code."""

    def run_program(*words: str | Path, timeout_s: float = 120, **options: Any) -> subprocess.CompletedProcess[str]:
        options.setdefault("stdin", subprocess.DEVNULL)
        command = [str(ecosort), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, **options)

    return run_program


@pytest.fixture(scope="session")
def require() -> Callable[[str], None]:
    """`require("xfs")`: skips where the machine lacks it, fails with ECOSORT_STRICT; names in capabilities.py."""
    return capabilities.require


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, require: Callable[[str], None]) -> str:
    """Each I/O backend in turn."""
    if request.param == "uring":
        require("io_uring")
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path, data: bytes) -> Path:
    """A directory that holds the module's `data` as the input `in`, and nothing else."""
    (tmp_path / "in").write_bytes(data)
    return tmp_path


@pytest.fixture
def only_own_files_become_cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cold run takes out of the page cache what the test has written. All of the machine's cache would take seconds, and other
    tests would read it again."""

    def forget() -> bool:
        for path in filter(Path.is_file, tmp_path.rglob("*")):
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return True

    monkeypatch.setattr("ecosort_measure.cold_run.drop_caches", forget)
