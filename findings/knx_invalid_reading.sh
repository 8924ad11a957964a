#!/usr/bin/env bash
# In short:  a sensor of a building that reports "no valid reading" is at 670760.96 degrees.
# Package:   knx 2.5.4 (npm), KNX for Node.js; xknx 4.0.0 (PyPI) beside it.
# One would guess: the pattern 7FFF of a value of two bytes (DPT 9: temperature, power in kW, flow), which the standard keeps for invalid data, is null,
#   NaN or an error, as it is an error in xknx.
# What happens: it is computed like any other: 670760.96. The range that the package itself lists for a temperature ends at 670760.
# Why it matters: a sensor sends it after a start or while its line is broken, once in days. One such sample in a day of readings every minute raises the
#   mean by 465, is the maximum for ever and makes a sum of energy useless; it is a number, so no check for gaps finds it.
# Source:    KNX Standard, Datapoint Types, "2-Octet Float Value" (7FFFh denotes invalid data for all 9.xxx); knx/src/dptlib/dpt9.js, fromBuffer.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: xknx==4.0.0; } >&2 || exit 2
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts knx@2.5.4; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - > seen.txt <<'NODE'
const dpts = require('knx/src/dptlib');
for (const [id, bytes] of [['DPT9.001', [0x0c, 0x33]], ['DPT9.001', [0x8a, 0x24]], ['DPT9.001', [0x7f, 0xff]], ['DPT9.024', [0x7f, 0xff]]]) {
  const kind = dpts.resolve(id);
  console.log(`${id} ${Buffer.from(bytes).toString('hex')}: ${dpts.fromBuffer(Buffer.from(bytes), kind)} ${kind.subtype.unit}`);
}
NODE
cat seen.txt
venv/bin/python - <<'PYTHON' > other.txt
from xknx.dpt import DPTArray, DPTTemperature
from xknx.exceptions import ConversionError

print("xknx, 0c33:", DPTTemperature.from_knx(DPTArray((0x0C, 0x33))))
try:
    print("xknx, 7fff:", DPTTemperature.from_knx(DPTArray((0x7F, 0xFF))))
except ConversionError:
    print("xknx, 7fff: an error")
PYTHON
cat other.txt
grep -q '^DPT9.001 0c33: 21.5 ' seen.txt && [ "$(grep -c '7fff: 670760.96 ' seen.txt)" = 2 ] && grep -q '7fff: an error' other.txt
