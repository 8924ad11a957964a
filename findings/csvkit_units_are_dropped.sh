#!/usr/bin/env bash
# In short:  a sort that makes 15 of 1,5, 4 of €4 and an hour and forty minutes of 100 m.
# Package:   csvkit 2.2.0 with agate 1.14.2 (PyPI), its csvsort.
# One would guess: a sort of a CSV file by one column moves rows. Where it takes a column as numbers to compare them, it writes the cells as they were.
# What happens: every column is guessed to be of a type, and written as what was understood. A comma is dropped as one of thousands (1,5 and 15 are both
#   15), so are the signs of currencies (5 dollars and 5 euros are both 5) and of percent; "100 m", "9 h" and "2 d" are durations: 1:40:00, 9:00:00 and
#   "2 days, 0:00:00". The columns that are not sorted by change as well. Exit code 0; no message says so.
# Why it matters: a price list loses which currency a row is in, metres become minutes, and 1,5 kWh sorts and adds up as 15. One cell that fits no guess
#   (12 mm) keeps the whole column as text, so the same command on a longer file does something else. -I (--no-inference) keeps the cells, and sorts as
#   texts.
# Source:    agate/data_types/number.py (symbols of currencies, %, the sign of thousands are removed) and time_delta.py (pytimeparse); csvsort -h.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q csvkit==2.2.0 agate==1.14.2; } >&2 || exit 2
cd "$dir" || exit 2
cat > in.csv <<'CSV'
item,cable,price,loss,energy
3,100 m,€5,5%,"1,5"
1,10 m,$5,0.5%,12.5
2,9 m,£4,30%,15
CSV
venv/bin/csvsort -c item in.csv > out.csv || exit 1
venv/bin/csvsort -I -c item in.csv > plain.csv || exit 1
echo "in:" && cat in.csv && echo "csvsort -c item:" && cat out.csv && echo "csvsort -I -c item:" && cat plain.csv
cat > expected.csv <<'CSV'
item,cable,price,loss,energy
1,0:10:00,5,0.5,12.5
2,0:09:00,4,30,15
3,1:40:00,5,5,15
CSV
cmp -s out.csv expected.csv && grep -q '^3,100 m,€5,5%,"1,5"$' plain.csv
