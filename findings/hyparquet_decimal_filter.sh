#!/usr/bin/env bash
# In short:  a filter for the price 1.15 finds no row, and "up to 1.15" leaves it out, while 1.16 is found.
# Package:   hyparquet 1.31.5 (npm), which reads Parquet files in browsers and Node.js; pyarrow 26.0.1 (PyPI) writes the file.
# One would guess: a decimal becomes the nearest JavaScript number, as 1.15 in the source text is, so that the two are equal; or it stays exact, as
#   64-bit integers come as BigInt.
# What happens: the integer in the file is multiplied by 0.01, which is no exact number: 115 becomes 1.1500000000000001. Of the prices from 0.01 to
#   100.00 13 in 100 are such neighbours. parquetQuery with {$eq: 1.15} returns nothing, {$gt: 1.15} returns the row of 1.15, and {$lte: 1.15} loses it.
#   A division by 100 would be right for all of them.
# Why it matters: limits, tariffs and amounts are decimals with two digits. A filter at a limit has a row too many or too few, which limit depends on
#   its digits, and a join or a group with numbers from JSON or CSV misses those rows. Two ranges that meet at 1.15 fit each other, so sums are right.
# Source:    hyparquet/src/convert.js: factor = 10 ** -scale, and the value times the factor; README.md, parquetQuery with a filter.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts hyparquet@1.31.5; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: pyarrow==26.0.1; } >&2 || exit 2
venv/bin/python - <<'PYTHON' || exit 1
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

cents = range(1, 10_001)
pq.write_table(pa.table({"price": pa.array([Decimal(cent) / 100 for cent in cents], pa.decimal128(10, 2)), "cents": pa.array(cents, pa.int32())}), "prices.parquet")
PYTHON
cat > finding.mjs <<'NODE'
import { asyncBufferFromFile, parquetReadObjects, parquetQuery } from 'hyparquet';

const file = await asyncBufferFromFile('prices.parquet');
const rows = await parquetReadObjects({ file });
const other = rows.filter(({ price, cents }) => price !== cents / 100);
console.log('of', rows.length, 'prices', other.length, 'are not the number that JavaScript reads:', other.slice(8, 12).map(({ price }) => price).join(' '));
const seen = [other.length];
for (const price of [1.15, 1.16]) {
  const found = [];
  for (const filter of [{ $eq: price }, { $lte: price }, { $gt: price }]) {
    found.push((await parquetQuery({ file, filter: { price: filter } })).length);
  }
  console.log(`price ${price}: rows that are equal ${found[0]}, not above ${found[1]}, above ${found[2]}`);
  seen.push(found);
}
process.exit(JSON.stringify(seen) === '[1327,[0,114,9886],[1,116,9884]]' ? 0 : 1);
NODE
node finding.mjs
