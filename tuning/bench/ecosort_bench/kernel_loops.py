"""Builds the kernels without the rest of the program, runs them under qemu-user, and counts or traces their instructions."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SYSROOT = ROOT / "build-aarch64" / "sysroot"  # of `make cross`
_BENCH = ROOT / "tuning/bench/instructions"
_FLAGS = ("-std=c++20", "-O2", "-g1", "-fno-omit-frame-pointer", "-DFMT_HEADER_ONLY")  # as those of the program
_KERNELS = (
    "base/cpu_features",
    "base/errors",
    "base/open_files",
    "base/thread_pool",
    "base/uint128",
    "codec/transpose*",
    "formats/csv/csv_kernels*",
    "formats/lines/line_kernels*",
    "formats/lines/number_window*",
    "formats/shuffle/random_keys*",
    "hash/*",
    "sortbenchmark/valsort_crc*",
)
_AVX2 = ("-mavx2", "-mbmi2", "-mpclmul")
_AS_THE_PROGRAM = {"block_checksum_neon": ("-O3",)}  # ecosort/kernels.cmake
_AVX512 = (*_AVX2, *(f"-mavx512{part}" for part in ("f", "bw", "dq", "vl", "vbmi2")), "-mvpclmulqdq")
# The processor of a Raspberry Pi 5; SVE2 with vectors of 128 bits, as it is sold. The C library copies by what it finds.
_CPUS = {"x86_64": "max", "aarch64": "cortex-a76", "sve2_loops": "max,sve128=on"}
ITEMS = 1000  # of one pass


@dataclass(frozen=True)
class Kernel:
    name: str
    what: str
    functions: str  # parts of the names of its functions


KERNELS = (
    Kernel("hash_100", "hash of a record of 100 bytes", "hash_records"),
    Kernel("hash_16", "hash of a record of 16 bytes", "hash_records"),
    Kernel("hash_lines", "hash of a line of 100 bytes", "hash_line+sum_o+sums"),
    Kernel("hash_csv_rows", "hash of a row of CSV of 54 bytes", "hash_line+sum_o+sums"),
    Kernel("count_lines", "lines counted", "count_in"),
    Kernel("split_lines", "lines split", "split_lines"),
    Kernel("find_line_end", "the end of a line found", "find_end"),
    Kernel("gather_lines", "a line found and copied", "gather_lines+copy_rest"),
    Kernel("scan_csv", "a row of CSV checked", "scan_rows"),
    Kernel("plain_csv_row", "a row of CSV and its third field found", "find_plain_row+find_short_row+find_long_row"),
    Kernel("read_number", "a number read", "read_number+read_behind"),
    Kernel("checksum_100", "checksum of 100 bytes of a block", "checksum+XXH"),
    Kernel("transpose_100", "a record of 100 bytes transposed", "transpose"),
    Kernel("crc_100", "CRC-32 of a record of 100 bytes", "crc"),
    Kernel("random_keys", "random key of a row", "enter+philox"),
)


def call(words: Sequence[str | Path], text: str | None = None) -> str:
    """Returns what a program prints; exits with what it says when it fails."""
    done = subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words[:4]))} ...: {done.stderr}")
    return done.stdout


def newest(program: str) -> str:
    return call([ROOT / "tuning/setup/newest", program]).strip()


def build_program(architecture: str, directory: Path, *flags: str) -> Path:
    """kernel_loops, at fixed addresses; of x86_64 or aarch64."""
    program = directory / "kernel_loops"
    directory.mkdir(exist_ok=True)
    compiler, prefix = ("aarch64-linux-gnu-g++", SYSROOT / "usr/include") if architecture == "aarch64" else ("g++", None)
    includes: list[str | Path] = [
        f"-I{ROOT / 'ecosort'}",
        f"-I{ROOT / 'include'}",
        *(["-idirafter", str(prefix)] if prefix else []),
    ]
    sources = [path for pattern in _KERNELS for path in sorted((ROOT / "ecosort").glob(f"{pattern}.cpp"))]
    objects = []
    for source in [*sources, _BENCH / "kernel_loops.cpp"]:
        level = source.stem.rpartition("_")[2]
        if (level == "neon") == (architecture != "aarch64") and level in ("neon", "avx2", "avx512"):
            continue
        objects.append(directory / f"{source.stem}.o")
        wanted = {"avx2": _AVX2, "avx512": _AVX512}.get(level, _AS_THE_PROGRAM.get(source.stem, ()))
        call(
            [
                *os.environ.get("CXX_LAUNCHER", "").split(),
                compiler,
                *_FLAGS,
                *flags,
                *wanted,
                *includes,
                "-c",
                source,
                "-o",
                objects[-1],
            ]
        )
    call([compiler, "-static", "-no-pie", *objects, "-o", program])
    return program


def build_sve2(directory: Path) -> Path:
    """sve2_loops: bodies of some kernels over vectors of SVE2, of 128 bits."""
    program = directory / "sve2_loops"
    vectors = ("-march=armv8.2-a+sve2", "-msve-vector-bits=128")
    words = ("-static", "-no-pie", f"-I{ROOT / 'ecosort'}", f"-I{ROOT / 'include'}", _BENCH / "sve2_loops.cpp", "-o", program)
    call(["aarch64-linux-gnu-g++", *_FLAGS, *vectors, *words])
    return program


def clock_ghz(directory: Path) -> float:
    """Measures at what rate this machine computes."""
    call(["gcc", "-O2", _BENCH / "clock_rate.c", "-o", directory / "clock_rate"])
    return float(call([directory / "clock_rate"]))


@cache
def plugin(directory: Path) -> Path:
    out = directory / "count_instructions.so"
    major = int(call(["qemu-aarch64", "--version"]).split("version ")[1].split(".")[0])
    call(
        [
            "gcc",
            "-shared",
            "-fPIC",
            "-O2",
            f"-DQEMU_PLUGIN_API={1 if major < 9 else 2}",
            _BENCH / "count_instructions.c",
            "-o",
            out,
        ]
    )
    return out


def emulated(architecture: str, directory: Path, words: Sequence[str | Path], *options: str | Path, trace: str = "") -> list[str]:
    """Runs a program with the plugin; returns the lines that it writes."""
    out = directory / "counted"
    cpu = ["-cpu", _CPUS.get(Path(words[0]).name, _CPUS[architecture])]
    wanted = f",trace={trace}" if trace else ""
    call([f"qemu-{architecture}", *cpu, *options, "-plugin", f"{plugin(directory)},out={out}{wanted}", *words])
    return out.read_text().splitlines()


def count_of(lines: Sequence[str]) -> int:
    return sum(int(line.split("\t")[0]) for line in lines)
