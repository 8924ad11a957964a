#!/usr/bin/env bash
# In short:  a sort by date takes 9999-12-31 as no date and sorts the line by the next one.
# Package:   dateutils 0.4.10-1 (Debian 12), whose dsort sorts lines by the first date in them.
# One would guess: a date that is valid by ISO 8601 is sorted by its time; if it is out of range, there is an error, as dconv of the same package has
#   one.
# What happens: dsort knows the years 1601 to 4095. A date outside is no date for it, so the NEXT date in the line becomes the key, and a line with no
#   other date goes to the front. The exit code is 0.
# Why it matters: 9999-12-31 is the usual "never" (4712-12-31 in Oracle's databases). A contract that never ends comes among those of the day on
#   which it was last changed, or before all others instead of behind them. One such value in a column changes which column is sorted by, in this line
#   alone.
# Source:    datesort(1): the first date of a line is its key, and lines without one go to the front; no range is named. dateutils.dconv
#   9999-12-31 "cannot make sense of" it.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q dateutils=0.4.10-1 && dpkg-deb -x dateutils_*.deb .; } >&2 || exit 2
lines='2024-06-01 changed 2019-01-01|9999-12-31 changed 2025-05-05|2026-01-01 changed 2018-01-01|9999-12-31|1601-01-01|4095-12-31'
seen=$(tr '|' '\n' <<< "$lines" | usr/bin/dateutils.dsort | paste -sd '|') || exit 1
echo "in:     $lines"
echo "sorted: $seen"
usr/bin/dateutils.dconv 9999-12-31
[ "$seen" = '9999-12-31|1601-01-01|2024-06-01 changed 2019-01-01|9999-12-31 changed 2025-05-05|2026-01-01 changed 2018-01-01|4095-12-31' ]
