#!/usr/bin/env bash
# In short:  of two packages' UUIDs of version 7, all of one sort behind all of the other, whenever they were made.
# Package:   uuid7 0.1.0 and uuid-utils 1.2.0 (PyPI).
# One would guess: an identifier that says it is version 7 begins with the milliseconds since 1970, so the UUIDs of two programs sort by time together.
# What happens: uuid7 follows a draft of 2021: it begins with 36 bits of seconds. Made today it begins with 06.., by RFC 9562 with 01... Both say version
#   7 and variant RFC 4122. One of 2024 by uuid7 comes behind one of 2090 by the RFC, and read by the RFC it is from the year 2191. Nothing is raised.
# Why it matters: version 7 is chosen to have keys in order of time. Two services that write into one table, or a change of the package in one service,
#   give two blocks, each in order by itself: "the newest 100" shows one service only, a split by time or a removal of what is old takes the wrong rows,
#   and a merge of two logs by these keys puts one behind the other. A program with one package passes every test.
# Source:    uuid7's page names draft-peabody-dispatch-new-uuid-format-02; RFC 9562, section 5.7 (48 bits of milliseconds).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: uuid7==0.1.0 uuid-utils==1.2.0; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import datetime
import sys
import uuid

import uuid_extensions
import uuid_utils


def at(year):
    return int(datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc).timestamp())


def by_rfc(identifier):
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=uuid.UUID(str(identifier)).int >> 80)).year


made = {("uuid7", year): uuid_extensions.uuid7(at(year) * 10**9) for year in (2024, 2026)}
made |= {("uuid-utils", year): uuid_utils.uuid7(nanoseconds=at(year) * 10**9) for year in (2025, 2090)}
order = sorted(made, key=lambda key: str(made[key]))
for key in order:
    identifier = uuid.UUID(str(made[key]))
    print(f"{identifier} version {identifier.version}, made by {key[0]} for {key[1]}, by RFC 9562 of {by_rfc(identifier)}")
versions = {uuid.UUID(str(identifier)).version for identifier in made.values()}
years = [by_rfc(made[key]) for key in order]
sys.exit(not ([key[1] for key in order] == [2025, 2090, 2024, 2026] and versions == {7} and years[:2] == [2025, 2090] and years[2] > 2150))
PYTHON
