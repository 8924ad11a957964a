#!/usr/bin/env bash
# In short:  1000, 2000 and 3000 are read from the file as -1000, -2000 and -3000.
# Package:   tsfile 2.5.0 with numpy 2.4.6 and pandas 3.1.1 (PyPI), Apache TsFile, the columns of time series of IoTDB; its encoding SPRINTZ.
# One would guess: a lossless encoding gives back what was written. SPRINTZ is one, for integers and floats of 32 and 64 bits.
# What happens: values are packed by nine. The first is kept, and the eight behind it come out as others where the steps between them are wide: of the
#   doubles 0, 1000, 2000 ... eight turn negative, and the rest is right. Of 1000 doubles between 0 and 1 577 are others, 0.69 for instance -1e45, and of
#   integers of 32 bits with wide steps 777. Series that change little are right, and so is the encoding PLAIN. No error on either side.
# Why it matters: a file may have eight wrong readings here and there. The count, the times and most readings are right, a power that turns negative looks
#   like feeding in, and an average moves a little. Temperatures and slow counters pass every test; noise, the start from 0 and a load that is switched don't.
# Source:    tsfile.TSEncoding; the file is written by TsFileWriter and read by TsFileReader of the same package.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: tsfile==2.5.0 numpy==2.4.6 pandas==3.1.1; } >&2 || exit 2
cd "$dir" && venv/bin/python - <<'PYTHON'
import os
import sys

from tsfile import Compressor, Field, RowRecord, TimeseriesSchema, TSDataType, TSEncoding, TsFileReader, TsFileWriter


def read_back(values, kind, encoding):
    if os.path.exists("series.tsfile"):
        os.remove("series.tsfile")
    writer = TsFileWriter("series.tsfile")
    writer.register_timeseries("root.meter", TimeseriesSchema("value", kind, encoding, Compressor.UNCOMPRESSED))
    for time, value in enumerate(values):
        writer.write_row_record(RowRecord("root.meter", time, [Field("value", value, kind)]))
    writer.close()
    reader, read = TsFileReader("series.tsfile"), []
    rows = reader.query_timeseries("root.meter", ["value"], 0, 10_000)
    while rows.next():
        read.append(rows.get_value_by_index(2))
    rows.close()
    reader.close()
    return read


steps = [1000.0 * number for number in range(20)]
series = {
    "0, 1000, 2000 ...": (TSDataType.DOUBLE, steps),
    "between 0 and 1": (TSDataType.DOUBLE, [number * 389 % 1009 / 1009 for number in range(1000)]),
    "32 bits, wide": (TSDataType.INT32, [number * 2654435761 % 2**32 - 2**31 for number in range(1000)]),
    "20.0, 20.1 ...": (TSDataType.DOUBLE, [20 + number % 50 / 10 for number in range(1000)]),
    "32 bits, 0 to 999": (TSDataType.INT32, list(range(1000))),
}
seen = {}
for name, (kind, values) in series.items():
    changed = {encoding.name: [(one, other) for one, other in zip(values, read_back(values, kind, encoding)) if one != other]
               for encoding in (TSEncoding.SPRINTZ, TSEncoding.PLAIN)}
    seen[name] = [len(changed["SPRINTZ"]), len(changed["PLAIN"])]
    print(f"{name:18} changed of {len(values)}: SPRINTZ {seen[name][0]}, PLAIN {seen[name][1]}; written and read:", changed["SPRINTZ"][:3])
turned = read_back(steps, TSDataType.DOUBLE, TSEncoding.SPRINTZ) == [-value for value in steps[:9]] + steps[9:]
print("0, 1000, 2000 ... is read as", read_back(steps, TSDataType.DOUBLE, TSEncoding.SPRINTZ)[:11])
wrong = [seen[name][0] for name in ("between 0 and 1", "32 bits, wide")] == [577, 777]
right = [seen[name] for name in ("20.0, 20.1 ...", "32 bits, 0 to 999")] == [[0, 0], [0, 0]] and all(plain == 0 for _, plain in seen.values())
sys.exit(not (turned and wrong and right))
PYTHON
