"""`--resumable --compress`: runs that outlive a crash are compressed, and are found, read and merged as those that are not."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from capabilities import SOAK
from lines_support import numbered_lines
from pairs import turns
from sort_support import MIB, OVERHEAD_BYTES, FileSystem, Run, listing, make_records, read_json, refused, succeeded

from .support import job_directory, kill_at_sync, killed_in_merge, syncs_of

RECORDS, LINES = 60_000, 130_000  # 6 MB, 4 MB


def table_of(_: Path) -> bytes:
    return b"n,i,t\n" + b"".join(b"%d,%d,some text\n" % (i * 7919 % 140_009, i) for i in range(140_000))


def json_of(_: Path) -> bytes:
    return b"".join(b'{"n": %d, "i": %d, "t": "some text"}\n' % (i * 7919 % 70_001, i) for i in range(70_000))


@dataclass(frozen=True)
class Kind:
    name: str
    words: tuple[str, ...]
    make: Callable[[Path], bytes]


KINDS = {
    kind.name: kind
    for kind in (
        Kind("sort", ("sort",), lambda ecosort: make_records(ecosort, "skewed ascii", RECORDS)),
        Kind("lines", ("lines", "--header=1"), lambda _: numbered_lines(LINES)),
        Kind("csv", ("csv", "--by", "n:integer"), table_of),
        Kind("jsonl", ("jsonl", "--by", "n:integer"), json_of),
    )
}


# Rows that begin alike are truncated, records are not.
COMPRESSED = [row for row in turns(list(KINDS), ["lz4", "zstd:3", "auto", "prefix"]) if row != ("sort", "prefix")]


@pytest.fixture(scope="session")
def texts(ecosort: Path) -> dict[str, bytes]:
    return {name: kind.make(ecosort) for name, kind in KINDS.items()}


@pytest.fixture(scope="session")
def results(ecosort: Path, texts: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Returns what an ordinary sort makes of them."""
    directory = tmp_path_factory.mktemp("plain")
    made = {}
    for name, kind in KINDS.items():
        (directory / name).write_bytes(texts[name])
        command: list[str | Path] = [
            ecosort,
            *kind.words,
            "--memory",
            "64MiB",
            "--quiet",
            directory / name,
            "-o",
            directory / "out",
        ]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        made[name] = (directory / "out").read_bytes()
    return made


def words_for(name: str, source: Path, out: Path, *more: str | Path, memory: str = "4MiB") -> tuple[str | Path, ...]:
    return (*KINDS[name].words, "--memory", memory, "--resumable", "--quiet", source, "-o", out, *more)


def source_in(directory: Path, text: bytes) -> Path:
    path = directory / "in"
    path.write_bytes(text)
    return path


def runs_of(stats: Path) -> dict[str, Any]:
    told = read_json(stats)
    return {**(told["compression"]["runs"] or {}), "stats": told}


# --- the result --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "codec"), COMPRESSED)
def test_the_output_is_that_of_an_ordinary_sort(
    run: Run, tmp_path: Path, texts: dict[str, bytes], results: dict[str, bytes], name: str, codec: str
) -> None:
    source, out, stats = source_in(tmp_path, texts[name]), tmp_path / "out", tmp_path / "stats"
    succeeded(run(*words_for(name, source, out, "--compress", codec, "--stats", stats)))
    assert out.read_bytes() == results[name]
    told = runs_of(stats)
    assert told["stats"]["peak_counted_memory_bytes"] <= 4 * MIB
    assert told["stats"]["peak_rss_bytes"] <= 4 * MIB + OVERHEAD_BYTES
    shrinks = codec not in ("auto", "prefix")  # rows of JSON share little, in blocks of two pages
    if codec != "auto":
        assert told["asked"] == told["codec"] == codec
    if shrinks:
        assert told["packed_blocks"] > told["blocks"] / 2
        assert told["stored_bytes"] < told["plain_bytes"]
    out.unlink()
    succeeded(run(*words_for(name, source, out, "--stats", stats)))
    plain = runs_of(stats)
    assert "codec" not in plain
    if shrinks:
        assert told["stats"]["bytes_written"] < plain["stats"]["bytes_written"]
        assert told["stats"]["bytes_read"] < plain["stats"]["bytes_read"]
    assert not job_directory(out).exists()


