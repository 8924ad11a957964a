#!/usr/bin/env bash
# In short:  of two seekable zstd files that were joined by cat, 5000 rows and 3000 rows, the first 3000 rows are read.
# Package:   indexed-zstd 1.7.2 (PyPI), random access in zstd files, which ratarmount and others use; pyzstd 0.20.0 makes the files and reads them beside it.
# One would guess: frames of zstd may be joined, as every decompressor has it, so all 8000 rows come; or an error says that the table of positions does
#   not fit the file, as pyzstd's SeekableZstdFile has one.
# What happens: the table at the end of the file is taken for the table of the whole file, and nobody compares the two. It has the sizes of the last part, so
#   read() ends after as many bytes as that part has, counted from the beginning, with whole rows here. A seekable file behind a plain one does the same.
#   With the plain one last, or with two plain ones, all rows are read. No error, no warning.
# Why it matters: cat is how sorted runs and logs of days are joined, and how a file is extended. What comes is in order and ends with a whole row where
#   rows have one length; appending a small file hides most of a large one. zstd -d returns everything, so a test of the file passes.
# Source:    RFC 8878, section 3 (frames are independent and may be concatenated); zstd, contrib/seekable_format, zstd_seekable_compression_format.md.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: indexed-zstd==1.7.2 pyzstd==0.20.0; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import sys

import pyzstd
from indexed_zstd import IndexedZstdFile


def rows(start, stop):
    return b"".join(b"%07d\n" % row for row in range(start, stop))


def seekable(start, stop):
    with pyzstd.SeekableZstdFile("part.zst", "w", max_frame_content_size=4000) as file:
        file.write(rows(start, stop))
    with open("part.zst", "rb") as file:
        return file.read()


def plain(start, stop):
    return pyzstd.compress(rows(start, stop))


def count(file):
    return file.read().count(b"\n")


joined = {
    "a seekable file": [seekable(0, 5000)],
    "two, the smaller one last": [seekable(0, 5000), seekable(5000, 8000)],
    "two, the larger one last": [seekable(0, 3000), seekable(3000, 8000)],
    "plain, then seekable": [plain(0, 5000), seekable(5000, 8000)],
    "seekable, then plain": [seekable(0, 5000), plain(5000, 8000)],
    "two plain ones": [plain(0, 5000), plain(5000, 8000)],
}
seen = []
for name, parts in joined.items():
    with open("joined.zst", "wb") as file:
        file.writelines(parts)
    with pyzstd.open("joined.zst") as file:
        whole = count(file)
    read = IndexedZstdFile("joined.zst").read()
    try:
        with pyzstd.SeekableZstdFile("joined.zst") as file:
            other = f"{count(file)} rows"
    except pyzstd.SeekableFormatError as error:
        other = str(error)[:60]
    print(f"{name}: {whole} rows; of IndexedZstdFile {len(read) // 8}, the last {read[-8:-1].decode()}; of SeekableZstdFile: {other}")
    seen.append([whole, len(read) // 8])
sys.exit(seen != [[5000, 5000], [8000, 3000], [8000, 5000], [8000, 3000], [8000, 8000], [8000, 8000]])
PYTHON
