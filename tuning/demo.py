"""The demonstration behind `make demo`: generate records, sort them with little memory, validate, and say what happened.

    demo.py --program build/ecosort --directory build/demo [--records 10000000] [--memory 256MiB]

Every figure of the summary comes from the sort's own report (--stats), from the validator's output or from the power harness,
which runs the sort; what could not be measured is said, not estimated. The data is removed at the end, also after an error or
Ctrl-C.
"""

import argparse
import json
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from ecosort_power.errors import PowerError, RunError
from ecosort_power.host import mount_of
from ecosort_power.records import RECORD_BYTES
from ecosort_power.transports.process import run_to_end, session
from ecosort_power.validate import CheckReport, parse_report

GB = 1e9
# Input, output and runs side by side; the sort gives run space back while it merges.
SPACE_PER_INPUT_BYTE = 2.3


def call(command: list[str | Path], accept: tuple[int, ...] = (0,)) -> tuple[int, str]:
    """Shows the command and runs it; its exit code, and what it wrote on stderr. RunError for a code that is not accepted."""
    words = [str(word) for word in command]
    print(f"$ {shlex.join(words)}", flush=True)
    code, _, said = run_to_end(words)
    if code not in accept:
        raise RunError(f"{shlex.join(words)} ended with exit code {code}: {said.strip()}")
    return code, said


def validate(program: Path, file: Path) -> CheckReport:
    """`ecosort check`: exit code 1 only says that the records are not in order, which is what the input is for."""
    code, said = call([program, "check", file], accept=(0, 1))
    report = parse_report(said, code)
    if report.records is None or report.checksum is None:
        raise RunError(f"ecosort check said nothing of records and checksum: {said.strip()}")
    return report


def check_place(directory: Path, input_bytes: int) -> None:
    """The figures mean something on a real disk only, and the disk must hold the data."""
    kind = mount_of(directory)
    if kind.in_memory:
        raise RunError(f"{directory} is memory ({kind.file_system}); name a directory on a disk: make demo DEMO_DIR=...")
    needed_bytes, free_bytes = int(SPACE_PER_INPUT_BYTE * input_bytes), shutil.disk_usage(directory).free
    if free_bytes < needed_bytes:
        raise RunError(
            f"{directory} has {free_bytes / GB:.1f} GB free, the demo needs {needed_bytes / GB:.1f} GB; "
            "name a directory with more room: make demo DEMO_DIR=..."
        )


def energy_line(measured: dict[str, Any]) -> str:
    """The harness' result: joules with what they were measured at, or why there are none and what would help."""
    energy = measured["energy"]
    if energy is None:
        return f"null: {measured['energy_reason']}"
    per_joule = energy["records_per_joule"]
    rate = f", {per_joule['mean']:,.0f} records per joule" if per_joule else ""
    limits = f" (instrument: +-{energy['uncertainty_j']:.2g} J)" if energy["uncertainty_j"] is not None else ""
    return f"{energy['joules']['mean']:.4g} J{limits}{rate}; scope: {energy['scope']}"


def summary(stats: dict[str, Any], before: CheckReport, after: CheckReport, measured: dict[str, Any]) -> str:
    """The table for a newcomer."""
    gb = stats["input_bytes"] / GB
    moved_bytes = stats["bytes_read"] + stats["bytes_written"]
    cpu_s = stats["cpu_user_s"] + stats["cpu_system_s"]
    passes = stats["merge_passes"] + 1
    phases = ", ".join(
        f"{phase['name'].replace('_', ' ')} {phase['end_s'] - phase['begin_s']:.2f} s" for phase in stats["phases"]
    )
    runs = f"{stats['runs']} sorted runs, then merged" if stats["merge_passes"] else "all of it fits the memory"
    rows = [
        ("records", f"{stats['records']:,} of {stats['record_size_bytes']} bytes = {gb:.3g} GB"),
        (
            "memory allowed",
            f"{stats['memory_limit_bytes'] / 2**20:.0f} MiB (the process took {stats['peak_rss_bytes'] / 2**20:.0f} MiB)",
        ),
        ("time", f"{stats['wall_s']:.2f} s ({phases})"),
        ("speed", f"{stats['input_bytes'] / 1e6 / stats['wall_s']:.0f} MB/s of input"),
        ("passes", f"{passes} over the data ({runs})"),
        ("bytes moved", f"{moved_bytes / stats['input_bytes']:.2f} per input byte, read and written together"),
        ("temporary space", f"{stats['peak_temp_bytes'] / GB:.2f} GB at most"),
        ("processor", f"{cpu_s / gb:.2f} CPU-seconds per GB ({cpu_s:.2f} s, {stats['threads']} threads)"),
        ("drive access", f"{stats['io_backend']}"),
        ("checksum", f"in {before.checksum} {'=' if before.checksum == after.checksum else 'DIFFERS FROM'} out {after.checksum}"),
        ("order", "all records are in order" if after.in_order else "NOT IN ORDER"),
        ("energy", energy_line(measured)),
    ]
    return "\n".join(f"  {name:<16}{value}" for name, value in rows)


def demonstrate(program: Path, directory: Path, records: int, memory: str, idle: str) -> None:
    """Runs the four steps in the directory and prints the summary."""
    data, output, result = directory / "input.dat", directory / "sorted.dat", directory / "power"
    call([program, "gen", "-a", str(records), data])
    before = validate(program, data)
    print(f"  {before.records:,} records, checksum {before.checksum}, " + ("in order" if before.in_order else "not in order yet"))
    # One run, with whatever meter can be read here; exit code 1 is a measurement that does not hold, which the summary explains.
    harness: list[str | Path] = [
        Path(sys.executable).parent / "ecosort-power",
        "run",
        "--meter",
        "auto",
        "--time-only",
        "--runs",
        "1",
    ]
    harness += ["--no-validate", "--idle", idle, "--pause", "0", "--settle", "0", "--out", result]
    call([*harness, "--", program, "sort", "--memory", memory, data, "-o", output], accept=(0, 1))
    after = validate(program, output)
    stats, measured = (json.loads((result / name).read_text()) for name in ("runs/01/stats.json", "summary.json"))
    print(f"\nEcoSort sorted {records:,} records:\n" + summary(stats, before, after, measured))
    if not after.in_order or (before.records, before.checksum) != (after.records, after.checksum):
        raise RunError("the output is not the sorted input; please report this")


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def stop(signal_number: int, _frame: object) -> NoReturn:
    sys.exit(128 + signal_number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="the built program ecosort")
    parser.add_argument("--directory", type=Path, required=True, help="where the data goes; made if it is absent")
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--memory", default="256MiB")
    parser.add_argument("--idle", default="5", help="seconds of idle power before and after the sort, if a meter can be read")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    made = not options.directory.exists()
    names = ["input.dat", "sorted.dat", "power"]
    try:
        options.directory.mkdir(parents=True, exist_ok=True)
        if taken := [name for name in names if (options.directory / name).exists()]:
            names = []
            raise RunError(f"{options.directory} already holds {taken[0]}; remove it or name another: make demo DEMO_DIR=...")
        check_place(options.directory, options.records * RECORD_BYTES)
        demonstrate(options.program, options.directory, options.records, options.memory, options.idle)
    except (PowerError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        session.end()
        for name in names:
            remove(options.directory / name)
        if made and options.directory.exists():
            options.directory.rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main())
