"""The systemd units."""

from __future__ import annotations

import subprocess

import pytest
from conftest import ROOT
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
