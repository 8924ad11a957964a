#!/usr/bin/env bash
# In short:  the order of two texts by their values and the order of the same two by their encodings are opposite.
# Package:   avsc 5.7.9 (npm), Avro for JavaScript.
# One would guess: type.compare() of two values and type.compareBuffers() of the two, encoded, agree: both are the sort order that Avro's specification gives
#   to each type, and the second one is there to spare the decoding.
# What happens: Avro orders texts by code points, as compareBuffers() does, which compares bytes of UTF-8. compare() uses JavaScript's <, which compares units
#   of UTF-16: a character beyond U+FFFF, such as an emoji, comes before those from U+E000 to U+FFFF, such as the full-width letters of Japanese. So does
#   a record with a text in it. NaN compares as greater than 1 and as less than 1, by both.
# Why it matters: files that one program sorted by values and another merges by encoded records (which is the faster way) come out of order, without an error.
#   A search by halves in an encoded file misses keys. Names in Latin, Greek or Cyrillic letters, and in most of Chinese, pass every test.
# Source:    Avro 1.12, Specification, "Sort Order" ("string data is compared lexicographically by Unicode code point"); avsc/lib/types.js,
#   PrimitiveType.prototype.compare = utils.compare.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ npm install --silent --no-audit --no-fund avsc@5.7.9; } >&2 || exit 2
cat > finding.js <<'JS'
const avro = require("avsc");
const row = avro.Type.forSchema({type: "record", name: "Row", fields: [{name: "name", type: "string"}, {name: "count", type: "long"}]});
const double = avro.Type.forSchema("double");
const rows = (names) => names.map((name, i) => ({name, count: i}));
const orders = (values) => [
  [...values].sort(row.compare.bind(row)),
  values.map((value) => row.toBuffer(value)).sort(row.compareBuffers.bind(row)).map((bytes) => row.fromBuffer(bytes)),
].map((sorted) => sorted.map((value) => value.name).join(" "));

const [byValue, byBytes] = orders(rows(["Ｔｏｋｙｏ", "😀", "東京", "Ωμέγα", "Zürich", "ﬁne"]));
console.log(`by values:    ${byValue}\nby encodings: ${byBytes}`);
const [plainValue, plainBytes] = orders(rows(["Zürich", "東京", "Ωμέγα", "Київ", "Athens"]));
console.log("without emoji, full-width letters and ligatures they agree:", plainValue === plainBytes);
const bytes = [NaN, 1].map((value) => double.toBuffer(value));
const nan = [double.compare(NaN, 1), double.compare(1, NaN), double.compareBuffers(...bytes), double.compareBuffers(bytes[1], bytes[0])];
console.log("NaN with 1, 1 with NaN:", ...nan);
const pair = [byValue, byBytes].map((order) => order.indexOf("😀") < order.indexOf("Ｔ"));
process.exit(pair[0] && !pair[1] && plainValue === plainBytes && nan.every((order) => order === 1) ? 0 : 1);
JS
node finding.js
