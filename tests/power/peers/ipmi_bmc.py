"""A simulated BMC: ipmi_sim with a DCMI module, spoken to by unmodified ipmitool. Watts come from a file."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
USER, PASSWORD = "joule", "sesame-7Q"


def build_module(directory: Path) -> Path:
    """Compiles the module that answers DCMI power readings; once per test session."""
    target = directory / "dcmi_mod.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(target), str(HERE / "dcmi_mod.c")], check=True)
    return target


class Bmc:
    """One simulated BMC in a directory of its own."""

    def __init__(self, directory: Path, port: int, module: Path | None) -> None:
        self.directory = directory
        self.port = port
        self.set_watts(200)
        self.set_watts(100, "watts_psu")
        state = directory / "state/ipmi_sim/jsbmc"
        state.mkdir(parents=True)
        subprocess.run(["sdrcomp", "-o", str(state / "sdr.20.main"), str(HERE / "power.sdrs")], check=True)
        load = f'loadlib "{module}" "{directory / "watts"}"' if module is not None else ""
        words = {"@DIR@": str(directory), "@PORT@": str(port), "@LOADLIB@": load}
        for name in ("lan.conf", "power.emu"):
            text = (HERE / f"{name}.in").read_text()
            for key, value in words.items():
                text = text.replace(key, value)
            (directory / name).write_text(text)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"ipmi://{USER}@127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self.directory / "sim.log").open("ab") as log:
            words = ["ipmi_sim", "-c", "lan.conf", "-f", "power.emu", "-s", "state", "-n"]
            self._process = subprocess.Popen(
                words, cwd=self.directory, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        with contextlib.suppress(PermissionError):  # a real BMC does not wait for the machine that it measures
            os.setpriority(os.PRIO_PROCESS, self._process.pid, -15)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def set_watts(self, watts: int, name: str = "watts") -> None:
        """Replaces the file in one step, so that a reader never sees half a number."""
        new = self.directory / f"{name}.new"
        new.write_text(f"{watts}\n")
        new.rename(self.directory / name)

    def answers(self) -> bool:
        base = ["ipmitool", "-I", "lanplus", "-C", "3", "-N", "1", "-R", "1", "-H", "127.0.0.1", "-p", str(self.port)]
        env = {**os.environ, "IPMITOOL_PASSWORD": PASSWORD}
        return subprocess.run([*base, "-U", USER, "-E", "mc", "info"], env=env, capture_output=True, check=False).returncode == 0
