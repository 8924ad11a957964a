"""Whole jobs in processes of this machine: the output, its balance, what is moved, and what a check finds."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from capabilities import only_in_soak
from ecosort.cluster import PhaseState, abandon, check, jobs, outputs, resume, sort
from ecosort.cluster.formats import format_of_words
from ecosort.cluster.planner import plan_shape
from ecosort.cluster.spec import job_spec
from ecosort.durable import link_as
from pairs import turns

from ecosort import BadInput, IoFailed, NotEnoughMemory, VerificationFailed

from .support import KEYS, RECORDS, joined, numbered, only_inputs_and_output_are_left, parts_of, sorted_records

COUNT = 40_000


@pytest.fixture(params=[None, False], ids=["merged", "sorted"])
def merges(request: pytest.FixtureRequest) -> bool | None:
    """Parts are merged from sorted slices, as the planner wants it for small inputs by itself, or sorted."""
    wanted: bool | None = request.param
    return wanted


def test_a_worker_loads_no_more_than_tasks_need() -> None:
    """Each job starts some, and what `import ecosort` gives a user takes longer to load."""
    worker = Path(jobs.__file__).with_name("worker.py")
    words = [sys.executable, "-X", "importtime", "-SP", str(worker), str(os.getpid())]
    loaded = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stderr
    assert "ecosort.cluster.tasks" in loaded
    for name in ("sorting", "options", "manual", "tables", "cluster.driver", "cluster.planner", "cluster.cli"):
        assert f"ecosort.{name}\n" not in loaded, name


def test_a_package_in_an_archive_has_workers_too(here: Path, ecosort: Path) -> None:
    package = Path(jobs.__file__).parents[1]
    with zipfile.ZipFile("packages.zip", "w") as archive:
        for path in package.rglob("*.py"):
            archive.write(path, path.relative_to(package.parent))
    Path("in").write_text("b\na\n")
    code = "import ecosort.cluster as c; c.sort('in', 'out', format='lines', on='local', nodes_temp=['n0'])"
    own = {"PYTHONPATH": str(here / "packages.zip"), "ECOSORT_PROGRAM": str(ecosort)}
    subprocess.run([sys.executable, "-P", "-c", code], env={**os.environ, **own}, check=True, timeout=60)
    assert Path("out/part-00000").read_text() == "a\nb\n"


# Slices are cut the same way whatever the keys are; what is done with them meets half of the kinds outside soak.
@pytest.mark.parametrize(
    ("keys", "merges"),
    [
        pytest.param(keys, merges, marks=only_in_soak if merges is False and at % 2 else ())
        for at, keys in enumerate(KEYS)
        for merges in (None, False)
    ],
)
def test_any_distribution_is_sorted_stably_in_parts_of_like_size(
    keys: str, merges: bool | None, here: Path, nodes: list[Path], ecosort: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = []
    monkeypatch.setattr(jobs, "plan_shape", lambda *words, **more: plans.append(plan_shape(*words, **more)) or plans[-1])
    data = numbered(KEYS[keys](COUNT))
    cut = 100 * (COUNT // 3)
    Path("a").write_bytes(data[:cut])
    Path("b").write_bytes(data[cut:])
    report = sort(["a", "b"], "out", nodes_temp=nodes, parts=4, memory="3MiB", merges=merges, **RECORDS)  # type: ignore[arg-type]
    assert joined(Path("out")) == sorted_records(data)
    assert (report.rows, report.parts) == (COUNT, 4)
    assert report.imbalance <= 1.1
    _, _, partition, reduce = report.stages
    assert sum(stage.bytes_read + stage.bytes_written for stage in (partition, reduce)) == pytest.approx(4 * len(data), rel=0.02)
    assert 0 < partition.network_bytes + reduce.network_bytes < len(data)
    assert check("out").rows == COUNT
    only_inputs_and_output_are_left(here, *nodes)
    assert {plan.merges for plan in plans} == {merges is None}
    assert {plan.files > plan.ranges for plan in plans} == {merges is None}
    summaries_are_those_of_valsort(ecosort, Path("out"))


def summaries_are_those_of_valsort(ecosort: Path, output: Path) -> None:
    """One by one, and together as of one file."""
    parts = parts_of(output)
    for part in parts:
        subprocess.run([ecosort, "check", "-q", "-o", "wanted.sum", part], check=True)
        assert part.with_suffix(".sum").read_bytes() == Path("wanted.sum").read_bytes()
    Path("whole").write_bytes(joined(output))
    whole = subprocess.run([ecosort, "check", "whole"], capture_output=True, text=True, check=True)
    words = [ecosort, "check", "-s", *(part.with_suffix(".sum") for part in parts)]
    together = subprocess.run(words, capture_output=True, text=True, check=True)
    assert together.stderr == whole.stderr
    assert "SUCCESS" in together.stderr


def test_lines_of_any_length(nodes: list[Path], merges: bool | None) -> None:
    generator = random.Random(7)
    lines = [b"%x %d" % (generator.getrandbits(40 * generator.randrange(1, 8)), number) for number in range(20_000)]
    Path("in").write_bytes(b"\n".join(lines))
    report = sort("in", "out", format="lines", nodes_temp=nodes, parts=3, memory="4MiB", merges=merges)
    assert joined(Path("out")) == b"".join(line + b"\n" for line in sorted(lines))
    assert report.imbalance <= 1.1
    assert check("out").rows == len(lines)
    assert not Path("-").exists()  # what is read for its order goes nowhere


def long_lines(digits: int, count: int) -> list[bytes]:
    """Makes lines of two bytes more than a number takes in hexadecimal digits, most of which are the same."""
    generator = random.Random(11)
    return [b"%08x" % generator.getrandbits(32) + b"x" * digits for _ in range(count)]


def test_lines_that_are_too_long_for_a_small_share_of_the_memory(nodes: list[Path]) -> None:
    """First and last lines of slices may take 1/16 of it: the task gets all of it then."""
    lines = long_lines(3_000_000, 8)
    Path("in").write_bytes(b"\n".join(lines) + b"\n")
    report = sort("in", "out", format="lines", nodes_temp=nodes, parts=2, memory="256MiB")
    assert joined(Path("out")) == b"".join(line + b"\n" for line in sorted(lines))
    assert report.attempts == report.tasks


def test_parts_whose_files_have_too_long_lines_to_be_merged_are_sorted(nodes: list[Path]) -> None:
    lines = long_lines(450_000, 260)
    Path("in").write_bytes(b"\n".join(lines) + b"\n")
    report = sort("in", "out", format="lines", nodes_temp=nodes, parts=1, memory="16MiB")
    assert joined(Path("out")) == b"".join(line + b"\n" for line in sorted(lines))
    (reduce,) = [span for span in report.spans if span.stage == "reduce"]
    assert "run_formation" in [step.name for step in reduce.steps]


def test_csv_with_newlines_in_quotes_has_its_header_in_each_part(nodes: list[Path], merges: bool | None) -> None:
    generator = random.Random(8)
    rows = [f'{generator.randrange(5000)},"line {number}\nnext, ""quoted"""' for number in range(8_000)]
    Path("in.csv").write_text("id,text\n" + "".join(row + "\n" for row in rows))
    sort("in.csv", "out", format="csv", by="id:number", nodes_temp=nodes, parts=3, memory="4MiB", merges=merges)
    held = [part.read_text() for part in parts_of(Path("out"))]
    assert all(part.startswith("id,text\n") for part in held)
    ordered = sorted(rows, key=lambda row: int(row.partition(",")[0]))
    assert "".join(part.removeprefix("id,text\n") for part in held) == "".join(row + "\n" for row in ordered)
    assert check("out").rows == len(rows)


