"""The probe: fio's reports are understood, doubts are reported, nothing is left behind, and foreign profiles are refused."""

from __future__ import annotations

import json
import os
import platform
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import BUILD
from ecosort_power.codec import encode
from ecosort_tuning import fio, kernels
from ecosort_tuning.errors import RunError, UsageError
from ecosort_tuning.fio import Cell, Engine, Sample
from ecosort_tuning.judge import doubts, doubts_of_processors
from ecosort_tuning.machine import MachineIdentity, processor_wait_s, this_machine
from ecosort_tuning.probe import ProbeOptions, places, run_probe
from ecosort_tuning.profile import Profile, read_profile, write_profile
from ecosort_tuning.toml_text import to_toml

from .conftest import Tune
from .machine import write
from .recorded import report

HERE = MachineIdentity("0123456789abcdef", "Processor X", 2, 8 << 30)
DIRECT = Engine("io_uring", True)


def test_a_recorded_report_is_read_with_its_units() -> None:
    text = "note: both iodepth >= 1 and synchronous I/O engine are selected\n" + json.dumps(report(2.0e9, 1.0e9, latency_us=750))
    sample = fio.parse(text)
    assert (sample.read_bytes_per_s, sample.write_bytes_per_s, sample.bytes_per_s) == (2.0e9, 1.0e9, 3.0e9)
    assert sample.latency_s == pytest.approx(750e-6)
    assert sample.bytes_moved == 4_500_000_000
    assert sample.cpu_s == pytest.approx(0.15)  # 4 % + 6 % of 1.5 s


def test_the_latency_of_two_directions_is_weighted_by_their_requests() -> None:
    document = report(3.0e9, 1.0e9)
    document["jobs"][0]["read"]["lat_ns"]["mean"] = 1e6
    document["jobs"][0]["write"]["lat_ns"]["mean"] = 5e6
    assert fio.parse(json.dumps(document)).latency_s == pytest.approx(2e-3, rel=1e-3)


def test_reports_that_say_nothing_are_errors() -> None:
    failed = report(1e9, 0)
    failed["jobs"][0]["error"] = 28
    for text, reason in (
        ("", "no report"),
        ("{}", "no report"),
        (json.dumps(failed), "error 28"),
        (json.dumps(report(0, 0)), "no byte"),
    ):
        with pytest.raises(RunError, match=reason):
            fio.parse(text)


def test_the_words_of_fio_follow_the_cell(tmp_path: Path) -> None:
    line = " ".join(fio.words(Cell("mixed", 1 << 20, 16), DIRECT, tmp_path / "data", 1 << 30, 0.25))
    for word in (
        "--rw=rw",
        "--bs=1048576",
        "--iodepth=16",
        "--direct=1",
        "--ioengine=io_uring",
        "--runtime=250ms",
        "--size=1073741824",
    ):
        assert word in line.split()


def samples_of(*rates: float, latency_s: float = 1e-3) -> list[Sample]:
    return [Sample(rate, 0.0, latency_s, 0.1, int(rate)) for rate in rates]


@pytest.mark.parametrize(
    ("mode", "rates", "latency_s", "engine", "expected"),
    [
        ("read", (1e9, 1.02e9, 0.99e9), 1e-3, DIRECT, None),
        ("read", (1e9, 1.8e9, 1.9e9), 1e-3, DIRECT, "1.9 times as fast as the first: something caches"),
        ("write", (1e9, 0.8e9, 0.6e9), 1e-3, DIRECT, "reach 60 % of the first: .* throttles"),
        ("write", (1e9, 0.7e9, 1e9), 1e-3, DIRECT, "1 of 1 rates vary by more than 25 %"),
        ("random", (1e9, 1e9), 3e-6, DIRECT, "single reads take 3.0 us"),
        ("read", (1e9, 1e9), 1e-3, Engine("psync", False), "page cache took part"),
    ],
)
def test_doubts_are_told(mode: str, rates: tuple[float, ...], latency_s: float, engine: Engine, expected: str | None) -> None:
    depth = 1 if mode == "random" else 16
    found = doubts("/ssd", engine, {Cell(mode, 1 << 20, depth): samples_of(*rates, latency_s=latency_s)})
    if expected is None:
        assert found == []
    else:
        assert any(re.search(expected, text) for text in found), found


