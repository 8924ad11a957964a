"""`merge --runs`: what the runs of an interrupted job hold becomes what the job would have made; the runs are only read."""

import functools
import hashlib
import json
import random
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sort_support import (
    CHANGES,
    MIB,
    OVERHEAD_BYTES,
    FileSystem,
    Run,
    changes_of,
    expected,
    faults,
    refused,
    succeeded,
    wait_until,
)

from .support import FIRST_AFTER_THE_RUNS, job_directory, kill_at_sync, killed_at_call, killed_at_event, killed_in_merge, plan_of

PAGE = 4096
JOB, RUN, POSITION, COUNT = 80, 88, 96, 152  # where numbers are in a description, as run/FORMAT.md has them


def random_records(count: int, size: int, letters: bytes) -> bytes:
    letter_of = bytes(letters[i % len(letters)] for i in range(256))
    return random.Random(count + size).randbytes(count * size).translate(letter_of)


def lines_of(count: int) -> bytes:
    rng = random.Random(count)
    return b"".join(b"%d %d %s\n" % (rng.randrange(count // 3), i, b"x" * rng.randrange(40)) for i in range(count))


def rows_of(count: int) -> bytes:
    rng = random.Random(count)
    rows = (b'"%d",t%d,"a\n%d"\n' % (rng.randrange(count), rng.randrange(9), i) for i in range(count))
    return b'n,"a\nname",rest\n' + b"".join(rows)


def json_of(count: int) -> bytes:
    rng = random.Random(count)
    return b"".join(
        b'{"n": %d, "i": %d, "t": "%s"}\n' % (rng.randrange(count), i, b"z" * rng.randrange(30)) for i in range(count)
    )


@dataclass(frozen=True)
class Case:
    name: str
    words: tuple[str, ...]
    make: Callable[[], bytes]

    @functools.cached_property
    def text(self) -> bytes:
        """Made where it is needed: each worker reads this file."""
        return self.make()


CASES = {
    case.name: case
    for case in (
        Case("records", ("sort", "--key", "0:10", "--memory", "1MiB"), lambda: random_records(30_000, 100, b"ab\x00\xff")),
        Case(
            "numbers",
            ("sort", "--record-size", "16", "--key", "8:u32:desc", "--key", "0:2", "--memory", "1MiB"),
            lambda: random_records(150_000, 16, b"ab"),
        ),
        Case("many", ("sort", "--key", "0:10", "--memory", "1MiB"), lambda: random_records(160_000, 100, b"abcd\xff")),
        Case(
            "packed",
            ("sort", "--key", "0:10", "--compress=zstd", "--memory", "3MiB"),
            lambda: random_records(90_000, 100, b"ab\x00\xff"),
        ),
        Case("lines", ("lines", "-k1,1n", "-s", "--header=2", "--memory", "1MiB"), lambda: b"what\nwhy\n" + lines_of(60_000)),
        Case("unique", ("lines", "-u", "-k1,1", "--memory", "1MiB"), lambda: lines_of(200_000)),
        Case("whole", ("lines", "-r", "--memory", "1MiB"), lambda: lines_of(60_000)),
        Case("csv", ("csv", "--by", "n:number:desc", "--by", "a\nname", "--memory", "1MiB"), lambda: rows_of(60_000)),
        Case("jsonl", ("jsonl", "--by", "n:number", "--memory", "1MiB"), lambda: json_of(40_000)),
    )
}


def interrupt(ecosort: Path, case: Case, directory: Path, name: str = "out") -> Path:
    """The output of a job that was killed when all of its runs were complete; records were not yet in its output."""
    directory.mkdir(exist_ok=True)
    out, source = directory / name, directory / f"{name}.in"
    source.write_bytes(case.text)
    words: tuple[str | Path, ...] = (*case.words, "--resumable", "--quiet", source, "-o", out)
    if case.words[0] == "sort":
        assert killed_at_event(ecosort, directory, FIRST_AFTER_THE_RUNS, *words)
    else:
        killed_in_merge(ecosort, directory, out, *words)
    return out


def runs_of(out: Path) -> list[Path]:
    return sorted(job_directory(out).glob("run-*"))


def state_of(directory: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(directory.iterdir()) if path.is_file()}


def wanted_of(run: Run, case: Case, out: Path) -> bytes:
    plain = out.parent / "plain"
    succeeded(run(*case.words[:-2], "--memory", "32MiB", "--quiet", f"{out}.in", "-o", plain))
    return plain.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_the_runs_give_what_the_job_gives(ecosort: Path, run: Run, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    out = interrupt(ecosort, case, tmp_path)
    wanted, before = wanted_of(run, case, out), state_of(job_directory(out))
    assert len(runs_of(out)) > 2
    by_directory, by_files, stats = tmp_path / "a", tmp_path / "b", tmp_path / "stats"
    mib = 2 if name == "packed" else 1  # a decoder of zstd takes 0.4 MiB, which may be a quarter of all
    words = ("merge", "--runs", "-q", "--memory", f"{mib}MiB", "--stats", stats)
    succeeded(run(*words, job_directory(out), "-o", by_directory))
    assert by_directory.read_bytes() == wanted
    figures = json.loads(stats.read_text())
    assert figures["intermediate_merges"] > 0 or name != "many", "also in passes"
    assert figures["peak_counted_memory_bytes"] <= mib * MIB
    assert figures["peak_rss_bytes"] <= mib * MIB + OVERHEAD_BYTES
    files = runs_of(out)
    random.Random(1).shuffle(files)
    succeeded(run(*words, *files, "-o", by_files))
    assert by_files.read_bytes() == wanted, "ties keep the job's order, however its runs are named"
    assert state_of(job_directory(out)) == before, "runs are only read"
    succeeded(run("resume", out, "-q"))
    assert out.read_bytes() == wanted, "the job continues as if nothing had happened"


def test_runs_of_several_jobs_go_together(ecosort: Path, run: Run, tmp_path: Path) -> None:
    """The first job that is named comes first with its equal records."""
    a = interrupt(ecosort, CASES["records"], tmp_path, "a")
    b = interrupt(ecosort, Case("b", (*CASES["records"].words[:-1], "2MiB"), lambda: CASES["records"].text[::-1]), tmp_path, "b")
    for first, second in ((a, b), (b, a)):
        succeeded(run("merge", "--runs", "-q", job_directory(first), *runs_of(second), "-o", tmp_path / "merged"))
        files = (f"{first}.in", f"{second}.in")
        succeeded(run("sort", "-q", "--key", "0:10", *files, "-o", tmp_path / "plain"))
        assert (tmp_path / "merged").read_bytes() == (tmp_path / "plain").read_bytes()


def test_the_runs_of_a_file_that_is_sorted_in_place(ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes) -> None:
    """Records come out elsewhere where the job cannot continue."""
    assert killed_at_event(ecosort, tmp_path, FIRST_AFTER_THE_RUNS, "inplace", file4, "--memory", "4MiB", "-q")
    succeeded(run("merge", "--runs", "-q", job_directory(file4), "-o", tmp_path / "merged"))
    assert (tmp_path / "merged").read_bytes() == wanted
    succeeded(run("resume", file4, "-q"))
    assert file4.read_bytes() == wanted


def test_where_space_is_short_runs_in_place_go_without_a_description(
    ecosort: Path, run: Run, file4: Path, tmp_path: Path, wanted: bytes
) -> None:
    words = ("--memory", "4MiB")
    FileSystem("", file4.parent, None).fill_until(plan_of(run, file4, *words)["needed_bytes"] + 8 * PAGE)
    assert killed_at_call(ecosort, tmp_path, "ftruncate", 4, "inplace", file4, *words)
    refused(run("merge", "--runs", job_directory(file4), "-o", tmp_path / "merged"), 2, "do not say what they hold")
    succeeded(run("resume", file4, "-q"))
    assert file4.read_bytes() == wanted


@pytest.fixture(scope="module")
def job(ecosort: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a job of records; tests copy what they change."""
    return interrupt(ecosort, CASES["records"], tmp_path_factory.mktemp("job"))


@pytest.fixture
def runs(job: Path, tmp_path: Path) -> list[Path]:
    """Copies of its runs."""
    return [Path(shutil.copy(path, tmp_path / path.name)) for path in runs_of(job)]


def merged(run: Run, *runs: Path) -> subprocess.CompletedProcess[str]:
    """Nothing is left of a merge that is refused."""
    directory = runs[0].parent
    before = {path.name for path in directory.iterdir()} - {"merged"}
    (directory / "merged").unlink(missing_ok=True)
    done = run("merge", "--runs", "-q", "--memory", "2MiB", *runs, "-o", directory / "merged")
    assert (directory / "merged").exists() == (done.returncode == 0)
    assert {path.name for path in directory.iterdir()} - {"merged"} == before
    return done


def change(path: Path, at: int, data: bytes | None = None) -> None:
    """Other bytes there; of one byte a bit, where none are named."""
    with path.open("r+b") as file:
        file.seek(at)
        found = file.read(1)
        file.seek(at)
        file.write(data if data is not None else bytes([found[0] ^ 4]))


def test_copies_of_runs_are_runs(run: Run, job: Path, runs: list[Path]) -> None:
    succeeded(merged(run, *runs))
    succeeded(run("sort", "-q", "--key", "0:10", f"{job}.in", "-o", runs[0].parent / "spare"))
    assert (runs[0].parent / "merged").read_bytes() == (runs[0].parent / "spare").read_bytes()


@pytest.mark.parametrize("at", [16, 24, 32, 40, 56, 64, 72, JOB, RUN, POSITION, 104, 112, 120, 128, 136, 144, COUNT, 160, 170])
def test_a_damaged_description_is_refused(run: Run, runs: list[Path], at: int) -> None:
    change(runs[1], at)
    refused(merged(run, *runs), 3, f"the description of the run '{runs[1]}' is damaged")


def test_a_damaged_block_is_refused(run: Run, runs: list[Path]) -> None:
    size = runs[1].stat().st_size
    for at in (PAGE, PAGE + 777, size // 2, size - 16, size - 12, size - 1):  # records, and the end of a block
        change(runs[1], at)
        done = merged(run, *runs)
        assert done.returncode == 3, done
        assert f"the run '{runs[1]}' is damaged at byte" in done.stderr
        change(runs[1], at)
    change(runs[1], PAGE - 1)  # what no one reads
    succeeded(merged(run, *runs))


def test_what_is_no_run_is_refused(run: Run, runs: list[Path], job: Path) -> None:
    foreign = runs[0].parent / "spare"
    for content in (b"", b"some text\n" * 10_000, bytes(3 * PAGE)):
        foreign.write_bytes(content)
        refused(
            run("merge", "--runs", "-q", *runs, foreign, "-o", foreign.parent / "merged"), 2, f"'{foreign}' is no run of a job"
        )
    refused(merged(run, runs[0].parent / "missing", *runs), 2, "missing", "No such file")
    refused(run("merge", "--runs", "-q", runs[0].parent, "-o", "merged"), 2, "is a directory, and not that of a job")
    assert not (foreign.parent / "merged").exists()


def test_another_version_is_refused(run: Run, runs: list[Path]) -> None:
    change(runs[0], 8, struct.pack("<Q", 3))
    refused(merged(run, *runs), 2, f"'{runs[0]}' is a run of format version 3", "merge it with the version that made it")


def test_runs_in_each_others_place_are_known_by_what_they_say(run: Run, runs: list[Path]) -> None:
    a, b = runs[0].read_bytes(), runs[1].read_bytes()
    runs[0].write_bytes(b)
    runs[1].write_bytes(a)
    succeeded(merged(run, *runs))
    # Blocks of one under the description of the other.
    runs[0].write_bytes(b[:PAGE] + a[PAGE:])
    runs[1].write_bytes(a)
    assert merged(run, *runs).returncode in (2, 3)


def test_a_run_that_is_missing_or_named_twice_is_refused(run: Run, runs: list[Path]) -> None:
    for i in range(len(runs)):
        place = len(runs) - i  # run 0 is the tail of the input
        refused(merged(run, *runs[:i], *runs[i + 1 :]), 2, f"run {place} of the job of", "is missing")
    refused(merged(run, *runs, runs[2]), 2, "hold the same records")


def test_a_run_that_was_cut_off_is_refused(run: Run, runs: list[Path]) -> None:
    whole = runs[1].read_bytes()
    for size in (len(whole) - PAGE, len(whole) // 2, PAGE):
        runs[1].write_bytes(whole[:size])
        refused(merged(run, *runs), 2, f"the run '{runs[1]}' has {size} bytes of {len(whole)}", "ecosort resume")
    runs[1].write_bytes(whole[:100])
    refused(merged(run, *runs), 3, "damaged")


def test_runs_that_do_not_go_together_are_refused(ecosort: Path, run: Run, tmp_path: Path, job: Path) -> None:
    others = {
        "numbers": "they cannot be merged",
        "lines": "they cannot be merged",
        "keys": "are sorted by different keys",
    }
    keys = Case("keys", ("sort", "--key", "0:9", "--memory", "1MiB"), CASES["records"].make)
    for name, why in others.items():
        out = interrupt(ecosort, keys if name == "keys" else CASES[name], tmp_path, name)
        done = run("merge", "--runs", "-q", job_directory(job), job_directory(out), "-o", tmp_path / "merged")
        line = refused(done, 2, why)
        assert str(runs_of(out)[-1].parent) in line, "by their names"
        assert not (tmp_path / "merged").exists()


def test_what_stays_on_top_must_be_named(ecosort: Path, run: Run, tmp_path: Path) -> None:
    out = interrupt(ecosort, CASES["csv"], tmp_path)
    header, *others = runs_of(out)
    refused(run("merge", "--runs", "-q", *others, "-o", tmp_path / "merged"), 2, "stay on top", "are missing")
    refused(run("merge", "--runs", "-q", header, "-o", tmp_path / "merged"), 2, "holds only what stays on top")
    assert not (tmp_path / "merged").exists()


def test_a_job_whose_runs_are_not_complete_is_refused(ecosort: Path, run: Run, tmp_path: Path) -> None:
    case, out = CASES["records"], tmp_path / "out"
    (tmp_path / "in").write_bytes(case.text)
    assert kill_at_sync(ecosort, tmp_path, 8, *case.words, "--resumable", "-q", tmp_path / "in", "-o", out)
    refused(run("merge", "--runs", job_directory(out), "-o", tmp_path / "merged"), 2, "not all of its input is in runs yet")
    refused(run("merge", "--runs", tmp_path / "no.ecosort", "-o", tmp_path / "merged"), 2, "no.ecosort")


def broken_in_the_first_phase(ecosort: Path, case: Case, directory: Path) -> Path:
    """The output of a job that was killed when some of its runs were complete, and a rest of its two inputs was in none."""
    out, first, second = directory / "out", directory / "out.in", directory / "out.in2"
    parts = case.text.splitlines(keepends=True) if case.words[0] != "sort" else [case.text]
    header = b"".join(parts[: {"csv": 2, "lines": 2}.get(case.name, 0)])
    cut = len(case.text) // 300 * 100 if case.words[0] == "sort" else case.text.index(b"\n", len(case.text) // 2) + 1
    if case.name == "csv":
        cut = case.text.index(b'"\n"', cut) + 2
    first.write_bytes(case.text[:cut])
    second.write_bytes(header + case.text[cut:-1] if case.words[0] != "sort" else case.text[cut:])
    words: tuple[str | Path, ...] = (*case.words, "--resumable", "--quiet", first, second, "-o", out)
    # Threads decide how many syncs lie before the first run that is complete.
    for nth in range(8, 20):
        assert kill_at_sync(ecosort, directory, nth, *words)
        asked = (ecosort, "merge", "--runs", "-q", job_directory(out), "-o", directory / "merged")
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stderr
        if "not all of its input is in runs yet" in said:
            return out
        assert "complete yet" in said
        shutil.rmtree(job_directory(out))
    pytest.fail("no sync had some runs complete before it, and a rest behind it")


def rows_in(case: Case, text: bytes) -> list[bytes]:
    if case.words[0] == "sort":
        size = 16 if case.name == "numbers" else 100
        return [text[i : i + size] for i in range(0, len(text), size)]
    if case.words[0] == "csv":
        header, rest = text[: text.index(b"rest\n") + 5], text[text.index(b"rest\n") + 5 :]
        return [header[:-1], *(row for row in rest.replace(b'"\n', b'"\0').split(b"\0") if row)]
    return text.splitlines()


@pytest.mark.parametrize("name", ["records", "numbers", "packed", "lines", "whole", "csv", "jsonl"])
def test_the_rest_goes_behind_the_runs(ecosort: Path, run: Run, tmp_path: Path, name: str) -> None:
    """Every row is in the result once: the runs' in order, then those that are in no run, as they lie in the inputs."""
    case = CASES[name]
    out = broken_in_the_first_phase(ecosort, case, tmp_path)
    before = state_of(job_directory(out))
    asked = ("merge", "--runs", "-q", "--memory", "3MiB", job_directory(out), "-o", tmp_path / "merged")
    refused(run(*asked), 2, "not all of its input is in runs yet", "--append-rest")
    over_the_rest = ("--append-rest", "--stats", tmp_path / "out.in2")
    refused(run(*asked, *over_the_rest), 2, "is an input and would be overwritten")
    stats = tmp_path / "stats"
    succeeded(run(*asked, "--append-rest", "--stats", stats))
    merged = rows_in(case, (tmp_path / "merged").read_bytes())
    header = merged[: {"csv": 1, "lines": 2}.get(name, 0)]
    appended = json.loads(stats.read_text())["records_appended" if case.words[0] == "sort" else "lines_appended"]
    assert 0 < appended < len(merged)
    everything = rows_in(case, case.text)
    assert Counter(merged) == Counter(everything)
    assert header == everything[: len(header)]
    assert json.loads(stats.read_text())["records" if case.words[0] == "sort" else "lines"] == len(everything) - len(header)
    body, rest = merged[len(header) : -appended], merged[-appended:]
    # Runs of records are made from the end of the inputs on, those of rows from their beginning.
    assert rest == (everything[:appended] if case.words[0] == "sort" else everything[-appended:])
    (tmp_path / "in").write_bytes(b"".join(row_text(case, row) for row in [*header, *body]))
    succeeded(run(*case.words[:-2], "--memory", "32MiB", "--quiet", tmp_path / "in", "-o", tmp_path / "plain"))
    assert rows_in(case, (tmp_path / "plain").read_bytes()) == [*header, *body]
    assert state_of(job_directory(out)) == before, "the job is only read"
    succeeded(run("resume", out, "-q"))


def row_text(case: Case, row: bytes) -> bytes:
    return row if case.words[0] == "sort" else row + b"\n"


@pytest.mark.parametrize("command", ["inplace", "lines"])
def test_the_rest_of_a_file_that_is_sorted_in_place(
    ecosort: Path, run: Run, ext4: FileSystem, tmp_path: Path, command: str
) -> None:
    """A job whose resumption fails for ever: all its rows are had elsewhere, and its files stay as they are."""
    path = ext4.root / "file"
    data = CASES["many"].text if command == "inplace" else lines_of(300_000)
    path.write_bytes(data)
    words = (
        ("inplace", "--record-size=100", "--key=0:100", "--memory=4MiB")
        if command == "inplace"
        else ("lines", "--inplace", "-S16M")
    )
    assert kill_at_sync(ecosort, tmp_path, 11 if command == "inplace" else 7, *words, path)
    before = state_of(job_directory(path))
    merged = tmp_path / "merged"
    line = refused(run("merge", "--runs", "-q", job_directory(path), "-o", merged), 2, "not all of its input is in runs yet")
    assert f"ecosort resume --abandon {path}" in line
    with merged.open("wb") as output:
        pipe: list[str | Path] = [ecosort, "merge", "--runs", "--append-rest", "--memory", "4MiB", job_directory(path), "-o", "-"]
        subprocess.run(pipe, stdout=output, check=True)
    size = 100
    split = bytes.splitlines if command == "lines" else lambda text: [text[i : i + size] for i in range(0, len(text), size)]
    rows, ordered = split(merged.read_bytes()), sorted(split(data))
    assert rows != ordered
    assert sorted(rows) == ordered
    assert state_of(job_directory(path)) == before
    succeeded(run("resume", "-q", path))
    assert split(path.read_bytes()) == ordered
    subprocess.run(["rm", path], check=True)


def test_the_rest_is_of_a_job_that_has_one(ecosort: Path, run: Run, tmp_path: Path, job: Path, runs: list[Path]) -> None:
    words = ("-q", "-o", tmp_path / "merged")
    refused(run("merge", "--append-rest", *runs, *words), 2, "--append-rest goes with --runs")
    refused(run("merge", "--runs", "--append-rest", *runs, *words), 2, "name its directory (OUTPUT.ecosort)", str(runs[0]))
    succeeded(run("merge", "--runs", "--append-rest", job_directory(job), *words))
    assert (tmp_path / "merged").read_bytes() == expected(CASES["records"].text), "all of it is in runs"


@pytest.mark.parametrize("name", ["records", "lines"])
def test_a_rest_that_changed_is_refused(ecosort: Path, run: Run, tmp_path: Path, name: str) -> None:
    out = broken_in_the_first_phase(ecosort, CASES[name], tmp_path)
    change(tmp_path / ("out.in" if name == "records" else "out.in2"), 5000)
    done = run("merge", "--runs", "--append-rest", "-q", job_directory(out), "-o", tmp_path / "merged")
    assert done.returncode == 3, done
    assert "is not what it was when the sort began" in done.stderr
    assert not (tmp_path / "merged").exists()


def test_the_file_of_the_job_is_no_output(run: Run, job: Path) -> None:
    refused(run("merge", "--runs", job_directory(job), "-o", job), 2, "is the file of the job itself", "ecosort resume")
    (job.parent / "link").symlink_to(job)
    refused(run("merge", "--runs", job_directory(job), "-o", job.parent / "link"), 2, "is the file of the job itself")
    assert not job.exists()


@pytest.mark.parametrize("name", ["journal", "new"])
def test_no_report_goes_to_the_files_of_a_job(run: Run, job: Path, tmp_path: Path, name: str) -> None:
    """The journal was overwritten by them: the rows of a job in place would have been lost."""
    before = state_of(job_directory(job))
    report = job_directory(job) / name
    for words in (("merge", "--runs", job_directory(job), "-o", tmp_path / "merged", "--stats"), ("resume", job, "--events")):
        refused(run(*words, report), 2, "is of the job of", "name another file")
    assert state_of(job_directory(job)) == before


def test_options_that_the_runs_answer_are_refused(run: Run, job: Path, tmp_path: Path) -> None:
    for option in (("--record-size", "100"), ("--key", "0:10"), ("--reverse",), ("--unique",)):
        words = ("merge", "--runs", *option, job_directory(job), "-o", tmp_path / "merged")
        refused(run(*words), 2, f"leave {option[0]} out")
    refused(run("merge", job_directory(job), "--runs", "-o", tmp_path / "merged"), 2, "--runs comes first")


def test_a_kill_leaves_nothing_and_the_runs_as_they_were(ecosort: Path, run: Run, job: Path, tmp_path: Path) -> None:
    before = state_of(job_directory(job))
    wanted = expected(CASES["records"].text)
    words: list[str | Path] = ["merge", "--runs", "-q", "--memory", "1MiB", job_directory(job), "-o", tmp_path / "merged"]
    changes = changes_of(tmp_path, ecosort, *words)
    (tmp_path / "merged").unlink()
    for nth in (1, 2, changes // 2, changes):
        command = [*faults(tmp_path, f"{CHANGES}:signal=KILL:when={nth}"), ecosort, *words]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=False)
        (tmp_path / "trace").unlink()
        assert set(tmp_path.iterdir()) <= {tmp_path / "merged"}
        if (tmp_path / "merged").exists():  # complete, if it was killed afterwards
            assert (tmp_path / "merged").read_bytes() == wanted
            (tmp_path / "merged").unlink()
    assert state_of(job_directory(job)) == before
    wait_until(lambda: run(*words).returncode == 0, what="the lock of the job")
