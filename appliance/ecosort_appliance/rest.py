"""Lets the machine rest: no sleep while a job works, and, where that was asked for (`--after`), sleep when nothing is left to do.

systemd does both: an inhibitor holds while a job works, `systemctl suspend` or `poweroff` ends the night. Where a job is due
later, an alarm of its clock (RTC) wakes it. Where that cannot be done, or another program inhibits sleep, the machine stays
awake.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from pathlib import Path

CHOICES = ("suspend", "poweroff")
GRACE_S = 30.0
_EARLY_S = 60.0  # by which the machine wakes before a job is due
_SHORTEST_S = 600.0  # a shorter sleep is worth nothing
_CALL_S = 30.0
_RESPECTED = {"suspend": {"sleep"}, "poweroff": {"sleep", "shutdown"}}  # inhibitors of others
_LOGIND = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")
_BLOCKED = ("busctl", "get-property", *_LOGIND, "BlockInhibited")
_INHIBIT = ("systemd-inhibit", "--what=sleep:idle", "--who=ecosort", "--why=a sort works", "--mode=block", "cat")


class Rest:
    """`after` None: the machine is kept awake while a job works, and no more."""

    def __init__(self, after: str | None = None, root: Path = Path("/"), grace_s: float = GRACE_S) -> None:
        self._after = after
        self._alarm = root / "sys/class/rtc/rtc0/wakealarm"
        self._has_systemd = (root / "run/systemd/system").exists()  # as sd_booted(3) says
        self.grace_s = grace_s  # of nothing to do, before it is over
        self._inhibitor: subprocess.Popen[bytes] | None = None
        self.has_worked = False
        self._idle_since_s: float | None = None
        self._said = ""

    def tick(self, works: bool, is_idle: bool, next_due_s: float | None) -> None:
        """`works`: a job does. `is_idle`: none does, none is due, no report of an end is open. `next_due_s`: when one is due,
        since 1970."""
        self._hold(works)
        self.has_worked |= works
        now_s = time.monotonic()
        if not is_idle or not self.has_worked or self._after is None:
            self._idle_since_s = None
            return
        self._idle_since_s = now_s if self._idle_since_s is None else self._idle_since_s
        if now_s - self._idle_since_s >= self.grace_s:
            self._idle_since_s = None
            self.has_worked = not self._rest(self._after, next_due_s)  # it rests again after another job only

    def close(self) -> None:
        self._hold(False)

    def _hold(self, works: bool) -> None:
        if works and self._inhibitor is None:
            with contextlib.suppress(OSError):  # no systemd: nothing puts the machine to sleep by itself
                self._inhibitor = subprocess.Popen(
                    _INHIBIT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                )
        elif works and self._inhibitor is not None:
            self._say_if_refused(self._inhibitor)
        elif self._inhibitor is not None:
            try:
                self._inhibitor.communicate(timeout=_CALL_S)  # closes its standard input
            except subprocess.TimeoutExpired:  # systemd does not answer
                self._inhibitor.kill()
                self._inhibitor.communicate()
            self._inhibitor = None

    def _say_if_refused(self, inhibitor: subprocess.Popen[bytes]) -> None:
        if inhibitor.poll() is None or not self._has_systemd:
            return
        assert inhibitor.stderr
        if said := inhibitor.stderr.read().decode(errors="replace").strip():
            self._say(f"the machine may go to sleep while a job works: systemd-inhibit: {said.splitlines()[-1]}")

    def _rest(self, after: str, next_due_s: float | None) -> bool:
        """False where it is tried again after another time of nothing to do."""
        if next_due_s is not None and next_due_s - time.time() < _SHORTEST_S:
            return False
        if next_due_s is not None and not self._wake_at(next_due_s - _EARLY_S):
            self._say(f"--after {after}: the machine stays awake: a job is due, and its clock cannot wake it ({self._alarm})")
            return False
        _, blocked = _call(*_BLOCKED)  # root's systemctl would ignore them
        if not _RESPECTED[after].isdisjoint(re.findall(r"[\w-]+", blocked)):
            self._say(f"--after {after}: the machine stays awake: another program works (`systemd-inhibit --list` names it)")
            return False
        why, _ = _call("systemctl", after)
        self._say(f"--after {after}: systemctl {after}: {why}" if why else "")
        return not why

    def _wake_at(self, seconds: float) -> bool:
        """Sets the alarm; false where there is none, or it may not be set."""
        try:
            self._alarm.write_text("0")  # the kernel takes no other time while one is set
            # From now on, by its own clock: on a machine that has Windows, too, that clock shows local time.
            self._alarm.write_text(f"+{int(seconds - time.time())}")
        except OSError:
            return False
        return True

    def _say(self, text: str) -> None:
        """Once, however often it is tried."""
        if text and text != self._said:
            print(f"ecosort: {text}", file=sys.stderr, flush=True)
        self._said = text


def _call(*command: str) -> tuple[str, str]:
    """Returns what was wrong, and what the command said."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_CALL_S, check=False, text=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error), ""
    why = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return (why[-1] if done.returncode else ""), done.stdout
