#!/usr/bin/env bash
# In short:  unsigned keys of a Parquet file come back negative.
# Package:   @dsnp/parquetjs 1.8.8 (npm), with a file from pyarrow 25.0.1 (PyPI).
# One would guess: a reader that lists UINT_32 and UINT_64 among its types returns unsigned columns as they are.
# What happens: the logical type is not looked at when values are decoded. Every number with its top bit set comes back negative.
# Why it matters: the files of other writers are right and sorted as unsigned; read here, the largest keys (hashes, 64-bit identifiers, counters)
#   become the smallest. A merge by these keys, or a binary search, gives a wrong result, with no error.
# Source: @dsnp/parquetjs/dist/lib/codec/plain.js, decodeValues_INT32 and decodeValues_INT64; README, the table of types.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q pyarrow==25.0.1; } >&2 || exit 2
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts @dsnp/parquetjs@1.8.8; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
venv/bin/python - <<'PYTHON' || exit 2
import pyarrow as pa
import pyarrow.parquet as pq

pq.write_table(pa.table({"a": pa.array([1, 2**31, 2**32 - 1], pa.uint32()), "b": pa.array([1, 2**63, 2**64 - 1], pa.uint64())}), "keys.parquet")
PYTHON
node - <<'NODE'
const parquet = require('@dsnp/parquetjs');
(async () => {
  const reader = await parquet.ParquetReader.openFile('keys.parquet');
  const cursor = reader.getCursor();
  const rows = [];
  for (let row = await cursor.next(); row; row = await cursor.next()) rows.push(`${row.a} ${row.b}`);
  await reader.close();
  console.log('written: 1 1 | 2147483648 9223372036854775808 | 4294967295 18446744073709551615');
  console.log('read:   ', rows.join(' | '));
  process.exit(rows.join() === '1 1,-2147483648 -9223372036854775808,-1 -1' ? 0 : 1);
})();
NODE
