"""Any number of inputs and runs, whatever `ulimit -n` says: inputs are opened again when they are needed, runs share files."""

import random
import subprocess
from pathlib import Path

import pytest
from partition_support import write_splitters

FEW = ["bash", "-c", 'ulimit -n 32; exec "$0" "$@"']
RECORDS = ["--record-size", "8"]


def succeeds(program: Path, cwd: Path, *words: str) -> str:
    done = subprocess.run([*FEW, program, *words], capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="session")
def values() -> list[list[int]]:
    generator = random.Random(1)
    return [sorted(generator.sample(range(10**7, 10**8), 3)) for _ in range(120)]


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory, values: list[list[int]]) -> Path:
    """Files 000 ... 119 in directories that are named after what is in them, each sorted."""
    place = tmp_path_factory.mktemp("many")
    for kind in ("records", "lines", "csv", "jsonl"):
        (place / kind).mkdir()
    for i, some in enumerate(values):
        (place / f"records/{i:03}").write_text("".join(map(str, some)))
        (place / f"lines/{i:03}").write_text("".join(f"{value}\n" for value in some))
        (place / f"csv/{i:03}").write_text("n\n" + "".join(f"{value}\n" for value in some))
        (place / f"jsonl/{i:03}").write_text("".join(f'{{"n":{value}}}\n' for value in some))
    return place


@pytest.mark.parametrize("way", [[], ["--resumable"], ["merge"], ["merge", "1MiB"]])
@pytest.mark.parametrize("kind", ["records", "lines", "csv", "jsonl"])
def test_many_inputs(ecosort: Path, many: Path, tmp_path: Path, values: list[list[int]], kind: str, way: list[str]) -> None:
    inputs = [str(many / kind / f"{i:03}") for i in range(len(values))]
    command = {"records": ["sort", *RECORDS], "lines": ["lines"]}.get(kind, [kind, "--by", "n:number"])
    if "merge" in way:
        command = ["merge", *RECORDS] if kind == "records" else [*command, "-m" if kind == "lines" else "--merge"]
        memory = way[1:] and [f"--memory={way[1]}" if kind != "lines" else "-S1M"]
        command += memory or []
    else:
        command += way
    succeeds(ecosort, tmp_path, *command, *inputs, "-o", "out")
    ordered = sorted(value for some in values for value in some)
    rows = {"records": "{}", "lines": "{}\n", "csv": "{}\n", "jsonl": '{{"n":{}}}\n'}[kind]
    assert (tmp_path / "out").read_text() == ("n\n" if kind == "csv" else "") + "".join(map(rows.format, ordered))


@pytest.fixture(scope="session")
def many_lines() -> tuple[str, str]:
    """Lines in no order, and in theirs."""
    lines = random.Random(2).choices([f"{value:07}\n" for value in range(10**5)], k=500_000)
    return "".join(lines), "".join(sorted(lines))


@pytest.mark.parametrize(
    "words",
    [
        ["sort", *RECORDS, "--memory=2MiB", "--run-records=20000"],
        ["sort", *RECORDS, "--memory=3MiB", "--run-records=20000", "--compress=lz4"],
        ["sort", *RECORDS, "--memory=3MiB", "--resumable"],
        ["lines", "-S1M"],
        ["lines", "-S1M", "--compress=lz4"],
        ["lines", "-S1M", "--compress-program=gzip"],
        ["lines", "-S1M", "--resumable"],
        ["csv", "--memory=1MiB", "--no-header", "--by", "1"],
    ],
)
def test_many_runs(ecosort: Path, tmp_path: Path, many_lines: tuple[str, str], words: list[str]) -> None:
    text, ordered = many_lines
    (tmp_path / "in").write_text(text)
    succeeds(ecosort, tmp_path, *words, "in", "-o", "out")
    assert (tmp_path / "out").read_text() == ordered


def cut_into(ecosort: Path, directory: Path, parts: int, limit: str) -> subprocess.CompletedProcess[str]:
    """`ecosort partition` of 60,000 records into slices, under a limit."""
    generator = random.Random(3)
    records = sorted(f"{generator.randrange(10**8):08}" for _ in range(60_000))
    (directory / "in").write_text("".join(generator.sample(records, len(records))))
    cuts = [(record.encode(), 0, 0) for record in records[:: len(records) // parts][1:parts]]
    write_splitters(directory / "cuts", cuts)
    (directory / "slices").mkdir()
    words = ["partition", "records", *RECORDS, "in", "--splitters", "cuts", "--report", "report", "-o", "slices"]
    command = ["bash", "-c", f'{limit}; exec "$0" "$@"', ecosort, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False)


@pytest.mark.parametrize(("parts", "limit"), [(8, "ulimit -n 32"), (60, "ulimit -Sn 32; ulimit -Hn 100")])
def test_slices_within_the_limit(ecosort: Path, tmp_path: Path, parts: int, limit: str) -> None:
    """A slice stays open until all of them get their names. The program raises its own limit as far as it may."""
    done = cut_into(ecosort, tmp_path, parts, limit)
    assert done.returncode == 0, done.stderr
    made = sorted((tmp_path / "slices").iterdir())
    assert len(made) == parts
    slices, whole = "".join(path.read_text() for path in made), (tmp_path / "in").read_text()
    assert sorted(slices[i : i + 8] for i in range(0, len(slices), 8)) == sorted(
        whole[i : i + 8] for i in range(0, len(whole), 8)
    )


@pytest.mark.parametrize("command", [["sort", *RECORDS], ["lines"], ["csv", "--by", "1", "--no-header"]])
def test_too_few_files_for_anything_are_told_with_how_many_are_enough(ecosort: Path, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "in").write_text("b,12345\na,12345\n")
    words = [ecosort, *command, "--resumable", "in", "-o", "out"]
    limited = ["bash", "-c", 'ulimit -n 9; exec "$0" "$@"', *words]
    done = subprocess.run(limited, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode in (2, 3)
    assert "Too many open files (9 are allowed, 32 are enough: ulimit -n 32)" in done.stderr


def test_more_slices_than_files_may_be_open(ecosort: Path, tmp_path: Path) -> None:
    done = cut_into(ecosort, tmp_path, 60, "ulimit -n 32")
    assert done.returncode == 2
    assert done.stderr == (
        "ecosort: 60 parts need 84 open files, 32 are allowed: raise that with ulimit -n 84 as root; or choose fewer parts with "
        "ecosort sample --merge\n"
    )
    assert list((tmp_path / "slices").iterdir()) == []