def test_csv_with_escapes_and_a_delimiter_of_two_bytes(nodes: list[Path]) -> None:
    generator = random.Random(8)
    rows = [f"{generator.randrange(5000)}||line {number}\\\nnext \\| bar\n" for number in range(4_000)]
    Path("in.csv").write_text("".join(rows))
    dialect = {"delimiter": "||", "quote": None, "escape": "\\", "header": False}
    sort("in.csv", "out", format="csv", by="1:number", nodes_temp=nodes, parts=3, memory="4MiB", **dialect)
    assert joined(Path("out")).decode() == "".join(sorted(rows, key=lambda row: int(row.partition("|")[0])))


def test_json_lines_by_a_path(nodes: list[Path], merges: bool | None) -> None:
    generator = random.Random(9)
    lines = [json.dumps({"user": {"id": generator.randrange(10**6)}, "n": number}) for number in range(8_000)]
    Path("in.jsonl").write_text("".join(line + "\n" for line in lines))
    sort("in.jsonl", "out", format="jsonl", by="user.id:number", nodes_temp=nodes, parts=2, memory="4MiB", merges=merges)
    ordered = sorted(lines, key=lambda line: int(json.loads(line)["user"]["id"]))
    assert joined(Path("out")).decode() == "".join(line + "\n" for line in ordered)


