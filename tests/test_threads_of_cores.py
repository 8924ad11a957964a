"""`--threads auto` on cores that are not alike: what the kernel says of them is put in place of what it says of this machine."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from capabilities import require
from sort_support import Run

CPUS = sorted(os.sched_getaffinity(0))[:2]


def threads(ecosort: Path, place: Path, files: dict[str, str], *words: str) -> int:
    """Returns those of a plan, on a machine whose CPUs are described by these files."""
    for cpu in CPUS:
        for name, text in files.items():
            path = place / "cpu" / f"cpu{cpu}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(first=CPUS[0], second=CPUS[1], capacity=1024 if cpu == CPUS[0] else 400) + "\n")
    command = 'mount --bind "$0" /sys/devices/system/cpu && exec "$@"'
    plan = [ecosort, "plan", "sort", "--json", "--no-profile", *words, "--assume-size", "1GB", "-o", place / "out"]
    done = subprocess.run(
        ["unshare", "--mount", "taskset", "-c", ",".join(map(str, CPUS)), "sh", "-c", command, place / "cpu", *plan],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(done.stdout)["compute_threads"]
    assert isinstance(found, int)
    return found


@pytest.mark.skipif(len(CPUS) < 2, reason="wants two CPUs")
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"online": "0-1"}, 2),
        ({"topology/thread_siblings_list": "{first},{second}"}, 1),
        ({"cpu_capacity": "{capacity}"}, 1),
    ],
)
def test_auto_is_a_thread_for_each_core_that_is_not_small(
    ecosort: Path, tmp_path: Path, files: dict[str, str], expected: int
) -> None:
    require("root")
    assert threads(ecosort, tmp_path, files, "--threads", "auto") == expected
    assert threads(ecosort, tmp_path, files) == 2


def test_auto_is_taken_by_every_sort_and_nothing_like_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("b\na\n")
    for words in (("lines", "--parallel"), ("csv", "--by", "b", "--threads"), ("shuffle", "--threads")):
        assert run(*words, "auto", "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert (
        "--threads: 'automatic' is not a whole number"
        in run("csv", "--by", "b", "--threads", "automatic", "in", cwd=tmp_path).stderr
    )
