"""Reads what the kernel says of its real-time clock."""

from __future__ import annotations

import ctypes

UNSYNCHRONISED = "not synchronised"
_STA_UNSYNC = 0x0040


class _Timex(ctypes.Structure):
    """struct timex of adjtimex(2), up to what is read here; the rest is room."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 512),
    )


def synchronisation() -> str | None:
    """UNSYNCHRONISED, or how far off the clock is at most; None where the kernel does not say."""
    state = _Timex()
    if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(state)) == -1:
        return None
    return UNSYNCHRONISED if state.status & _STA_UNSYNC else f"synchronised, at most {state.maxerror / 1000:.0f} ms off"
