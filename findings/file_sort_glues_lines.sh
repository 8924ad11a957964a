#!/usr/bin/env bash
# In short:  two files of which the first has no line feed at its end are sorted into one file with a line less, "ab".
# Package:   libfile-sort-perl 1.01-3 (Debian 12), File::Sort, an external sort in Perl; coreutils of Debian 12 beside it.
# One would guess: each line of each file is a line of the result, as sort(1) does, after whose options the module's are named. The module adds the line feed
#   that the last line lacks.
# What happens: it adds it to the last line of the last file only. The last line of another file keeps none, is sorted as it is, and the line that comes behind it
#   in the result is glued to it: a and b become ab. If it comes last nothing is to be seen. A merge of sorted files does the same. No error is raised.
# Why it matters: files of programs and editors often end without a line feed. Two rows become one, with a key and a value that were never there, and only where
#   the order puts another row behind it. Sums and joins are wrong by it. One file alone, and files that end with a line feed, pass every test.
# Source:    File/Sort.pm, _check_last, which looks at the last record of those in memory.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q libfile-sort-perl=1.01-3 && dpkg-deb -x libfile-sort-perl_*.deb .; } >&2 || exit 2
printf 'd\nb\na' > first
printf 'c\ne\n' > second
printf 'a\nb' > sorted1
printf 'c\nd\n' > sorted2
perl -I usr/share/perl5 -MFile::Sort=sort_file -e '
  sort_file({I => ["first"], o => "alone"});
  sort_file({I => ["first", "second"], o => "both"});
  sort_file({I => ["second", "first"], o => "other"});
  sort_file({I => ["sorted1", "sorted2"], m => 1, o => "merged"});' || exit 1
seen=$(for file in alone both other merged; do echo "$file: $(paste -sd' ' "$file")"; done)
echo "$seen"
echo "sort(1), both: $(LC_ALL=C sort first second | paste -sd' '); merged: $(LC_ALL=C sort -m sorted1 sorted2 | paste -sd' ')"
[ "$seen" = "$(printf '%s\n' 'alone: a b d' 'both: ab c d e' 'other: a b c d e' 'merged: a bc d')" ]
