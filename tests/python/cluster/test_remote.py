"""Inputs behind http: whatever the server does on the way, the output is that of the same bytes in files, or there is none."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from ecosort.cluster import PhaseState, plan_of, resume, sort
from ecosort.cluster.fetch import fetch_rows
from ecosort.cluster.formats import Format
from ecosort.cluster.jobs import open_executor
from ecosort.cluster.spec import job_spec
from ecosort.process import Sort
from ecosort.remote import addresses
from ecosort.remote.addresses import Version
from ecosort.remote.ranges import read_range, version_of
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from ecosort import BadInput, IoFailed

from .support import KEYS, RECORDS, joined, numbered, only_inputs_and_output_are_left, sorted_records

COUNT = 30_000


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_FIRST_WAIT_S", 0.001)


@pytest.fixture
def site(here: Path) -> Iterator[str]:
    """The address of a web server for the directory `site`."""
    Path("site").mkdir()
    app = Starlette(routes=[Mount("/", StaticFiles(directory="site"))])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def test_records_of_a_web_server_and_of_a_file(here: Path, site: str, nodes: list[Path]) -> None:
    data = numbered(KEYS["zipf"](COUNT))
    cuts = [0, 100 * (COUNT // 3), 100 * (COUNT // 2), len(data)]
    for number, (begin, end) in enumerate(itertools.pairwise(cuts)):
        Path("site" if number != 1 else ".", f"in{number}").write_bytes(data[begin:end])
    inputs = [f"{site}/in0", "in1", f"{site}/in2"]
    report = sort(inputs, "out", nodes_temp=nodes, parts=4, memory="4MiB", **RECORDS)  # type: ignore[arg-type]
    assert joined(Path("out")) == sorted_records(data)
    assert report.imbalance <= 1.1
    fetch = report.stages[0]
    remote_bytes = len(data) - (cuts[2] - cuts[1])
    assert (fetch.name, fetch.network_bytes, fetch.bytes_written) == ("fetch", remote_bytes, remote_bytes)
    only_inputs_and_output_are_left(here, *nodes)


def rows_of(kind: str) -> tuple[bytes, dict[str, Any], list[str]]:
    generator = random.Random(6)
    numbers = [generator.randrange(10**6) for _ in range(4000)]
    if kind == "lines":
        return b"\n".join(b"%d " % n + b"x" * (n % 2000) for n in numbers), {"format": "lines"}, ["lines"]
    if kind == "jsonl":
        rows = b"".join(b'{"a":%d}\r\n' % n for n in numbers).removesuffix(b"\r\n")
        return rows, {"format": "jsonl", "by": "a:integer"}, ["jsonl", "--by=a:integer"]
    rows = b"a,text\n" + b"".join(b'%d,"x\n%d"\n' % (n, n) for n in numbers)
    return rows, {"format": "csv", "by": "a:number"}, ["csv", "--by=a:number"]


@pytest.mark.parametrize("single", [False, True], ids=["parts", "single"])
@pytest.mark.parametrize("kind", ["lines", "jsonl", "csv"])
def test_rows_of_a_web_server_are_those_of_a_file(here: Path, site: str, nodes: list[Path], kind: str, single: bool) -> None:
    rows, terms, words = rows_of(kind)
    Path("site/in").write_bytes(rows)
    sort(f"{site}/in", "out", nodes_temp=nodes, workers=2, parts=3, memory="4MiB", single=single, **terms)
    Sort([*words, "--output=wanted", "site/in"]).wait()
    found = Path("out").read_bytes() if single else joined(Path("out"))
    if kind == "csv" and not single:
        found = b"a,text\n" + found.replace(b"a,text\n", b"")
    assert found == Path("wanted").read_bytes()
    only_inputs_and_output_are_left(here, *nodes)


def test_an_input_without_bytes(site: str) -> None:
    Path("site/in").write_bytes(b"")
    assert sort(f"{site}/in", "out", memory="4MiB", **RECORDS).rows == 0  # type: ignore[arg-type]


def test_the_plan_counts_what_is_fetched(site: str) -> None:
    Path("site/in").write_bytes(bytes(1000))
    spec = job_spec(
        [f"{site}/in"], "out", form=Format("records", {}), on="local", temps=[],
        workers=1, threads=1, memory_bytes=1 << 22, parts=1, seed=1,
    )  # fmt: skip
    shape = plan_of(spec, open_executor(spec))
    assert (shape.fetched_bytes, shape.network_bytes, shape.temp_bytes_per_node) == (1000, 1000, 2000)
    assert shape.moved_bytes == 6000


def test_what_was_fetched_and_is_lost_is_fetched_again(here: Path, site: str, nodes: list[Path]) -> None:
    data = numbered(KEYS["uniform"](COUNT))
    Path("site/in").write_bytes(data)
    lost: list[Path] = []

    def lose(state: PhaseState) -> None:
        if state.phase in ("fetch", "sample") and state.done == state.tasks and len(lost) < 2:
            lost.append(min(path for node in nodes for path in node.rglob("input-*")))
            lost[-1].unlink()

    report = sort(f"{site}/in", "out", nodes_temp=nodes, parts=4, memory="4MiB", progress=lose, **RECORDS)  # type: ignore[arg-type]
    assert len(lost) == 2
    assert report.attempts > report.tasks
    assert joined(Path("out")) == sorted_records(data)
    only_inputs_and_output_are_left(here, *nodes)


def test_an_input_that_changes_while_it_is_fetched_is_refused(site: str, nodes: list[Path]) -> None:
    data = numbered(KEYS["uniform"](COUNT))
    for name in ("a", "b", "c"):
        Path("site", name).write_bytes(data)
    terms: dict[str, Any] = {"nodes_temp": nodes[:1], "parts": 4, "memory": "4MiB", **RECORDS}

    def change(state: PhaseState) -> None:
        if state.phase == "fetch" and state.done >= 1:
            Path("site/c").write_bytes(data[100:] + data[:100])

    with pytest.raises(BadInput, match="has changed since the job began"):
        sort([f"{site}/a", f"{site}/b", f"{site}/c"], "out", progress=change, **terms)
    with pytest.raises(BadInput, match="is no job of ecosort cluster"):
        resume("out")
    assert not Path("out").exists()
    assert not any(nodes[0].iterdir()), "a job that cannot be continued leaves nothing"


def test_what_is_not_there_and_what_cannot_be_written_is_told(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"the server answers with status 404"):
        sort(f"{site}/nothing", "out", **RECORDS)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="an output is a directory, a file"):
        sort("in", f"{site}/out", **RECORDS)  # type: ignore[arg-type]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    with pytest.raises(BadInput, match=r"obstore is not installed, which uploads to s3://; run: pip install obstore"):
        sort("in", "s3://bucket/out", nodes_temp=["temp"], **RECORDS)  # type: ignore[arg-type]
    assert not Path("out").exists()


@dataclass
class Whims:
    """A server that is not the best of all servers does this."""

    data: bytes = b""
    ranges: bool = True
    tag: str = '"one"'
    breaks_after: int = 1 << 40  # bytes of an answer
    busy: int = 0  # so many requests get 503
    shifts: int = 0  # sends a range that is further behind
    grows: int = 0  # reports a size that is larger
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def whims() -> Iterator[tuple[str, Whims]]:
    """An address, and what the server there does."""
    own = Whims(data=random.Random(1).randbytes(50_000))

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            own.asked.append(asked)
            if own.busy > 0:
                own.busy -= 1
                self.send_error(503)
                return
            condition = self.headers.get("If-Range", own.tag)
            if not own.ranges or condition != own.tag:
                self._answer(200, own.data, {})
                return
            begin, end = (int(number) + own.shifts for number in asked.removeprefix("bytes=").split("-"))
            told = {"Content-Range": f"bytes {begin}-{end}/{len(own.data) + own.grows}"}
            self._answer(206, own.data[begin : end + 1], told)

        def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body)), "ETag": own.tag}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: own.breaks_after])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/in", own
    server.shutdown()
    thread.join()
    server.server_close()


def all_of(url: str, version: Version) -> bytes:
    return b"".join(read_range(url, version, 100, version.size))


def test_a_connection_that_breaks_and_a_server_that_is_busy_cost_time_only(whims: tuple[str, Whims]) -> None:
    url, server = whims
    server.busy = 3
    version = version_of(url)
    assert version == Version(50_000, '"one"')
    server.breaks_after, server.busy = 7000, 2
    assert all_of(url, version) == server.data[100:]
    assert server.asked[-1] == "bytes=49100-49999"


def test_a_server_that_never_gets_further_is_given_up(whims: tuple[str, Whims]) -> None:
    url, server = whims
    version = version_of(url)
    server.breaks_after = 0
    with pytest.raises(IoFailed, match=r"cannot be read from byte 100 on: .*0"):
        all_of(url, version)
    with pytest.raises(IoFailed, match="does not answer"):
        version_of("http://127.0.0.1:1/in")


def test_another_version_of_the_input_is_never_taken(whims: tuple[str, Whims]) -> None:
    url, server = whims
    version = version_of(url)
    server.tag = '"two"'
    with pytest.raises(BadInput, match="has changed since the job began"):
        all_of(url, version)
    server.tag, server.grows = '"one"', 1
    with pytest.raises(BadInput, match="has changed since the job began"):
        all_of(url, version)
    server.tag, server.grows = "", 0
    assert version_of(url) == Version(50_000, "")
    assert all_of(url, Version(50_000, "")) == server.data[100:]


def test_other_bytes_than_were_asked_for_are_refused(whims: tuple[str, Whims]) -> None:
    url, server = whims
    version = version_of(url)
    server.shifts = -1
    with pytest.raises(IoFailed, match="asked for the bytes 100 to 49999, the server sent 99 to 49998"):
        all_of(url, version)


def test_a_server_without_ranges_is_refused(whims: tuple[str, Whims]) -> None:
    url, server = whims
    server.ranges = False
    with pytest.raises(BadInput, match="does not answer range requests; fetch the file first"):
        version_of(url)


@settings(deadline=None, max_examples=300)
@given(
    data=st.lists(st.sampled_from([b"\n", b"\r", b"a"]), max_size=40).map(b"".join),
    cut=st.integers(0, 40),
    piece=st.integers(1, 7),
    form=st.sampled_from(["lines", "jsonl"]),
)
def test_fetched_ranges_tile_the_rows_wherever_pieces_end(data: bytes, cut: int, piece: int, form: str) -> None:
    cut = min(cut, len(data))

    def pieces(url: str, version: Version, begin: int, end: int) -> Iterator[bytes]:
        return (data[at : min(at + piece, end)] for at in range(begin, end, piece))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ecosort.cluster.fetch.read_range", pieces)
        patch.setattr("ecosort.cluster.fetch.PIECE", piece)
        found = []
        for begin, end in ((0, cut), (cut, len(data))):
            target = BytesIO()
            fetch_rows(Format(form, {}), "http://x", Version(len(data), ""), begin, end, target)
            found.append(target.getvalue())
    border = 0 if cut == 0 else data.find(b"\n", cut - 1) + 1 or len(data)
    assert found[0] == data[:border]
    tail = data[border:]
    is_lonely = form == "jsonl" and tail and b"\n" not in tail and cut < len(data)
    added = b"\r\n" if is_lonely and data[max(0, border - 2) : border] == b"\r\n" and not tail.endswith(b"\r") else b""
    assert found[1] == tail + added


def test_the_journal_holds_what_changes_when_the_input_does(site: str, nodes: list[Path]) -> None:
    Path("site/in").write_bytes(numbered(KEYS["uniform"](1000)))

    def stop(state: PhaseState) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sort(f"{site}/in", "out", nodes_temp=nodes, memory="4MiB", progress=stop, **RECORDS)  # type: ignore[arg-type]
    plan = json.loads(Path("out.ecosort/journal").read_text().splitlines()[0][9:])
    size, tag = plan["inputs"][0]
    assert (size, tag[:1]) == (100_000, '"')
    assert resume("out").rows == 1000
