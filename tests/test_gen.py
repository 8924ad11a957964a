"""`ecosort gen` makes the bytes of gensort 1.5, and notices what gensort does not: failed writes and misread arguments."""

import hashlib
import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from capabilities import only_in_soak
from gensort_records import RECORD_BYTES, checksum, sorted_stably
from sort_support import CPU_LEVELS, faults

Run = Callable[..., subprocess.CompletedProcess[str]]

FLAGS = {"binary": [], "ascii": ["-a"], "skewed": ["-s"], "skewed ascii": ["-a", "-s"]}

# Facts about the reference tool: `gensort FLAGS -c N /dev/null`.
CHECKSUMS = {
    ("binary", 1): "9ea593a0",
    ("ascii", 1): "3fcaea0a",
    ("skewed", 1): "9ea593a0",
    ("skewed ascii", 1): "3fcaea0a",
    ("binary", 10): "55fea8a1a",
    ("ascii", 10): "469302dca",
    ("skewed", 10): "5d95519b3",
    ("skewed ascii", 10): "46073c01c",
    ("binary", 1000): "1ea6370b955",
    ("ascii", 1000): "1f5dfb3631a",
    ("skewed", 1000): "1e96301166b",
    ("skewed ascii", 1000): "1eef17d1cac",
}
# SHA-256 of its files of 1000 records, as generated and stably sorted.
SHA256 = {
    "ascii": (
        "6c26b26a61464dd78038f9c60907c851ac043c07584b12835fe065cbca31aad2",
        "70c5bf6b95f8d89a0450449546480024efa4d7dcb31b56b48945910c31ca1eda",
    ),
    "binary": (
        "f524474116510d1debac6d38152e793a7e3cb71b1dd2bb45b6610e3c17698177",
        "dfa3bccf620f355643837e487639c0f546469757cb1ffdd4d46bae9fe85293be",
    ),
    "skewed ascii": (
        "33dc462ab1da5ddedecf127d65c8856b59baec45a15b91f79aafd116514ac65e",
        "69e33ec2e832fefdc3dad2b4a4461a6d7b2e0085383b91e129dd0e49838a333c",
    ),
    "skewed": (
        "e29ce5d551d332a974d978a4a4b3535efcd5df559328fe4ee11bf7f481269444",
        "d9a92de436909914451dc23624bd67582593f0fba8f844652ed0246c4b3c8940",
    ),
}
LARGE = 100_001  # records: more than two blocks of the writer, direct I/O, and a tail that ends within a page


@pytest.fixture
def generate(run: Run, tmp_path: Path) -> Callable[..., bytes]:
    def generate_bytes(*words: str | int) -> bytes:
        """The records of `gen WORDS FILE`, which must say nothing."""
        done = run("gen", *map(str, words), tmp_path / "generated")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return (tmp_path / "generated").read_bytes()

    return generate_bytes


@pytest.mark.parametrize(("kind", "count"), CHECKSUMS)
def test_prints_the_checksum_of_the_reference_tool(run: Run, kind: str, count: int) -> None:
    done = run("gen", *FLAGS[kind], "-c", str(count), "/dev/null")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", CHECKSUMS[kind, count] + "\n")


@pytest.mark.parametrize("kind", SHA256)
def test_makes_the_file_of_the_reference_tool(generate: Callable[..., bytes], kind: str) -> None:
    data = generate(*FLAGS[kind], 1000)
    hashes = tuple(hashlib.sha256(made).hexdigest() for made in (data, sorted_stably(data)))
    assert hashes == SHA256[kind]


def teragen_row(number: int) -> bytes:
    """By the definition: the key and the number of gensort's binary record, and marks between them."""
    state = 0
    for _ in range(number + 1):
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + 0x4A696D47726179524950202020202001) % 2**128
    filler = "".join(digit * 4 for digit in f"{state % 2**48:012X}")
    key = (state >> 48).to_bytes(10, "big")
    return key + b"\x00\x11" + f"{number:032X}".encode() + b"\x88\x99\xaa\xbb" + filler.encode() + b"\xcc\xdd\xee\xff"


