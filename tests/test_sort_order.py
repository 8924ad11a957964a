"""The sorted bytes, against a stable sort in Python: every distribution, memory, thread count and backend gives the same."""

import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from capabilities import only_in_soak
from gensort_records import checksum
from pairs import pairs, turns
from sort_support import BACKENDS, CPU_LEVELS, DISTRIBUTIONS, MIB, Run, expected, make_records, read_json, succeeded

RECORDS = 40_000  # 4 MB: two passes with the smallest memory


@dataclass(frozen=True)
class Sample:
    path: Path
    data: bytes
    sorted: bytes
    checksum: str


@pytest.fixture(scope="session")
def samples(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    directory = tmp_path_factory.mktemp("samples")
    made = {}
    for kind in DISTRIBUTIONS:
        data = make_records(ecosort, kind, RECORDS)
        path = directory / kind.replace(" ", "-")
        path.write_bytes(data)
        made[kind] = Sample(path, data, expected(data), checksum(data))
    return made


def sort(run: Run, directory: Path, *words: str | Path) -> tuple[bytes, dict[str, Any]]:
    """The output and the statistics of a sort in `directory`."""
    succeeded(run("sort", *words, "-o", "out", "--stats", "stats", cwd=directory))
    return (directory / "out").read_bytes(), read_json(directory / "stats")


# --- the matrix --------------------------------------------------------------------------------------------------------


SHAPES = {"2MiB": "two passes", "3500KiB": "two passes", "64MiB": "one pass"}


@pytest.mark.parametrize(
    ("kind", "memory", "threads", "backend"), pairs(DISTRIBUTIONS, list(SHAPES), [1, 3], BACKENDS), indirect=["backend"]
)
def test_matrix(
    run: Run,
    samples: dict[str, Sample],
    tmp_path: Path,
    kind: str,
    memory: str,
    threads: int,
    backend: str,
) -> None:
    sample, shape = samples[kind], SHAPES[memory]
    words = ("--memory", memory, "--threads", str(threads), "--io", backend, "--checksum")
    out, stats = sort(run, tmp_path, sample.path, *words)
    assert out == sample.sorted
    assert stats["io_backend"] == backend
    assert stats["threads"] == threads
    assert stats["plan"]["shape"] == shape
    assert stats["merge_passes"] == (0 if shape == "one pass" else 1)
    assert stats["runs"] >= (1 if shape == "one pass" else 3)
    assert (stats["records"], stats["records_dropped"]) == (RECORDS, 0)
    assert stats["checksum"] == sample.checksum
    assert sample.path.read_bytes() == sample.data


def test_the_hash_depends_on_the_records_only(run: Run, samples: dict[str, Sample], tmp_path: Path) -> None:
    hashes = set()
    for kind in ("ascii", "sorted", "reverse"):
        for memory in ("2MiB", "64MiB"):
            hashes.add(sort(run, tmp_path, samples[kind].path, "--memory", memory)[1]["hash"])
    other = sort(run, tmp_path, samples["all equal"].path)[1]["hash"]
    assert len(hashes) == 1
    assert other not in hashes
    assert len(other) == 32


def test_more_than_two_passes_when_they_must_be(run: Run, tmp_path: Path, backend: str) -> None:
    """Large records and the smallest memory: a merge takes only a few runs at a time."""
    size, count = 20_000, 400
    rng = random.Random(7)
    data = b"".join(rng.randbytes(1) + rng.randbytes(size - 1) for _ in range(count))
    (tmp_path / "in").write_bytes(data)
    words = ("in", "--record-size", str(size), "--key", "0:1", "--memory", "2MiB", "--io", backend)
    out, stats = sort(run, tmp_path, *words)
    assert out == expected(data, size, ["0:1"])
    assert stats["plan"]["shape"] == "more than two passes"
    assert stats["merge_passes"] >= 2
    assert len(stats["plan"]["merge_steps"]) > 1
    assert [phase["name"] for phase in stats["phases"]].count("intermediate_merge") == len(stats["plan"]["merge_steps"]) - 1


def test_three_passes_over_small_records(run: Run, tmp_path: Path, ecosort: Path) -> None:
    data = make_records(ecosort, "skewed", 400_000)
    (tmp_path / "in").write_bytes(data)
    out, stats = sort(run, tmp_path, "in", "--memory", "2MiB")
    assert stats["merge_passes"] >= 2
    assert out == expected(data)


# A merged run of thousands of run blocks, whose forecast table exists beside those of the runs it is made of.
@pytest.mark.parametrize(
    ("records", "memory", "is_stream"),
    [
        (1_000_000, "2560KiB", False),
        *(
            pytest.param(records, memory, is_stream, marks=only_in_soak)
            for records, memory in ((1_000_000, "2560KiB"), (1_500_000, "3MiB"), (2_000_000, "4MiB"))
            for is_stream in (False, True)
            if is_stream or records > 1_000_000
        ),
    ],
)
def test_more_passes_over_thousands_of_granules(
    ecosort: Path, run: Run, tmp_path: Path, records: int, memory: str, is_stream: bool
) -> None:
    done = run("gen", "-a", "-c", str(records), "in", cwd=tmp_path)
    assert done.returncode == 0
    words = ["sort", "-" if is_stream else "in", "-o", "out", "--memory", memory, "--stats", "stats"]
    with subprocess.Popen(["cat", tmp_path / "in"], stdout=subprocess.PIPE) as cat:
        sorted_ = subprocess.run([ecosort, *words], cwd=tmp_path, stdin=cat.stdout, capture_output=True, text=True, check=False)
    succeeded(sorted_)
    stats = read_json(tmp_path / "stats")
    assert stats["merge_passes"] > 1
    assert stats["demand_reads"] == 0
    checked = run("check", "out", cwd=tmp_path)
    assert checked.returncode == 0, checked
    assert done.stderr.strip() in checked.stderr  # the checksum


# --- record sizes ------------------------------------------------------------------------------------------------------

SIZES = [
    1,
    2,
    3,
    4,
    7,
    8,
    9,
    11,
    12,
    13,
    15,
    16,
    17,
    63,
    64,
    65,
    99,
    101,
    255,
    511,
    512,
    4095,
    4096,
    4097,
    16_375,
    65_536,
    100_000,
]


@pytest.mark.parametrize("size", SIZES)
def test_record_sizes_in_two_passes(run: Run, tmp_path: Path, size: int) -> None:
    """The default key is the first ten bytes, or all of a shorter record."""
    count = 4 * MIB // (size + 16) + 1
    rng = random.Random(size)
    # Few different bytes, so that keys repeat and ties are long.
    data = rng.randbytes(count * size).translate(bytes(i % 3 for i in range(256)) if size > 2 else None)
    (tmp_path / "in").write_bytes(data)
    out, stats = sort(run, tmp_path, "in", "--record-size", str(size), "--memory", "3MiB")
    assert out == expected(data, size)
    assert stats["plan"]["shape"] in ("two passes", "more than two passes")
    assert (stats["records"], stats["record_size_bytes"]) == (count, size)


def test_the_largest_record(run: Run, tmp_path: Path) -> None:
    rng = random.Random(1)
    data = rng.randbytes(20 * MIB)
    (tmp_path / "in").write_bytes(data)
    out, stats = sort(run, tmp_path, "in", "--record-size", str(MIB), "--memory", "16MiB")
    assert out == expected(data, MIB)
    assert stats["merge_passes"] >= 1


# Around blocks, pages and run blocks; 0 is the empty file.
@pytest.mark.parametrize("count", [1, 2, 3, 40, 41, 163, 164, 327, 328, 655, 656, 5_242, 10_485, 10_486, 20_971, 33_333])
@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])
def test_input_sizes_that_fill_no_block(run: Run, tmp_path: Path, samples: dict[str, Sample], count: int, memory: str) -> None:
    data = samples["skewed"].data[: count * 100]
    (tmp_path / "in").write_bytes(data)
    out, stats = sort(run, tmp_path, "in", "--memory", memory)
    assert out == expected(data)
    assert stats["records"] == count