def test_a_part_may_hold_rows_alone_that_lack_the_path(nodes: list[Path]) -> None:
    """A sort of such a file by itself would be refused."""
    lines = [json.dumps({"id": number} if number % 3 == 0 else {"n": number}) + "\n" for number in range(6_000)]
    Path("in.jsonl").write_text("".join(lines))
    sort("in.jsonl", "out", format="jsonl", by="id:number:desc", nodes_temp=nodes, parts=3, memory="4MiB")
    ordered = lines[::3][::-1] + [line for line in lines if line.startswith('{"n"')]
    assert joined(Path("out")).decode() == "".join(ordered)


@pytest.mark.parametrize("single", [False, True])
def test_a_path_that_no_row_has_is_no_key(nodes: list[Path], single: bool) -> None:
    """A part alone does not show that, and the program allows each of them to lack the path."""
    Path("in.jsonl").write_text('{"id": 1}\n' * 8)
    with pytest.raises(BadInput, match="no row has 'di:number'; give the job up"):
        sort("in.jsonl", "out", format="jsonl", by="di:number", nodes_temp=nodes, parts=2, memory="4MiB", single=single)


def test_inputs_of_nodes_are_read_there_only(here: Path, nodes: list[Path]) -> None:
    data = numbered(KEYS["zipf"](COUNT))
    third = 100 * (COUNT // 3)
    for name, piece in (("a", data[:third]), ("b", data[third : 2 * third]), ("c", data[2 * third :])):
        Path(name).write_bytes(piece)
    inputs = [f"node1:{here}/a", "b", f"node0:{here}/c"]
    report = sort(inputs, "out", nodes_temp=nodes, parts=4, memory="4MiB", **RECORDS)  # type: ignore[arg-type]
    assert joined(Path("out")) == sorted_records(data)
    for stage in ("sample", "partition"):
        ran = [span.node for span in sorted(report.spans, key=lambda span: span.task) if span.stage == stage]
        count = len(ran) // 3
        assert (set(ran[:count]), set(ran[-count:])) == ({"node1"}, {"node0"})
    only_inputs_and_output_are_left(here, *nodes)


def test_a_node_that_is_not_there_and_a_file_that_it_lacks_are_told(here: Path, nodes: list[Path]) -> None:
    Path("in").write_bytes(numbered(KEYS["uniform"](1000)))
    with pytest.raises(BadInput, match=r"'node2:/in': no node is called node2; there are node0, node1"):
        sort(["in", "node2:/in"], "out", nodes_temp=nodes, **RECORDS)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"on node node1: '/nowhere/in' is no regular file that is there"):
        sort("node1:/nowhere/in", "out", nodes_temp=nodes, **RECORDS)  # type: ignore[arg-type]
    assert not Path("out").exists()
    assert not Path("out.ecosort").exists()


