"""A toy meter program: JSON lines whose watts follow the file `phase` of the toy sort.

toy_meter.py MODE [PERIOD]   MODE: follow, counter, sticks, dies, saturates, nan, zero, gaps, garbage, noheader, silent
It keeps a log of (monotonic_s, watts) in `truth.jsonl`, one line per change.
"""

import json
import math
import sys
import time
from pathlib import Path

WATTS = {"run_formation": 30.0, "merge": 22.0, None: 10.0}
mode = sys.argv[1]
period = float(sys.argv[2]) if len(sys.argv) > 2 else 0.05
stuck: float | None = None
joules, last, told = 0.0, time.monotonic(), None


def emit(value: object) -> None:
    print(json.dumps(value) if not isinstance(value, str) else value, flush=True)


def phase() -> str | None:
    try:
        return Path("phase").read_text()
    except OSError:
        return None


header = {
    "title": "toy meter",
    "scope": "wall",
    "period_s": period,
    "update_s": period,
    "lag_s": 0,
    "window_s": 0,
    "accuracy": "1%",
}
if mode == "saturates":
    header["range_w"] = 29.0
if mode == "counter":
    header["quantum_j"] = 0.001
if Path("broken").exists():
    sys.exit("the toy meter is broken")
if mode == "silent":
    time.sleep(600)
if mode != "noheader":
    emit({"meter": header})

busy_since: float | None = None
while True:
    now, name = time.monotonic(), phase()
    watts = WATTS[name]
    joules, last = joules + watts * (now - last), now
    if watts != told:
        told = watts
        with Path("truth.jsonl").open("a") as f:
            f.write(json.dumps([now, watts]) + "\n")
    busy_since = None if name is None else (busy_since or now)
    trouble = busy_since is not None and now - busy_since > 0.4
    if mode == "sticks":
        if trouble and stuck is None:
            stuck = watts
        emit({"watts": stuck if stuck is not None else watts})
    elif mode == "constant":
        emit({"watts": 42.0})
    elif trouble and mode == "dies":
        Path("broken").touch()
        sys.exit("the toy meter breaks as it should")
    elif trouble and mode == "gaps" and now - (busy_since or now) < 1.2:
        pass
    elif trouble and mode == "nan":
        emit('{"watts": NaN}')
    elif trouble and mode == "zero":
        emit({"watts": 0})
    elif trouble and mode == "garbage":
        emit("%%%")
    elif mode == "counter":
        emit({"joules": joules, "watts": watts})
    else:
        emit({"watts": watts if not math.isnan(watts) else None})
    time.sleep(period)
