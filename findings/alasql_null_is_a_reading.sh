#!/usr/bin/env bash
# In short:  a NULL that is inserted becomes a reading of 0, or a NaN that counts as 0 in the average.
# Package:   alasql 4.19.1 (npm), SQL for JavaScript.
# One would guess: NULL in a column of numbers stays NULL: it is left out of count(x) and avg(x), and `x is null` finds it.
# What happens: it depends on how INSERT is written. With the names of the columns it stays NULL. Without them the word null becomes NaN: avg(x) adds
#   nothing but counts it, `is null` does not find it, and ORDER BY puts it between -5 and 230. A null that is passed for `?` becomes 0. Of 230, NULL,
#   240 and -5 the average is 155 or 116.25.
# Why it matters: a gap of a meter turns into a reading of 0 W by a change of style in the statement, or of a literal to a parameter. Sums stay right,
#   and counts, averages, minima and sorted columns do not. A column of texts keeps NULL, so a test with texts passes.
# Source:    alasql/dist/alasql.fs.js, what it makes of INSERT; the stored values are printed below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts alasql@4.19.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const alasql = require('alasql');
const readings = [230, null, 240, -5];
const ways = {
  'insert into t (i, x) values (1, null)': (x) => alasql(`insert into t (i, x) values (1, ${x})`),
  'insert into t values (1, null)': (x) => alasql(`insert into t values (1, ${x})`),
  'insert into t values (1, ?)': (x) => alasql('insert into t values (1, ?)', [x]),
};
const seen = [];
for (const [way, insert] of Object.entries(ways)) {
  alasql('drop table if exists t; create table t (i int, x number)');
  readings.forEach(insert);
  const [{ n, mean }] = alasql('select count(x) n, avg(x) mean from t');
  const gaps = alasql('select i from t where x is null').length;
  const order = alasql('select x from t order by x').map((row) => String(row.x)).join(' ');
  console.log(`${way}: stored ${String(alasql.tables.t.data[1].x)}; count ${n}, average ${mean}, ${gaps} null; in order: ${order}`);
  seen.push(`${n} ${mean} ${gaps}`);
}
process.exit(seen.join(', ') === '3 155 1, 4 116.25 0, 4 116.25 0' ? 0 : 1);
NODE
