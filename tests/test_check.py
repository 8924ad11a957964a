"""`ecosort check` reports what valsort 1.5 reports, from files, pipes and summaries."""

import itertools
import os
import random
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from gensort_records import RECORD_BYTES, checksum, key, sorted_stably, split, write_records
from pairs import pairs

Run = Callable[..., subprocess.CompletedProcess[str]]

FLAGS = {"binary": [], "ascii": ["-a"], "skewed": ["-s"], "skewed ascii": ["-a", "-s"]}
SUMMARY_BYTES = 280


def report(records: int, checksum_hex: str, duplicates: int) -> str:
    return f"Records: {records}\nChecksum: {checksum_hex}\nDuplicate keys: {duplicates}\nSUCCESS - all records are in order\n"


def unordered_report(first: int, records: int, checksum_hex: str, unordered: int) -> str:
    return (
        f"First unordered record is record {first}\nRecords: {records}\nChecksum: {checksum_hex}\n"
        f"ERROR - there are {unordered} unordered records\n"
    )


@pytest.fixture(scope="session")
def samples(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """1000 generated records of every kind."""
    directory = tmp_path_factory.mktemp("samples")
    made = {}
    for kind, flags in FLAGS.items():
        subprocess.run([ecosort, "gen", *flags, "1000", directory / kind], check=True)
        made[kind] = (directory / kind).read_bytes()
    return made


@pytest.fixture(scope="session")
def smallest(samples: dict[str, bytes]) -> list[bytes]:
    """R0, R1, R2: the three smallest records of 1000 ASCII records."""
    return split(sorted_stably(samples["ascii"]))[:3]


@pytest.fixture
def summary_of(run: Run, tmp_path: Path) -> Callable[[bytes], bytes]:
    def make_summary(data: bytes) -> bytes:
        part, summary = write_records(tmp_path / "part", data), tmp_path / "summary"
        run("check", "-q", "-o", summary, part)
        made = summary.read_bytes()
        assert len(made) == SUMMARY_BYTES
        return made

    return make_summary


# --- reports of the reference tool -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "checksum_hex", "unordered"),
    [
        ("ascii", "1f5dfb3631a", 497),
        ("binary", "1ea6370b955", 483),
        ("skewed ascii", "1eef17d1cac", 498),
        ("skewed", "1e96301166b", 499),
    ],
)
def test_reports_on_generated_and_on_sorted_records(
    run: Run, samples: dict[str, bytes], tmp_path: Path, kind: str, checksum_hex: str, unordered: int
) -> None:
    done = run("check", write_records(tmp_path / "generated", samples[kind]))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", unordered_report(2, 1000, checksum_hex, unordered))
    done = run("check", write_records(tmp_path / "sorted", sorted_stably(samples[kind])))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", report(1000, checksum_hex, 0))


def test_reports_on_one_record(run: Run, samples: dict[str, bytes], tmp_path: Path) -> None:
    done = run("check", write_records(tmp_path / "one", samples["ascii"][:RECORD_BYTES]))
    assert (done.returncode, done.stderr) == (0, report(1, "3fcaea0a", 0))


@pytest.mark.parametrize(
    ("size", "flags", "line"),
    [
        (0, [], "there must be at least one record to be validated"),
        (150, [], "partial record found at end"),
        (0, ["-s"], "there must be at least one record to be validated"),
        (300, ["-s"], "partial partition summary found at end"),
        (20, ["-s"], "partial partition summary found at end"),
    ],
)
def test_refuses_incomplete_files(
    run: Run,
    summary_of: Callable[[bytes], bytes],
    samples: dict[str, bytes],
    tmp_path: Path,
    size: int,
    flags: list[str],
    line: str,
) -> None:
    data = summary_of(sorted_stably(samples["ascii"])) + bytes(20) if flags else samples["ascii"]
    done = run("check", *flags, write_records(tmp_path / "file", data[:size]))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line + "\n")


def test_counts_every_neighbour_with_an_equal_key(run: Run, smallest: list[bytes], tmp_path: Path) -> None:
    r0, r1, r2 = smallest
    done = run("check", write_records(tmp_path / "six", r0, r1, r1, r2, r2, r2))
    assert (done.returncode, done.stderr) == (0, report(6, "402c63354", 3))


def test_duplicates_are_a_matter_of_the_key_alone(run: Run, smallest: list[bytes], tmp_path: Path) -> None:
    r0, r1, _ = smallest
    done = run("check", write_records(tmp_path / "three", r0, r0[:50] + b"Z" + r0[51:], r1))
    assert (done.returncode, done.stderr) == (0, report(3, "216d2e44b", 1))


