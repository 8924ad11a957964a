"""Puts the program into the wheel: what `make` builds, or what ECOSORT_PROGRAM names, stripped, and its options as data. The rest
is in pyproject.toml.

The same commit, compiler and Python packages give the same bytes, in whatever directory and with whatever umask: times are those
of the commit (or SOURCE_DATE_EPOCH), modes are 644 and 755.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PROGRAM = Path(os.environ.get("ECOSORT_PROGRAM") or ROOT / "build" / "ecosort")
# Every system has these whose C library is new enough (PEP 600).
EVERYWHERE = re.compile(r"lib(c|m|gcc_s|stdc\+\+|pthread|dl|rt)\.so\.\d+|ld-linux.*")
PROGRAM_MACHINE = {0x3E: "x86_64", 0xB7: "aarch64"}  # e_machine of ELF


def take_times_of_the_commit() -> None:
    """Takes them; where there is no commit, files keep their own."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git
        return
    if said:
        os.environ.setdefault("SOURCE_DATE_EPOCH", said)


def make_program() -> None:
    """`make`, whose messages are for people and say what is missing."""
    if os.environ.get("ECOSORT_PROGRAM"):
        return
    if subprocess.run(["make", "-C", str(ROOT), "all"], stdout=sys.stderr, check=False).returncode != 0:
        sys.exit("setup: the program could not be built (the messages of make are above; README.md names what it needs)")


def platform_of(program: Path) -> str:
    """manylinux with the version of the C library that the program asks for, where it needs no library that others may lack."""
    command = ["readelf", "--wide", "--dynamic", "--version-info", str(program)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said.stdout)
    machine = PROGRAM_MACHINE[program.read_bytes()[18]]
    if not all(EVERYWHERE.fullmatch(library) for library in needed):
        return f"linux_{machine}"
    minor = max(int(number) for number in re.findall(r"GLIBC_2\.(\d+)", said.stdout))
    return f"manylinux_2_{minor}_{machine}"


class Build(build):
    """Beside what CMake builds, not among it."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = str(ROOT / "build" / "wheel")


class BuildPackages(build_py):
    """Builds the program too, unless the packages are used where they are."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)  # modules that are gone must not get into the wheel
        super().run()
        if self.editable_mode:
            return
        make_program()
        target = Path(self.build_lib, "ecosort", "bin", "ecosort")
        target.parent.mkdir(parents=True, exist_ok=True)
        build_id = ".note.gnu.build-id"  # it depends on the directory of the build
        subprocess.run(["strip", f"--remove-section={build_id}", "-o", target, PROGRAM], check=True)
        with contextlib.suppress(OSError):  # a program of another processor is asked where it is installed
            manual = subprocess.run([PROGRAM.absolute(), "manual", "json"], capture_output=True, check=True).stdout
            target.parent.with_name("manual.json").write_bytes(manual)


class Wheel(bdist_wheel):
    """Works for any Python 3, on the program's platform. Packages that are used where they are need no program."""

    def get_tag(self) -> tuple[str, str, str]:
        if "editable_wheel" in self.distribution.commands:
            own: tuple[str, str, str] = super().get_tag()
            return own
        return "py3", "none", platform_of(PROGRAM)

    def write_wheelfile(self, wheelfile_base: str, generator: str | None = None) -> None:
        """Writes it when all but the list of files is there."""
        super().write_wheelfile(wheelfile_base, *([] if generator is None else [generator]))
        for path in Path(self.bdist_dir).rglob("*"):
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


class WithProgram(Distribution):
    """Not the same on every platform."""

    def has_ext_modules(self) -> bool:
        return True


take_times_of_the_commit()
setup(distclass=WithProgram, cmdclass={"build": Build, "build_py": BuildPackages, "bdist_wheel": Wheel})
