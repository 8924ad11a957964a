"""A toy validator with the report of `ecosort check`: the file must hold `sorted N` (or be an input `input N`).

It leaves the moment when it began in the file `validated`.
"""

import sys
import time
from pathlib import Path

Path("validated").write_text(str(time.monotonic()))
words = Path(sys.argv[1]).read_text().split()
if len(words) != 2 or words[0] not in ("sorted", "input"):
    print("First unordered record is record 1\nERROR - there is 1 unordered record", file=sys.stderr)
    sys.exit(1)
print(f"Records: {words[1]}\nChecksum: 00{int(words[1]):x}\nDuplicate keys: 0", file=sys.stderr)
if words[0] == "sorted":
    print("SUCCESS - all records are in order", file=sys.stderr)
    sys.exit(0)
print("ERROR - there are 7 unordered records", file=sys.stderr)
sys.exit(1)
