#!/usr/bin/env bash
# In short:  a sort by the first column, as numbers, has " 9" before " 7", and by the second column compares the first one.
# Package:   libsort-fields-perl 1.001-3 (Debian 12), Sort::Fields, "sort lines by columns"; coreutils of Debian 12 beside it.
# One would guess: columns are what blanks separate, as in awk and in sort -b, and right-aligned numbers are read as numbers, as by `sort -n`.
# What happens: a blank in front makes an empty first column, and all others are one further. In lines that are padded to one width only the short
#   numbers have a blank, so the columns of these lines are shifted and those of the others are not: ["1n"] takes 9 and 7 as nothing, and ["2"] compares the
#   names of some lines with the numbers of others. No warning is printed.
# Why it matters: uniq -c, wc and printf "%2d" write such lines. The lines are all there, and the largest numbers are in order at the end, where one
#   looks. Files whose numbers have one length pass every test.
# Source:    Sort/Fields.pm, make_fieldsort (split with /\s+/, which keeps an empty field in front).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q libsort-fields-perl=1.001-3 && dpkg-deb -x libsort-fields-perl_*.deb .; } >&2 || exit 2
printf '%2d %s\n' 9 lamp 10 heater 7 boiler 12 pump > lines
by() { perl -I usr/share/perl5 -MSort::Fields -e 'print fieldsort [shift], <STDIN>' "$1" < lines | paste -sd'|'; }
first=$(by 1n) second=$(by 2)
sort1=$(sort -n lines | paste -sd'|') sort2=$(LC_ALL=C sort -b -k2,2 lines | paste -sd'|')
printf '%s\n' "fieldsort [\"1n\"]: $first" "sort -n:          $sort1" "fieldsort [\"2\"]:  $second" "sort -b -k2,2:    $sort2"
[ "$first|$second" = " 9 lamp| 7 boiler|10 heater|12 pump| 7 boiler| 9 lamp|10 heater|12 pump" ] && [ "$sort1" = " 7 boiler| 9 lamp|10 heater|12 pump" ]
