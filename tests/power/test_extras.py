"""Without a library that only some commands need there is one line that says what to install, and the rest works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .stored import write_result
from .support import BUILD, POWER, cli_env

BLOCKED = """import sys, importlib.abc
class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == {module!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
sys.argv[0] = {program!r}
from {package}.cli import main
main()
"""


def without(module: str, cwd: Path, *words: str, package: str = "ecosort_power") -> subprocess.CompletedProcess[str]:
    """The program in a Python where a module cannot be imported."""
    text = BLOCKED.format(module=module, program=package, package=package)
    env = cli_env(
        ECOSORT_PROGRAM=str(BUILD / "ecosort"), PYTHONPATH=f"{POWER}:{POWER.parent / 'tuning'}:{POWER.parent / 'tuning/bench'}"
    )
    command = [sys.executable, "-c", text, *words]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("module", "words", "install"),
    [
        ("pyvisa", ("probe", "scpi://127.0.0.1:9#profile=wt310"), "pip install pyvisa pyvisa-py pyserial pyusb"),
        ("pysnmp", ("probe", "snmp://127.0.0.1:9#preset=apc-rpdu2"), "pip install pysnmp cryptography"),
        ("tinytuya", ("probe", "tuya://id@127.0.0.1:9#password-file=key"), "pip install tinytuya"),
        ("paho", ("probe", "mqtt://127.0.0.1:9/t#unit=W"), "pip install paho-mqtt"),
        ("zeroconf", ("meters", "--discover"), "pip install zeroconf"),
        ("matplotlib", ("report", "r", "--format", "figures", "-o", "f"), "pip install matplotlib"),
    ],
)
def test_a_missing_library_is_one_line(tmp_path: Path, module: str, words: tuple[str, ...], install: str) -> None:
    write_result(tmp_path / "r")
    (tmp_path / "key").touch(mode=0o600)
    (tmp_path / "key").write_text("0123456789abcdef")
    done = without(module, tmp_path, *words)
    assert done.returncode in (2, 3), done.stderr
    assert install in done.stderr
    assert "ecosort[" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_rest_works_without_any_of_them(tmp_path: Path) -> None:
    write_result(tmp_path / "r")
    for module in ("matplotlib", "pyvisa"):
        assert without(module, tmp_path, "report", "r").returncode == 0
    assert without("httpx", tmp_path, "report", "r").returncode == 0  # loaded by the meters that need it


def test_a_search_without_optuna_is_one_line(tmp_path: Path) -> None:
    words = ("search", "--goal", "time", "--budget", "1min", "--dir", str(tmp_path), "--size", "1MB", "--memory", "16MiB")
    done = without("optuna", tmp_path, *words, package="ecosort_tuning")
    assert (done.returncode, "pip install optuna" in done.stderr) == (2, True), done.stderr
