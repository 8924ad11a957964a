"""Errors and exit codes: those of the power harness, whose meters and child processes are used here."""

from ecosort_power.errors import EXIT_OK, RunError, UsageError

EXIT_WORSE = 1  # compare: something got worse; search: nothing better was found

__all__ = ["EXIT_OK", "EXIT_WORSE", "RunError", "UsageError"]
