#!/usr/bin/env bash
# In short:  a tool that copies LMDB databases loses most records of those that are not in byte order, exit code 0.
# Package:   lmdb 3.0.0 (PyPI), the Python binding of LMDB, and its command line tool.
# One would guess: `python -m lmdb rewrite` ("Re-create an environment using MDB_APPEND") writes a copy that holds every record, as reading a database
#   in its own order is the best case for appending.
# What happens: the tool reads in the order of the source, but makes the databases of the copy without the flags of the source. A database of integer
#   keys or of reversed keys is not in order by the rule of the copy, and a key with many values may have only one there. An append that is out of
#   order returns False; the tool looks at no result. Of 1000 records 258, 10 and 28 arrive, the exit code is 0, and nothing is printed about the
#   rest.
# Why it matters: the copy is smaller, opens, and is in perfect order, so it looks like the compaction that was asked for. In programs the same False
#   of put(append=True) is all that says that a row of a bulk load was not stored; `overwrite` is True by default and does not prevent it.
# Source:    lmdb/tool.py, cmd_rewrite: open_db() without flags, and put(append=True) whose result is dropped.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: lmdb==3.0.0; } >&2 || exit 2
cd "$dir" && mkdir copy && venv/bin/python - <<'PYTHON'
import subprocess
import sys

import lmdb

KINDS = {"plain": {}, "integers": {"integerkey": True}, "values": {"dupsort": True}, "reversed": {"reverse_key": True}}


def entries(path, **flags):
    with lmdb.open(path, max_dbs=len(KINDS)) as environment:
        databases = {name: environment.open_db(name.encode(), **(kind if flags else {})) for name, kind in KINDS.items()}
        with environment.begin(write=True) as transaction:
            if flags:
                for i in range(1000):
                    transaction.put(b"%04d" % i, b"", db=databases["plain"])
                    transaction.put(i.to_bytes(8, sys.byteorder), b"", db=databases["integers"])
                    transaction.put(b"%d" % (i % 10), b"%04d" % i, db=databases["values"])
                    transaction.put(b"%04d" % i, b"", db=databases["reversed"])
            return {name: transaction.stat(database)["entries"] for name, database in databases.items()}


written = entries("original", fill=True)
done = subprocess.run([sys.executable, "-m", "lmdb", "rewrite", "-e", "original", "-E", "copy", *KINDS], capture_output=True, text=True)
copied = entries("copy")
print(f"exit code {done.returncode}, printed: {' '.join(done.stdout.split())}")
for name in KINDS:
    print(f"{name:9} {written[name]} records in the original, {copied[name]} in the copy")
sys.exit((done.returncode, copied) != (0, {"plain": 1000, "integers": 258, "values": 10, "reversed": 28}))
PYTHON