def test_counts_every_neighbour_out_of_order(run: Run, smallest: list[bytes], tmp_path: Path) -> None:
    r0, r1, r2 = smallest
    file = write_records(tmp_path / "five", r2, r1, r1, r0, r2)
    done = run("check", file)
    assert (done.returncode, done.stderr) == (1, unordered_report(1, 5, "3521fa204", 2))
    quiet = run("check", "-q", file)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (1, "", "")


# --- summaries ---------------------------------------------------------------------------------------------------------


def words(*low_halves: int) -> bytes:
    return b"".join(bytes(8) + value.to_bytes(8, "little") for value in low_halves)


def test_writes_the_summary_of_the_reference_tool(
    summary_of: Callable[[bytes], bytes], samples: dict[str, bytes], smallest: list[bytes]
) -> None:
    one = samples["ascii"][:RECORD_BYTES]
    assert summary_of(one) == words(0, 0, 1, 0, 0x3FCAEA0A) + one + one
    ordered = sorted_stably(samples["ascii"])
    assert summary_of(ordered) == words(0, 0, 1000, 0, 0x1F5DFB3631A) + ordered[:100] + ordered[-100:]
    r0, r1, r2 = smallest
    assert summary_of(r2 + r1 + r1 + r0 + r2) == words(1, 2, 5, 1, 0x3521FA204) + r2 + r2


def test_summaries_of_parts_are_checked_as_one(
    run: Run, summary_of: Callable[[bytes], bytes], samples: dict[str, bytes], tmp_path: Path
) -> None:
    ordered = sorted_stably(samples["ascii"])
    quarters = [summary_of(ordered[begin : begin + 25_000]) for begin in range(0, 100_000, 25_000)]
    merged = tmp_path / "merged"
    done = run("check", "-o", merged, "-s", write_records(tmp_path / "all", *quarters))
    assert (done.returncode, done.stderr) == (0, report(1000, "1f5dfb3631a", 0))
    assert merged.read_bytes() == summary_of(ordered)
    one, two, three, four = quarters
    done = run("check", "-s", write_records(tmp_path / "mixed", two, one, three, four))
    assert (done.returncode, done.stderr) == (1, unordered_report(250, 1000, "1f5dfb3631a", 1))


def test_equal_keys_across_summaries_are_duplicates(
    run: Run, summary_of: Callable[[bytes], bytes], smallest: list[bytes], tmp_path: Path
) -> None:
    parts = write_records(tmp_path / "parts", summary_of(smallest[0]), summary_of(b"".join(smallest)))
    done = run("check", "-s", parts)
    assert (done.returncode, done.stderr) == (0, report(4, "2dcbba64c", 1))


def test_the_first_unordered_record_within_a_later_part_is_counted_from_the_start(
    run: Run, summary_of: Callable[[bytes], bytes], smallest: list[bytes], tmp_path: Path
) -> None:
    r0, r1, r2 = smallest
    parts = write_records(tmp_path / "parts", summary_of(r0 + r0), summary_of(r1 + r2 + r1))
    done = run("check", "-s", parts)
    assert (done.returncode, done.stderr) == (1, unordered_report(4, 5, checksum(r0 + r0 + r1 + r2 + r1), 1))


def test_several_files_are_one_sequence(run: Run, samples: dict[str, bytes], tmp_path: Path) -> None:
    ordered = sorted_stably(samples["ascii"])
    parts = [write_records(tmp_path / "a", ordered[:30_000]), write_records(tmp_path / "b", ordered[30_000:])]
    assert run("check", *parts).stderr == report(1000, "1f5dfb3631a", 0)
    assert run("check", *reversed(parts)).stderr == unordered_report(700, 1000, "1f5dfb3631a", 1)


# --- large files, pipes ------------------------------------------------------------------------------------------------


def expected_report(data: bytes) -> str:
    keys = [key(record) for record in split(data)]
    unordered = [i for i in range(1, len(keys)) if keys[i - 1] > keys[i]]
    if unordered:
        return unordered_report(unordered[0], len(keys), checksum(data), len(unordered))
    return report(len(keys), checksum(data), sum(a == b for a, b in itertools.pairwise(keys)))


