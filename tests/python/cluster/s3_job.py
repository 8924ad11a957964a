"""A job whose inputs lie in a bucket. Run by test_s3.py with a Python that has obstore.

s3_job.py DIRECTORY: puts `DIRECTORY/in` into a bucket of the server that AWS_ENDPOINT_URL names, as two objects, and sorts these
into `out`; changes one of them while it sorts them again, and asks for objects that are not there. Prints a JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path

from ecosort.cluster import PhaseState, sort
from ecosort.remote import sort as remote
from obstore.store import S3Store

from ecosort import BadInput


def main(directory: Path) -> None:
    os.chdir(directory)
    urllib.request.urlopen(urllib.request.Request(f"{os.environ['AWS_ENDPOINT_URL']}/bucket", method="PUT")).close()
    store = S3Store("bucket", client_options={"allow_http": True})
    data = Path("in").read_bytes()
    cut = len(data) // 300 * 100
    store.put("data/a", data[:cut])
    store.put("data/b", data[cut:])
    inputs = ["s3://bucket/data/a", "s3://bucket/data/b"]
    nodes = [directory / "n0", directory / "n1"]
    report = sort(inputs, "out", record_size=100, by="0:10", nodes_temp=nodes, parts=3, memory="4MiB")
    told: dict[str, object] = {"rows": report.rows, "fetched": report.stages[0].network_bytes}

    def change(state: PhaseState) -> None:
        if state.phase == "fetch" and state.done >= 1:
            store.put("data/b", data[:cut])

    for name, address in (("changed", inputs), ("missing", ["s3://bucket/nothing"]), ("nowhere", ["s3://other/in"])):
        try:
            sort(address, f"{name}.out", record_size=100, by="0:10", nodes_temp=nodes[:1], memory="4MiB", progress=change)
        except BadInput as error:
            told[name] = str(error)
    told["single"] = single(store)
    print(json.dumps(told))


def single(store: S3Store) -> dict[str, object]:
    """One sort to an object, whose parts are uploaded; and one that fails, which leaves none."""
    words = ["sort", "--record-size=100", "--key=0:10", "--memory=4MiB", "--quiet"]
    code = remote.main([*words, "--output=s3://bucket/one", "--", "s3://bucket/data/a", "in"])
    Path("one").write_bytes(store.get("one").bytes())
    failed = remote.main([*words, "--output=s3://bucket/none", "--", "s3://bucket/data/a", "nowhere"])
    keys = [entry["path"] for page in store.list() for entry in page]
    return {"codes": [code, failed], "is_there": "none" in keys}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
