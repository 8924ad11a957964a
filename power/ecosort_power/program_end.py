"""Ends a program of these packages: errors become one line and an exit code, and no child process is left."""

from __future__ import annotations

import io
import signal
import sys
from types import FrameType

import click

from ecosort_power.encoding import SPELLED
from ecosort_power.errors import EXIT_INTERNAL, EXIT_METER, EXIT_USAGE, InterruptError, PowerError
from ecosort_power.usage import asks_for_help, usage_text


def run_program(cli: click.Command, name: str, place: str) -> None:
    """Runs the program `name` and exits. `place`: what a full drive is called whose name the system does not say."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SPELLED)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)
    sys.exit(_guarded(cli, name, place))


def _on_signal(number: int, frame: FrameType | None) -> None:
    raise InterruptError(number)


def _guarded(cli: click.Command, name: str, place: str) -> int:
    from ecosort_power.extras import missing
    from ecosort_power.transports.process import session

    try:
        return int(cli.main(standalone_mode=False, prog_name=name) or 0)
    except PowerError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as error:
        print(f"{name}: {missing(error)}", file=sys.stderr)
        return EXIT_USAGE
    except click.ClickException as error:
        if asks_for_help(error):
            error.show()
        else:
            print(f"{name}: {usage_text(error)}", file=sys.stderr)
        return EXIT_USAGE
    except click.exceptions.Exit as error:
        return error.exit_code
    except BrokenPipeError:
        return EXIT_INTERNAL
    except OSError as error:  # a full drive, a directory that may not be written
        where = error.filename if error.filename is not None else place
        print(f"{name}: {where}: {error.strerror or error}", file=sys.stderr)
        return EXIT_METER
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        session.end()