def test_an_input_of_a_node_that_changes_is_refused(here: Path, nodes: list[Path]) -> None:
    Path("in").write_bytes(numbered(KEYS["uniform"](COUNT)))

    def change(state: PhaseState) -> None:
        if state.phase == "partition" and state.done == state.tasks:
            Path("in").write_bytes(numbered(KEYS["zipf"](COUNT)))

    with pytest.raises(IoFailed, match=f"'node0:{here}/in' has changed since the job began"):
        sort(f"node0:{here}/in", "out", nodes_temp=nodes, parts=4, memory="4MiB", progress=change, **RECORDS)  # type: ignore[arg-type]
    assert not Path("out/MANIFEST.json").exists()


@pytest.mark.parametrize("single", [False, True])
def test_directories_of_nodes_that_the_job_made_go_with_it(here: Path, single: bool) -> None:
    Path("in").write_bytes(numbered(KEYS["uniform"](1000)))
    Path("own").mkdir()

    def put_a_file(state: PhaseState) -> None:
        if state.phase == "partition" and state.done == state.tasks:
            Path("n1").mkdir(exist_ok=True)
            Path("n1/mine").touch()

    sort("in", "out", nodes_temp=["n0", "n1", "own"], progress=put_a_file, single=single, **RECORDS)  # type: ignore[arg-type]
    left = {path.name for path in here.iterdir()} - {"out.MANIFEST.json"}
    assert left == {"in", "out", "own", "n1"}, "what somebody else has files in, or made, stays"


def test_directories_of_nodes_go_with_a_job_that_is_resumed_or_given_up(here: Path) -> None:
    Path("in").write_bytes(numbered(KEYS["uniform"](1000)))

    def stop(state: PhaseState) -> None:
        if state.phase == "partition":
            raise KeyboardInterrupt

    for end in (resume, abandon):
        with pytest.raises(KeyboardInterrupt):
            sort("in", "out", nodes_temp=["n0"], progress=stop, **RECORDS)  # type: ignore[arg-type]
        end("out")
        assert {path.name for path in here.iterdir()} - {"out"} == {"in"}
        shutil.rmtree("out", ignore_errors=True)


def test_no_rows_at_all() -> None:
    Path("in").write_bytes(b"")
    for output, parts in (("out", None), ("four", 4)):
        report = sort("in", output, memory="4MiB", parts=parts, **RECORDS)  # type: ignore[arg-type]
        assert (report.rows, report.parts, joined(Path(output))) == (0, 1, b"")
        assert check(output).rows == 0


def test_more_parts_than_rows() -> None:
    data = numbered([b"bbbbbbbbbb", b"aaaaaaaaaa"])
    Path("in").write_bytes(data)
    sort("in", "out", memory="4MiB", parts=5, **RECORDS)  # type: ignore[arg-type]
    assert joined(Path("out")) == sorted_records(data)
    assert len(parts_of(Path("out"))) == 5
    assert check("out").rows == 2


