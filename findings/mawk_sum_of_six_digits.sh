#!/usr/bin/env bash
# In short:  the sum of a column of bytes is printed as 3e+09, and with %d as 2147483647.
# Package:   mawk 1.3.4.20200120-3.1 (Debian 12), the awk of Debian and Ubuntu; original-awk 2022-09-12-1 beside it.
# One would guess: whole numbers are exact up to 2^53, and print writes them as whole numbers: the manual says that an exact integer is printed with "%d",
#   and POSIX says the same.
# What happens: from 2147483648 on print writes a whole number like a fraction, with six digits: 2147483648 is 2.14748e+09, and 123456789012 is 1.23457e+11.
#   printf "%d" prints 2147483647 for all of them, and -2147483647 at the other end. The number itself is exact ("%.0f" shows it), and so is a field that is
#   printed as it was read. The same happens where a number becomes part of a text or a key of an array: different ids become one key.
# Why it matters: sums of bytes, of Wh and of nanoseconds pass 2^31, and no warning is printed. Totals up to 2 GiB, and the awk of another system, pass every
#   test: the script is right on one machine and wrong in the container.
# Source:    mawk(1), "print" ('"%d" for exact integers'); both programs' output is printed below.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q mawk=1.3.4.20200120-3.1 original-awk=2022-09-12-1 &&
  for package in ./*.deb; do dpkg-deb -x "$package" . || exit 2; done; } >&2 || exit 2
printf '%s\n' 2147483647 1 > small
printf '%s\n' 1000000001 2000000000 > large
seq 5000000001 5000001000 > ids
seen=""
for awk in usr/bin/mawk usr/bin/original-awk; do
  line=$(for file in small large; do "$awk" '{ s += $1 } END { print s; printf "%d %.0f\n", s, s }' "$file"; done | tr '\n' ' ')
  keys=$("$awk" '{ seen[$1 + 0] } END { for (key in seen) n++; print n }' ids)
  echo "$(basename "$awk"): two sums by print, %d and %.0f: $line; different keys of 1000 ids: $keys"
  seen="$seen$line$keys|"
done
[ "$seen" = "2.14748e+09 2147483647 2147483648 3e+09 2147483647 3000000001 1|2147483648 2147483648 2147483648 3000000001 3000000001 3000000001 1000|" ]