# --- keys --------------------------------------------------------------------------------------------------------------


KEYS = [
    ["0:1"],
    ["9:1"],
    ["99:1"],
    ["0:100"],
    ["0:8"],
    ["0:9"],
    ["3:17"],
    ["50:50"],
    ["0:10:desc"],
    ["0:10:bytes"],
    ["0:10:bytes:desc"],
    ["12:4:desc", "0:2"],
    ["0:2", "12:30:desc", "4:4"],
    ["0:1", "1:1:desc", "2:1", "3:1:desc", "4:6"],
    ["5:5", "0:5"],
    ["0:4", "0:4:desc"],
]


@pytest.mark.parametrize(
    ("keys", "memory"), turns(KEYS, ["2MiB", "64MiB"]), ids=lambda value: " ".join(value) if isinstance(value, list) else value
)
def test_keys(run: Run, tmp_path: Path, samples: dict[str, Sample], keys: list[str], memory: str) -> None:
    sample = samples["skewed ascii"]
    words = [word for key in keys for word in ("--key", key)]
    out, _ = sort(run, tmp_path, sample.path, *words, "--memory", memory)
    assert out == expected(sample.data, keys=[key.replace(":bytes", "") for key in keys])


def test_long_common_prefixes(run: Run, tmp_path: Path) -> None:
    """Keys that differ only far behind the first eight bytes, as web addresses do."""
    rng = random.Random(3)
    records = [b"https://www.example.org/%08d/%s" % (rng.randrange(200), rng.randbytes(4).hex().encode()) for _ in range(60_000)]
    data = b"".join(record.ljust(48, b" ") for record in records)
    (tmp_path / "in").write_bytes(data)
    out, stats = sort(run, tmp_path, "in", "--record-size", "48", "--key", "0:40", "--memory", "2MiB")
    assert out == expected(data, 48, ["0:40"])
    assert stats["merge_passes"] == 1