def test_a_busy_processor_is_a_doubt(tmp_path: Path) -> None:
    assert doubts_of_processors(0.2, 10) == []
    assert doubts_of_processors(None, 10) == []
    (busy,) = doubts_of_processors(8.5, 10)
    assert busy.startswith("processes waited for a processor in 85 % of the time")
    waits = iter((100.0, 1e6))
    profile = run_probe(small(tmp_path), HERE, lambda _: None, drive_like(), lambda: next(waits))
    assert "for a processor" in profile.warnings[-1]
    pressure = "some avg10=1.00 avg60=2.00 avg300=3.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
    write(tmp_path / "proc/pressure/cpu", pressure)
    assert processor_wait_s(tmp_path) == 2.5
    assert processor_wait_s(tmp_path / "none") is None


def drive_like(slow: str = "") -> Callable[[Cell, Engine, Path, int, float], Sample]:
    """A drive whose rates are known: 1 GB/s at depth 16 and less below; writes half as fast. Its file must really be there."""

    def measure(cell: Cell, engine: Engine, file: Path, file_bytes: int, seconds: float) -> Sample:
        assert file.stat().st_size == file_bytes
        assert file.stat().st_blocks * 512 >= file_bytes, "no holes"
        if not engine.direct or engine.name == slow:
            raise RunError("fio failed: Invalid argument")
        rate = 1e9 * cell.depth / 16
        read = rate if cell.mode in ("read", "random") else rate / 4 if cell.mode == "mixed" else 0.0
        written = {"write": rate / 2, "mixed": rate / 4}.get(cell.mode, 0.0)
        return fio.parse(json.dumps(report(read, written, seconds, 1 << 12)))

    return measure


def small(directory: Path, **changed: object) -> ProbeOptions:
    options = ProbeOptions((("temp", directory),), (1 << 20,), (1, 16), 0.1, 2, 8 << 20, kernels=False)
    return replace(options, **changed)  # type: ignore[arg-type]


def test_a_probe_measures_every_way_of_use_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("stays")
    steps: list[str] = []
    options = small(tmp_path)
    profile = run_probe(options, HERE, steps.append, drive_like(), lambda: 0.0)
    assert len(steps) == options.steps
    drive = profile.drive[0]
    found = {(r.mode, r.depth): (r.read_bytes_per_s, r.write_bytes_per_s, r.repetitions) for r in drive.rates}
    assert found[("read", 16)] == (1e9, 0.0, 2)
    assert found[("write", 1)] == (0.0, 31_250_000.0, 2)
    assert found[("mixed", 16)] == (2.5e8, 2.5e8, 2)
    assert len(found) == 8
    assert drive.best("random") is not None
    assert profile.warnings == []
    assert profile.absent["kernels"] == "left out by --no-kernels"
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_another_engine_is_taken_where_one_is_refused(tmp_path: Path) -> None:
    drive = run_probe(small(tmp_path), HERE, lambda _: None, drive_like(slow="io_uring")).drive[0]
    assert (drive.engine, drive.direct) == ("libaio", True)


def test_an_interrupted_probe_leaves_nothing_and_a_killed_one_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    def interrupted(*_: object) -> Sample:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_probe(small(tmp_path), HERE, lambda _: None, interrupted)
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / ".ecosort-probe-4194304999/data", "left by a process that cannot be")
    write(tmp_path / f".ecosort-probe-{os.getppid()}/data", "of one that lives")
    run_probe(small(tmp_path), HERE, lambda _: None, drive_like())
    assert [p.name for p in tmp_path.iterdir()] == [f".ecosort-probe-{os.getppid()}"]


