#!/usr/bin/env bash
# In short:  five runs of 10 s and five of 20 s have the median 20 s, and the average 15 s.
# Package:   ministat 20150715-1+b1 (Debian 12), which compares series of measurements.
# One would guess: the median of an even number of values is the mean of the two in the middle, 15 s here, as in other tools of its kind.
# What happens: it is the upper one of the two: of 1 2 3 4 it is 3. With an odd number of runs it is right. The average and the t-test are right, and the M
#   in the plot is where the table has it.
# Why it matters: ten or twenty runs are usual, and the median is taken because a few runs are slow. Where runs fall into two groups, as on two kinds of
#   cores or at two clock rates, five and five have the slower one as their median. Medians from here and from another tool differ in one
#   table, for even numbers of runs only; a test with three or five runs passes.
# Source:    ministat(1), which has "Median" in its example and names no rule; ministat.c, Median().
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q ministat=20150715-1+b1 && dpkg-deb -x ministat_*.deb .; } >&2 || exit 2
seen=
for runs in "10 10 10 10 10 20 20 20 20 20" "10 10 10 10 10 20 20 20 20" "1 2 3 4" "4 3 2 1 5"; do
  echo "$runs" | tr ' ' '\n' > runs
  row=$(usr/bin/ministat -n runs | tail -n 1) || exit 1
  read -r _ _ least most median average _ <<< "$row"
  echo "$runs: minimum $least, maximum $most, median $median, average $average"
  seen="$seen$median "
done
[ "$seen" = "20 10 3 3 " ]
