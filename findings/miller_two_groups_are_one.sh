#!/usr/bin/env bash
# In short:  rows of two groups are added up as one, and a join pairs rows whose keys differ, where a value holds a comma.
# Package:   miller 6.6.0-2+b3 (Debian 12), mlr, which groups, joins and sorts CSV and JSON.
# One would guess: rows are in one group if each of their key columns is equal; the values of CSV are quoted so that a comma is a character like others.
# What happens: the values are joined by commas, and the text that results is the key. "x,y" with "z" and "x" with "y,z" are one group in stats1,
#   count-distinct, head, top, step, uniq -g and count-similar, which prints the values of the first row. In join each of the two is paired with the other.
#   Maps with two keys in put (@sum[$a][$b]), uniq -a and sorting take the columns one by one, and are right.
# Why it matters: sums and counts are merged, the first row or the maximum of each group is lost, and a join has four rows of two. Addresses, names ("Smith, J")
#   and amounts with a decimal comma (1,2 and 3 against 1 and 2,3) hold commas. One key column, or keys without a comma, pass every test.
# Source:    mlrmap_accessors.go, GetSelectedValuesJoined, which writes "," between the values.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q miller=6.6.0-2+b3 && dpkg-deb -x miller_*.deb .; } >&2 || exit 2
printf 'place,shelf,wh\n"1,2",3,100\n1,"2,3",1\n1,2,10\n' > rows.csv
run() { usr/bin/mlr --icsv --ocsv --headerless-csv-output "$@" rows.csv | tr '\n' ' '; }
echo "the rows:"; cat rows.csv
seen=
for verb in "stats1 -a sum -f wh -g place,shelf" "count-distinct -f place,shelf" "head -n 1 -g place,shelf" "top -f wh -g place,shelf" \
  "join -j place,shelf -f rows.csv" "uniq -a"; do
  rows=$(run $verb)
  echo "$verb: $rows"
  seen="$seen$(echo "$rows" | wc -w) "
done
maps=$(run put -q '@sum[$place][$shelf] += $wh; end { emit @sum, "place", "shelf" }')
echo "put with a map of two keys: $maps"
one=$(run stats1 -a sum -f wh -g place)
echo "one key: $one"
[ "$seen$maps" = "2 2 2 2 5 3 $maps" ] && [ "$(echo "$maps" | wc -w)" = 3 ] && [ "$(run stats1 -a sum -f wh -g place,shelf)" = '"1,2",3,101 1,2,10 ' ]
