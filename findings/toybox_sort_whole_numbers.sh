#!/usr/bin/env bash
# In short:  `sort -n` of toybox takes 20.1, 20.5 and 20.9 for one number: -nu keeps one of them, and a key -k2,2n has them in any order.
# Package:   toybox 0.8.9+dfsg-1 (Debian 12), the small commands that Android has; coreutils of Debian 12 beside it.
# One would guess: -n compares decimals as well, as POSIX says of it (digits with a radix character) and as the sorts of GNU and BusyBox do.
# What happens: only the whole number at the front is compared. Of 20.1, 20.5 and 20.9 -nu keeps one line. With -k2,2n whatever comes first in the line
#   decides among them, so "c,20.1" comes behind "a,20.9". Without a key it looks right, as lines that are equal are then compared as texts, but -1.25
#   comes before -1.5. No message; -g compares decimals, and its help has -n as "Numeric order".
# Why it matters: readings in kW, degrees and prices differ behind the point. A log that is sorted on a small device or in an image with toybox is out of
#   order by its key, `join` and a merge on another machine miss rows, and -u drops readings that differ. Whole numbers pass every test.
# Source:    POSIX, sort, option -n; `toybox sort --help`; toybox, toys/posix/sort.c, compare_values(). (BusyBox is at the other end: it reads doubles.)
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q toybox=0.8.9+dfsg-1 && dpkg-deb -x toybox_*.deb .; } >&2 || exit 2
export LC_ALL=C
printf 'c,20.1\na,20.9\nb,20.5\n' > rows.csv
printf '20.5\n20.1\n20.9\n' > readings
printf -- '-1.5\n-1.25\n0.5\n' > below
sorted() {
  { "$@" -t, -k2,2n rows.csv; "$@" -nu readings; "$@" -n below; } | tr '\n' ' '
}
gnu=$(sorted sort) && toybox=$(sorted bin/toybox sort) || exit 1
printf '%s\n' "-t, -k2,2n of rows, -nu of readings, and -n of negative ones" "GNU:    $gnu" "toybox: $toybox"
[ "$gnu" = "c,20.1 b,20.5 a,20.9 20.1 20.5 20.9 -1.5 -1.25 0.5 " ] && [ "$toybox" = "a,20.9 b,20.5 c,20.1 20.5 -1.25 -1.5 0.5 " ]
