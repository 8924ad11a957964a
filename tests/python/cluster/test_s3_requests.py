"""A server of S3 may be like this: keys, permissions, public buckets, conditions that it does not know. Needs no obstore."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ecosort.cluster import bucket as output
from ecosort.cluster import sort
from ecosort.cluster.bucket import BucketOutput, end_uploads
from ecosort.cluster.formats import Format
from ecosort.cluster.manifest import Manifest, Part, manifest_bytes
from ecosort.remote import s3_requests, uploads
from ecosort.remote.addresses import Version
from ecosort.remote.ranges import read_range, version_of
from ecosort.remote.s3_inputs import objects_of

from ecosort import BadInput, EcoSortError

from .s3_peer import Bucket, reached
from .support import joined

LINES: dict[str, Any] = {"format": "lines", "memory": "4MiB", "parts": 2}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, here: Path) -> Iterator[Bucket]:
    """One that AWS_* variables lead to. What uploads to it is left out."""
    monkeypatch.setattr(uploads, "_store_of", lambda url: None)
    with reached(monkeypatch) as held:
        yield held


KEYS = ("a//b.txt", "/lead", "a/./b", "a/../b", "with blank + 100%.txt", "ü", "a/b*c?[d]", "x~#&=;:@")


def test_any_key_is_read(bucket: Bucket) -> None:
    """Also those that obstore refuses."""
    for number, key in enumerate(KEYS):
        bucket.objects[key] = b"%d\n" % number
    report = sort([f"s3://bucket/{key}" for key in KEYS if "*" not in key] + ["s3://bucket/a/b[*]c[?][[]d]"], "out", **LINES)
    assert report.rows == len(KEYS)
    assert joined(Path("out")) == b"".join(b"%d\n" % number for number in range(len(KEYS)))
    assert s3_requests.size_of("s3://bucket/a//b.txt") == 2


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ("s3://bucket/logs/", ["logs//c.csv", "logs/a.csv", "logs/b.tsv", "logs/deep/d.csv"]),
        ("s3://bucket/logs/*.csv", ["logs/a.csv"]),
        ("s3://bucket/logs/**.csv", ["logs/.tmp/f.csv", "logs//c.csv", "logs/a.csv", "logs/deep/d.csv"]),
        ("s3://bucket/l*/[a-b].?sv", ["logs/a.csv", "logs/b.tsv"]),
        ("s3://bucket/logs/[!a].*", ["logs/b.tsv"]),
        ("s3://bucket/lo*", ["logs-2"]),
        ("s3://bucket/logs/a.csv", ["logs/a.csv"]),
    ],
)
def test_prefixes_and_patterns_are_objects(bucket: Bucket, named: str, wanted: list[str]) -> None:
    """In the order of their keys, page by page; without directories that programs write as empty objects, and `_SUCCESS`."""
    for key in ("logs/a.csv", "logs/b.tsv", "logs//c.csv", "logs/deep/d.csv", "logs-2", "other/e.csv"):
        bucket.objects[key] = b"x\n"
    bucket.objects |= {"logs/": b"", "logs/deep/": b"", "logs/_SUCCESS": b"x", "logs/.tmp/f.csv": b"x"}
    assert objects_of(named) == [f"s3://bucket/{key}" for key in wanted]
    report = sort([named], "out", **LINES)
    assert report.rows == len(wanted)


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("s3://bucket/none/", "there are no objects below 's3://bucket/none/'"),
        ("s3://bucket/none*", "no object is called like 's3://bucket/none[*]'"),
        ("s3://bucket/dir", "'s3://bucket/dir' is not there; all objects below it are 's3://bucket/dir/'"),
        ("s3://bucket/sorted/", "holds parts and their MANIFEST.json; name the parts: 's3://bucket/sorted/part-[?]{5}'"),
        ("s3://other/x", "the bucket of 's3://other/x' is not there"),
    ],
)
def test_what_names_no_object_is_told(bucket: Bucket, named: str, why: str) -> None:
    bucket.objects |= {"dir/a": b"x\n", "sorted/MANIFEST.json": b"{}", "sorted/part-00000": b"x\n"}
    with pytest.raises(BadInput, match=why):
        sort([named], "out", **LINES)


def test_a_public_bucket_is_read_without_a_key(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.objects["dir/a"] = b"2\n1\n"
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert sort(["s3://bucket/dir/"], "out", **LINES).rows == 2
    assert not any(is_signed for _, _, is_signed in bucket.requests)
    bucket.is_public = False
    with pytest.raises(BadInput, match="'s3://bucket/dir/a' is not public: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        sort(["s3://bucket/dir/a"], "other", **LINES)


@pytest.mark.parametrize("objects", [{}, {"out/part-00000": b"x\n"}])
def test_a_second_job_ends_no_uploads_when_its_options_are_checked(bucket: Bucket, objects: dict[str, bytes]) -> None:
    """They are those of a job that runs; the parts that it sent were lost."""
    bucket.objects |= objects
    bucket.uploads.append(("out/part-00001", "1"))
    with pytest.raises(BadInput, match="holds objects") if objects else contextlib.nullcontext():
        output.demand_free("s3://bucket/out")
    assert bucket.uploads == [("out/part-00001", "1")]


@pytest.mark.parametrize(
    ("permission", "call"),
    [
        ("s3:GetObject", lambda: version_of("s3://bucket/a")),
        ("s3:GetObject", lambda: list(read_range("s3://bucket/a", Version(2, ""), 0, 1))),
        ("s3:GetObject", lambda: s3_requests.size_of("s3://bucket/a")),
        ("s3:ListBucket", lambda: objects_of("s3://bucket/dir/")),
        ("s3:ListBucket", lambda: output.demand_free("s3://bucket/out")),
        ("s3:ListBucketMultipartUploads", lambda: output.demand_free("s3://bucket/out")),
        ("s3:AbortMultipartUpload", lambda: end_uploads("s3://bucket/out")),
        ("s3:DeleteObject", lambda: output.demand_rights("s3://bucket/out", is_conditional=True)),
        ("s3:PutObject", lambda: output.demand_rights("s3://bucket/out", is_conditional=True)),
        ("s3:PutObject", lambda: output.demand_rights("s3://bucket/out", is_conditional=False)),
        ("s3:GetObject", lambda: output.demand_rights("s3://bucket/out", is_conditional=False)),
    ],
)
def test_a_permission_that_is_missing_is_named(bucket: Bucket, permission: str, call: Any) -> None:
    """The page lists it, too."""
    bucket.objects["a"] = b"x\n"
    bucket.uploads.append(("out/part-00000", "1"))
    bucket.denied.add(permission)
    with pytest.raises(BadInput, match=rf"needs the permission {permission} \(docs/cluster.md") as raised:
        call()
    assert "\n" not in str(raised.value)
    page = (Path(__file__).parents[3] / "docs" / "cluster.md").read_text()
    assert f"`{permission}`" in page


def test_a_key_that_is_wrong_is_no_missing_permission(bucket: Bucket) -> None:
    bucket.denied, bucket.error = {"s3:GetObject"}, "SignatureDoesNotMatch"
    with pytest.raises(BadInput, match=r"denied \(SignatureDoesNotMatch\): correct AWS_ACCESS_KEY_ID"):
        version_of("s3://bucket/a")


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ("unknown", "status 501 .NotImplemented.: it knows no conditional PUT"),
        ("passed over", "passes over the condition of a PUT"),
    ],
)
def test_a_server_without_conditional_put_is_found_before_any_work(bucket: Bucket, conditions: str, why: str) -> None:
    """Also one that says nothing about it. Nothing is left, there and here; and there is a way without."""
    Path("in").write_bytes(b"2\n1\n")
    bucket.conditions = conditions
    with pytest.raises(BadInput, match=f"{why}.*--no-conditional-put does without"):
        sort("in", "s3://bucket/out", nodes_temp=["temp"], **LINES)
    assert bucket.objects == {}
    assert not any("part-" in path for _, path, _ in bucket.requests)
    assert not list(Path("temp").glob("*"))
    with pytest.raises(BadInput, match=r"--no-conditional-put is for an output in a bucket, s3://"):
        sort("in", "out", conditional_put=False, **LINES)


def test_a_plan_writes_nothing_into_the_bucket(bucket: Bucket) -> None:
    from ecosort.cluster.jobs import open_executor, plan_of
    from ecosort.cluster.spec import job_spec

    Path("in").write_bytes(b"2\n1\n")
    spec = job_spec(
        ["in"], "s3://bucket/out", form=Format("lines", {}), on="local", temps=["temp"],
        workers=1, threads=1, memory_bytes=1 << 22, parts=1, seed=1,
    )  # fmt: skip
    plan_of(spec, open_executor(spec))
    assert {method for method, _, _ in bucket.requests} == {"GET"}


EMPTY = Manifest("one", Format("lines", {}), "", "0" * 32, 0, 0, "0" * 32, (Part("part-00000", 0, 0, "0" * 32, None, None),))


@pytest.mark.parametrize("is_conditional", [True, False])
def test_a_manifest_takes_the_place_of_no_other(bucket: Bucket, is_conditional: bool) -> None:
    """With conditions and without; where this job has committed before a crash, that is well."""
    if not is_conditional:
        bucket.conditions = "unknown"
    of_job = BucketOutput("s3://bucket/out", "one", is_conditional=is_conditional)
    for _ in range(2):
        of_job.commit(EMPTY)
        assert bucket.objects == {"out/MANIFEST.json": manifest_bytes(EMPTY)}
    with pytest.raises(BadInput, match="is of another job"):
        BucketOutput("s3://bucket/out", "two", is_conditional=is_conditional).commit(EMPTY)
    assert bucket.objects == {"out/MANIFEST.json": manifest_bytes(EMPTY)}


@pytest.mark.parametrize("is_conditional", [True, False])
def test_a_prefix_has_one_job_until_it_ends(bucket: Bucket, is_conditional: bool) -> None:
    """A second job ended the uploads of the first one, and its parts took the place of those that were committed."""
    if not is_conditional:
        bucket.conditions = "unknown"
    first, second = (BucketOutput("s3://bucket/out", job, is_conditional=is_conditional) for job in ("one", "two"))
    for _ in range(2):  # it continues
        first.prepare([2], 0)
    bucket.objects["out/part-00000"] = b"x\n"
    bucket.uploads.append(("out/part-00001", "1"))
    for begin in (lambda: second.prepare([2], 0), lambda: output.demand_free("s3://bucket/out")):
        with pytest.raises(BadInput, match=r"another job writes to 's3://bucket/out': .*delete '.*/_ecosort-job' if"):
            begin()
    second.discard({0: 2})
    second.clean_up()
    assert set(bucket.objects) == {"out/part-00000", "out/_ecosort-job"}
    assert bucket.uploads == [("out/part-00001", "1")]
    first.commit(EMPTY)
    first.clean_up()
    with pytest.raises(BadInput, match="is of another job"):
        second.prepare([2], 0)
    assert set(bucket.objects) == {"out/part-00000", "out/MANIFEST.json"}


def test_a_prefix_is_free_when_its_job_is_given_up(bucket: Bucket) -> None:
    """Else it could not be used again: nobody would delete the claim."""
    of_job = BucketOutput("s3://bucket/out", "one", is_conditional=True)
    of_job.prepare([2], 0)
    bucket.objects["out/part-00000"] = b"x\n"
    of_job.discard({0: 2})
    of_job.clean_up()
    output.demand_free("s3://bucket/out")
    assert bucket.objects == {}


@pytest.mark.parametrize("key", ["a//b", "a/", "/a", "a/../b", "a/.", "."])
def test_a_key_that_no_upload_makes_is_refused_before_any_work(bucket: Bucket, key: str) -> None:
    """obstore makes 'a' of 'a/', and raises an error for others when all is sorted."""
    with pytest.raises(BadInput, match=rf"'s3://bucket/{re.escape(key)}' cannot be written: between the slashes"):
        uploads.demand_uploads(f"s3://bucket/{key}")
    uploads.demand_uploads("s3://bucket/.a/b..c")


def test_what_is_no_server_of_s3_is_told(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(EcoSortError, match=r"'s3://bucket/a//b\.csv' does not answer: "):
        sort(["s3://bucket/a//b.csv"], "out", **LINES)
