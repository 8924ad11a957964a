"""Libraries of tests/doubles that are preloaded into the program under test: each worker compiles them once."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "doubles"


@functools.cache
def _directory() -> Path:
    """One that other users reach: a test may run the program as one of them."""
    path = Path(tempfile.mkdtemp(prefix="ecosort-preloaded-"))
    path.chmod(0o755)
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def library(name: str, compiler: str = "cc") -> Path:
    path = _directory() / f"{name}.so"
    words = [compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-O1", SOURCES / f"{name}.c", "-o", path]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


def faults(trace: Path, *rules: str) -> list[str]:
    """The words in front of a command whose calls fail, end it or stop it by the rules of doubles/faults.c; `trace` gets them."""
    trace.unlink(missing_ok=True)
    options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS", ""), "verify_asan_link_order=0"]))
    variables = {"LD_PRELOAD": library("faults"), "FAULTS": " ".join(rules), "FAULTS_LOG": trace, "ASAN_OPTIONS": options}
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def why_no_faults() -> str | None:
    """Returns why there are no faults: where the kernel or a container refuses the filter, the library says so."""
    with tempfile.TemporaryDirectory() as directory:
        words = [*faults(Path(directory, "trace"), "fsync"), "true"]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return None if done.returncode == 0 else done.stderr.strip()
