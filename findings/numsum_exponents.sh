#!/usr/bin/env bash
# In short:  1.2e+06 and 500 have the sum 501.2 and the maximum 500.
# Package:   num-utils 0.5-15 (Debian 12), programs for sums, averages and bounds of numbers in a shell.
# One would guess: numbers are read as awk, sort -g and printf read and write them, with an exponent; or such a line is refused with a message.
# What happens: the digits at the front of a line are the number, and the rest is dropped: 1.2e+06 is 1.2 and 2.5e-3 is 2.5, in numsum, numaverage and
#   numbound alike. A line that begins with a plus is left out without a word, and so is a whole line of text. The exit code is 0.
# Why it matters: awk prints sums with a fraction so from a million on, and small ones (1.23457e+06, 1e-05), as printf("%g") and many exports do. In a column of
#   energy it is the largest values that shrink to nearly nothing, and the total is that of the small ones. A column without exponents passes every test.
# Source:    numsum(1) and numbound(1), which name no form of a number; numsum, numaverage and numbound themselves, which are scripts of Perl.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q num-utils=0.5-15 && dpkg-deb -x num-utils_*.deb .; } >&2 || exit 2
seen=
for lines in '1.2e+06 500' '1200000 500' '2.5e-3 1' '+12 3' "$(awk 'BEGIN { print 1000000 + 0.5, 0.00001 }')"; do
  results=$(for program in numsum numaverage numbound; do echo "$lines" | tr ' ' '\n' | perl "usr/bin/$program"; done | tr '\n' ' ')
  echo "$lines: sum, average and maximum $results"
  seen="$seen$results/ "
done
[ "$seen" = "501.2 250.6 500 / 1200500 600250 1200000 / 3.5 1.75 2.5 / 3 3 3 / 2 1 1 / " ]