# --- unique ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])
@pytest.mark.parametrize(
    ("kind", "keys"), [("skewed", []), ("ascii", []), ("ascii", ["0:2"]), ("all equal", []), ("reverse", ["1:1"])]
)
def test_unique_keeps_the_first_of_equal_keys(
    run: Run, tmp_path: Path, samples: dict[str, Sample], kind: str, keys: list[str], memory: str
) -> None:
    sample = samples[kind]
    words = [word for key in keys for word in ("--key", key)]
    out, stats = sort(run, tmp_path, sample.path, "--unique", "--checksum", *words, "--memory", memory)
    assert out == expected(sample.data, keys=keys, unique=True)
    assert stats["records"] == RECORDS
    assert stats["records_dropped"] == RECORDS - len(out) // 100
    assert stats["output_bytes"] == len(out)
    assert stats["checksum"] == sample.checksum


# --- several inputs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])
def test_several_inputs_are_one(run: Run, tmp_path: Path, samples: dict[str, Sample], memory: str, backend: str) -> None:
    """Equal keys keep the order of the files; their sizes fit no block, and one file is empty, one named twice."""
    parts = [
        samples["skewed"].data[:100_100],
        b"",
        samples["all equal"].data[:2_000_300],
        samples["skewed"].data[100_100:1_900_000],
    ]
    for number, part in enumerate(parts):
        (tmp_path / f"in{number}").write_bytes(part)
    order = [2, 0, 1, 3, 0]
    out, stats = sort(run, tmp_path, *(f"in{n}" for n in order), "--memory", memory, "--io", backend)
    data = b"".join(parts[n] for n in order)
    assert out == expected(data)
    assert stats["input_bytes"] == len(data)


