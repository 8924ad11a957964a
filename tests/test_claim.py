"""`--claim`: a file beside a sorted one says what that holds and in which order; checks and merges hold it against that."""

import itertools
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sort_support import Run, faults

WORDS = {
    "csv": ["--by=n:number:desc", "--by=t"],
    "jsonl": ["--by=n:number"],
    "lines": ["--header=1", "-t,", "-k2,2n", "--key=1,1r", "-s"],
    "sort": ["--record-size=4", "--key=2:2"],
}


def rows_of(command: str, count: int = 300) -> bytes:
    rng = random.Random(command)
    if command == "sort":
        return rng.randbytes(4 * count)
    numbers = [(rng.randrange(50), i) for i in range(count)]
    if command == "jsonl":
        return "".join(f'{{"n":{n},"t":"{i}"}}\n' for n, i in numbers).encode()
    return ("t,n\n" + "".join(f"{i},{n}\n" for n, i in numbers)).encode()


def claim_in(place: Path, name: str = "out") -> dict[str, Any]:
    claim: dict[str, Any] = json.loads((place / f"{name}.claim.json").read_text())
    return claim


@pytest.mark.parametrize("command", WORDS)
def test_a_file_is_what_it_claims(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "in").write_bytes(rows_of(command))
    done = run(command, *WORDS[command], "--claim", "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    claim = claim_in(tmp_path)
    assert (claim["schema"], claim["file"], claim["rows"], claim["collation"]) == ("ecosort.claim/1", "out", 300, None)
    assert claim["bytes"] == (tmp_path / "out").stat().st_size
    checked = run("check", "--claim", "out", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "The file is what its claim says" in checked.stderr
    request = {"schema": "ecosort.request/1", "inputs": ["out"], "input_order": "sorted", "place": {"output": "again"}}
    (tmp_path / "request").write_text(json.dumps(request | {claim["format"]: claim["order"]}))
    assert run("run", "request", cwd=tmp_path).returncode == 0
    assert (tmp_path / "again").read_bytes() == (tmp_path / "out").read_bytes()


@pytest.mark.parametrize("fault", ["a row is another one", "a row is missing", "two rows changed places"])
def test_a_file_that_is_not_what_it_claims(run: Run, tmp_path: Path, fault: str) -> None:
    (tmp_path / "in").write_bytes(rows_of("csv"))
    assert run("csv", *WORDS["csv"], "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    header, *rows = (tmp_path / "out").read_text().splitlines()
    if fault == "a row is another one":
        rows[-1] = rows[-1][:-1] + ("1" if rows[-1][-1] == "0" else "0")
    elif fault == "a row is missing":
        rows.pop(7)
    else:
        rows[3], rows[200] = rows[200], rows[3]
    (tmp_path / "out").write_text("\n".join([header, *rows, ""]))
    done = run("check", "--claim", "out", cwd=tmp_path)
    assert done.returncode == 1
    wanted = {
        "a row is another one": "have the hash",
        "a row is missing": "299 rows instead of 300",
        "two rows changed places": "in another order",
    }
    assert wanted[fault] in done.stderr.splitlines()[-1]


def test_compressed_outputs_and_those_of_merges_claim_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(rows_of("lines"))
    for words in (["in", "-o", "a.gz"], ["-u", "in", "-o", "b"], ["-m", "--decompress=auto", "a.gz", "b", "-o", "c.zst"]):
        done = run("lines", *WORDS["lines"], "--compress-output=auto", "--claim", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert run("check", "--claim", words[-1], "--quiet", cwd=tmp_path).returncode == 2
        assert run("check", "--claim", "--quiet", words[-1], cwd=tmp_path).returncode == 0
    assert claim_in(tmp_path, "c.zst")["rows"] == 600
    (tmp_path / "records").write_bytes(rows_of("sort"))
    for words in (["sort", "records", "-o", "r"], ["merge", "r", "r", "-o", "rr"]):
        done = run(words[0], *WORDS["sort"], "--claim", *words[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert claim_in(tmp_path, "rr")["rows"] == 600
    assert run("check", "--claim", "rr", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("command", "merge", "told"),
    [
        ("csv", ["csv", "--merge", "--by=t"], '"keys": ["n:number:desc","t"], and the merge has ["t"]; merge it by its order'),
        ("csv", ["lines", "-m"], "out claims an order of csv, and the merge is one of lines"),
        ("lines", ["lines", "-m", "--header=1", "-t,", "-k2,2n", "-s"], '"keys": ["2n,2","1r,1"], and the merge has ["2n,2"]'),
        ("lines", ["lines", "-m", *WORDS["lines"][:-1]], '"stable": true, and the merge has none'),
        ("sort", ["merge", "--record-size=4", "--key=0:2"], 'out claims the order "keys": ["2:2"], and the merge has ["0:2"]'),
    ],
)
def test_files_in_another_order_are_not_merged(run: Run, tmp_path: Path, command: str, merge: list[str], told: str) -> None:
    (tmp_path / "in").write_bytes(rows_of(command))
    assert run(command, *WORDS[command], "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    done = run(*merge, "out", "out", "-o", "both", cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "both").exists()


@pytest.mark.parametrize("command", WORDS)
def test_a_request_has_the_order_that_is_claimed(run: Run, tmp_path: Path, command: str) -> None:
    """A cluster's manifest takes it from there."""
    (tmp_path / "in").write_bytes(rows_of(command))
    assert run(command, *WORDS[command], "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    claim = claim_in(tmp_path)
    told = run("request", command, *WORDS[command], "in", "-o", "out", cwd=tmp_path)
    of_names = {"delimiter": ","} if command == "csv" else {}
    assert of_names | json.loads(told.stdout)["request"][claim["format"]] == claim["order"]


def test_a_finer_order_merges_as_its_beginning(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(rows_of("csv"))
    assert run("csv", *WORDS["csv"], "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert run("csv", "--merge", WORDS["csv"][0], "out", "out", "-o", "both", cwd=tmp_path).returncode == 0
    assert run("lines", "-k1,1", "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert run("lines", "-m", "-s", "-k1,1", "out", "out", "-o", "both", cwd=tmp_path).returncode == 0


def test_a_claim_of_another_file_is_noticed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("b\na\n")
    assert run("lines", "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    (tmp_path / "out").write_text("a\nb\nc\n")
    done = run("lines", "-m", "out", "-o", "merged", cwd=tmp_path)
    assert (done.returncode, "out has not the 4 bytes of its claim: it was changed; remove " in done.stderr) == (2, True)
    (tmp_path / "out.claim.json").write_text("{}")
    done = run("lines", "-m", "out", "-o", "merged", cwd=tmp_path)
    assert (done.returncode, "is no claim (ecosort.claim/1); move it away" in done.stderr) == (2, True)
    done = run("lines", "--claim", "in", "-o", "out", cwd=tmp_path)
    assert (done.returncode, "is no claim" in done.stderr) == (2, True)
    assert run("lines", "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out.claim.json").read_text() == "{}"  # a file of somebody else


@pytest.mark.parametrize("how", [[], ["--resumable"]], ids=["file", "resumable"])
def test_a_sort_without_a_claim_takes_the_old_one_away(run: Run, tmp_path: Path, how: list[str]) -> None:
    (tmp_path / "in").write_text("b\na\n")
    assert run("lines", "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert run("lines", "-r", *how, "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "out.claim.json").exists()


def kill_at(ecosort: Path, tmp_path: Path, call: int) -> bool:
    """Kills a sort at one of its calls; both the output and its claim were there before. False: it had no so many calls."""
    place = tmp_path / f"place{call}"
    shutil.copytree(tmp_path / "before", place)
    rule = f"pwrite64,fsync,fdatasync,linkat,renameat,unlinkat:signal=KILL:when={call}"
    words = ["lines", "-r", "--io=pool", "--claim", "in", "-o", "out"]
    done = subprocess.run([*faults(tmp_path, rule), ecosort, *words], cwd=place, capture_output=True, timeout=60, check=False)
    is_new = (place / "out").read_text() == "c\nb\na\n"
    assert is_new or (place / "out").read_text() == "a\nb\n"
    if (place / "out.claim.json").exists():
        assert claim_in(place)["order"].get("ordering") == ("r" if is_new else None)
        assert subprocess.run([ecosort, "check", "--claim", "out"], cwd=place, capture_output=True, check=False).returncode == 0
    return done.returncode != 0


def test_no_kill_leaves_a_claim_beside_another_file(ecosort: Path, run: Run, tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    (before / "in").write_text("b\na\n")
    assert run("lines", "--claim", "in", "-o", "out", cwd=before).returncode == 0
    (before / "in").write_text("b\nc\na\n")
    killed = sum(1 for _ in itertools.takewhile(lambda call: kill_at(ecosort, tmp_path, call), itertools.count(1)))
    assert killed > 8
    assert claim_in(tmp_path / f"place{killed + 1}")["rows"] == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["lines", "--claim", "in"], "name an output"),
        (["lines", "-R", "--claim", "in", "-o", "out"], "an order of chance"),
        (["lines", "--count", "--claim", "in", "-o", "out"], "with a count in front"),
        (["lines", "--claim", "--resumable", "in", "-o", "out"], "--claim"),
        (["lines", "--claim", "--split=rows=1", "in", "-o", "out-{}"], "--claim"),
        (["lines", "--claim", "-c", "in"], "ecosort check --claim FILE"),
        (["check", "--claim", "in"], "has no claim"),
        (["check", "--claim", "absent"], "absent: No such file or directory"),
    ],
)
def test_where_no_claim_can_be(run: Run, tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "in").write_text("b\na\n")
    done = run(*words, cwd=tmp_path)
    assert (done.returncode, told in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


@pytest.mark.parametrize("words", [["--by=#1"], ["--by=a", "--unique"]])
def test_a_delimiter_that_the_first_line_names_is_claimed(run: Run, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "in").write_text("sep=;\na;b\n2;x\n1;y\n")
    assert run("csv", *words, "--claim", "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert claim_in(tmp_path)["order"]["delimiter"] == ";"
    done = run("check", "--claim", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_files_of_a_split_and_rows_set_aside_take_the_old_claims_away(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a,b\n2,x\n1\n")
    for name in ("out-00001", "bad"):
        assert run("lines", "--claim", "in", "-o", name, cwd=tmp_path).returncode == 0
    assert run("lines", "--split=rows=2", "in", "-o", "out-{}", cwd=tmp_path).returncode == 0
    assert run("csv", "--by=a", "--bad-rows=bad", "in", "-o", "out", cwd=tmp_path).returncode == 0
    assert not list(tmp_path.glob("*.claim.json"))