# --- interruptions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_a_kill_at_any_sync_loses_nothing(
    ecosort: Path, run: Run, tmp_path: Path, texts: dict[str, bytes], results: dict[str, bytes], name: str
) -> None:
    source, out = source_in(tmp_path, texts[name]), tmp_path / "out"
    words = words_for(name, source, out, "--compress=lz4")
    last = syncs_of(ecosort, tmp_path, *words)
    assert out.read_bytes() == results[name]
    resumed = 0
    for nth in range(2, last + 1, max(1, last // (8 if SOAK else 3))):
        out.unlink(missing_ok=True)
        if not kill_at_sync(ecosort, tmp_path, nth, *words):
            continue
        if not job_directory(out).exists():
            continue
        done = run("resume", out, "--quiet")
        if done.returncode == 0:
            resumed += 1
            assert out.read_bytes() == results[name]
        else:
            refused(done, 5, "start the sort again")
        assert not job_directory(out).exists()
    assert resumed >= 1
    killed_in_merge(ecosort, tmp_path, out, *words)
    succeeded(run("resume", out, "--quiet"))
    assert out.read_bytes() == results[name]


def interrupted(ecosort: Path, directory: Path, name: str, text: bytes, *more: str, memory: str = "4MiB") -> Path:
    """The output of a job all of whose runs are complete."""
    source, out = source_in(directory, text), directory / "out"
    killed_in_merge(ecosort, directory, out, *words_for(name, source, out, *more, memory=memory))
    return out


@pytest.mark.parametrize(("name", "codec"), turns(list(KINDS), ["lz4", "zstd"]))
def test_compressed_runs_are_merged_without_their_job(
    ecosort: Path, run: Run, tmp_path: Path, texts: dict[str, bytes], results: dict[str, bytes], name: str, codec: str
) -> None:
    out = interrupted(ecosort, tmp_path, name, texts[name], f"--compress={codec}")
    files = sorted(job_directory(out).glob("run-*"))
    assert len(files) > 2
    assert sum(path.stat().st_size for path in files) < len(texts[name]), "they are smaller than what they hold"
    merged, stats = tmp_path / "merged", tmp_path / "stats"
    words = ("merge", "--runs", "--quiet", "--memory", "4MiB", "--stats", stats)
    succeeded(run(*words, job_directory(out), "-o", merged))
    assert merged.read_bytes() == results[name]
    figures = read_json(stats)
    assert figures["peak_counted_memory_bytes"] <= 4 * MIB
    assert figures["peak_rss_bytes"] <= 4 * MIB + OVERHEAD_BYTES
    largest = max(files, key=lambda path: path.stat().st_size)
    for at in (4096 + 100, largest.stat().st_size - 3000, largest.stat().st_size - 1):
        with largest.open("r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 4]))
            file.flush()
            os.fsync(file.fileno())
            refused(run(*words, *files, "-o", tmp_path / "damaged"), 3, "is damaged")
            file.seek(at)
            file.write(bytes([byte]))
    succeeded(run("resume", out, "--quiet", "--memory", "16MiB"))
    assert out.read_bytes() == results[name]


@pytest.mark.parametrize("name", KINDS)
def test_too_little_memory_to_resume_is_refused_with_what_would_do(
    ecosort: Path, run: Run, tmp_path: Path, texts: dict[str, bytes], results: dict[str, bytes], name: str
) -> None:
    out = interrupted(ecosort, tmp_path, name, texts[name], "--compress=zstd:9", memory="16MiB")
    error = refused(run("resume", out, "--quiet", "--memory", "1MiB"), 2, "too little", "--memory ")
    assert job_directory(out).exists(), error
    told = re.search(r"try --memory (\d+KiB)", error)
    assert told, error
    succeeded(run("resume", out, "--quiet", "--memory", told[1]))
    assert out.read_bytes() == results[name]


@pytest.mark.parametrize(("name", "codec"), turns(list(KINDS), ["zstd", "lz4"]))
def test_more_threads_than_it_began_with_need_no_more_memory(
    ecosort: Path, run: Run, tmp_path: Path, texts: dict[str, bytes], results: dict[str, bytes], name: str, codec: str
) -> None:
    words = (f"--compress={codec}", "--parallel=1" if name == "lines" else "--threads=1")
    out = interrupted(ecosort, tmp_path, name, texts[name], *words, memory="5MiB" if codec == "zstd" else "3MiB")
    succeeded(run("resume", out, "--quiet", "--threads", "16"))
    assert out.read_bytes() == results[name]


# --- space -------------------------------------------------------------------------------------------------------------


def plan_for(run: Run, name: str, source: Path, out: Path, *more: str) -> dict[str, Any]:
    words = [word for word in words_for(name, source, out, *more) if word != "--quiet"]
    done = run("plan", *words, "--json")
    assert done.returncode == 0, done
    plan = json.loads(done.stdout)
    assert isinstance(plan, dict)
    return plan


@pytest.mark.parametrize("name", ["sort", "lines"])
@pytest.mark.parametrize("more", [["--compress=lz4"], ["--compress=lz4", "--assume-ratio=1.3"]], ids=" ".join)
def test_exactly_the_space_of_the_plan_is_enough(
    run: Run, drive: FileSystem, tmp_path: Path, texts: dict[str, bytes], results: dict[str, bytes], name: str, more: list[str]
) -> None:
    source, out = source_in(tmp_path, texts[name]), drive.root / "out"
    plan = plan_for(run, name, source, out, *more)
    need = plan["needed_bytes"]
    assert plan["compression"]["asked"] == "lz4"
    whole = plan_for(run, name, source, out, "--compress=lz4")["needed_bytes"]
    if len(more) > 1 and name == "lines":  # runs of records give their space to the output, which needs all of it
        assert need < whole - len(texts[name]) / 10
    else:
        assert need == whole
    drive.fill_until(need)
    block = os.statvfs(drive.root).f_frsize
    for _ in range(8):  # what the file system holds back changes with what is written
        if drive.settled_free_bytes() < need:
            break
        drive.fill_until(drive.settled_free_bytes() - block)
    done = run(*words_for(name, source, out, *more))
    assert done.returncode == 2, done
    assert f"({need} bytes) needed" in done.stderr
    drive.fill_until(need)
    succeeded(run(*words_for(name, source, out, *more)))
    assert out.read_bytes() == results[name]
    subprocess.run(["rm", "-rf", *drive.root.iterdir()], check=True)


@pytest.mark.parametrize("name", ["lines", "csv"])
def test_a_ratio_that_was_too_good_ends_it_and_nothing_is_lost(
    run: Run, ext4: FileSystem, tmp_path: Path, texts: dict[str, bytes], results: dict[str, bytes], name: str
) -> None:
    source, out = source_in(tmp_path, texts[name]), ext4.root / "out"
    more = ("--compress=lz4", "--assume-ratio=20")
    ext4.fill_until(plan_for(run, name, source, out, *more)["needed_bytes"])
    done = run(*words_for(name, source, out, *more))
    assert done.returncode == (2 if name == "lines" else 3), done
    assert "runs shrink less than was assumed" in done.stderr
    assert job_directory(out).exists()
    for path in ext4.root.iterdir():
        if path.is_file():
            path.unlink()  # what filled the drive
    succeeded(run("resume", out, "--quiet"))
    assert out.read_bytes() == results[name]
    assert listing(ext4.root) == [str(out)]
    out.unlink()


# --- what is reported and refused ------------------------------------------------------------------------------------------


def test_plans_tell_how_runs_are_compressed(run: Run, tmp_path: Path, texts: dict[str, bytes]) -> None:
    for name in KINDS:
        source, out = source_in(tmp_path, texts[name]), tmp_path / "out"
        words = [word for word in words_for(name, source, out, "--compress=zstd:3") if word != "--quiet"]
        done = run("plan", *words)
        assert done.returncode == 0, done
        assert " compressed runs " in done.stdout
        assert "zstd:3; " in done.stdout
        assert plan_for(run, name, source, out)["compression"] is None


@pytest.mark.parametrize("name", KINDS)
def test_what_does_not_go_together_is_refused(run: Run, tmp_path: Path, texts: dict[str, bytes], name: str) -> None:
    source, out = source_in(tmp_path, texts[name]), tmp_path / "out"

    def line_of(*more: str) -> str:
        done = run(*words_for(name, source, out, *more))
        assert done.returncode == 2, done
        assert len(done.stderr.splitlines()) == 1
        return str(done.stderr)

    assert "a ratio can be assumed of runs that are compressed" in line_of("--assume-ratio=2")
    assert "--goal energy cannot be combined with --resumable" in line_of("--goal=energy", "--compress=auto")
    assert "--goal energy cannot be combined with --resumable" in line_of("--goal=energy")
    words = [word for word in words_for(name, source, out, "--goal=energy") if word != "--quiet"]
    refused(run("plan", *words), 2, "--goal energy cannot be combined with --resumable")
    no_codec = (
        "--compress-program cannot be combined with"
        if name == "lines"
        else "none of auto, none, prefix, lz4, zstd and zstd:LEVEL"
    )
    assert no_codec in line_of("--compress=brotli")
    assert listing(tmp_path) == [str(source)]