def test_many_small_inputs(run: Run, tmp_path: Path, samples: dict[str, Sample]) -> None:
    data = samples["skewed"].data[:1_200_000]
    names = []
    for number in range(300):
        names.append(f"part{number}")
        (tmp_path / names[-1]).write_bytes(data[number * 4000 : (number + 1) * 4000])
    for memory in ("2MiB", "64MiB"):
        assert sort(run, tmp_path, *names, "--memory", memory)[0] == expected(data)


# --- stripes over several directories ----------------------------------------------------------------------------------


def test_a_drive_is_used_through_the_first_directory_named(run: Run, tmp_path: Path, samples: dict[str, Sample]) -> None:
    words: list[str] = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        words += ["--temp", name]
    sample = samples["ascii"]
    done = run("sort", sample.path, "-o", "out", *words, "--memory", "2MiB", cwd=tmp_path)
    succeeded(done, "ecosort: temporary directory 'b' is not used: it is on the same drive as one named before\n")
    assert (tmp_path / "out").read_bytes() == sample.sorted
    assert [list((tmp_path / name).iterdir()) for name in "ab"] == [[], []]


# --- side by side ------------------------------------------------------------------------------------------------------


def test_sorts_at_the_same_time_share_a_directory(
    ecosort: Path, tmp_path: Path, samples: dict[str, Sample], backend: str
) -> None:
    """Different outputs, the same directory for runs; one of them is killed, which the others do not notice."""
    (tmp_path / "temp").mkdir()
    kinds = ["ascii", "skewed", "all equal", "reverse"]
    processes = {}
    for kind in kinds:
        words = [samples[kind].path, "-o", kind, "--temp", "temp", "--memory", "2MiB", "--io", backend]
        processes[kind] = subprocess.Popen([ecosort, "sort", *words], cwd=tmp_path, stderr=subprocess.PIPE)
    processes["reverse"].kill()
    for kind in kinds[:-1]:
        _, text = processes[kind].communicate(timeout=60)
        assert (processes[kind].returncode, text) == (0, b"")
        assert (tmp_path / kind).read_bytes() == samples[kind].sorted
    processes["reverse"].communicate(timeout=60)
    assert list((tmp_path / "temp").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"temp", *kinds}


# --- processors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", ["2MiB", "64MiB"])
def test_every_level_of_instructions_gives_the_same(run: Run, tmp_path: Path, samples: dict[str, Sample], memory: str) -> None:
    """The kernels for older processors, too; on one that lacks the newer ones these are refused."""
    sample = samples["skewed"]
    hashes = set()
    for level in CPU_LEVELS:
        words = ("sort", sample.path, "-o", "out", "--memory", memory, "--checksum", "--stats", "stats")
        done = run(*words, cwd=tmp_path, env={**os.environ, "ECOSORT_CPU": level})
        if level != "baseline" and done.returncode == 2:
            assert f"ECOSORT_CPU={level}: this machine offers" in done.stderr
            continue
        succeeded(done)
        assert (tmp_path / "out").read_bytes() == sample.sorted
        stats = read_json(tmp_path / "stats")
        assert stats["checksum"] == sample.checksum
        hashes.add(stats["hash"])
        (tmp_path / "out").unlink()
    assert len(hashes) == 1


# --- options that change nothing ---------------------------------------------------------------------------------------


SILENT = ["--stable", "--quiet", "-q", "--verify=always", "--verify=reread", "--progress=none", "--io=auto"]


@pytest.mark.parametrize(("word", "memory"), [*turns(SILENT, ["2MiB", "64MiB"]), ("--verify=reread", "64MiB")])
def test_options_that_do_not_change_the_output(
    run: Run, tmp_path: Path, samples: dict[str, Sample], word: str, memory: str
) -> None:
    out, stats = sort(run, tmp_path, samples["skewed"].path, word, "--memory", memory)
    assert out == samples["skewed"].sorted
    if "reread" in word:
        assert stats["phases"][-2]["name"] == "reread"
        assert stats["phases"][-2]["bytes_read"] >= RECORDS * 100
