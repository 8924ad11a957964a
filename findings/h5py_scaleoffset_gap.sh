#!/usr/bin/env bash
# In short:  a missing reading comes back from the file as the smallest one of its chunk.
# Package:   h5py 3.16.0 with HDF5 2.0.0 and numpy 2.4.6 (PyPI); HDF5's filter scale-offset.
# One would guess: scaleoffset=1 keeps one decimal ("absolute error less than 0.5*10**(-scaleoffset)", as its help says), and NaN stays NaN or is
#   refused.
# What happens: 230.1, NaN, 229.9, 230.4 is read back as 230.1, 229.9, 229.9, 230.4. Numbers are stored as their distance from the smallest one, and for
#   NaN this distance is 0. Where NaN is the FIRST value of a chunk, or the chunk has nothing else, the chunk is not filtered and the gaps are kept.
# Why it matters: NaN is how a series marks a gap, and the filter is made for readings with a fixed number of decimals. A gap turns into a plausible
#   reading: counts of valid readings rise, means and minima are wrong, and sorted runs have values that were never measured. Nothing says so at writing
#   or reading, and a test whose gap is at the front passes.
# Source:    the help of h5py.Group.create_dataset; HDF5, src/H5Zscaleoffset.c (the minimum is taken by comparisons from the first value on).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: h5py==3.16.0 numpy==2.4.6; } >&2 || exit 2
cd "$dir" || exit 2
venv/bin/python - <<'PYTHON'
import sys

import h5py
import numpy

print("HDF5", h5py.version.hdf5_version)
written = numpy.array([230.1, numpy.nan, 229.9, 230.4, numpy.nan, 230.1, 229.9, 230.4, 229.8, 230.0, 229.9, numpy.nan])
read = {}
for options in ({}, {"scaleoffset": 1}, {"scaleoffset": 3}):
    with h5py.File("readings.h5", "w") as file:
        file.create_dataset("volt", data=written, chunks=(4,), **options)
    with h5py.File("readings.h5") as file:
        read[options.get("scaleoffset")] = file["volt"][:]
for digits, values in read.items():
    print(f"chunks of 4, scaleoffset {digits}: {values.round(2).tolist()}, gaps {numpy.isnan(values).sum()}, mean {numpy.nanmean(values):.3f}")
gaps = [numpy.flatnonzero(numpy.isnan(values)).tolist() for values in read.values()]
sys.exit(bool(gaps != [[1, 4, 11], [4], [4]] or abs(read[1][1] - 229.9) > 1e-9 or abs(read[1][11] - 229.8) > 1e-9))
PYTHON
