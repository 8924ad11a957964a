"""Errors and exit codes: those of the power harness, whose meters and child processes are used here."""

from ecosort_power.errors import EXIT_INTERNAL, EXIT_OK, EXIT_USAGE, InterruptError, PowerError, RunError, UsageError

EXIT_WORSE = 1  # compare: something got worse; search: nothing better was found
EXIT_MACHINE = 3  # a program, a drive or the machine failed

__all__ = [
    "EXIT_INTERNAL",
    "EXIT_MACHINE",
    "EXIT_OK",
    "EXIT_USAGE",
    "EXIT_WORSE",
    "InterruptError",
    "PowerError",
    "RunError",
    "UsageError",
]
