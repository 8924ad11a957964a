"""A toy meter with a lag, an averaging window and an update period: `lagging_meter.py LAG WINDOW UPDATE`.

Its true power is 60 W while the file `load` exists and 20 W else; it answers every 50 ms, with quantum 0.5 W.
"""

import json
import sys
import time
from pathlib import Path

lag, window, update = (float(v) for v in sys.argv[1:4])
STEP = 0.01
history: list[tuple[float, float]] = []
shown, next_update, next_line, wiggle = 20.0, time.monotonic(), time.monotonic(), 0
print(json.dumps({"meter": {"title": "lagging", "scope": "wall", "period_s": 0.05}}), flush=True)
while True:
    now = time.monotonic()
    history.append((now, 60.0 if Path("load").exists() else 20.0))
    if now >= next_update:
        end = now - lag
        inside = [w for t, w in history if end - max(window, 1.5 * STEP) <= t <= end]
        wiggle += 1
        mean = sum(inside) / len(inside) if inside else 20.0
        shown = round((mean + 0.5 * (wiggle % 2)) / 0.5) * 0.5
        next_update += update
        history = [h for h in history if h[0] > now - lag - window - 1]
    if now >= next_line:
        print(json.dumps({"watts": shown}), flush=True)
        next_line = max(next_line + 0.05, now)
    time.sleep(STEP)
