#!/usr/bin/env bash
# In short:  of a sorted stream the rows with the key 0 are a group each, and those with the key 1 are one group.
# Package:   group-stream 3.0.0 (npm), which groups a sorted stream by its keys.
# One would guess: rows like {key, watts} are grouped by their key, whatever it is, as the README says of the key that is taken where no function is given.
# What happens: the key is `row.key || row`. For 0, false and "" the row itself is the key, and no two rows are the same object, so each is a group alone,
#   whose key is the row. All other keys are right, and so are the same rows with the function (row) => row.key.
# Why it matters: 0 is the first meter, hour or partition, and "" the group without a name. Sums by group are single readings there, the number of groups is
#   too high, and a table by key has "[object Object]" in it. Nothing is raised. Keys that begin with 1 pass every test.
# Source:    group-stream/index.js, defaultKey.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ npm install --silent --no-audit --no-fund group-stream@3.0.0; } >&2 || exit 2
cat > finding.js <<'JS'
const group = require("group-stream");
const rows = [0, 0, 0, 1, 1, 2].map((key, i) => ({key, watts: 230 + i}));
const groups = (toKey) => new Promise((resolve) => {
  const found = [], stream = group(toKey);
  stream.on("data", ({key, value}) => found.push(`${key}: ${value.map((row) => row.watts)}`)).on("end", () => resolve(found.join("; ")));
  rows.forEach((row) => stream.write(row));
  stream.end();
});
async function main() {
  const seen = [await groups(), await groups((row) => row.key)];
  console.log(`by default:  ${seen[0]}\nby function: ${seen[1]}`);
  const object = "[object Object]";
  const right = [`${object}: 230; ${object}: 231; ${object}: 232; 1: 233,234; 2: 235`, "0: 230,231,232; 1: 233,234; 2: 235"];
  process.exit(seen.join() === right.join() ? 0 : 1);
}
main();
JS
node finding.js
