#!/usr/bin/env bash
# In short:  10 GiB are 10 bytes, and so are 10G.
# Package:   bytes 3.1.2 (npm), the sizes of Express and many others.
# One would guess: a size with a unit that the package does not know is null, as its README says of errors ("Return null upon error").
# What happens: only b, kb, mb, gb, tb and pb are units. Behind anything else the number is taken as bytes, and the rest is dropped: "10 GiB", "10G"
#   (as ls -h, du -h, df -h and sort -h have it), "10 000 MB" and "1,5 GB" give 10, 10, 10 and 1. "abc" gives null.
# Why it matters: a column of sizes that is sorted by it has 10 GiB before 1 kB. A limit of "512MiB" is 512 bytes. The one unit that looks decimal, GB,
#   is taken as 2^30, so a test with "10GB" agrees with what was meant by 10 GiB.
# Source:    bytes/index.js, parse: what does not match its pattern goes to parseInt(val, 10).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts bytes@3.1.2; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const bytes = require('bytes');
const sizes = ['10 GiB', '10GB', '10G', '10 000 MB', '1,5 GB', '1 kB', 'abc'];
for (const size of sizes) console.log(`bytes.parse(${JSON.stringify(size)}) = ${bytes.parse(size)}`);
const order = ['10 GiB', '1 kB', '2G', '5 MB'].sort((a, b) => bytes.parse(a) - bytes.parse(b)).join(', ');
console.log('in order:', order);
process.exit(sizes.map(bytes.parse).join(' ') === '10 10737418240 10 10 1 1024 ' && order === '2G, 10 GiB, 1 kB, 5 MB' ? 0 : 1);
NODE
