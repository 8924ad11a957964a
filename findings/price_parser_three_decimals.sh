#!/usr/bin/env bash
# In short:  a price of 0.289 is read as 289.
# Package:   price-parser 0.5.1 (PyPI).
# One would guess: "0,289" is less than one, with either sign as the decimal one, as no number begins with a group of thousands that is 0.
# What happens: three digits behind the only sign are a group of thousands, whatever is before it: "0,289", "0.289" and "0,001" are 289, 289 and 1.
#   "0,29" and "0,2891" are right. Price.amount is a Decimal, with no hint that it was a guess. decimal_separator="," helps, where it is known.
# Why it matters: prices of electricity per kWh, of fuel per litre and of many parts have three decimals. In a column of tariffs those with
#   two or four decimals stay, and those with three are a thousand times too high, so a sort or a maximum shows nothing else.
# Source:    price_parser/parser.py, get_decimal_separator: a separator counts as decimal by the number of digits behind it.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: price-parser==0.5.1 attrs==25.4.0; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

from price_parser import Price

tariffs = ["0,29 €/kWh", "0,289 €/kWh", "0.289 €", "0,2891 €", "0,001 €", "1.289,50 €"]
amounts = [str(Price.fromstring(tariff).amount) for tariff in tariffs]
for tariff, amount in zip(tariffs, amounts):
    print(f"Price.fromstring({tariff!r}).amount = {amount}")
print("the cheapest:", min(tariffs[:4], key=lambda tariff: Price.fromstring(tariff).amount))
told = Price.fromstring("0,289 €", decimal_separator=",").amount
print(f"with decimal_separator=',': {told}")
sys.exit(amounts != ["0.29", "289", "289", "0.2891", "1", "1289.50"] or str(told) != "0.289")
PYTHON