@pytest.fixture(scope="session")
def large(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """More than two blocks of the reader, sorted, with duplicates and a tail that is no whole page."""
    file = tmp_path_factory.mktemp("large") / "file"
    subprocess.run([ecosort, "gen", "-a", "100001", file], check=True)
    records = split(sorted_stably(file.read_bytes()))
    for begin in (40_000, 81_900):  # groups of equal keys across both borders between blocks
        group = records[begin]
        records[begin : begin + 1500] = [group] * 1500
    return b"".join(records)


@pytest.mark.parametrize(
    ("flags", "caching", "swap"),
    pairs([[], ["-t1"], ["-t5"]], ["", ",buf"], [None, (40_959, 45_000), (5, 99_999), (100_000, 99_999)]),
    ids=str,
)
def test_checks_large_files_across_blocks(
    run: Run, large: bytes, tmp_path: Path, flags: list[str], caching: str, swap: tuple[int, int] | None
) -> None:
    records = split(large)
    if swap:
        records[swap[0]], records[swap[1]] = records[swap[1]], records[swap[0]]
    data = b"".join(records)
    done = run("check", *flags, f"{write_records(tmp_path / 'large', data)}{caching}")
    assert done.stderr == expected_report(data)
    assert done.returncode == (0 if swap is None else 1)


def test_checks_pipes_and_standard_input(ecosort: Path, large: bytes, tmp_path: Path) -> None:
    piped = subprocess.run([ecosort, "check", "/dev/stdin"], input=large, capture_output=True, check=False)
    assert (piped.returncode, piped.stderr.decode()) == (0, expected_report(large))
    file = write_records(tmp_path / "file", large)
    with file.open("rb") as redirected:
        redirected.seek(50 * RECORD_BYTES)
        done = subprocess.run([ecosort, "check", "/dev/stdin"], stdin=redirected, capture_output=True, check=False)
    assert done.stderr.decode() == expected_report(large[50 * RECORD_BYTES :])


def test_a_partial_record_at_the_end_of_a_pipe_is_refused(ecosort: Path, large: bytes) -> None:
    done = subprocess.run([ecosort, "check", "/dev/stdin"], input=large[:-1], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"partial record found at end\n")


def test_text_that_is_checked_as_records_is_told_where_it_belongs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("name,price\nlamp,9\n")
    done = run("check", tmp_path / "shop.csv")
    assert (done.returncode, done.stderr) == (
        1,
        "partial record found at end; for text: ecosort check lines, csv or jsonl, with the options of the sort\n",
    )


def test_a_partial_record_does_not_hide_what_was_found_before_it(run: Run, samples: dict[str, bytes], tmp_path: Path) -> None:
    done = run("check", write_records(tmp_path / "file", samples["ascii"][:-1]))
    assert (done.returncode, done.stderr) == (1, "First unordered record is record 2\npartial record found at end\n")


def test_a_file_that_changes_meanwhile_is_an_error_and_no_crash(run: Run, large: bytes, tmp_path: Path) -> None:
    file = write_records(tmp_path / "file", large)
    half = len(large) // 2
    finished = threading.Event()

    def shrink_and_grow() -> None:
        while not finished.is_set():
            os.truncate(file, half)
            with file.open("ab") as growing:
                growing.write(large[half:])

    changes = {f"{file}: changed while it was read", f"{file}: became shorter while it was read"}
    changer = threading.Thread(target=shrink_and_grow)
    changer.start()
    try:
        runs = [run("check", file) for _ in range(20)]
    finally:
        finished.set()
        changer.join()
    assert {done.returncode for done in runs} <= {0, 1}
    last_lines = {done.stderr.splitlines()[-1] for done in runs}
    assert last_lines & changes
    assert last_lines <= changes | {"SUCCESS - all records are in order", "partial record found at end"}


# --- case-insensitive order --------------------------------------------------------------------------------------------


def record_with_key(key_bytes: bytes) -> bytes:
    return key_bytes.ljust(10, b"\0")[:10] + bytes(90)


def lower(text: bytes) -> bytes:
    return bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in text)


def test_letters_of_both_cases_are_equal_with_i(run: Run, tmp_path: Path) -> None:
    file = write_records(tmp_path / "file", *map(record_with_key, [b"ABC", b"abc", b"aBD", b"abe"]))
    assert run("check", file).stderr.startswith("First unordered record is record 2\n")
    done = run("check", "-i", file)
    assert done.returncode == 0
    assert "Duplicate keys: 1\n" in done.stderr


