"""A toy meter that sees the load of a probe: 60 W while its parent has a child that burns a processor, else 20 W."""

import json
import os
import random
import time
from pathlib import Path

TASKS = Path(f"/proc/{os.getppid()}/task")


def burning() -> bool:
    for children in TASKS.glob("*/children"):
        try:
            if any(b"while True: pass" in Path(f"/proc/{p}/cmdline").read_bytes() for p in children.read_text().split()):
                return True
        except OSError:
            continue  # ended meanwhile
    return False


print(json.dumps({"meter": {"title": "load", "scope": "wall", "period_s": 0.1, "accuracy": "5%"}}), flush=True)
while True:
    time.sleep(0.1)
    print(json.dumps({"watts": round((60 if burning() else 20) + random.random(), 2)}), flush=True)
