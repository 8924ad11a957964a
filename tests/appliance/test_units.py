"""The systemd units."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from ecosort_appliance.errors import QueueError
from ecosort_appliance.places import queue_directory
from sort_support import Require

from .support import COMMAND

UNITS = ("ecosort.service", "ecosort@.service")


@pytest.mark.parametrize("unit", UNITS)
def test_exposure_is_low(unit: str, require: Require) -> None:
    """At most 3.0 of 10, by systemd's own scale."""
    require("systemd-analyze")
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=30", "--no-pager", ROOT / "packaging/systemd" / unit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Overall exposure level" in done.stdout, done
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("unit", UNITS)
def test_what_they_start_is_understood(unit: str) -> None:
    """Their options are those of the program."""
    text = (ROOT / "packaging/systemd" / unit).read_text()
    assert "ecosort serve --token-file " in text
    assert "KillMode=process" in text


def drop_in() -> str:
    """Returns the drop-in of the page for home servers."""
    found = re.search(r"```ini\n(.*?)```", (ROOT / "docs" / "home-server.md").read_text(), re.DOTALL)
    assert found
    return found[1]


def test_the_drop_in_of_the_page_widens_what_the_unit_denies() -> None:
    """Each of its settings is one that the unit has, and the options are those of the program."""
    unit = (ROOT / "packaging/systemd/ecosort@.service").read_text()
    settings = re.findall(r"^(\w+)=", drop_in(), re.MULTILINE)
    assert {name for name in settings if f"\n{name}=" not in unit} == {"SupplementaryGroups"}
    assert settings[:2] == ["ExecStart", "ExecStart"]
    told = subprocess.run([*COMMAND, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"(--[a-z-]+) ", drop_in().partition("IPAddress")[0].partition("serve")[2])) - {"--on-end"}
    assert options >= {"--token-file", "--listen", "--meter"}
    assert {option for option in options if option not in told} == set()


def test_systemd_reads_the_drop_in(tmp_path: Path, require: Require) -> None:
    """And complains of another one."""
    require("systemd-analyze")
    text = (ROOT / "packaging/systemd/ecosort@.service").read_text()
    (tmp_path / "ecosort@root.service.d").mkdir()
    (tmp_path / "ecosort@root.service").write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "ecosort@root.service")]
    for added, is_told in (("", False), ("Nonsense=1\n", True)):
        (tmp_path / "ecosort@root.service.d" / "override.conf").write_text(drop_in() + added)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ("override.conf" in done.stderr) == is_told, done.stderr


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "ECOSORT_QUEUE"):
        monkeypatch.delenv(name, raising=False)
    for call in ("getuid", "geteuid"):
        monkeypatch.setattr(os, call, lambda: 987_654)  # of no one in the list of users
    with pytest.raises(QueueError, match="no home directory; set ECOSORT_QUEUE, or HOME"):
        queue_directory()
    monkeypatch.setenv("XDG_STATE_HOME", "/srv/state")
    assert queue_directory() == Path("/srv/state/ecosort")
