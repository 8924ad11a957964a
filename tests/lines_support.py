"""The tests of `ecosort lines` share these: the two programs, and random lines, keys and options."""

import functools
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

SORT = "sort"
SMALL = ["-S", "1M"]  # the least memory: a few MB make many runs and several passes


def run(program: list[str], words: list[str], directory: Path, data: bytes | None = None) -> tuple[int, bytes, str]:
    """Exit code, standard output, and standard error, in which EcoSort calls itself sort."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        [*program, *words], cwd=directory, input=data, capture_output=True, env=environment, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").replace("ecosort lines", "sort")


def assert_same(ecosort: Path, directory: Path, words: list[str], data: bytes | None = None, more: Sequence[str] = ()) -> None:
    """`more`: options that sort lacks."""
    expected_code, expected_output, _ = run([SORT], words, directory, data)
    code, output, error = run([str(ecosort), "lines"], [*more, *words], directory, data)
    assert (code, error if code != expected_code else "") == (expected_code, ""), words
    assert output == expected_output, words


def assert_all_same(ecosort: Path, directory: Path, words: list[str], data: bytes | None = None) -> None:
    """Standard error too."""
    assert run([str(ecosort), "lines"], words, directory, data) == run([SORT], words, directory, data), words


def random_line(rng: random.Random) -> bytes:
    kind = rng.randrange(7)
    if kind == 0:
        return rng.randbytes(rng.randrange(20)).replace(b"\n", b"")
    if kind == 1:
        number = rng.choice([str(rng.randrange(10)), str(rng.randrange(10**18)), f"{rng.uniform(-9, 9):.6f}", "-0", "1e3", ".5"])
        return (rng.choice(["", " ", "-"]) + number + rng.choice(["", "K", "M", "k", "Gi", ","])).encode()
    if kind == 2:
        return f"{rng.choice(['jan', 'FEB', 'Mar', 'xyz', ''])} {rng.randrange(30)}".encode()
    if kind == 3:
        version = f"{rng.randrange(12)}.{rng.randrange(12)}"
        return f"{rng.choice(['', '.', 'lib-', 'v'])}{version}{rng.choice(['', '.tar.gz', '~'])}".encode()
    if kind == 4:
        return b"common prefix of many bytes " * rng.randrange(3) + bytes([rng.choice(b"aAbB\0\x01 \t")]) * rng.randrange(4)
    if kind == 5:
        # in numbers (not -g) sort 9.1 passes over byte 0x80; other bytes end them
        return bytes(rng.choices(b"01-. K\x80\x80\x81", k=rng.randrange(9)))
    return bytes(rng.choices(b"aAbB.,- \t019~_\0", k=rng.randrange(16)))


def random_lines(rng: random.Random, count: int) -> bytes:
    lines = [random_line(rng) for _ in range(count)]
    repeated = [rng.choice(lines) for _ in range(count // 4)]
    text = b"\n".join(rng.sample(lines + repeated, len(lines) + len(repeated)))
    return text + rng.choice([b"", b"\n"])


def random_key(rng: random.Random) -> str:
    letters = ["", "b", "d", "f", "g", "h", "i", "M", "n", "r", "V", "bn", "nr", "df", "fi", "Vr", "bf"]
    first = f"{rng.randrange(1, 4)}{rng.choice(['', '', f'.{rng.randrange(1, 6)}'])}{rng.choice(letters)}"
    if rng.random() < 0.4:
        return first
    return f"{first},{rng.randrange(1, 5)}{rng.choice(['', '', f'.{rng.randrange(6)}'])}{rng.choice(['', '', 'b'])}"


def random_words(rng: random.Random) -> list[str]:
    words = rng.sample(["-r", "-s", "-u", "-b", "-f", "-z"], rng.choice([0, 0, 1, 1, 2]))
    if rng.random() < 0.5:
        words.append(rng.choice(["-n", "-g", "-h", "-M", "-V", "-d", "-i", "-di"]))
    if rng.random() < 0.3:
        words.append(rng.choice(["-t,", "-t ", "-t.", "-t\\0"]))
    for _ in range(rng.choice([0, 1, 1, 2])):
        words.append(f"-k{random_key(rng)}")
    return words


@functools.lru_cache(maxsize=2)
def numbered_lines(count: int, seed: int = 1) -> bytes:
    """Lines of three fields: a number of seven digits, one below a thousand, and up to forty letters."""
    rng = random.Random(seed)
    words = [("abcdefghijklmnopqrstuvwxyz" * 2)[:length] for length in range(41)]
    fields = zip(*(rng.choices(one, k=count) for one in (range(10**7), range(1000), words)), strict=True)
    return "".join(f"{first:07},{second},{word}\n" for first, second, word in fields).encode()


def sorted_by_sort(data: bytes, *words: str, header_lines: int = 0) -> bytes:
    """Returns what `sort` makes of the lines behind the header, and the header on top."""
    at = 0
    for _ in range(header_lines):
        at = data.index(b"\n", at) + 1
    done = subprocess.run([SORT, *words], input=data[at:], capture_output=True, env={**os.environ, "LC_ALL": "C"}, check=True)
    return data[:at] + done.stdout
