#!/usr/bin/env bash
# In short:  a reading of NaN comes back from the file as 0, and a counter in other digits.
# Package:   tsfile 2.5.0 with numpy 2.4.6 and pandas 3.1.1 (PyPI), Apache TsFile, the columns of time series of IoTDB; its encoding CAMEL.
# One would guess: an encoding of doubles that is offered beside GORILLA and CHIMP gives back what was written, or refuses what it can't hold.
# What happens: CAMEL splits a number into the part before the point and the digits behind it. A NaN has neither, and is read as 0.0, unless it is the first
#   value of the page: then it is a NaN. Infinity and readings with a few digits come back as they are. Sums do not: 1.1 + 2.2 is read as 3.3, and a
#   quarter of a counter that is added up from readings with three digits changes in the last bits. GORILLA and CHIMP return all of them.
# Why it matters: a gap of a power meter becomes a reading of 0 W: the average falls, the minimum is 0, and "is NaN" finds nothing. A changed last bit makes a
#   comparison with the source fail, and a join by the value. A test with readings as a display shows them passes.
# Source:    tsfile.TSEncoding; the file is written by TsFileWriter and read by TsFileReader of the same package.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: tsfile==2.5.0 numpy==2.4.6 pandas==3.1.1; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import itertools
import os
import sys

from tsfile import Compressor, Field, RowRecord, TimeseriesSchema, TSDataType, TSEncoding, TsFileReader, TsFileWriter

nan = float("nan")


def written_and_read(values, encoding):
    if os.path.exists("series.tsfile"):
        os.remove("series.tsfile")
    writer = TsFileWriter("series.tsfile")
    writer.register_timeseries("root.meter", TimeseriesSchema("watts", TSDataType.DOUBLE, TSEncoding[encoding], Compressor.UNCOMPRESSED))
    for time, value in enumerate(values):
        writer.write_row_record(RowRecord("root.meter", time, [Field("watts", value, TSDataType.DOUBLE)]))
    writer.close()
    reader, values = TsFileReader("series.tsfile"), []
    rows = reader.query_timeseries("root.meter", ["watts"], 0, 10_000)
    while rows.next():
        values.append(rows.get_value_by_index(2))
    rows.close()
    reader.close()
    return values


counter = list(itertools.accumulate(number * 389 % 1000 / 1000 for number in range(1000)))
seen = {}
for encoding in ("CAMEL", "GORILLA", "CHIMP"):
    gap, first = written_and_read([230.5, nan, 231.25, -0.75], encoding), written_and_read([nan, 230.5], encoding)
    total = written_and_read([1.5, 1.1 + 2.2], encoding)[1]
    changed = sum(one != other for one, other in zip(counter, written_and_read(counter, encoding)))
    seen[encoding] = str(gap), str(first), total, changed > 200
    print(f"{encoding:8} 230.5, NaN, 231.25, -0.75: {gap}; NaN first: {first}; 1.1 + 2.2: {total!r}; changed values of a counter: {changed} of 1000")
right = ("[230.5, nan, 231.25, -0.75]", "[nan, 230.5]", 1.1 + 2.2, False)
expected = {"GORILLA": right, "CHIMP": right, "CAMEL": ("[230.5, 0.0, 231.25, -0.75]", "[nan, 230.5]", 3.3, True)}
sys.exit(seen != expected)
PYTHON