def test_the_check_of_the_program_knows_a_manifest(sorted_output: Path, ecosort: Path) -> None:
    def check_manifest(*flags: str) -> subprocess.CompletedProcess[str]:
        words = [ecosort, "check", *flags, sorted_output / "MANIFEST.json"]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    done = check_manifest()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("5000 rows in 2 parts, 500000 bytes, hash ")
    done = check_manifest("-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = check_manifest("-s")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "-s is for records" in done.stderr
    (sorted_output / "part-00001").write_bytes(b"")
    done = check_manifest()
    assert (done.returncode, done.stdout) == (1, "")
    assert "part-00001" in done.stderr


def test_only_what_valsort_checks_has_summaries(nodes: list[Path]) -> None:
    Path("in").write_bytes(numbered(KEYS["uniform"](1000)))
    sort("in", "few", parts=2, memory="4MiB", record_size=100, by="0:9")
    Path("two").write_bytes(numbered([b"bbbbbbbbbb", b"aaaaaaaaaa"]))
    sort("two", "out", memory="4MiB", parts=5, **RECORDS)  # type: ignore[arg-type]
    assert [len(list(Path(output).glob("*.sum"))) for output in ("few", "out")] == [0, 2]


def test_the_check_finds_a_summary_of_another_part(sorted_output: Path) -> None:
    (sorted_output / "part-00000.sum").write_bytes((sorted_output / "part-00001.sum").read_bytes())
    with pytest.raises(VerificationFailed, match=r"part-00000.sum' is not the summary"):
        check(sorted_output)
    (sorted_output / "part-00000.sum").write_bytes(b"short")
    with pytest.raises(VerificationFailed, match=r"part-00000.sum' is not the summary"):
        check(sorted_output)


@pytest.fixture(scope="module")
def finished_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("job")
    (directory / "in").write_bytes(numbered(KEYS["uniform"](5000)))
    sort(directory / "in", directory / "out", memory="4MiB", parts=2, **RECORDS)  # type: ignore[arg-type]
    return directory


@pytest.fixture
def sorted_output(finished_job: Path, here: Path) -> Path:
    """The input and the output of a job, which a test may change."""
    shutil.copytree(finished_job, here, dirs_exist_ok=True)
    return Path("out")


def test_the_check_finds_a_changed_byte(sorted_output: Path) -> None:
    part = sorted_output / "part-00001"
    data = bytearray(part.read_bytes())
    data[len(data) // 2 // 100 * 100 + 50] ^= 1
    part.write_bytes(data)
    with pytest.raises(VerificationFailed, match=r"part-00001.*hash"):
        check(sorted_output)


def test_the_check_finds_parts_that_changed_places(sorted_output: Path) -> None:
    told = json.loads((sorted_output / "MANIFEST.json").read_text())
    told["parts"].reverse()
    (sorted_output / "MANIFEST.json").write_text(json.dumps(told))
    with pytest.raises(VerificationFailed, match="not in order one after the other"):
        check(sorted_output)


def test_the_check_finds_a_part_too_many(sorted_output: Path) -> None:
    other = sorted_output / "part-00077"
    other.write_bytes((sorted_output / "part-00000").read_bytes())
    with pytest.raises(VerificationFailed, match="part-00077' is no part of"):
        check(sorted_output)
    other.rename(sorted_output / "part-of-mine")
    check(sorted_output)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("bytes", 500001, "other bytes than the whole"),
        ("bytes", "lots", "cannot be"),
        ("rows", 5000.0, "cannot be"),
        ("rows", True, "cannot be"),
        ("rows", -1, "cannot be"),
        ("hash", "x", "is no hash"),
        ("header_hash", "zz", "is no hash"),
        ("parts", [], "twice, or none"),
        ("header", "*", "no such JSON"),
        ("job", None, "cannot be"),
        ("more", 1, "each manifest has"),
    ],
)
def test_the_check_believes_no_number_of_the_manifest(sorted_output: Path, name: str, value: object, said: str) -> None:
    told = json.loads((sorted_output / "MANIFEST.json").read_text())
    (sorted_output / "MANIFEST.json").write_text(json.dumps(told | {name: value}))
    with pytest.raises((BadInput, VerificationFailed), match=said):
        check(sorted_output)


@pytest.mark.parametrize("file", ["../out/part-00000", "/etc/passwd", "..", ""])
def test_a_part_is_in_the_directory_of_its_manifest(sorted_output: Path, file: str) -> None:
    told = json.loads((sorted_output / "MANIFEST.json").read_text())
    told["parts"][0]["file"] = file
    (sorted_output / "MANIFEST.json").write_text(json.dumps(told))
    with pytest.raises(BadInput, match="outside of its directory"):
        check(sorted_output)


