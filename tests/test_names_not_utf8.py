"""Names of files that are not UTF-8: no report, plan or message fails for them; in JSON their bytes are U+FFFD."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from partition_support import write_splitters

IN, OUT = "in\udcff", "o\udcff/x"
RECORDS = ("--record-size", "100", "--key", "0:10")


@pytest.fixture
def place(ecosort: Path, tmp_path: Path) -> Path:
    (tmp_path / "o\udcff").mkdir()
    done = subprocess.run([ecosort, "gen", "-a", "1000", IN], cwd=tmp_path, check=False)
    assert done.returncode == 0
    return tmp_path


@pytest.fixture
def call(ecosort: Path, place: Path) -> Any:
    """Runs the program; the messages are bytes, because they hold the names as they are."""

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([ecosort, *words], cwd=place, capture_output=True, timeout=120, check=False)

    return run


def table(place: Path, text: str) -> None:
    (place / IN).write_text(text)


@pytest.mark.parametrize(
    "words", [("sort", *RECORDS, "--temp", "o\udcff"), ("sort", "--resumable", *RECORDS), ("lines", "--resumable")]
)
def test_plans(call: Any, words: tuple[str, ...]) -> None:
    done = call("plan", words[0], "--json", *words[1:], IN, "-o", OUT)
    assert done.returncode == 0, done.stderr
    assert "o\ufffd/x" in json.dumps(json.loads(done.stdout), ensure_ascii=False)


@pytest.mark.parametrize(
    "words", [("sort", *RECORDS), ("sort", "--resumable", *RECORDS), ("lines",), ("lines", "--resumable"), ("merge", *RECORDS)]
)
def test_statistics_and_events(call: Any, place: Path, words: tuple[str, ...]) -> None:
    if words[0] == "merge":
        assert call("sort", *RECORDS, IN, "-o", "sorted\udcff").returncode == 0
    source = "sorted\udcff" if words[0] == "merge" else IN
    done = call(*words, source, "-o", OUT, "--stats", "st\udcff", "--events", "ev\udcff", "--progress=json")
    assert done.returncode == 0, done.stderr
    json.loads((place / "st\udcff").read_text())
    told = [line for line in done.stderr.splitlines() if line.startswith(b"{")]  # others are for people
    for line in [*(place / "ev\udcff").read_bytes().splitlines(), *told]:
        json.loads(line)
    assert (place / OUT).stat().st_size == 100_000


@pytest.mark.parametrize(("command", "text"), [("csv", "a,b\n2,x\n1,y\n"), ("jsonl", '{"a":2}\n{"a":1}\n')])
def test_statistics_of_tables(call: Any, place: Path, command: str, text: str) -> None:
    table(place, text)
    done = call(command, "--by", "a:number", IN, "-o", OUT, "--stats", "st")
    assert done.returncode == 0, done.stderr
    json.loads((place / "st").read_text())


def test_a_report_of_slices(call: Any, place: Path) -> None:
    cut = write_splitters(place / "cut", [((place / IN).read_bytes()[:100], 0, 0)])
    words = ("--splitters", str(cut), "--report", "re\udcff", "-o", "o\udcff", "--prefix", "p\udcff")
    done = call("partition", "records", *RECORDS, IN, *words)
    assert done.returncode == 0, done.stderr
    files = [one["file"] for one in json.loads((place / "re\udcff").read_text())["slices"]]
    assert all("o\ufffd/p\ufffd" in file for file in files), files
    assert len(list((place / "o\udcff").iterdir())) == len(files)


def test_an_error_in_json(call: Any) -> None:
    done = call("sort", *RECORDS, "absent\udcff", "-o", OUT, "--progress=json")
    line, people = done.stderr.splitlines()
    assert (done.returncode, b"absent\xff" in people) == (2, True)
    assert "absent\ufffd" in json.loads(line)["message"]
