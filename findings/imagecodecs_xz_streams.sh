#!/usr/bin/env bash
# In short:  of a file of several xz streams, as many bytes as the last one has.
# Package:   imagecodecs 2026.3.6 with numpy 2.4.6 (PyPI).
# One would guess: a file of several xz streams, as `cat a.xz b.xz` and parallel compressors make it, comes out whole, or an error is raised.
# What happens: lzma_decode() returns only so many bytes from the beginning as the LAST stream has. Streams of 100, 50 and 30 bytes give 30 bytes, a
#   stream of 100 in front of one of 200 gives 200 of 300. In the same package bz2_decode() and zstd_decode() return all streams; gzip_decode() and lz4f_decode() return the
#   first alone, and gzip_decode() raises where the last one is shorter than the first.
# Why it matters: how much is lost depends on the order of the parts and on the codec. The result has whole rows in it and no mark of an end, and
#   a test with one stream passes for every codec.
# Source: The .xz File Format 1.2.1, section 2 (a file is one or more streams); RFC 1952, section 2.2 (a gzip file is a series of members).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: imagecodecs==2026.3.6 numpy==2.4.6; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import bz2
import gzip
import lzma
import sys

import imagecodecs

parts = {size: (b"%d " % size * size)[: size - 1] + b"\n" for size in (100, 50, 30, 200)}
coders = {
    "xz": (lzma.compress, imagecodecs.lzma_decode),
    "bzip2": (bz2.compress, imagecodecs.bz2_decode),
    "zstd": (imagecodecs.zstd_encode, imagecodecs.zstd_decode),
    "gzip": (gzip.compress, imagecodecs.gzip_decode),
    "lz4": (imagecodecs.lz4f_encode, imagecodecs.lz4f_decode),
}
seen = {}
for name, (encode, decode) in coders.items():
    for sizes in ((100, 50, 30), (100, 200)):
        try:
            result = bytes(decode(b"".join(bytes(encode(parts[size])) for size in sizes)))
            seen[name, sizes] = len(result) if b"".join(map(parts.get, sizes)).startswith(result) else -1
            print(f"{name}: streams of {sizes} bytes -> the first {seen[name, sizes]} bytes")
        except RuntimeError as error:
            seen[name, sizes] = type(error).__name__
            print(f"{name}: streams of {sizes} bytes -> {error}")
wanted = {"xz": (30, 200), "bzip2": (180, 300), "zstd": (180, 300), "gzip": ("DeflateError", 100), "lz4": (100, 100)}
sys.exit(any((seen[name, (100, 50, 30)], seen[name, (100, 200)]) != sizes for name, sizes in wanted.items()))
PYTHON