def test_a_zero_byte_does_not_end_the_comparison_with_i(run: Run, tmp_path: Path) -> None:
    file = write_records(tmp_path / "file", record_with_key(b"A\0b"), record_with_key(b"a\0a"))
    done = run("check", "-i", file)
    assert done.returncode == 1
    assert done.stderr.startswith("First unordered record is record 1\n")


def test_the_comparison_with_i_ends_after_ten_bytes(run: Run, tmp_path: Path) -> None:
    file = write_records(tmp_path / "file", b"x" * 10 + b"b" * 90, b"X" * 10 + b"a" * 90)
    done = run("check", "-i", file)
    assert done.returncode == 0
    assert "Duplicate keys: 1\n" in done.stderr


def test_every_byte_value_is_compared_like_its_lower_case_with_i(run: Run, tmp_path: Path) -> None:
    chance = random.Random(5)
    interesting = [0, 1, 31, 63, 64, 65, 66, 89, 90, 91, 96, 97, 98, 121, 122, 123, 127, 128, 192, 193, 218, 225, 254, 255]
    keys = [
        bytes([byte]) * position + bytes([byte, other]) for byte in range(256) for other in (64, 91) for position in (0, 7, 8)
    ]
    keys += [bytes(chance.choice(interesting) for _ in range(10)) for _ in range(2000)]
    records = [record_with_key(text) for text in keys]
    file = write_records(tmp_path / "file", *records)
    folded = [lower(key(record)) for record in records]
    unordered = [i for i in range(1, len(folded)) if folded[i - 1] > folded[i]]
    assert run("check", "-i", file).stderr == unordered_report(
        unordered[0], len(records), checksum(b"".join(records)), len(unordered)
    )
    in_order = write_records(tmp_path / "in order", *sorted(records, key=lambda record: lower(key(record))))
    assert run("check", "-i", "-q", in_order).returncode == 0


def test_summaries_are_compared_without_case_with_i(run: Run, summary_of: Callable[[bytes], bytes], tmp_path: Path) -> None:
    parts = write_records(tmp_path / "parts", summary_of(record_with_key(b"b")), summary_of(record_with_key(b"B")))
    assert run("check", "-s", parts).returncode == 1
    done = run("check", "-i", "-s", parts)
    assert done.returncode == 0
    assert "Duplicate keys: 1\n" in done.stderr


# --- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "needs a FILE"),
        (["-iq", "F"], "'-iq' would be read as -i alone by the reference tool; type -i -q"),
        (["-osum", "F"], "'-osum': type -o sum"),
        (["-o"], "-o needs a file name behind it"),
        (["-o", "-q", "F"], "-o needs a file name behind it"),
        (["-t", "2", "F"], "-t needs its number right behind the letter, such as -t4"),
        (["-a", "F"], "unknown flag '-a'"),
        (["F", "-q"], "'-q' comes too late; flags go before everything else"),
    ],
)
def test_a_misleading_command_is_refused_with_what_to_type(run: Run, tmp_path: Path, words: list[str], line: str) -> None:
    done = run("check", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"ecosort check: {line} (see ecosort check --help)\n")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_read_is_named_with_the_reason(run: Run, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    done = run("check", missing)
    assert (done.returncode, done.stderr) == (1, f"{missing}: No such file or directory\n")
    done = run("check", tmp_path)
    assert (done.returncode, done.stderr) == (1, f"{tmp_path}: Is a directory\n")


def test_a_summary_never_overwrites_what_is_checked(run: Run, samples: dict[str, bytes], tmp_path: Path) -> None:
    file = write_records(tmp_path / "file", samples["ascii"])
    link = tmp_path / "link"
    os.link(file, link)
    done = run("check", "-o", link, file)
    assert done.returncode == 1
    assert f"-o {link} would overwrite what is to be checked" in done.stderr
    assert file.read_bytes() == samples["ascii"]


def test_a_summary_that_cannot_be_written_is_an_error(run: Run, samples: dict[str, bytes], tmp_path: Path) -> None:
    file = write_records(tmp_path / "file", sorted_stably(samples["ascii"]))
    done = run("check", "-q", "-o", "/dev/full", file)
    assert (done.returncode, done.stderr) == (1, "/dev/full: No space left on device\n")


def test_a_report_that_nobody_gets_is_an_error(ecosort: Path, samples: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(next(iter(samples.values())))
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run([ecosort, "check", tmp_path / "file"], stderr=full, check=False).returncode == 1


def test_help_shows_examples_first(run: Run) -> None:
    done = run("check", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Examples\n")