@pytest.mark.parametrize("of_rows", [True, False], ids=["csv", "records"])
def test_a_part_with_rows_has_a_first_and_a_last_one_and_is_named_once(of_rows: bool, sorted_output: Path) -> None:
    if of_rows:
        Path("table").write_bytes(b"a,b\n" + b"".join(b"%d,x\n" % i for i in range(9000)))
        sort("table", "rows", format="csv", by="a:number", memory="4MiB", parts=2)
        sorted_output = Path("rows")
    manifest = sorted_output / "MANIFEST.json"
    told = json.loads(manifest.read_text())
    blind = [part | {"first": None, "last": None} for part in told["parts"]]
    for parts in (blind, blind[::-1], [told["parts"][0], blind[1]], [told["parts"][0] | {"last": None}, told["parts"][1]]):
        manifest.write_text(json.dumps(told | {"parts": parts}))
        with pytest.raises(BadInput, match="first and last row"):
            check(sorted_output)
    manifest.write_text(json.dumps(told | {"parts": [*told["parts"], told["parts"][0]]}))
    with pytest.raises(BadInput, match="names a part twice"):
        check(sorted_output)


def test_the_check_misses_a_summary(sorted_output: Path) -> None:
    (sorted_output / "part-00001.sum").unlink()
    with pytest.raises(VerificationFailed, match=r"part-00001.sum' is not there"):
        check(sorted_output)


@pytest.mark.skipif(os.geteuid() != 0, reason="wants to be another user")
def test_a_working_directory_that_cannot_be_written_is_enough(here: Path, ecosort: Path, tmp_path: Path) -> None:
    data = numbered(KEYS["uniform"](5000))
    own = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        (own / "in").write_bytes(data)
        os.chown(own, 65534, 65534)
        script = "import sys; from ecosort.cluster.cli import main; sys.exit(main())"
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*user, ecosort, "--version"], capture_output=True, check=False).returncode != 0:
            pytest.skip("other users cannot run the program where it is")
        command = [*user, sys.executable, "-c", script]
        for output in (["-o", own / "out"], ["--single", "-o", own / "one"]):
            words = ["sort", "-q", "--format=records", "--record-size=100", "--key=0:10", own / "in", *output]
            done = subprocess.run([*command, *words], cwd="/", capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
            done = subprocess.run([*command, "check", output[-1]], cwd="/", capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
        assert (own / "one").read_bytes() == sorted_records(data)
    finally:
        shutil.rmtree(own)


@pytest.mark.parametrize(
    "contents", ["[]", "7", '{"schema": "ecosort.cluster-manifest/1"}', "{}", "x", "[" * 100_000, "9" * 5000, '{"schema": [']
)
def test_what_is_no_manifest_is_told(tmp_path: Path, contents: str) -> None:
    (tmp_path / "MANIFEST.json").write_text(contents)
    with pytest.raises(BadInput, match="is no manifest of ecosort cluster sort"):
        check(tmp_path)


def test_the_check_finds_a_part_that_is_missing_or_longer(sorted_output: Path) -> None:
    with (sorted_output / "part-00000").open("ab") as part:
        part.write(bytes(100))
    with pytest.raises(VerificationFailed, match="part-00000"):
        check(sorted_output)
    (sorted_output / "part-00000").unlink()
    with pytest.raises(VerificationFailed, match=r"part-00000.*not there"):
        check(sorted_output)


def test_what_cannot_work_is_refused_in_one_line(sorted_output: Path) -> None:
    with pytest.raises(BadInput, match="exists; name a directory that is not there"):
        sort("in", sorted_output, **RECORDS)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="give both record_size and by"):
        sort("in", "other", format="records", by="0:10")
    with pytest.raises(BadInput, match="no option of lines in a cluster"):
        sort("in", "other", format="lines", options=["--unique"])
    with pytest.raises(BadInput, match="no multiple of the record size"):
        sort("in", "other", record_size=77, by="0:10")
    with pytest.raises(BadInput, match="no regular file"):
        sort("nowhere", "other", **RECORDS)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"local, ray \(the cluster of this machine, or of RAY_ADDRESS\) or ray://HEAD"):
        sort("in", "other", on="yarn", **RECORDS)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="is no job of ecosort cluster"):
        resume(sorted_output)
    assert not Path("other").exists()


