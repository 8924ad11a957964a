"""Rows that come in order are not stored: they are merged from where they lie in the input. The tests try what may go wrong with
that.
"""

import os
import random
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lines_support import assert_same
from pairs import turns
from sort_support import Run, faults, listing, read_json, refused, succeeded

MEMORY = ["--memory", "1MiB", "--compress", "none"]  # blocks of 8 KiB, buffers of a third of a MiB
N = 60_000
rng = random.Random(9)


def row(number: int) -> str:
    return f"{number:09d} {'x' * (number % 50)}"


NUMBERS = sorted(rng.sample(range(10**9), N))
ROWS = [row(number) for number in NUMBERS]
TEXT = "\n".join(ROWS) + "\n"
READS = len(TEXT) // 8192  # of an input, before the merge
SHUFFLED = rng.sample(ROWS, N)


def appended(share: float) -> list[str]:
    border = N - int(N * share)
    return sorted(SHUFFLED[:border]) + SHUFFLED[border:]


def concatenated(pieces: int) -> list[str]:
    return [text for piece in range(pieces) for text in ROWS[piece::pieces]]


def moved(stats: Path) -> float:
    told = read_json(stats)
    return float(told["bytes_read"] + told["bytes_written"]) / float(told["input_bytes"])


def sort_lines(run: Run, place: Path, rows: Sequence[str], *words: str, end: str = "\n") -> dict[str, float]:
    (place / "in").write_text("\n".join(rows) + end)
    succeeded(run("lines", *MEMORY, *words, "in", "-o", "out", "--stats", "stats", cwd=place))
    return {**read_json(place / "stats"), "moved": moved(place / "stats")}


