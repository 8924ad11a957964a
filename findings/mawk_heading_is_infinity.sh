#!/usr/bin/env bash
# In short:  the sum of a column with the heading "infeed" is infinite, with "nancy" it is NaN, and with "import" it is right.
# Package:   mawk 1.3.4.20200120-3.1 (Debian 12), the awk of Debian and Ubuntu.
# One would guess: a text that is no number counts as 0, so that a heading does no harm to a sum, a mean or a maximum, which is how awk is used.
# What happens: a text that begins with inf or nan, in any case, counts as infinity or NaN, whatever follows: info, Infeed, infrared, nano, Nancy. The sum
#   of "infeed", 230 and 240 is inf, that of "nan_count" is nan. It makes no difference where in the column the text is. Headings that begin with other letters
#   count as 0.
# Why it matters: infeed and info are names of columns of meters, and names of places or people come where a field is empty and the next one moves up. In a
#   maximum such a row wins over all, and as a sort key it is the last; with NaN no comparison is true. A script that has run for years on the files
#   of one meter breaks with the heading of another. No warning is printed.
# Source:    mawk's conversion of texts is C's strtod(), which reads inf and nan since 1999; mawk(1) does not mention these texts.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q mawk=1.3.4.20200120-3.1 && dpkg-deb -x mawk_*.deb .; } >&2 || exit 2
seen=""
for heading in import watts infeed Info nan_count Nancy; do
  sum=$(printf '%s\n' "$heading" 230 240 | usr/bin/mawk '{ s += $1; if ($1 + 0 > max) max = $1 + 0 } END { print s, max }')
  echo "$heading, 230, 240: sum and maximum: $sum"
  seen="$seen${sum#-}|"
done
[ "$(echo "$seen" | sed 's/-nan/nan/g')" = "470 240|470 240|inf inf|inf inf|nan 240|nan 240|" ]