def test_rows_of_teragen_are_made_recognised_sorted_and_checked(run: Run, generate: Callable[..., bytes], tmp_path: Path) -> None:
    """They hold newlines here and there: as lines they would be torn, so sort and merge take them for records."""
    data = generate("--teragen", 2000)
    assert data == b"".join(map(teragen_row, range(2000)))
    assert generate("--teragen", "-b1990", 10) == data[-10 * RECORD_BYTES :]
    (tmp_path / "in").write_bytes(data)
    done = run("sort", "-q", tmp_path / "in", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").read_bytes() == sorted_stably(data)
    checked = run("check", tmp_path / "out")
    assert checked.returncode == 0
    assert f"Records: 2000\nChecksum: {checksum(data)}\n" in checked.stderr
    done = run("merge", "-q", tmp_path / "out", tmp_path / "out", "-o", tmp_path / "both")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "both").read_bytes() == sorted_stably(data + data)
    refused = run("gen", "--teragen", "-a", "5", tmp_path / "no")
    assert refused.returncode == 1
    assert "leave one of them out" in refused.stderr


@only_in_soak
@pytest.mark.skipif(bool(os.environ.get("ECOSORT_SAN")), reason="10^8 records take minutes with sanitizers")
def test_prints_the_published_checksum_of_ten_to_the_eight_records(run: Run) -> None:
    done = run("gen", "-a", "-c", "100000000", "/dev/null")
    assert done.stderr == "2faf0ab746e89a8\n"


@pytest.mark.parametrize("kind", FLAGS)
@pytest.mark.parametrize("first", [0, 10**9, 2**60 - 3, 2**64 - 3, 2**128 - 3])
def test_partitions_make_up_the_whole(generate: Callable[..., bytes], kind: str, first: int) -> None:
    flags = FLAGS[kind]
    whole = generate(*flags, f"-b{first}", 10)
    parts = [generate(*flags, f"-b{(first + begin) % 2**128}", count) for begin, count in ((0, 1), (1, 4), (5, 5))]
    assert b"".join(parts) == whole


def test_flags_combine_in_any_order(generate: Callable[..., bytes]) -> None:
    assert generate("-s", "-a", "-t1", "-b5", 3) == generate("-b5", "-a", "-s", 3)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("caching", ["", ",buf"])
def test_threads_and_caching_do_not_change_a_byte(run: Run, tmp_path: Path, threads: int, caching: str) -> None:
    reference = tmp_path / "reference"
    assert run("gen", "-a", LARGE, reference).returncode == 0
    made = tmp_path / "made"
    done = run("gen", "-a", "-c", f"-t{threads}", LARGE, f"{made}{caching}")
    assert done.returncode == 0
    data = made.read_bytes()
    assert data == reference.read_bytes()
    assert len(data) == LARGE * RECORD_BYTES
    assert done.stderr == checksum(data) + "\n"


def test_makes_the_same_bytes_with_the_kernels_of_every_processor(run: Run) -> None:
    expected = CHECKSUMS["ascii", 1000] + "\n"
    for level in CPU_LEVELS:
        done = run("gen", "-a", "-c", "1000", "/dev/null", env={**os.environ, "ECOSORT_CPU": level})
        assert done.stderr == expected or "this machine offers" in done.stderr


def test_no_records_make_an_empty_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old content")
    done = run("gen", "-c", "0", tmp_path / "old")
    assert (done.returncode, done.stderr) == (0, "0\n")
    assert (tmp_path / "old").read_bytes() == b""