# Each input may take this: bytes moved for each byte, at most, and the runs that lie in the input. Blocks are small here: what
# two parts of the merge share of them, and looks for where to cut, are some percent.
SHAPES: dict[str, tuple[list[str], float, int]] = {
    "in order": (ROWS, 3.1, 1),
    "in order, 5 % appended": (appended(0.05), 3.35, 1),
    "three files in order, one behind the other": (concatenated(3), 3.15, 3),
    "in no order": (SHUFFLED, 4.5, 0),
    "equal rows": (["the same row"] * N, 3.1, 1),
    "one row out of place": ([*ROWS[: N // 2], ROWS[0], *ROWS[N // 2 :]], 3.7, 2),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_in_order_is_not_stored(run: Run, tmp_path: Path, shape: str) -> None:
    rows, most_moved, runs = SHAPES[shape]
    stats = sort_lines(run, tmp_path, rows)
    assert (tmp_path / "out").read_text() == "\n".join(sorted(rows)) + "\n"
    assert (stats["runs_in_inputs"], stats["moved"] <= most_moved) == (runs, True), stats["moved"]
    size = (tmp_path / "in").stat().st_size
    assert stats["bytes_in_inputs"] == size if runs == stats["runs"] else stats["bytes_in_inputs"] < size
    assert stats["peak_temp_bytes"] <= 1.1 * (size - stats["bytes_in_inputs"])


def test_descending_order_and_the_last_row_without_its_end(run: Run, tmp_path: Path) -> None:
    stats = sort_lines(run, tmp_path, ROWS[::-1], "-r", "--verify=reread", end="")
    assert (tmp_path / "out").read_text() == "\n".join(ROWS[::-1]) + "\n"
    assert (stats["runs"], stats["runs_in_inputs"]) == (1, 1)


def test_equal_keys_keep_the_order_of_the_input_over_every_seam(ecosort: Path, tmp_path: Path) -> None:
    """Rows with equal keys before, at and behind the seams of runs, blocks and files."""
    for name, shift in (("a", 0), ("b", 1)):
        rows = [f"{number // 5_000:04d} {name} {number}" for number in range(shift, N)]
        (tmp_path / name).write_text("\n".join(rows) + ("\n" if shift else ""))
    (tmp_path / "c").write_text("".join(f"{number // 700:04d} c {number}\n" for number in (*range(N), *range(N))))
    for words in (["-s", "-k1,1"], ["-u", "-k1,1"], ["-s", "-k1,1r"], ["-k1,1"], ["-u"]):
        assert_same(ecosort, tmp_path, [*words, "-S", "1M", "a", "b", "c"])


def test_rows_of_some_lengths_at_every_place_of_a_block(ecosort: Path, tmp_path: Path) -> None:
    """Rows that end with a block of 8 KiB, the missing end of the last one behind it, and rows that are longer than blocks."""
    for longest in (64, 512, 20_000):
        rows = sorted(f"{number:06d}" + "y" * ((number * 31) % longest) for number in range(1_500_000 // (longest // 2 + 6)))
        text = "\n".join(rows)
        for size in (len(text), len(text) // 8192 * 8192, len(text) // 8192 * 8192 - 1, len(text) // 8192 * 8192 + 1):
            (tmp_path / "in").write_text(text[:size])
            assert_same(ecosort, tmp_path, ["-S", "1M", "in"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("has_quotes", [False, True])
def test_tables_in_order(run: Run, tmp_path: Path, end: str, has_quotes: bool) -> None:
    """A byte order mark, a header, quotes with a newline in them, and no end behind the last row."""
    quoted = '"a ""b""\n, c"' if has_quotes else "abc"
    rows = [f"{number},{quoted if number % 7 == 0 else 'x' * (number % 40)}" for number in NUMBERS]
    for name, part in (("a.csv", rows[::2]), ("b.csv", rows[1::2])):
        (tmp_path / name).write_text(end.join(["\ufeffn,text", *part]), newline="")
    succeeded(run("csv", *MEMORY, "--by", "n:integer", "a.csv", "b.csv", "-o", "out", "--stats", "stats", cwd=tmp_path))
    expected = end.join(["\ufeffn,text", *rows]) + end
    assert (tmp_path / "out").read_bytes() == expected.encode()
    stats = read_json(tmp_path / "stats")
    assert stats["runs_in_inputs"] >= 2
    assert stats["bytes_in_inputs"] > 0.6 * stats["input_bytes"]


def test_json_lines_in_order(run: Run, tmp_path: Path) -> None:
    rows = [f'{{"n": {number}, "text": "{"x" * (number % 40)}"}}' for number in NUMBERS]
    (tmp_path / "in").write_text("\n".join([*rows[: N // 2], "", *rows[N // 2 :]]))  # a blank line is left out
    done = run("jsonl", *MEMORY, "--by", "n:integer", "in", "-o", "out", "--stats", "stats", cwd=tmp_path)
    assert (done.returncode, "blank lines are left out" in done.stderr) == (0, True), done
    assert (tmp_path / "out").read_text() == "\n".join(rows) + "\n"
    stats = read_json(tmp_path / "stats")
    assert (stats["runs"], stats["runs_in_inputs"], moved(tmp_path / "stats") < 3.4) == (3, 2, True), moved(tmp_path / "stats")


def test_more_passes_and_a_pipe(ecosort: Path, run: Run, tmp_path: Path) -> None:
    """The run in the input is not moved by merges before the last one."""
    (tmp_path / "in").write_text("\n".join(appended(0.2)) + "\n")
    words = ["lines", *MEMORY, "--batch-size", "2"]
    succeeded(run(*words, "in", "-o", "out", "--stats", "stats", cwd=tmp_path))
    assert read_json(tmp_path / "stats")["intermediate_merges"] > 0
    assert moved(tmp_path / "stats") < 4.1, moved(tmp_path / "stats")
    with (tmp_path / "in").open("rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        done = subprocess.run([ecosort, *words, "-", "-o", "piped"], stdin=cat.stdout, cwd=tmp_path, check=True)
        cat.wait()
    assert done.returncode == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "piped").read_bytes()
    assert (tmp_path / "out").read_text() == "\n".join(ROWS) + "\n"


def test_compression_that_is_asked_for_stores_everything(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("\n".join(ROWS) + "\n")
    succeeded(run("lines", "--memory", "1MiB", "--compress", "zstd", "in", "-o", "out", "--stats", "stats", cwd=tmp_path))
    assert (tmp_path / "out").read_text() == "\n".join(ROWS) + "\n"
    assert read_json(tmp_path / "stats")["runs_in_inputs"] == 0


# --- inputs that change between run formation and the merge ---------------------------------------------------------------------


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def write_near_end(path: Path, rows: Sequence[str]) -> None:
    """Over the last rows, which were not read again yet."""
    text = "\n".join(rows) + "\n"
    with path.open("r+b") as file:
        file.seek(len(TEXT) - len(text))
        file.write(text.encode())


def swap_rows(path: Path) -> None:
    """The same rows in another order: count and hash stay."""
    write_near_end(path, [*ROWS[-60:-30], ROWS[-1], *ROWS[-29:-1], ROWS[-30]])


def other_rows(path: Path) -> None:
    write_near_end(path, [*ROWS[-60:-1], ROWS[-1].replace("9", "999", 1)[: len(ROWS[-1])]])


def one_long_row(path: Path) -> None:
    text = path.read_bytes()
    with path.open("r+b") as file:
        file.write(text.replace(b"\n", b"~"))


def no_rows(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\n" * path.stat().st_size)


def hidden(change: Callable[[Path], None]) -> Callable[[Path], None]:
    """The times of the file say nothing."""

    def change_and_hide(path: Path) -> None:
        before = path.stat()
        change(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    change_and_hide.__name__ = f"{change.__name__}_hidden"
    return change_and_hide


CHANGED = "changed while it was read"
CHANGES: list[tuple[Callable[[Path], None], int, tuple[str, ...]]] = [
    (shrink, 3, ("in",)),
    (swap_rows, 3, ("in", CHANGED)),
    (other_rows, 3, ("in", CHANGED)),
    (one_long_row, 3, ("in", CHANGED)),
    (no_rows, 3, ("in", CHANGED)),
    (hidden(swap_rows), 1, ("verification failed",)),
    (hidden(other_rows), 1, ("verification failed",)),
    (hidden(one_long_row), 1, ("verification failed",)),
    (hidden(no_rows), 1, ("verification failed",)),
]


def changed_at(
    ecosort: Path, directory: Path, place: Path, words: list[str], call: int, change: Callable[[Path], None]
) -> subprocess.CompletedProcess[str]:
    """The end of a sort that was stopped at its so many-th read, while the input was changed."""
    command = [*faults(directory, f"pread64:signal=STOP:when={call}"), str(ecosort), *words, "in", "-o", "out"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=place)
    try:
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        change(place / "in")
        process.send_signal(signal.SIGCONT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, "", error)


@pytest.mark.parametrize(
    ("change", "code", "says", "threads"),
    [pytest.param(*change, threads, id=f"{change[0].__name__}-{threads}") for change, threads in turns(CHANGES, ["1", "2"])],
)
def test_an_input_that_changes_before_it_is_read_again(
    ecosort: Path, tmp_path: Path, change: Callable[[Path], None], code: int, says: tuple[str, ...], threads: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "in").write_text(TEXT)
    words = ["csv", "--no-header", "--quote", "none", "--by", "1", *MEMORY, "--threads", threads, "--io", "pool"]
    done = changed_at(ecosort, tmp_path, place, words, READS + 20, change)
    refused(done, code, *says)
    assert listing(place) == [str(place / "in")]


@pytest.mark.parametrize("call", [READS + 10, READS + 20, 2 * READS - 20])
def test_an_input_that_cannot_be_read_again(ecosort: Path, tmp_path: Path, call: int) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "in").write_text(TEXT)
    command = [*faults(tmp_path, f"pread64:error=EIO:when={call}"), str(ecosort), "lines", *MEMORY, "--io", "pool"]
    done = subprocess.run([*command, "in", "-o", "out"], cwd=place, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Input/output error" in done.stderr) == (2, True), done.stderr
    assert listing(place) == [str(place / "in")]


# --- records -------------------------------------------------------------------------------------------------------------------


RECORDS = 60_000
KEYS = sorted(rng.sample(range(2**40), RECORDS))


def record(number: int, size: int) -> bytes:
    return number.to_bytes(10, "big") + bytes([number % 251]) * (size - 10)


RECORD_SHAPES: dict[str, tuple[list[int], str, float]] = {
    "in order": (KEYS, "0:10", 3.2),
    "descending": (KEYS[::-1], "0:10:desc", 3.2),
    "equal keys": ([number // 2**28 for number in KEYS], "0:10", 3.2),
    "in order, 5 % appended": (sorted(KEYS[3::20] + KEYS[7:]) + KEYS[::20], "0:10", 3.5),
    "in no order": (rng.sample(KEYS, RECORDS), "0:10", 4.2),
}


@pytest.mark.parametrize(("shape", "size"), turns(list(RECORD_SHAPES), [100, 37]))
def test_records_in_order_are_not_stored(run: Run, tmp_path: Path, shape: str, size: int) -> None:
    numbers, key, most_moved = RECORD_SHAPES[shape]
    data = [record(number, size) for number in numbers]
    (tmp_path / "in").write_bytes(b"".join(data))
    words = ["--record-size", str(size), "--key", key, "--memory", "2MiB", "--compress", "none"]
    succeeded(run("sort", *words, "in", "-o", "out", "--stats", "stats", "--verify=reread", cwd=tmp_path))
    in_order = sorted(data, key=lambda bytes_: bytes_[:10], reverse="desc" in key)
    assert (tmp_path / "out").read_bytes() == b"".join(in_order)
    stats = read_json(tmp_path / "stats")
    assert moved(tmp_path / "stats") - 1 <= most_moved, stats["runs"]
    assert (stats["runs_in_inputs"] > 0) == (shape != "in no order")
    assert stats["bytes_in_inputs"] <= stats["plan"]["run_bytes"]


def test_the_plan_says_what_order_may_save(run: Run, tmp_path: Path) -> None:
    for name, numbers in (("ascending", KEYS), ("in no order", RECORD_SHAPES["in no order"][0])):
        (tmp_path / name).write_bytes(b"".join(record(number, 100) for number in numbers))
        done = run("plan", "sort", "--record-size", "100", "--key", "0:10", "--memory", "2MiB", name, "-o", "out", cwd=tmp_path)
        succeeded(done)
        assert ("samples of the input are in order" in done.stdout) == (name == "ascending")


def test_records_of_several_files_and_passes(run: Run, tmp_path: Path) -> None:
    """Runs that lie in an input are merged in groups, too; one that lies in two files is stored."""
    parts = [KEYS[: RECORDS // 3], KEYS[RECORDS // 3 :], KEYS[::2]]
    for name, part in zip("abc", parts, strict=True):
        (tmp_path / name).write_bytes(b"".join(record(number, 100) for number in part))
    words = ["--record-size", "100", "--key", "0:10", "--memory", "2MiB", "--run-records", "1000", "--compress", "none"]
    succeeded(run("sort", *words, "a", "b", "c", "-o", "out", "--stats", "stats", cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == b"".join(
        record(number, 100) for number in sorted([*parts[0], *parts[1], *parts[2]])
    )
    stats = read_json(tmp_path / "stats")
    assert 0 < stats["runs_in_inputs"] < stats["runs"]


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (shrink, 3, ("in", CHANGED)),
        (no_rows, 3, ("in", CHANGED)),
        (hidden(no_rows), 1, ("verification failed", "in holds other records")),
    ],
    ids=["shrink", "other", "other, hidden"],
)
def test_records_that_change_before_they_are_read_again(
    ecosort: Path, tmp_path: Path, change: Callable[[Path], None], code: int, says: tuple[str, ...]
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "in").write_bytes(b"".join(record(number, 100) for number in KEYS))
    words = ["sort", "--record-size", "100", "--key", "0:10", "--memory", "2MiB", "--io", "pool", "--compress", "none"]
    command = [*faults(tmp_path, "pread64"), str(ecosort), *words, "in", "-o", "../out"]
    subprocess.run(command, cwd=place, check=True)
    calls = len((tmp_path / "trace").read_text().splitlines())
    done = changed_at(ecosort, tmp_path, place, words, calls * 2 // 3, change)
    refused(done, code, *says)
    assert listing(place) == [str(place / "in")]