def test_places_must_be_drives_with_room(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no directory"):
        places([tmp_path / "nowhere"], None)
    with pytest.raises(UsageError, match="is memory"):
        places([Path("/proc/self")], Path("/dev/shm"))
    with pytest.raises(UsageError, match="GB are free, the probe needs"):
        run_probe(small(tmp_path, file_bytes=1 << 60), HERE, lambda _: None, drive_like())


def profile_with_everything(tmp_path: Path) -> Profile:
    profile = run_probe(small(tmp_path), HERE, lambda _: None, drive_like())
    strange = 'a "quoted" \\ and\nbroken line'
    return replace(profile, warnings=[strange], absent={"a key with spaces": strange})


def test_a_profile_comes_back_as_it_was_written(tmp_path: Path) -> None:
    profile = profile_with_everything(tmp_path)
    path = tmp_path / "deep" / "profile.toml"
    write_profile(path, profile)
    assert read_profile(path, HERE) == profile
    assert [p.name for p in path.parent.iterdir()] == ["profile.toml"]


def test_toml_is_what_the_standard_library_reads() -> None:
    document = {
        "text": 'tab\t, quote ", backslash \\, newline \n, bell \x07, delete \x7f, umlaut \u00e4',
        "numbers": [1, -2.5, 1e300, 5e-324, True],
        "empty": [],
        "odd key": {"deep": {"x": 1}, "list": [{"a": 1}, {"b": {"c": "d"}}]},
    }
    assert tomllib.loads(to_toml(document)) == document


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        (replace(HERE, machine_id="fedcba9876543210"), "another machine: its installation is"),
        (replace(HERE, processor="Processor Y"), "its processor is Processor X, here it is Processor Y"),
        (replace(HERE, cpus=64), "its number of CPUs is 2, here it is 64"),
        (replace(HERE, memory_bytes=9 << 30), "its memory is"),
    ],
)
def test_the_profile_of_another_machine_is_refused(tmp_path: Path, there: MachineIdentity, reason: str) -> None:
    path = tmp_path / "profile.toml"
    write_profile(path, profile_with_everything(tmp_path))
    with pytest.raises(UsageError, match=reason):
        read_profile(path, there)
    read_profile(path, replace(HERE, machine_id="", memory_bytes=HERE.memory_bytes - (1 << 20)))


def test_a_profile_of_another_version_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "profile.toml"
    write_profile(path, profile_with_everything(tmp_path))
    good = path.read_text()
    for old, new, reason in (
        ("ecosort.profile/2", "ecosort.profile/3", "has the version 3, this program reads 2"),
        ("ecosort.profile/2", "other/1", "no profile of ecosort-tune"),
        ("depth = 16", 'depth = "deep"', "damaged: .*depth is not int"),
        ("created", "crated", "damaged: profile.created is missing"),
        ("schema", "= schema", "cannot be read"),
    ):
        path.write_text(good.replace(old, new))
        with pytest.raises(UsageError, match=reason):
            read_profile(path, HERE)
    with pytest.raises(UsageError, match="does not exist; ecosort-tune probe"):
        read_profile(tmp_path / "none.toml", HERE)


def test_the_identity_of_a_machine_does_not_tell_its_number(tmp_path: Path) -> None:
    write(tmp_path / "etc/machine-id", "8f7c1e0a5b6d4c3e9a8b7c6d5e4f3a2b")
    write(tmp_path / "proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel(R) Atom(TM) CPU  330\n")
    write(tmp_path / "proc/meminfo", "MemTotal:        4000000 kB\nMemFree: 1 kB")
    found = this_machine(tmp_path)
    assert found.processor == "Intel(R) Atom(TM) CPU  330"
    assert found.memory_bytes == 4_096_000_000
    assert re.fullmatch(r"[0-9a-f]{16}", found.machine_id)
    assert "8f7c1e0a" not in json.dumps(encode(found))
    assert this_machine(tmp_path) == found


@pytest.mark.parametrize(
    ("board", "parts", "expected"),
    [
        ("Raspberry Pi 5 Model B Rev 1.0", ["0xd0b"] * 4, "Raspberry Pi 5 Model B Rev 1.0"),
        ("", ["0xd05"] * 4 + ["0xd0b"] * 4, "4 Cortex-A55, 4 Cortex-A76"),
        ("", ["0xd0c"] * 2, "2 Neoverse N1"),
        ("", ["0xd0c", "0xfff"], platform.machine()),
    ],
)
def test_an_arm_processor_has_a_name(tmp_path: Path, board: str, parts: list[str], expected: str) -> None:
    """Its /proc/cpuinfo has numbers alone: all machines with as many CPUs and as much memory were one."""
    cpus = "".join(
        f"processor\t: {i}\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU variant\t: 0x4\nCPU part\t: {part}\n\n"
        for i, part in enumerate(parts)
    )
    write(tmp_path / "proc/cpuinfo", cpus + (f"Revision\t: d04170\nModel\t\t: {board}\n" if board else ""))
    assert this_machine(tmp_path).processor == expected


