"""The README's own meter works as printed, found by its entry point."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import pytest
from ecosort_power.report import facts

from .measured import Measured, measure
from .support import POWER, fake_sort

README = (POWER / "README.md").read_text()


@contextmanager
def flickering(path: Path) -> Iterator[None]:
    """A lamp between 21.0 and 21.2."""
    over = threading.Event()

    def flicker() -> None:
        level = 0
        while not over.wait(0.03):
            level = 1 - level
            new = path.with_name("watts.new")
            new.write_text(f"{21.0 + 0.2 * level}")
            new.rename(path)

    path.write_text("21.0")
    thread = threading.Thread(target=flicker)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def block(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert match is not None
    return match[1]


def measure_lamp(directory: Path, mark: pytest.Mark) -> Measured:
    package = directory / "packages"
    (package / "lamp-1.0.dist-info").mkdir(parents=True)
    (package / "lamp.py").write_text(block("python"))
    (package / "lamp-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: lamp\nVersion: 1.0\n")
    section, line = block("toml").strip().splitlines()
    assert section == '[project.entry-points."ecosort_power.meters"]'
    (package / "lamp-1.0.dist-info/entry_points.txt").write_text("[ecosort_power.meters]\n" + line.replace('"', "") + "\n")
    words = ("--meter", f"lamp:{directory / 'watts'}#factor=2", "--no-validate", "--runs", "1")
    how = pytest.mark.measured(*words, command=fake_sort(), env={"PYTHONPATH": f"{POWER}:{package}"})
    with flickering(directory / "watts"):
        return measure(directory, how.mark)


@pytest.mark.measured(by=measure_lamp)
def test_the_meter_of_the_readme_is_short_and_works(measured: Measured) -> None:
    assert block("python").count("\n") <= 40
    assert measured.done.returncode == 0, measured.done.stdout + measured.done.stderr
    found = measured.run()["energy"][0]
    assert found["joules"] / found["seconds"] == pytest.approx(42.2, abs=0.3)


def test_the_facts_of_the_readme_are_those_that_a_report_wants(tmp_path: Path) -> None:
    lines = README.partition("report DIR --template -o")[2].splitlines()[1:]
    sample = "\n".join(takewhile(lambda line: not line.startswith("#"), lines))
    path = tmp_path / "submission.toml"
    path.write_text("\n".join(line.strip() for line in sample.splitlines() if " = " in line))
    assert facts.read(path, tmp_path)["ambient_c"] == "22.5"


def test_both_readmes_say_what_the_meters_were_tested_with() -> None:
    for path in (POWER / "README.md", POWER.parent / "README.md"):
        assert "never yet" in path.read_text()
        assert "physical instrument" in path.read_text()


def test_every_scheme_of_the_readme_exists() -> None:
    from ecosort_power.meters import meter_class

    schemes = set(re.findall(r"`([a-z]+):", README)) - {"lamp"}
    assert {"ipmi", "redfish", "scpi", "shelly", "snmp", "rapl", "hwmon", "exec", "csv"} <= schemes
    for scheme in schemes:
        meter_class(scheme)