@pytest.mark.parametrize("single", [False, True])
def test_one_output_has_one_job(here: Path, single: bool) -> None:
    """The options of both were checked before either began; the second one replaced the journal of the first and ran, too."""
    Path("in").write_bytes(numbered(KEYS["uniform"](1000)))
    form = format_of_words("records", ["--record-size=100", "--key=0:10"])
    words: dict[str, Any] = {"workers": 1, "threads": 1, "memory_bytes": 4 << 20, "parts": 2, "seed": 1}
    first, second = (job_spec(["in"], "out", form=form, on="local", temps=[], single=single, **words) for _ in range(2))

    def begin_another(state: PhaseState) -> None:
        with pytest.raises(BadInput, match=r"out.ecosort' holds a job that did not end; `ecosort cluster resume .*--abandon"):
            jobs.start_job(second)

    assert jobs.start_job(first, begin_another).rows == 1000
    only_inputs_and_output_are_left(here)


@pytest.mark.parametrize("single", [False, True])
def test_a_link_to_an_output_is_that_output(here: Path, single: bool) -> None:
    """Each name had a job directory of its own, so that two jobs wrote into one output."""
    Path("in").write_bytes(numbered(KEYS["uniform"](1000)))
    Path("link").symlink_to("out")

    def stop(state: PhaseState) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort("in", "link", progress=stop, single=single, **RECORDS)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"out.ecosort' holds a job that did not end"):
        sort("in", "out", single=single, **RECORDS)  # type: ignore[arg-type]
    assert resume("link").rows == 1000
    assert (Path("link").is_symlink(), Path("out").is_file()) == (True, single)


@pytest.mark.parametrize("name", ["part-00001", "part-00001.sum", "MANIFEST.json"])
def test_a_file_that_came_into_the_output_is_neither_taken_nor_replaced(name: str, here: Path) -> None:
    """One of the size of a part was taken for it, and a manifest was replaced; so was a part, where its job was given up."""
    data = numbered(KEYS["uniform"](1000))
    Path("in").write_bytes(data)
    foreign = bytes(len(sorted_records(data)))

    def put(state: PhaseState) -> None:
        if state.phase == "reduce" and state.done == state.tasks:
            size = next(Path("out/attempts").glob("part-00001.*")).stat().st_size
            Path("out", name).write_bytes(foreign[:size])

    for end in (resume, abandon):
        shutil.rmtree("out", ignore_errors=True)
        with pytest.raises(BadInput, match=f"'.*/out/{name}' appeared while its rows were sorted; move it away, then") as raised:
            sort("in", "out", parts=2, memory="4MiB", progress=put, **RECORDS)  # type: ignore[arg-type]
        assert "\n" not in str(raised.value)
        if name != "MANIFEST.json":
            with pytest.raises(BadInput, match="appeared"):
                resume("out")
        assert set(Path("out", name).read_bytes()) == {0}
        if end is resume or name == "MANIFEST.json":
            Path("out", name).rename("foreign")
        end("out")
    if name != "MANIFEST.json":
        assert [path.name for path in Path("out").iterdir()] == [name]
        assert set(Path("out", name).read_bytes()) == {0}


