"""`make bench-arm`: what the kernels and whole sorts take on a 64-bit Arm processor, without one.

The instructions are counted under qemu-user. The cycles are those of llvm-mca, a model of processors: it is given what a kernel
ran, instruction by instruction, and knows how wide a processor is and how long its instructions take. It takes each load as a hit
in the first cache and each branch as predicted. Prints tables for docs/benchmarks.md.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from ecosort_bench import boxes
from ecosort_bench.kernel_loops import (
    ITEMS,
    KERNELS,
    ROOT,
    SYSROOT,
    Kernel,
    build_program,
    build_sve2,
    call,
    clock_ghz,
    count_of,
    emulated,
    newest,
)

SCALAR, NEON, SVE2, AVX2 = "baseline", "neon", "sve2", "avx2"
# LLVM gives Cortex-A76 the numbers of Cortex-A57, and lets Neoverse N1 dispatch eight instructions at a time: both decode four.
# It gives Gracemont, the small core of Alder Lake and all cores of an N100, the numbers of the large core, which dispatches six.
PROCESSORS = {
    "cortex-a76": ("aarch64", "-dispatch=4"),
    "neoverse-n1": ("aarch64", "-dispatch=4"),
    "neoverse-n2": ("aarch64",),
    **dict.fromkeys(boxes.MODELLED, ("x86_64",)),
    "gracemont": ("x86_64", "-dispatch=5"),
}
MOST_TRACED = 20_000  # instructions that the model is given
MOST_FUNCTIONS = 25  # of a sort that are listed


def instructions(program: Path, kernel: Kernel, level: str, directory: Path) -> float:
    """Counts those of one item."""
    few, many = (count_of(emulated("aarch64", directory, [program, kernel.name, level, str(passes)])) for passes in (1, 3))
    return (many - few) / 2 / ITEMS


def code_of(program: Path) -> dict[int, str]:
    """Returns the instructions of a program by their addresses; branches go to a label, and comments are gone."""
    text = call([newest("llvm-objdump"), "-d", "--no-show-raw-insn", program])
    found = re.findall(r"^\s*([0-9a-f]+):\s+(\S.*)$", text, re.MULTILINE)
    return {int(address, 16): re.sub(r"\s*(//|# ).*", "", re.sub(r"0x[0-9a-f]+ <.*>", "label", line)) for address, line in found}


def trace_of(program: Path, code: dict[int, str], kernel: Kernel, level: str, directory: Path) -> Iterator[str]:
    """Yields the instructions of one pass, as they ran."""
    architecture = "x86_64" if level == AVX2 else "aarch64"
    places = {address: i for i, address in enumerate(code)}
    lines = list(code.values())
    for block in emulated(architecture, directory, [program, kernel.name, level, "1"], trace=kernel.functions):
        address, count = block.split()
        at = places[int(address, 16)]
        yield from lines[at : at + int(count)]


def in_halves(trace: Iterable[str]) -> Iterator[str]:
    """Yields each instruction of 32 bytes twice, as Gracemont computes it by units of 16 bytes. No other waits for the copy."""
    for instruction in trace:
        if "%ymm" in instruction:
            yield re.sub(r"%ymm\d+$", "%ymm15", instruction)
        yield instruction


def cycles(trace: Sequence[str], processor: str) -> float:
    """Predicts those of one item from a trace of all."""
    triple, *options = PROCESSORS[processor]
    part = trace[:MOST_TRACED]
    given = in_halves(part) if processor == "gracemont" else part
    words = [newest("llvm-mca"), f"-mtriple={triple}", f"-mcpu={processor}", *options, "-iterations=1", "-"]
    done = call([*words, "-instruction-info=0", "-resource-pressure=0"], "\n".join(["label:", *given, ""]))
    found = re.search(r"^Total Cycles:\s+(\d+)", done, re.MULTILINE)
    assert found is not None
    return int(found[1]) / len(part) * len(trace) / ITEMS


def kernel_tables(directory: Path) -> Iterator[str]:
    """Scalar code is what the compiler makes of it without vectors of its own choice."""
    plain = build_program("aarch64", directory / "plain", "-fno-tree-vectorize")
    usual = build_program("aarch64", directory / "usual")
    x86 = build_program("x86_64", directory / "x86")
    yield "| kernel, instructions | scalar | as compiled before | NEON | NEON / scalar |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kernel in KERNELS:
        scalar = instructions(plain, kernel, SCALAR, directory)
        before, neon = (instructions(usual, kernel, level, directory) for level in (SCALAR, NEON))
        yield f"| {kernel.what} | {scalar:.0f} | {before:.0f} | {neon:.0f} | {neon / scalar:.2f} |"
    yield ""
    columns = [
        (SCALAR, "cortex-a76"),
        (NEON, "cortex-a76"),
        (SCALAR, "neoverse-n1"),
        (NEON, "neoverse-n1"),
        (AVX2, "znver3"),
        (AVX2, "alderlake"),
        (AVX2, "gracemont"),
    ]
    names = {SCALAR: "scalar", NEON: "NEON", AVX2: "AVX2"}
    yield "| kernel, cycles | " + " | ".join(f"{names[level]}, {processor}" for level, processor in columns) + " |"
    yield "| --- |" + " ---: |" * len(columns)
    programs = {SCALAR: plain, NEON: usual, AVX2: x86}
    codes = {level: code_of(program) for level, program in programs.items()}
    for kernel in KERNELS:
        traces = {level: list(trace_of(programs[level], codes[level], kernel, level, directory)) for level in programs}
        cells = (f"{cycles(traces[level], processor):.1f}" for level, processor in columns)
        yield f"| {kernel.what} | " + " | ".join(cells) + " |"


def sve2_table(directory: Path) -> Iterator[str]:
    """The bodies of some kernels over NEON and over SVE2."""
    programs = {NEON: build_program("aarch64", directory / "usual"), SVE2: build_sve2(directory)}
    codes = {level: code_of(program) for level, program in programs.items()}
    yield "| kernel | instructions, NEON | SVE2 | cycles of neoverse-n2, NEON | SVE2 |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for kernel in KERNELS:
        if kernel.name not in ("hash_100", "hash_16", "count_lines", "split_lines"):
            continue
        cells = [instructions(programs[level], kernel, level, directory) for level in programs]
        kernels = {NEON: kernel, SVE2: replace(kernel, functions="Sve2")}
        traces = (list(trace_of(programs[level], codes[level], kernels[level], level, directory)) for level in programs)
        cells += [cycles(trace, "neoverse-n2") for trace in traces]
        yield f"| {kernel.what} | {' | '.join(f'{cell:.1f}' for cell in cells)} |"


# --- whole sorts -------------------------------------------------------------------------------------------------------


def _records(size: int) -> Callable[[random.Random, int], bytes]:
    return lambda values, count: values.randbytes(size * count)


def _lines(values: random.Random, count: int) -> bytes:
    return b"".join(bytes(values.choices(range(33, 123), k=values.randrange(60, 141))) + b"\n" for _ in range(count))


def _rows(values: random.Random, count: int) -> bytes:
    rows = (
        f"{values.randrange(10**7):07},a city of some name,{values.randrange(-(10**9), 10**9) / 100:.2f},2026-11-28\n"
        for _ in range(count)
    )
    return b"number,city,price,day\n" + "".join(rows).encode()


def _objects(values: random.Random, count: int) -> bytes:
    rows = (
        f'{{"number":{values.randrange(10**7)},"city":"a city of some name","price":{values.randrange(10**9) / 100}}}\n'
        for _ in range(count)
    )
    return "".join(rows).encode()


Sort = tuple[str, Callable[[random.Random, int], bytes], tuple[str, ...]]
SORTS: tuple[Sort, ...] = (
    (
        "records of 100 bytes",
        _records(100),
        ("sort", "--record-size", "100", "--key", "0:10", "--memory", "4MiB", "--threads", "1"),
    ),
    (
        "records of 16 bytes",
        _records(16),
        ("sort", "--record-size", "16", "--key", "0:u64", "--memory", "2MiB", "--threads", "1"),
    ),
    ("lines of 100 bytes", _lines, ("lines", "-S", "4M", "--parallel", "1")),
    ("rows of CSV by a number", _rows, ("csv", "--by", "price:number", "--memory", "4MiB", "--threads", "1")),
    ("JSON lines by a number", _objects, ("jsonl", "--by", "price:number", "--memory", "4MiB", "--threads", "1")),
)


def by_function(program: Path, level: str, sort: Sort, directory: Path, rows: int) -> Counter[str]:
    """The instructions that one more row takes, by function: a sort forms runs and merges them, and another has twice as many."""
    _, make, words = sort
    found: Counter[str] = Counter()
    for count, sign in ((rows, -1), (2 * rows, 1)):
        (directory / "in").write_bytes(make(random.Random(1), count))
        command: list[str | Path] = [program, *words, directory / "in", "-o", directory / "out"]
        options: list[str | Path] = ["-E", f"ECOSORT_CPU={level}", "-E", f"TMPDIR={directory}"]
        architecture = "x86_64" if level == AVX2 else "aarch64"
        sysroot: list[str | Path] = [] if level == AVX2 else ["-L", SYSROOT]
        for line in emulated(architecture, directory, command, *sysroot, *options):
            number, name = line.split("\t")
            found[name] += sign * int(number)
    return Counter({name: number / rows for name, number in found.items()})


def sort_table(program: Path, directory: Path, rows: int) -> Iterator[str]:
    yield "| whole sort, instructions of a row | scalar | NEON | NEON / scalar |"
    yield "| --- | ---: | ---: | ---: |"
    for sort in SORTS:
        scalar, neon = (by_function(program, level, sort, directory, rows).total() for level in (SCALAR, NEON))
        yield f"| {sort[0]} | {scalar:.0f} | {neon:.0f} | {neon / scalar:.2f} |"


def function_table(program: Path, directory: Path, rows: int) -> Iterator[str]:
    """Says where the instructions of whole sorts are."""
    for sort in SORTS:
        scalar, neon = (by_function(program, level, sort, directory, rows) for level in (SCALAR, NEON))
        yield f"| {sort[0]} | scalar | NEON |"
        yield "| --- | ---: | ---: |"
        largest = sorted({*scalar, *neon}, key=lambda name: -max(scalar[name], neon[name]))[:MOST_FUNCTIONS]
        for name in largest:
            yield f"| {call(['c++filt', name]).strip()[:100]} | {scalar[name]:.1f} | {neon[name]:.1f} |"
        yield ""


def box_table(program: Path, directory: Path, rows: int) -> Iterator[str]:
    """Yields what boxes would take (boxes.py); the x86 program is that of `make`."""
    processor_here = boxes.processor_here(call([newest("llvm-mca"), "--version"]))
    kernels = [kernel for kernel in KERNELS if kernel.name in ("hash_100", "checksum_100")]
    builds = {NEON: build_program("aarch64", directory / "usual"), AVX2: build_program("x86_64", directory / "x86")}
    traces = {}
    for level, build in builds.items():
        code = code_of(build)
        traces[level] = [list(trace_of(build, code, kernel, level, directory)) for kernel in kernels]
    per_cycle = {
        (level, processor): sum(map(len, traces[level])) / ITEMS / sum(cycles(trace, processor) for trace in traces[level])
        for level, processor in {(AVX2, processor_here), *((box.level, box.processor) for box in boxes.BOXES)}
    }
    here = ROOT / "build/ecosort"
    programs = {NEON: program, AVX2: here}
    counts = {level: by_function(programs[level], level, SORTS[0], directory, rows).total() for level in programs}
    measured = boxes.Here(processor_here, clock_ghz(directory), boxes.measured_here(here, directory, boxes.WORDS))
    yield from boxes.table(boxes.Counted(counts, per_cycle), measured, lambda text: click.echo(text, err=True))


@click.command()
@click.option(
    "--program", type=click.Path(path_type=Path), default=ROOT / "build-aarch64/ecosort", help="The program for aarch64."
)
@click.option("--rows", default=50_000, show_default=True, help="Rows of the smaller one of two sorts.")
@click.option("--only", type=click.Choice(["kernels", "sorts", "functions", "sve2", "boxes"]))
def main(program: Path, rows: int, only: str | None) -> None:
    with TemporaryDirectory(dir=ROOT / "build-aarch64") as place:
        directory = Path(place)
        tables = {
            "kernels": lambda: kernel_tables(directory),
            "sorts": lambda: sort_table(program, directory, rows),
            "functions": lambda: function_table(program, directory, rows),
            "sve2": lambda: sve2_table(directory),
            "boxes": lambda: box_table(program, directory, rows),
        }
        for name in [only] if only else ["kernels", "sorts"]:
            for line in tables[name]():
                click.echo(line)
            click.echo()


if __name__ == "__main__":
    main()
