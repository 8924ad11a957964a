"""Answers snmpd's pass_persist protocol (man snmpd.conf): the power of a PDU in hundredths of a kilowatt, from the file named."""

import sys
from pathlib import Path

OID = ".1.3.6.1.4.1.318.1.1.26.4.3.1.5.1"

for line in iter(sys.stdin.readline, ""):
    command = line.strip()
    if command == "PING":
        print("PONG", flush=True)
        continue
    wanted = sys.stdin.readline().strip()
    if command == "get" and wanted == OID:
        print(f"{OID}\ninteger\n{Path(sys.argv[1]).read_text().strip()}", flush=True)
    else:
        print("NONE", flush=True)