def test_overwrites_a_longer_file_in_place(run: Run, tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(bytes(1_000_000))
    os.link(file, link)
    assert run("gen", "-a", "10", file).returncode == 0
    assert link.stat().st_size == 1000


def test_standard_output_is_a_stream(run: Run, ecosort: Path, generate: Callable[..., bytes], tmp_path: Path) -> None:
    expected = generate("-a", LARGE)
    piped = subprocess.run(
        [ecosort, "gen", "-a", str(LARGE), "/dev/stdout"], capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    assert piped.stdout == expected
    appended = tmp_path / "appended"
    with appended.open("wb") as file:
        for first in (0, 5):
            subprocess.run([ecosort, "gen", "-a", f"-b{first}", "5", "/dev/stdout"], stdout=file, check=True)
    assert appended.read_bytes() == expected[: 10 * RECORD_BYTES]


def test_writes_to_a_named_pipe_in_order(ecosort: Path, generate: Callable[..., bytes], tmp_path: Path) -> None:
    expected = generate("-a", LARGE)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([ecosort, "gen", "-a", str(LARGE), pipe]) as process:
        assert pipe.read_bytes() == expected
    assert process.returncode == 0


def test_a_name_may_hold_a_comma_if_the_file_exists(run: Run, tmp_path: Path) -> None:
    odd = tmp_path / "a,b"
    odd.touch()
    assert run("gen", "3", odd).returncode == 0
    assert odd.stat().st_size == 300


# --- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["1e6", "F"], "NUM_RECS '1e6' is no whole number (the reference tool would read 1); type 1000000"),
        (["10M", "F"], "NUM_RECS '10M' is no whole number (the reference tool would read 10); type 10000000"),
        (["1,000", "F"], "NUM_RECS '1,000' is no whole number (the reference tool would read 1); type 1000"),
        (["1.5e6", "F"], "NUM_RECS '1.5e6' is no whole number (the reference tool would read 1); type its decimal digits only"),
        (["many", "F"], "NUM_RECS 'many' is no whole number (the reference tool would read 0); type its decimal digits only"),
        (["18446744073709551616", "F"], "NUM_RECS 18446744073709551616 is too large; it must be below 2^64"),
        (["-as", "10", "F"], "'-as' would be read as -a alone by the reference tool; type -a -s"),
        (["-sa", "10", "F"], "'-sa' would be read as -s alone by the reference tool; type -s -a"),
        (["-cat", "10", "F"], "'-cat': -c takes nothing behind the letter; type -c alone"),
        (["-b", "5", "10", "F"], "-b needs its number right behind the letter, such as -b4"),
        (["-b1k", "10", "F"], "-b '1k' is no whole number (the reference tool would read 1); type 1000"),
        ([f"-b{2**128}", "10", "F"], f"-b {2**128} is too large; it must be below 2^128"),
        (["-t0", "10", "F"], "-t takes 1 to 1024 threads"),
        (["-t5000", "10", "F"], "-t takes 1 to 1024 threads"),
        (["-x", "10", "F"], "unknown flag '-x'"),
        (["--ascii", "10", "F"], "no such option: '--ascii'"),
        (["10", "-"], "'-' comes too late; flags go before everything else"),
        (["10", "F", "-a"], "'-a' comes too late; flags go before everything else"),
        (["-", "10"], "'-' is no file name here; type /dev/stdin or /dev/stdout"),
        (["10"], "needs NUM_RECS and FILE, got 1 word"),
        ([], "needs NUM_RECS and FILE, got 0 words"),
        (["10", "F", "G"], "needs NUM_RECS and FILE, got 3 words"),
        (["10", ""], "the file name is empty"),
        (["10", "F,count=4"], "'F,count=4': transfer size and count are chosen for you; leave ',count=4' out"),
        (
            ["10", "F,quick"],
            "'F,quick': unknown file option 'quick' (there are ,buf and ,dir; a new file's name cannot hold a comma)",
        ),
    ],
)
def test_a_misleading_command_is_refused_with_what_to_type(run: Run, tmp_path: Path, words: list[str], line: str) -> None:
    done = run("gen", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"ecosort gen: {line} (see ecosort gen --help)\n"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_opened_is_named_with_the_reason(run: Run, tmp_path: Path) -> None:
    done = run("gen", "10", tmp_path)
    assert (done.returncode, done.stderr) == (1, f"{tmp_path}: Is a directory\n")
    missing = tmp_path / "missing" / "file"
    done = run("gen", "10", missing)
    assert (done.returncode, done.stderr) == (1, f"{missing}: No such file or directory\n")


@pytest.mark.parametrize("count", [1, LARGE])
def test_a_full_device_is_noticed(run: Run, count: int) -> None:
    done = run("gen", "-c", str(count), "/dev/full")
    assert (done.returncode, done.stderr) == (1, "/dev/full: No space left on device\n")


def test_a_checksum_that_nobody_gets_is_an_error(ecosort: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run([ecosort, "gen", "-c", "10", tmp_path / "file"], stderr=full, check=False).returncode == 1


def test_a_full_standard_output_is_noticed(ecosort: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([ecosort, "gen", "10", "/dev/stdout"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "/dev/stdout: No space left on device\n")


@pytest.mark.parametrize("caching", ["", ",buf"])
@pytest.mark.parametrize("count", [1000, LARGE])
def test_a_file_size_limit_is_noticed_and_leaves_nothing_half_done(run: Run, tmp_path: Path, count: int, caching: str) -> None:
    file = tmp_path / "file"
    limit = 65536
    done = run(
        "gen", str(count), f"{file}{caching}", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{file}: File too large (")
    assert done.stderr.count("\n") == 1
    assert file.stat().st_size == 0


@pytest.mark.parametrize("caching", ["", ",buf"])
def test_a_full_disk_is_noticed_and_leaves_nothing_half_done(
    ecosort: Path, require: Callable[[str], None], tmp_path: Path, caching: str
) -> None:
    require("loop_mount")
    image, mount_point = tmp_path / "image", tmp_path / "mnt"
    mount_point.mkdir()
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    # The mount ends with its namespace. 30 MB cannot fit; what was taken for them is free again afterwards.
    script = f"""
        mount -o loop {image} {mount_point}
        '{ecosort}' gen -a 300000 {mount_point}/file{caching}; echo "exit $? size $(stat -c %s {mount_point}/file)"
        '{ecosort}' gen -a 1000 {mount_point}/file{caching}; echo "exit $? size $(stat -c %s {mount_point}/file)"
    """
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "exit 1 size 0\nexit 0 size 100000\n"
    assert done.stderr.startswith(f"{mount_point}/file: No space left on device (")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_leaves_the_file_empty_and_ends_a_stream(ecosort: Path, tmp_path: Path, name: str) -> None:
    """Else the file would have its full size, of zeros. A stream may wait for its reader."""
    file, number = tmp_path / "file", signal.Signals[name]
    words = [*faults(tmp_path, f"fallocate:signal={name[3:]}:when=1"), ecosort, "gen", "10", file]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, file.stat().st_size) == (128 + number, 0)
    assert done.stderr.startswith(f"ecosort: interrupted by signal {number} (")
    with subprocess.Popen([ecosort, "gen", str(LARGE), "/dev/stdout"], stdout=subprocess.PIPE) as stream:
        assert stream.stdout
        stream.stdout.read(1)
        stream.send_signal(number)
        assert stream.wait(60) == -number


def test_more_than_a_file_can_hold_is_refused(run: Run, tmp_path: Path) -> None:
    done = run("gen", str(2**64 - 1), tmp_path / "file")
    assert (done.returncode, done.stderr) == (1, f"{tmp_path}/file: no file can hold 18446744073709551615 records\n")


def test_a_closed_pipe_ends_the_run(ecosort: Path) -> None:
    command = f"'{ecosort}' gen -a 100000000 /dev/stdout | head -c 10; echo \" ${{PIPESTATUS[0]}}\""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "AsfAGHM5om 141\n"  # SIGPIPE, as for any program


def test_help_shows_examples_first(run: Run) -> None:
    done = run("gen", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Examples\n")
