#!/usr/bin/env bash
# In short:  Arrow for JavaScript leaves the point out of decimals: 12.34 is 1234, and 9.999 of another file is more than 12.34.
# Packages:  apache-arrow 21.2.0 (npm); pyarrow 26.0.1 (PyPI) writes the files.
# One would guess: a value of a column Decimal(10, 2) is 12.34, or something that prints so, as 64-bit integers are BigInt and dates are times. The scale is a
#   part of the column's type, and the library keeps the type.
# What happens: the value is the unscaled integer, as an object that prints 1234, in String(), Number(), JSON and in the table's own toString(). Nothing at the value
#   knows the scale: a reader must look up type.scale and call value.valueOf(scale). A decimal of 12.34 cannot be told from one of 1234.
# Why it matters: decimals are what databases make of prices and of meters' counters (kWh with three digits: the number that comes is Wh). Columns of one name in
#   two files may differ in their scale, and then sort, merge and add up wrongly: 9.999 is 9999, more than 1234. One file with a scale of 0 passes every test.
# Source:    the format's Schema.fbs ("Decimal: exact decimal value represented as an integer value in two's complement", with precision and scale);
#   apache-arrow/util/bn.js, and visitor/get.js, which does not pass the scale on.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --only-binary :all: pyarrow==26.0.1; } >&2 || exit 2
{ npm install --silent --no-audit --no-fund apache-arrow@21.2.0; } >&2 || exit 2
venv/bin/python - <<'PYTHON' || exit 2
from decimal import Decimal

import pyarrow as pa

for scale, values in (0, ["7", "12"]), (2, ["12.34", "-1.50"]), (3, ["9.999", "0.250"]):
    table = pa.table({"kwh": pa.array([Decimal(value) for value in values], pa.decimal128(10, scale))})
    with pa.OSFile(f"{scale}.arrow", "w") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
PYTHON
cat > finding.mjs <<'JS'
import fs from "node:fs";
import { tableFromIPC } from "apache-arrow";

const tables = [0, 2, 3].map((scale) => tableFromIPC(fs.readFileSync(`${scale}.arrow`)));
const seen = tables.map((table) => [...table.getChild("kwh")]);
for (const [i, table] of tables.entries())
  console.log(`${table.schema.fields[0].type}: ${seen[i].map(String)}; as numbers ${seen[i].map(Number)}; row 1 of the table ${table.get(0)}`);
const [, two, three] = seen.map((values) => values.map(Number));
console.log(`12.34 against 9.999: ${two[0] < three[0] ? "less" : "more"}; their sum: ${two[0] + three[0]}`);
const same = String(seen[0]) === "7,12" && String(seen[1]) === "1234,-150" && String(seen[2]) === "9999,250";
process.exit(same && two[0] < three[0] && String(tables[1].get(0)).includes("1234") ? 0 : 1);
JS
node finding.mjs
