"""clang-tidy over every source of a build directory, in parallel: `tidy.py BUILDDIR JOBS`.

Sources that are compiled together are read together, which spares reading their headers again. One that passed is not looked at
again until it, any header, the checks or its compile command change: the sum over those is the name of a stamp in BUILDDIR/tidy.
Prints findings only; exit code 1 when there are any.
"""

import functools
import hashlib
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TREES = ("ecosort", "cli", "demsort_inplace", "library", "tuning", "tests")
# libstdc++'s parallel mode includes gcc's omp.h, which clang cannot read.
GCC_ONLY = {ROOT / "ecosort/engine/fixed/split.cpp"}
# Only built for `make bench`: Google Benchmark's loops, `for (auto _ : state)`, are dead stores to the analyzer, and STXXL's
# headers in the peers include omp.h as well.
ONLY_FOR_BENCHMARKS = (ROOT / "tuning/bench/kernels", ROOT / "tuning/bench/peers")


@functools.cache
def clang_tidy() -> str:
    """The newest one that there is."""
    return subprocess.check_output([Path(__file__).parent / "newest", "clang-tidy"], text=True).strip()


def common_sum() -> str:
    """Over what every source depends on: headers and checks."""
    found = [path for tree in TREES for pattern in ("*.h", ".clang-tidy") for path in (ROOT / tree).rglob(pattern)]
    digest = hashlib.sha256()
    for path in [ROOT / ".clang-tidy", *sorted(found)]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def sources_of(unit: Path) -> list[Path]:
    """Returns those that a file of CMake's unity build includes; the source itself where it is compiled alone."""
    if unit.suffix != ".cxx":
        return [unit]
    return [Path(path) for path in re.findall(r'^#include "(.*)"$', unit.read_text(), re.MULTILINE)]


def is_checked(source: Path) -> bool:
    if source in GCC_ONLY or any(source.is_relative_to(tree) for tree in ONLY_FOR_BENCHMARKS):
        return False
    return source.exists() and any(source.is_relative_to(ROOT / tree) for tree in TREES)


def findings(source: Path, build: Path) -> str:
    """Returns what clang-tidy says about one source; empty when it passes."""
    command = [clang_tidy(), "--quiet", "-p", str(build), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return ""
    chatter = re.compile(r"^\d+ warnings?( and \d+ errors?)? (generated|treated)|^Suppressed |^Use -header-filter")
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if not chatter.match(line))


def main() -> int:
    build, jobs = Path(sys.argv[1]), int(sys.argv[2])
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    common = common_sum()

    waiting: list[tuple[int, Path, Path]] = []
    valid: set[Path] = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        unit = Path(entry["directory"], entry["file"]).resolve()
        sources = sources_of(unit)
        if not any(is_checked(source) for source in sources):
            continue
        words = f"{common}\0{entry.get('command')}\0{unit}\0".encode()
        contents = b"".join(source.read_bytes() for source in sources)
        stamp = stamps / hashlib.sha256(words + contents).hexdigest()
        valid.add(stamp)
        if not stamp.exists():
            waiting.append((len(contents), unit, stamp))
    for old in set(stamps.iterdir()) - valid:
        old.unlink()

    # The longest first, so that no core waits at the end for a long one.
    waiting.sort(reverse=True)
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for (_, _, stamp), text in zip(waiting, pool.map(lambda item: findings(item[1], build), waiting), strict=True):
            if text:
                failed += 1
                print(text, flush=True)
            else:
                stamp.touch()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