@pytest.mark.parametrize("names", [0, 1, 2])
def test_a_job_that_ends_while_its_parts_get_their_names_goes_on(names: int, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = numbered(KEYS["uniform"](1000))
    Path("in").write_bytes(data)
    left = [names]

    def link(attempt: Path, name: Path) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        os.link(attempt, name)

    with monkeypatch.context() as patched:
        patched.setattr(outputs, "link_as", link)
        with pytest.raises(KeyboardInterrupt):
            sort("in", "out", parts=3, memory="4MiB", **RECORDS)  # type: ignore[arg-type]
    assert len(list(Path("out").glob("part-*"))) == names
    assert resume("out").rows == 1000
    assert joined(Path("out")) == sorted_records(data)
    only_inputs_and_output_are_left(here)


def test_parts_get_their_names_where_no_file_has_two(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without hard links, such as FAT."""

    def link(*words: object, **more: object) -> None:
        raise PermissionError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", link)
    data = numbered(KEYS["uniform"](1000))
    Path("in").write_bytes(data)
    sort("in", "out", parts=2, memory="4MiB", **RECORDS)  # type: ignore[arg-type]
    assert joined(Path("out")) == sorted_records(data)
    only_inputs_and_output_are_left(here)
    Path("one").touch()
    Path("two").touch()
    with pytest.raises(FileExistsError):
        link_as(Path("one"), Path("two"))


def test_ray_that_is_missing_is_told(sorted_output: Path) -> None:
    assert importlib.util.find_spec("ray") is None
    with pytest.raises(BadInput, match=r"ray is not installed; run: pip install 'ray\[client\]', or use --on local"):
        sort("in", "other", on="ray", **RECORDS)  # type: ignore[arg-type]


TERMS: list[dict[str, Any]] = [
    {"record_size": 100, "by": "0:10"},
    {"record_size": 500_000, "by": "0:10"},
    {"format": "lines"},
    {"format": "csv", "by": "n:number"},
]


@pytest.mark.parametrize(("terms", "parts", "merges"), turns(TERMS, [None, 40], [None, False]))
def test_the_least_memory_that_is_told_is_enough(terms: dict[str, Any], parts: int | None, merges: bool | None) -> None:
    rows = [b"%099d\n" % (number * 7919 % 100_003) for number in range(50_000)]
    Path("in").write_bytes(b"".join([b"n\n" if terms.get("format") == "csv" else b"", *rows]))
    with pytest.raises(NotEnoughMemory, match="give each task") as told:
        sort("in", "out", memory="1KiB", parts=parts, merges=merges, **terms)
    assert not Path("out.ecosort").exists()
    assert told.value.need_bytes is not None
    report = sort("in", "out", memory=told.value.need_bytes, parts=parts, merges=merges, **terms)
    assert report.rows == len(rows) * 100 // terms.get("record_size", 100)
    with pytest.raises(NotEnoughMemory):
        sort("in", "less", memory=told.value.need_bytes - (1 << 20), parts=parts, merges=merges, **terms)


def test_csv_whose_lines_end_with_cr_lf(nodes: list[Path], merges: bool | None) -> None:
    rows = [b"%d,x%d\r\n" % (number * 7919 % 5000, number) for number in range(5_000)]
    Path("in.csv").write_bytes(b"id,text\r\n" + b"".join(rows))
    sort("in.csv", "out", format="csv", by="id:number", nodes_temp=nodes, parts=2, memory="4MiB", merges=merges)
    held = [part.read_bytes().removeprefix(b"id,text\r\n") for part in parts_of(Path("out"))]
    assert b"".join(held) == b"".join(sorted(rows, key=lambda row: int(row.partition(b",")[0])))
    assert check("out").rows == len(rows)


def test_parts_of_rows_are_sorted_in_one_pass(nodes: list[Path]) -> None:
    """A sort of rows has room for a third of what one of records has."""
    generator = random.Random(5)
    rows = [f"{generator.randrange(10**9)},{'text ' * generator.randrange(12)}\n" for _ in range(300_000)]
    Path("in.csv").write_text("id,text\n" + "".join(rows))
    report = sort("in.csv", "out", format="csv", by="id:number", nodes_temp=nodes, memory="16MiB")
    (stage,) = [stage for stage in report.stages if stage.name == "reduce"]
    assert stage.bytes_read <= 1.02 * report.input_bytes, "no runs were stored and read again"
    assert report.parts > 1
