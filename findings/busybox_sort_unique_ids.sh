#!/usr/bin/env bash
# In short:  `sort -nu` of BusyBox takes numbers that differ behind the 16th digit for one, and drops the lines.
# Package:   busybox-static 1:1.35.0-4+deb12u1+b1 (Debian 12); the sort of Alpine and of most containers and routers.
# One would guess: -n compares digits, as POSIX says of sort, however many there are; so -nu keeps one line of each number, as GNU sort does.
# What happens: each line is read into a double. Numbers beyond 2^53 that share one are equal: of 1000 ids of 19 digits in a row 5 are left. Without -u
#   all lines stay, and in order, because the whole lines decide then. 1e3 is 1000, and goes as well where 1000 is there; POSIX reads 1.
# Why it matters: ids of messages and of database rows and times in nanoseconds have 19 digits. A list of them that is made unique in a
#   container loses almost all of its lines, keeps its order, ends with 0 and says nothing; a key works alike (-k2,2n -u). Short numbers pass every test.
# Source:    coreutils/sort.c of BusyBox, compare_keys(): FLAG_n, "Full floating point version of -n"; POSIX, sort, option -n.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q busybox-static=1:1.35.0-4+deb12u1+b1 && dpkg-deb -x busybox-static_*.deb .; } >&2 || exit 2
seq 1900000000000000000 1900000000000000999 > ids
seq 1 1000 > short
awk '{ print "a", $0 }' ids > keyed
count() { "$@" | wc -l; }
ids=$(count bin/busybox sort -nu ids) gnu=$(count env LC_ALL=C sort -nu ids) all=$(count bin/busybox sort -n ids)
short=$(count bin/busybox sort -nu short) keyed=$(count bin/busybox sort -u -k2,2n keyed)
exponent=$(printf '1000\n1e3\n' | bin/busybox sort -nu | tr '\n' ' ')
echo "1000 ids of 19 digits, lines of sort -nu: BusyBox $ids, GNU $gnu; by a key, -u -k2,2n: BusyBox $keyed; without -u: BusyBox $all"
echo "1000 numbers of 1 to 4 digits: BusyBox $short"
echo "1000 and 1e3, BusyBox: $exponent"
[ "$ids $gnu $all $short $keyed|$exponent" = "5 1000 1000 1000 5|1000 " ]
