"""Lets the machine rest: no sleep while a job works, and, where that was asked for (`--after`), sleep when nothing is left to do.

systemd does both: an inhibitor holds while a job works, `systemctl suspend` or `poweroff` ends the night. Where a job is due
later, an alarm of its clock (RTC) wakes it; where that cannot be done, the machine stays awake.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path

CHOICES = ("suspend", "poweroff")
GRACE_S = 30.0
_EARLY_S = 60.0  # by which the machine wakes before a job is due
_SHORTEST_S = 600.0  # a shorter sleep is worth nothing
_CALL_S = 30.0
_INHIBIT = ("systemd-inhibit", "--what=sleep:idle", "--who=ecosort", "--why=a sort works", "--mode=block", "cat")


class Rest:
    """`after` None: the machine is kept awake while a job works, and no more."""

    def __init__(self, after: str | None = None, root: Path = Path("/"), grace_s: float = GRACE_S) -> None:
        self._after = after
        self._alarm = root / "sys/class/rtc/rtc0/wakealarm"
        self.grace_s = grace_s  # of nothing to do, before it is over
        self._inhibitor: subprocess.Popen[bytes] | None = None
        self._has_worked = False
        self._idle_since_s: float | None = None

    def tick(self, works: bool, is_idle: bool, next_due_s: float | None) -> None:
        """`works`: a job does. `is_idle`: none does, none is due, no report of an end is open. `next_due_s`: when one is due,
        since 1970."""
        self._hold(works)
        self._has_worked |= works
        now_s = time.monotonic()
        if not is_idle or not self._has_worked or self._after is None:
            self._idle_since_s = None
            return
        self._idle_since_s = now_s if self._idle_since_s is None else self._idle_since_s
        if now_s - self._idle_since_s >= self.grace_s:
            self._has_worked = False  # it rests again after another job only
            self._rest(self._after, next_due_s)

    def close(self) -> None:
        self._hold(False)

    def _hold(self, works: bool) -> None:
        if works and self._inhibitor is None:
            with contextlib.suppress(OSError):  # no systemd: nothing puts the machine to sleep by itself
                self._inhibitor = subprocess.Popen(
                    _INHIBIT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
        elif not works and self._inhibitor is not None:
            assert self._inhibitor.stdin
            self._inhibitor.stdin.close()
            try:
                self._inhibitor.wait(_CALL_S)
            except subprocess.TimeoutExpired:  # systemd does not answer
                self._inhibitor.kill()
                self._inhibitor.wait()
            self._inhibitor = None

    def _rest(self, after: str, next_due_s: float | None) -> None:
        if next_due_s is not None and next_due_s - time.time() < _SHORTEST_S:
            self._has_worked = True  # looks again when that job is done, or due later
            return
        if next_due_s is not None and not self._wake_at(next_due_s - _EARLY_S):
            _say(f"--after {after}: the machine stays awake: a job is due, and its clock cannot wake it ({self._alarm})")
            return
        try:
            done = subprocess.run(
                ["systemctl", after], stdin=subprocess.DEVNULL, capture_output=True, timeout=_CALL_S, check=False
            )
            why = done.stderr.decode(errors="replace").strip() if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
        if why:
            _say(f"--after {after}: systemctl {after}: {why}")

    def _wake_at(self, seconds: float) -> bool:
        """Sets the alarm; false where there is none, or it may not be set."""
        try:
            self._alarm.write_text("0")  # the kernel takes no other time while one is set
            # From now on, by its own clock: on a machine that has Windows, too, that clock shows local time.
            self._alarm.write_text(f"+{int(seconds - time.time())}")
        except OSError:
            return False
        return True


def _say(text: str) -> None:
    print(f"ecosort: {text}", file=sys.stderr, flush=True)
