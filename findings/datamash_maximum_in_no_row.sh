#!/usr/bin/env bash
# In short:  the maximum of a column is 1.7000000001235e+18, a number that is in no row.
# Package:   datamash 1.7-2 (Debian 12), GNU datamash, statistics of columns.
# One would guess: the minimum and the maximum of a column are values of the column, as they were read, and sums of whole numbers are whole numbers.
#   The program computes with long doubles, which hold 64-bit integers exactly.
# What happens: every result of a computation is printed with 14 digits. The maximum of times in nanoseconds or ids of 19 digits is a rounded number with an
#   exponent, the minimum and maximum of neighbours are one text, and a sum of bytes above 10^14 loses its last digits. first, last and unique print what
#   was read. The option -R or --format "%.0f" prints the digits, so they were there. No message.
# Why it matters: the largest id or the last time of a group is looked up again, or joined, and finds nothing; a difference of the two is 0. Columns of up to
#   14 digits pass every test.
# Source:    datamash(1), --format; the results are printed below with and without it.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q datamash=1.7-2 && dpkg-deb -x datamash_*.deb .; } >&2 || exit 2
printf '%s\n' 1700000000123456789 1700000000123456788 > times
printf '%s\n' 123456789012345 100000000000001 > bytes
plain=$(usr/bin/datamash min 1 max 1 < times | tr '\t' ' ') last=$(usr/bin/datamash last 1 < times)
format=$(usr/bin/datamash --format '%.0f' min 1 max 1 < times | tr '\t' ' ') sum=$(usr/bin/datamash sum 1 < bytes)
echo "times $(paste -sd' ' times): min and max $plain; with --format %.0f: $format; last: $last"
echo "bytes $(paste -sd' ' bytes): sum $sum"
[ "$plain|$format|$last|$sum" = "1.7000000001235e+18 1.7000000001235e+18|1700000000123456788 1700000000123456789|1700000000123456788|2.2345678901235e+14" ]
