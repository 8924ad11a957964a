"""Outputs in a bucket: all that was sorted, in the place of another object only where that was asked for. Needs no obstore."""

import io
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ecosort.parquet import main
from ecosort.remote import sort as remote
from ecosort.remote import uploads

from ecosort import OutputExists, sort

from .cluster.s3_peer import Bucket, reached

URL = "s3://bucket/o.parquet"
TABLE = pa.table({"x": [3, 1, 2]})


class Store:
    """Uploads in parts as obstore does: without a condition, and no object before the chunks have ended."""

    def __init__(self, held: Bucket) -> None:
        self.held = held

    def put(self, key: str, chunks: Iterator[bytes], **_: Any) -> None:
        self.held.objects[key] = b"".join(chunks)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, here: Path) -> Iterator[Bucket]:
    """One that AWS_* variables lead to."""
    obstore: Any = types.ModuleType("obstore")
    obstore.exceptions = types.SimpleNamespace(
        PermissionDeniedError=PermissionError, UnauthenticatedError=PermissionError, BaseError=OSError
    )
    monkeypatch.setitem(sys.modules, "obstore", obstore)
    with reached(monkeypatch) as held:
        monkeypatch.setattr(uploads, "_store_of", lambda url: (Store(held), uploads.split_url(url)[1]))
        yield held


def rows_in(bucket: Bucket) -> list[int]:
    found: list[int] = pq.read_table(io.BytesIO(bucket.objects["o.parquet"])).column("x").to_pylist()
    return found


def test_an_object_that_exists_is_replaced_only_when_asked(bucket: Bucket) -> None:
    """It was replaced by default. The refusal comes before the sort: one request, which looks."""
    bucket.objects["o.parquet"] = b"old"
    with pytest.raises(OutputExists, match=f"^'{URL}' exists; name another file, or say overwrite=True$") as raised:
        sort(TABLE, URL, by="x")
    assert raised.value.path == URL
    assert bucket.objects == {"o.parquet": b"old"}
    assert [method for method, _, _ in bucket.requests] == ["HEAD"]
    sort(TABLE, URL, by="x", overwrite=True)
    assert rows_in(bucket) == [1, 2, 3]


@pytest.mark.parametrize("conditions", ["kept", "unknown", "passed over"])
@pytest.mark.parametrize("most", [uploads._ONE_PUT_BYTES, 0], ids=["one request", "in parts"])
def test_a_new_object_is_made(bucket: Bucket, monkeypatch: pytest.MonkeyPatch, conditions: str, most: int) -> None:
    """Also where the server knows no conditions."""
    bucket.conditions = conditions
    monkeypatch.setattr(uploads, "_ONE_PUT_BYTES", most)
    sort(TABLE, URL, by="x")
    assert rows_in(bucket) == [1, 2, 3]


@pytest.mark.parametrize("conditions", ["kept", "unknown", "passed over"])
@pytest.mark.parametrize("most", [uploads._ONE_PUT_BYTES, 0], ids=["one request", "in parts"])
def test_an_object_that_appears_meanwhile_stays(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, conditions: str, most: int
) -> None:
    bucket.conditions = conditions
    monkeypatch.setattr(uploads, "_ONE_PUT_BYTES", most)

    class Late(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            bucket.objects["o.parquet"] = b"of another"
            return super().read(size)

    with pytest.raises(OutputExists):
        uploads.upload_file(URL, Late(b"new"), overwrite=False)
    assert bucket.objects == {"o.parquet": b"of another"}


def test_the_condition_of_the_request_decides(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone may write the object between the last look and the request."""
    monkeypatch.setattr(uploads, "demand_absent", lambda url: None)
    bucket.objects["o.parquet"] = b"of another"
    with pytest.raises(OutputExists):
        sort(TABLE, URL, by="x")
    assert bucket.objects == {"o.parquet": b"of another"}


def test_an_attempt_whose_answer_was_lost_is_no_other_object(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next attempt finds the object that the first one made."""

    def put_twice(url: str, data: bytes) -> bool:
        return bool(first(url, data) and first(url, data))

    first = uploads.put_if_absent
    monkeypatch.setattr(uploads, "put_if_absent", put_twice)
    sort(TABLE, URL, by="x")
    assert rows_in(bucket) == [1, 2, 3]


def test_all_files_go_into_the_object(bucket: Bucket) -> None:
    """The first one went there, and the sort ended well."""
    Path("a").write_bytes(b"ddbb")
    Path("b").write_bytes(b"aacc")
    assert remote.main(["sort", "--record-size=2", "--key=0:2", "--quiet", "--output=s3://bucket/o", "--", "a", "b"]) == 0
    assert bucket.objects["o"] == b"aabbccdd"


def test_the_command_line_replaces_an_object_as_it_does_a_file(bucket: Bucket) -> None:
    bucket.objects["o.parquet"] = b"old"
    pq.write_table(TABLE, "in.parquet")
    request = {"inputs": ["in.parquet"], "table": {"keys": ["x"]}, "place": {"output": URL}, "reports": {"quiet": True}}
    assert main([json.dumps(request)]) == 0
    assert rows_in(bucket) == [1, 2, 3]
