"""The systemd units."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from ecosort_appliance.errors import QueueError
from ecosort_appliance.places import queue_directory
from sort_support import Require

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


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "ECOSORT_QUEUE"):
        monkeypatch.delenv(name, raising=False)
    for call in ("getuid", "geteuid"):
        monkeypatch.setattr(os, call, lambda: 987_654)  # of no one in the list of users
    with pytest.raises(QueueError, match="no home directory; set ECOSORT_QUEUE, or HOME"):
        queue_directory()
    monkeypatch.setenv("XDG_STATE_HOME", "/srv/state")
    assert queue_directory() == Path("/srv/state/ecosort")
