"""The errors of the harness, each with the exit code that `cli.main` turns it into."""

from __future__ import annotations

EXIT_OK = 0
EXIT_INVALID = 1  # a result that does not hold: defects, not validated, no energy
EXIT_USAGE = 2
EXIT_METER = 3  # a meter or the machine failed
EXIT_INTERNAL = 4


class PowerError(Exception):
    """One clear line that says what is wrong and what to do."""

    exit_code = EXIT_INTERNAL


class UsageError(PowerError):
    """The command line, a configuration file or a directory cannot be used."""

    exit_code = EXIT_USAGE


class MeterError(PowerError):
    """A meter cannot be used: unreachable, refused, gone."""

    exit_code = EXIT_METER


class MeterGlitchError(MeterError):
    """One reading failed (late, garbled, refused); the next one may succeed."""


class SilentMeterError(MeterGlitchError):
    """There was no answer at all."""


class RunError(PowerError):
    """The measured command or the machine around it failed."""

    exit_code = EXIT_METER


class InvalidResultError(PowerError):
    """The measurement ran but its result does not hold."""

    exit_code = EXIT_INVALID


class InterruptError(PowerError):
    """A signal ended the session; `number` is the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by signal {number}")
        self.number = number
        self.exit_code = 128 + number
