#!/usr/bin/env bash
# In short:  a comparator for numbers makes one record of 1.25 and 1.5.
# Package:   tkrzw-utils 1.0.25-1 with libtkrzw1 (Debian 12), an ordered store of files; its comparator "dec".
# One would guess: the comparator says in which order records are listed. Keys that it can't tell apart stay apart, as they do in a sort, or are
#   refused.
# What happens: keys that compare alike ARE one key. "dec" compares the whole numbers at the front of the keys: 1.25 and 1.5 are one record, and so
#   are all keys without digits. An import of eight rows leaves five records; the value of the last one is beside the key of the first one, a pair
#   that was never in the input. Nothing is printed, the exit code is 0.
# Why it matters: the comparator is taken to have 10 behind 9. One column of decimals, of dates (2024-01-02 counts as 2024) or of names with numbers
#   is reduced to one row per whole number, in order.
# Source:    `tkrzw_dbm_util` without arguments names the comparators: lex, lexcase, dec, hex; tkrzw_key_comparators.h, DecimalKeyComparator.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
for package in tkrzw-utils=1.0.25-1 libtkrzw1=1.0.25-1; do
  { apt-get -o APT::Sandbox::User=root download -q "$package" && dpkg-deb -x "${package%%=*}"_*.deb .; } >&2 || exit 2
done
libraries=$(dirname "$(find "$dir/usr/lib" -name 'libtkrzw.so.1' | head -n 1)")
tkrzw() { LD_LIBRARY_PATH=$libraries usr/bin/tkrzw_dbm_util "$@"; }
printf '%s\tvalue of %s\n' 10 10 9 9 1.25 1.25 1.5 1.5 north north south south 2024-01-02 2024-01-02 2024-05-06 2024-05-06 > rows.tsv
for comparator in lex dec; do
  { tkrzw create --dbm tree --comparator "$comparator" "$comparator.tkt" && tkrzw import --dbm tree --tsv "$comparator.tkt" rows.tsv; } > log 2>&1 || { cat log >&2; exit 1; }
  tkrzw list --dbm tree "$comparator.tkt" > "$comparator.txt" || exit 1
  echo "$comparator: $(wc -l < "$comparator.txt") records of $(wc -l < rows.tsv): $(tr '\t\n' '=,' < "$comparator.txt")"
done
[ "$(wc -l < lex.txt) $(wc -l < dec.txt)" = "8 5" ] && grep -q '^1.25.value of 1.5$' dec.txt