def test_costs_become_nanoseconds_per_record(tmp_path: Path) -> None:
    program = tmp_path / "costs"
    program.write_text('#!/bin/sh\necho \'{"verification":{"granule_seal":0.03},"kernels":{"merge":0.25,"runs":\'$1\'}}\'\n')
    program.chmod(0o755)
    found = kernels.measure_kernels(program, 64, 2)
    assert found.ns_per_record == {"merge": 25.0, "runs": 6400.0, "granule_seal": 3.0}
    with pytest.raises(RunError, match="printed no costs"):
        kernels.parse('{"kernels": 3}')
    program.write_text("#!/bin/sh\necho no memory >&2; exit 3\n")
    with pytest.raises(RunError, match="failed: no memory"):
        kernels.measure_kernels(program, 64, 1)


def test_where_the_costs_are_not_built_the_profile_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_PROGRAM", str(tmp_path / "ecosort"))
    profile = run_probe(small(tmp_path, kernels=True), HERE, lambda _: None, drive_like())
    assert profile.kernels is None
    assert "make bench-kernels" in profile.absent["kernels"]


def test_a_real_probe_with_fio(tune: Tune, tmp_path: Path, require: Callable[[str], None]) -> None:
    """Beside the build: the temporary directory of a machine may be memory, which is refused."""
    require("fio")
    place = BUILD / f"probe-{os.getpid()}"
    place.mkdir()
    try:
        words = (
            "--seconds",
            "0.1",
            "--repetitions",
            "1",
            "--file-size",
            "32MiB",
            "--block",
            "256KiB",
            "--depth",
            "1",
            "--depth",
            "8",
        )
        done = tune("probe", "--temp", place, *words, "--no-kernels", "-o", "profile.toml")
        assert done.returncode == 0, done.stderr
        assert list(place.iterdir()) == []
    finally:
        place.rmdir()
    profile = read_profile(tmp_path / "profile.toml", this_machine())
    rates = {(r.mode, r.depth): r for r in profile.drive[0].rates}
    assert len(rates) == 8
    for (mode, _), rate in rates.items():
        assert (rate.read_bytes_per_s > 1e6) == (mode != "write")
        assert (rate.write_bytes_per_s > 1e6) == (mode in ("write", "mixed"))
        assert 1e-7 < rate.latency_s < 1.0
    shown = tune("show", "profile.toml", env={"ECOSORT_PROGRAM": str(BUILD / "ecosort")})
    assert shown.returncode == 0, shown.stderr
    assert "256KiB" in shown.stdout
    assert re.search(r"has kernels for \w+, pages of \d+ KiB, \d+ of its CPUs for --threads auto", " ".join(shown.stdout.split()))
    (tmp_path / "foreign.toml").write_text((tmp_path / "profile.toml").read_text().replace("processor = ", 'processor = "Z" # '))
    refused = tune("show", "foreign.toml")
    assert (refused.returncode, "another machine" in refused.stderr) == (2, True)


def test_a_profile_replaces_no_pipe_or_device_and_follows_a_link(tune: Tune, tmp_path: Path) -> None:
    """`--profile /dev/stdout` by root would take it away from everybody."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        done = tune("probe", "--temp", BUILD, "--profile", tmp_path / name)
        assert (done.returncode, done.stderr.count("\n")) == (3, 1)
        assert f"{name}: it is no regular file, and is not replaced" in done.stderr
    assert [(path.name, path.is_fifo(), path.is_symlink()) for path in sorted(tmp_path.iterdir())] == [
        ("link", True, True),
        ("pipe", True, False),
    ]
    (tmp_path / "pipe").unlink()
    write_profile(tmp_path / "link", Profile("ecosort-tune.profile/1", "2026", "0", HERE))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pipe").is_file()


def test_usage_errors_come_before_any_measurement(tune: Tune, tmp_path: Path) -> None:
    for words, reason in (
        (("--temp", tmp_path / "none"), "is no directory"),
        ((), "missing option '--temp'"),
        (("--temp", BUILD, "--block", "100B"), "multiples of 4KiB"),
        (("--temp", BUILD, "--block", "4GiB"), "does not fit a file"),
        (("--temp", BUILD, "--file-size", "12k"), "no size such as 4MiB"),
    ):
        done = tune("probe", *words)
        assert (done.returncode, reason in done.stderr.replace("\n", " ")) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []
