"""`ecosort merge`: sorted files of records, and of lines, become one; what is not in order is refused."""

import functools
import json
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pairs import turns
from sort_support import MIB, OVERHEAD_BYTES, Require, Run, expected, faults, listing, mounted, read_json, refused, succeeded

FEW = b"ab\x00\xff" * 64  # makes of any bytes a few different ones: equal keys within a file and between files


@functools.lru_cache(maxsize=4)
def in_order(data: bytes, record_size: int, keys: tuple[str, ...]) -> bytes:
    """Sorts as `expected` does. Records of one byte are quicker sorted as numbers: those that are equal are the same."""
    return bytes(sorted(data)) if (record_size, keys) == (1, ("0:1",)) else expected(data, record_size, keys)


@functools.lru_cache(maxsize=4)
def sorted_parts(counts: tuple[int, ...], record_size: int, keys: tuple[str, ...]) -> tuple[list[bytes], bytes]:
    """So many random records in each part, which is in order; and all of them in one row."""
    generator = random.Random(len(counts) * 1000 + record_size)
    parts = [in_order(generator.randbytes(count * record_size).translate(FEW), record_size, keys) for count in counts]
    return parts, b"".join(parts)


def write_sorted(directory: Path, counts: Sequence[int], record_size: int, keys: Sequence[str]) -> tuple[list[Path], bytes]:
    """Files of such parts, and all of their records in one row."""
    parts, everything = sorted_parts(tuple(counts), record_size, tuple(keys))
    paths = [directory / f"part{number}" for number in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        path.write_bytes(part)
    return paths, everything


def no_rest(directory: Path, *expected_names: str) -> None:
    assert sorted(path.name for path in directory.iterdir() if not path.name.startswith("part")) == sorted(expected_names)


FORMATS = [(100, ["0:10"]), (16, ["8:8:desc", "0:2"]), (1, ["0:1"]), (101, ["90:11"]), (4096, ["0:3"])]


@pytest.mark.parametrize(("record_size", "keys"), FORMATS)
@pytest.mark.parametrize("counts", [[0], [1], [1000], [0, 7, 0], [5000, 5000], [1, 20000, 3, 999], [300] * 40])
def test_the_order_is_that_of_a_stable_sort(
    run: Run, tmp_path: Path, record_size: int, keys: list[str], counts: list[int]
) -> None:
    if record_size > 1000:
        counts = [count // 20 for count in counts]
    paths, everything = write_sorted(tmp_path, counts, record_size, keys)
    words = ["--record-size", str(record_size), *(word for key in keys for word in ("--key", key))]
    done = run("merge", *words, "--memory", "2MiB", *paths, "-o", tmp_path / "out")
    assert done.returncode == 0, done
    assert (tmp_path / "out").read_bytes() == in_order(everything, record_size, tuple(keys))
    no_rest(tmp_path, "out")


@pytest.mark.parametrize("files", [2, 3, 40, 200])
def test_more_files_than_the_memory_holds_are_merged_in_passes(run: Run, tmp_path: Path, files: int) -> None:
    paths, everything = write_sorted(tmp_path, [150] * files, 100, ["0:10"])
    done = run("merge", "--key", "0:10", "--memory", "1MiB", *paths, "-o", tmp_path / "out", "--stats", tmp_path / "stats")
    assert done.returncode == 0, done
    stats = json.loads((tmp_path / "stats").read_text())
    assert (stats["intermediate_merges"] > 0) == (files > stats["files_at_a_time"])
    assert (tmp_path / "out").read_bytes() == expected(everything)
    assert stats["peak_counted_memory_bytes"] <= MIB
    assert stats["peak_rss_bytes"] <= MIB + OVERHEAD_BYTES
    no_rest(tmp_path, "out", "stats")


def test_empty_files_are_merged_in_passes_too(run: Run, tmp_path: Path) -> None:
    """A file between them takes no space, but wants a directory: it had none."""
    (tmp_path / "in").touch()
    succeeded(run("merge", "--memory", "1MiB", *["in"] * 100, "-o", "out", cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == b""


def test_unique_keeps_the_first_of_equal_keys_over_all_files(run: Run, tmp_path: Path) -> None:
    paths, everything = write_sorted(tmp_path, [500] * 60, 20, ["0:2"])
    words = ["--record-size", "20", "--key", "0:2", "--unique", "--memory", "1MiB"]
    done = run("merge", *words, *paths, "-o", tmp_path / "out", "--stats", tmp_path / "stats")
    assert done.returncode == 0, done
    wanted = expected(everything, 20, ["0:2"], unique=True)
    assert (tmp_path / "out").read_bytes() == wanted
    assert json.loads((tmp_path / "stats").read_text())["records_dropped"] == (len(everything) - len(wanted)) // 20


@pytest.mark.parametrize("memory", ["1MiB", "64MiB"])
def test_the_checksum_and_the_duplicates_are_those_of_valsort(ecosort: Path, run: Run, tmp_path: Path, memory: str) -> None:
    paths, _ = write_sorted(tmp_path, [700] * 50, 100, ["0:10"])
    done = run(
        "merge", "--key", "0:10", "--checksum", "--memory", memory, *paths, "-o", tmp_path / "out", "--stats", tmp_path / "stats"
    )
    assert done.returncode == 0, done
    stats = read_json(tmp_path / "stats")
    assert (stats["intermediate_merges"] > 0) == (memory == "1MiB")
    told = subprocess.run([ecosort, "check", tmp_path / "out"], capture_output=True, text=True, check=True).stderr
    assert f"Checksum: {stats['checksum']}\n" in told
    assert f"Duplicate keys: {stats['duplicate_keys']}\n" in told
    assert stats["duplicate_keys"] > 0
    words = ["--record-size", "20", "--checksum", paths[0], "-o", tmp_path / "other"]
    refused(run("merge", *words), 2, "--checksum is that of the Sort Benchmark's records of 100 bytes")


@pytest.mark.parametrize("memory", ["1MiB", "64MiB"])
@pytest.mark.parametrize("more", [[], ["--unique"], ["--compress=lz4"]], ids=str)
def test_a_hash_that_is_expected_is_that_of_the_output(run: Run, tmp_path: Path, memory: str, more: list[str]) -> None:
    paths, everything = write_sorted(tmp_path, [700] * 50, 100, ["0:10"])
    words = ["merge", "--key", "0:10", "--memory", "2MiB" if more == ["--compress=lz4"] and memory == "1MiB" else memory, *more]
    out, stats = tmp_path / "out", tmp_path / "stats"
    assert run(*words, *paths, "-o", out, "--stats", stats).returncode == 0
    told = read_json(stats)
    expecting = ["--expect-hash", told["hash"], "--stats", stats]
    assert run(*words, *expecting, *paths, "-o", out).returncode == 0
    again = read_json(stats)
    assert (again["hash"], again["records"], again["records_dropped"]) == (told["hash"], 35_000, told["records_dropped"])
    assert out.read_bytes() == expected(everything, unique=more == ["--unique"])
    data = bytearray(paths[7].read_bytes())
    data[-1] ^= 1  # behind the key
    paths[7].write_bytes(data)
    out.unlink()
    stats.unlink()
    refused(run(*words, *expecting, *paths, "-o", out), 1, "do not have the hash that was expected")
    no_rest(tmp_path)


@pytest.mark.parametrize("given", ["12", "g" * 32, "0" * 33, "-" + "0" * 31])
def test_an_expected_hash_that_is_none_is_refused(run: Run, tmp_path: Path, given: str) -> None:
    paths, _ = write_sorted(tmp_path, [3], 100, ["0:10"])
    line = refused(run("merge", f"--expect-hash={given}", *paths, "-o", tmp_path / "out"), 2)
    assert "a hash has 32 hexadecimal digits" in line


def test_standard_output_gets_the_same_bytes(ecosort: Path, tmp_path: Path) -> None:
    paths, everything = write_sorted(tmp_path, [3000, 2000], 100, ["0:10"])
    done = subprocess.run([ecosort, "merge", "--key", "0:10", *paths, "-o", "-"], capture_output=True, check=True)
    assert done.stdout == expected(everything)


def test_equal_records_of_more_than_a_block_stay_in_the_order_of_their_files(run: Run, tmp_path: Path) -> None:
    paths = [tmp_path / f"part{number}" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(b"key %d %010d" % (number, i) for i in range(20_000)))
    done = run("merge", "--record-size", "16", "--key", "0:4", "--memory", "1MiB", *paths, "-o", tmp_path / "out")
    assert done.returncode == 0, done
    assert (tmp_path / "out").read_bytes() == b"".join(path.read_bytes() for path in paths)


@pytest.mark.parametrize("at", [1, 2, 700, 5999])
def test_a_file_that_is_not_in_order_is_told_with_its_record(run: Run, tmp_path: Path, at: int) -> None:
    records = [number.to_bytes(4, "big") * 4 for number in range(6000)]
    records[at] = records[max(0, at - 2)]
    (tmp_path / "part0").write_bytes(b"".join(records))
    (tmp_path / "part1").write_bytes(records[0])
    number = at if at != 1 else 2  # record 1 equals record 0 then: fine
    if at == 1:
        (tmp_path / "part0").write_bytes(b"".join([records[3], records[2], *records[4:]]))
        number = 1
    words = ["--record-size", "16", "--key", "0:4", "--memory", "1MiB"]
    done = run("merge", *words, tmp_path / "part0", tmp_path / "part1", "-o", tmp_path / "out")
    refused(done, 1, "part0", "is not in order", f"record {number} ", "ecosort sort")
    no_rest(tmp_path)


def test_disorder_between_blocks_is_noticed(run: Run, tmp_path: Path) -> None:
    """A block has a few of these records: one of eight in a row is the first of its block."""
    (tmp_path / "part1").write_bytes(bytes(20_000))
    for at in range(41, 49):
        numbers = [*range(at), at - 2, *range(at, 100)]
        (tmp_path / "part0").write_bytes(b"".join(number.to_bytes(4, "big") + bytes(19_996) for number in numbers))
        words = ["--record-size", "20000", "--key", "0:4", "--memory", "1MiB"]
        done = run("merge", *words, tmp_path / "part0", tmp_path / "part1", "-o", tmp_path / "out")
        refused(done, 1, "part0", "is not in order", f"record {at} ")


def test_other_keys_than_those_of_the_files_are_noticed(run: Run, tmp_path: Path) -> None:
    paths, _ = write_sorted(tmp_path, [100, 100], 16, ["0:8"])
    refused(run("merge", "--record-size", "16", "--key", "8:8", *paths, "-o", tmp_path / "out"), 1, "is not in order")


def test_standard_input_is_a_file_of_records_of_an_odd_size(ecosort: Path, tmp_path: Path) -> None:
    """Such records are read through the page cache, for which the input is opened anew: it has no name."""
    (tmp_path / "in").write_bytes(b"".join(bytes([number]) * 4099 for number in range(200)))
    words = [ecosort, "merge", "-q", "--record-size", "4099", "--key", "0:1", "in", "-", "-o", "-"]
    with (tmp_path / "in").open("rb") as standard_input:
        done = subprocess.run(words, stdin=standard_input, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    expected = b"".join(bytes([number]) * 4099 * 2 for number in range(200))
    assert (done.returncode, done.stderr, done.stdout == expected) == (0, b"", True)


def test_what_is_in_front_of_the_records_stays_there(run: Run, tmp_path: Path) -> None:
    """Random options have more of it, but no file without records, and none that begins otherwise."""
    paths = [tmp_path / name for name in ("a", "b")]
    words = ["merge", "--record-size", "1", "--key", "0:1", "--skip-bytes", "4", *paths, "-o", tmp_path / "out"]
    for path in paths:
        path.write_bytes(b"HEAD")
    assert run(*words).returncode == 0
    assert (tmp_path / "out").read_bytes() == b"HEAD"
    paths[1].write_bytes(b"HEADabc")
    (tmp_path / "request").write_text(run("request", *words).stdout)
    assert run("run", tmp_path / "request").returncode == 0
    assert (tmp_path / "out").read_bytes() == b"HEADabc"
    paths[1].write_bytes(b"HEADING")
    assert run(*words).returncode == 1
    paths[1].write_bytes(b"TAILabc")
    refused(run(*words), 2, "the first 4 bytes of")


@pytest.mark.parametrize("command", ["merge", "sort"])
def test_a_head_that_says_how_many_records_follow_is_not_that_of_several_files(run: Run, tmp_path: Path, command: str) -> None:
    """NumPy would read the first half of the output and say nothing."""
    paths = [tmp_path / name for name in ("a.npy", "b.npy")]
    for path in paths:
        np.save(path, np.arange(100, dtype="<u8"))
    words = ["--record-size", "8", "--key", "0:8:u64", "--skip-bytes", "128", "-o", tmp_path / "out"]
    refused(run(command, *words, *paths), 2, "is a NumPy array")
    if command == "sort":
        refused(run(command, *words, "--limit", "3", paths[0]), 2, "is a NumPy array")
        assert run(command, *words, paths[0]).returncode == 0
        assert (tmp_path / "out").read_bytes() == paths[0].read_bytes()


def test_pipes_are_merged_as_files_are(ecosort: Path, tmp_path: Path) -> None:
    """Named, from standard input, and as a shell substitutes processes; what is out of order has the name of its pipe."""
    paths, everything = write_sorted(tmp_path, [3000, 10, 0], 16, ["0:8"])
    os.mkfifo(tmp_path / "part_fifo")
    words = f"'{ecosort}' merge -q --record-size 16 --key 0:8"
    script = f"cat part1 > part_fifo & cat part2 | {words} part0 part_fifo - <(cat part1) -o out"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    assert (tmp_path / "out").read_bytes() == in_order(everything + paths[1].read_bytes(), 16, ("0:8",))
    (tmp_path / "part1").write_bytes(paths[1].read_bytes()[::-1])
    script = f"cat part1 | {words} part0 - -o out"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    refused(done, 1, "'(standard input)' is not in order")
    no_rest(tmp_path, "out")


REFUSED = {
    "no input": (["-o", "out"], "no input; name one or more files"),
    "no output": (["part0"], "no output; name it with -o FILE"),
    "missing": (["nothing", "-o", "out"], "'nothing'"),
    "half a record": (["--record-size", "3", "part0", "-o", "out"], "no multiple of the record size"),
    "key beyond the record": (["--key", "98:8", "part0", "-o", "out"], "98:8"),
    "the output is an input": (["part0", "part1", "-o", "part1"], "part1"),
    "standard input": (["--record-size", "3", "-", "-o", "out"], "'(standard input)' ends in the middle of a record"),
    "little memory": (["--key", "0:10", "--memory", "64KiB", "part0", "part1", "-o", "out"], "; try --memory "),
    "an option of sort": (["--resumable", "part0", "-o", "out"], "--resumable"),
    "lines last": (["part0", "--lines", "-o", "out"], "--lines comes first"),
    "text": (["notes", "-o", "out"], "ecosort merge --lines notes"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(ecosort: Path, tmp_path: Path, kind: str) -> None:
    write_sorted(tmp_path, [10, 10], 100, ["0:10"])
    (tmp_path / "notes").write_text(("one line of text\n" * 100)[:1000])
    words, message = REFUSED[kind]
    if not {"--key", "--record-size"} & set(words) and kind != "text":
        words = ["--key", "0:10", *words]
    done = subprocess.run([ecosort, "merge", *words], capture_output=True, text=True, cwd=tmp_path, input="x" * 100)
    refused(done, 2, message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_changed_byte_between_passes_is_noticed(ecosort: Path, tmp_path: Path, codec: str) -> None:
    """A merge compares what it wrote for another pass with what is read back: nothing of it becomes output unseen."""
    paths, _ = write_sorted(tmp_path, [150] * 60, 100, ["0:10"])
    words = [
        "merge",
        "--key",
        "0:10",
        "--memory",
        "1MiB",
        "--io",
        "pool",
        "--quiet",
        f"--compress={codec}",
        *map(str, paths),
        "-o",
        str(tmp_path / "out"),
    ]
    done = subprocess.run([*faults(tmp_path, "pwrite64:retval=4096:when=2"), ecosort, *words], capture_output=True, text=True)
    assert done.returncode != 0, done
    assert not (tmp_path / "out").exists()


def test_lines_are_merged_with_the_words_of_lines(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x,1\ny,10\n")
    (tmp_path / "b").write_text("z,2\nw,9\n")
    done = run("merge", "--lines", "-t,", "-k2,2n", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "out")
    assert done.returncode == 0, done
    assert (tmp_path / "out").read_text() == "x,1\nz,2\nw,9\ny,10\n"


def test_lines_that_are_not_in_order_are_refused(run: Run, tmp_path: Path) -> None:
    """sort -m merges them all the same, and so does `lines -m`."""
    (tmp_path / "a").write_text("x,1\ny,10\n")
    (tmp_path / "b").write_text("w,9\nz,2\n")
    words = ("-t,", "-k2,2n", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "out")
    done = run("merge", "--lines", *words)
    assert done.returncode == 1, done
    assert "b is not in order: this row comes before the one in front of it: z,2; sort it first" in done.stderr
    assert not (tmp_path / "out").exists()
    assert run("lines", "-m", *words).returncode == 0


def test_an_interrupted_merge_leaves_nothing(ecosort: Path, tmp_path: Path) -> None:
    paths, _ = write_sorted(tmp_path, [20000] * 8, 100, ["0:10"])
    words = [ecosort, "merge", "--key", "0:10", "--memory", "1MiB", *paths, "-o", tmp_path / "out"]
    done = subprocess.run(["timeout", "-s", "TERM", "0.05", *map(os.fspath, words)], capture_output=True, text=True)
    assert done.returncode in (0, 124, 143)
    if done.returncode != 0:
        no_rest(tmp_path)


# With so little memory these files take several passes.
PASSES = ("--memory", "2MiB")


@pytest.mark.parametrize(
    ("format_", "codec"), turns([*FORMATS[:4], (1000, ["990:10"])], ["none", "lz4", "zstd", "auto"], rounds=2), ids=str
)
def test_what_is_written_between_passes_is_compressed(
    run: Run, tmp_path: Path, format_: tuple[int, list[str]], codec: str
) -> None:
    record_size, keys = format_
    count = 20_000 // record_size + 3
    paths, everything = write_sorted(tmp_path, [count, 0, *([count] * 120)], record_size, keys)
    words = ["--record-size", str(record_size), *(word for key in keys for word in ("--key", key))]
    stats = merged(run, tmp_path, *words, f"--compress={codec}", *paths)
    assert (tmp_path / "out").read_bytes() == in_order(everything, record_size, tuple(keys))
    packed = stats["compression"]["runs"]
    if codec in ("lz4", "zstd"):
        assert packed["asked"] == {"zstd": "zstd:1"}.get(codec, codec)
        assert packed["stored_bytes"] < packed["plain_bytes"] / 1.2
    assert stats["peak_counted_memory_bytes"] <= 2 * MIB
    assert stats["peak_rss_bytes"] <= 2 * MIB + OVERHEAD_BYTES


def merged(run: Run, directory: Path, *words: str | Path) -> dict[str, Any]:
    """Merges in several passes, into `out`, and returns what the merge reports."""
    succeeded(run("merge", *PASSES, *words, "-o", directory / "out", "--stats", directory / "stats"))
    stats = read_json(directory / "stats")
    assert stats["intermediate_merges"] > 0
    return stats


def test_compressed_passes_drop_the_same_records(run: Run, tmp_path: Path) -> None:
    paths, _ = write_sorted(tmp_path, [200] * 120, 100, ["0:3"])
    words = ("--key", "0:3", "--unique", *paths)
    plain = merged(run, tmp_path, *words)
    output = (tmp_path / "out").read_bytes()
    packed = merged(run, tmp_path, *words, "--compress=zstd")
    assert (tmp_path / "out").read_bytes() == output
    assert packed["records_dropped"] == plain["records_dropped"] > 0


def test_records_that_do_not_shrink_are_written_as_they_are(run: Run, tmp_path: Path) -> None:
    paths, everything = [], b""
    for number in range(120):
        data = expected(random.Random(number).randbytes(20_000))
        (tmp_path / f"part{number}").write_bytes(data)
        paths.append(tmp_path / f"part{number}")
        everything += data
    stats = merged(run, tmp_path, "--record-size=100", "--compress=lz4", *paths)
    assert (tmp_path / "out").read_bytes() == expected(everything)
    packed = stats["compression"]["runs"]
    assert packed["packed_blocks"] < packed["blocks"] / 4  # those at the ends of runs
    assert packed["stored_bytes"] < 1.1 * packed["plain_bytes"]


def test_passes_that_only_fit_compressed(run: Run, require: Require, tmp_path: Path) -> None:
    require("loop_mount")
    (tmp_path / "in").mkdir()
    paths, everything = write_sorted(tmp_path / "in", [1_000] * 150, 100, ["0:10"])
    with mounted(tmp_path, "ext4", 16 * MIB) as drive:
        words = ["merge", "--record-size=100", "--memory=2MiB", *paths, "-o", tmp_path / "out", "--temp", drive.root]
        refused(run(*words, "--compress=zstd"), 2, "not enough temporary space")
        succeeded(run(*words, "--compress=zstd", "--assume-ratio=2"))
        assert (tmp_path / "out").read_bytes() == expected(everything)
        (tmp_path / "out").unlink()
        for number, path in enumerate(paths):
            path.write_bytes(expected(random.Random(number).randbytes(100_000)))
        line = refused(run(*words, "--compress=zstd", "--assume-ratio=2"), 3, "No space left on device")
        assert "runs shrink less than was assumed" in line
        assert listing(drive.root) == []
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--assume-ratio=2", "--memory=2MiB"], "a ratio can be assumed of runs that are compressed"),
        (["--compress=gzip", "--memory=2MiB"], "--compress"),
        (["--goal=energy", "--memory=2MiB"], "--goal energy chooses how runs are compressed"),
        (["--compress=zstd:19", "--memory=1MiB"], "to compress with zstd:19 what is merged again, takes"),
    ],
)
def test_compression_that_cannot_be_is_refused(run: Run, tmp_path: Path, words: list[str], message: str) -> None:
    paths, _ = write_sorted(tmp_path, [200] * 120, 100, ["0:10"])
    refused(run("merge", "--record-size=100", *words, *paths, "-o", tmp_path / "out"), 2, message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("record_size", "codec"), turns([100, 1000, 4096], ["lz4", "zstd", "zstd:9"]))
def test_the_memory_that_a_refusal_names_compresses(run: Run, tmp_path: Path, record_size: int, codec: str) -> None:
    paths, everything = write_sorted(tmp_path, [10_000 // record_size] * 400, record_size, ["0:10"])
    words = [f"--record-size={record_size}", "--key=0:10", f"--compress={codec}", *paths, "-o", tmp_path / "out"]
    memory = refused(run("merge", "--memory=256KiB", *words), 2, "try --memory").split("--memory ")[1].strip()
    succeeded(run("merge", f"--memory={memory}", *words))
    assert (tmp_path / "out").read_bytes() == in_order(everything, record_size, ("0:10",))


@pytest.mark.parametrize(("when", "call"), turns([3, 80, 160, 280], ["pread64", "pwrite64"]))
def test_failed_calls_in_compressed_passes_leave_nothing(ecosort: Path, tmp_path: Path, call: str, when: int) -> None:
    paths, _ = write_sorted(tmp_path, [2000] * 60, 100, ["0:10"])
    fault = faults(tmp_path, f"{call}:error=EIO:when={when}")
    before = {*listing(tmp_path), str(tmp_path / "trace")}
    words = ["merge", "--record-size=100", "--memory=1MiB", "--io=pool", "--compress=lz4", *map(str, paths), "-o", "out"]
    done = subprocess.run([*fault, ecosort, *words], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    assert "Input/output error" in done.stderr
    assert set(listing(tmp_path)) == before


def test_files_that_are_hardly_records_are_told_how_to_merge(run: Run, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("a line\n" * 100)
    line = refused(run("merge", "a", "b", "-o", "out", cwd=tmp_path), 2, "'a' does not look like records of the Sort Benchmark")
    assert "ecosort merge --lines a -o OUTPUT" in line
    assert "ecosort merge --record-size 100 --key 0:10 a -o OUTPUT" in line
