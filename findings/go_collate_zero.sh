#!/usr/bin/env bash
# In short:  an order by numbers has 0.5 behind 1.5 and 10.5, and v0.9 behind v1.10.
# Package:   golang.org/x/text 0.44.0 (Go modules), its collate, Go's own order of texts by language.
# One would guess: with the option Numeric digits are compared by their value, so 0 comes before 1, as the option's name and a test with "0" and "1" say.
# What happens: leading zeros are left out, and of a zero nothing is left, not even its length, once something other than a digit follows: what follows takes
#   the place of the length and is compared with the length of the other number. "0.5" and "a0b" come behind all usual numbers, and "0" at the end of a text before
#   them. The comparison and the sort keys agree with each other.
# Why it matters: decimals below one, versions 0.x, times after midnight (00:10), addresses with .0. and the first of a series (file0.csv) are last. A merge
#   with a list of another program, or a search in one, misses them. Lists that begin with 1, and bare numbers, pass every test.
# Source:    golang.org/x/text/internal/colltab/numeric.go, numberConverter.update: `nc.nDigits == 0 && isZero`, known there since 2018.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
export GOPATH=$dir/go GOFLAGS=-modcacherw GOTOOLCHAIN=local
mkdir "$dir/finding" && cd "$dir/finding" || exit 2
printf 'module finding\n\ngo 1.26\n\nrequire golang.org/x/text v0.44.0\n' > go.mod
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

func main() {
	lists := [][2]string{
		{"0.5 1.5 2.5 10.5", "1.5 2.5 10.5 0.5"},
		{"v0.9 v0.10 v1.0 v1.9 v1.10", "v1.0 v1.9 v1.10 v0.9 v0.10"},
		{"00:10 01:05 09:59 10:00", "01:05 09:59 10:00 00:10"},
		{"file0.csv file1.csv file2.csv file10.csv", "file1.csv file2.csv file10.csv file0.csv"},
		{"9.0.0.1 10.0.0.1 10.1.0.1", "9.0.0.1 10.1.0.1 10.0.0.1"},
		{"0 1 2 10", "0 1 2 10"},
		{"run0 run1 run2 run10", "run0 run1 run2 run10"},
		{"1a 2a 10a", "1a 2a 10a"},
	}
	collator, changed := collate.New(language.English, collate.Numeric), false
	for _, list := range lists {
		texts := strings.Fields(list[0])
		collator.SortStrings(texts)
		seen := strings.Join(texts, " ")
		fmt.Printf("by value: %-42s sorted: %s\n", list[0], seen)
		changed = changed || seen != list[1]
	}
	if changed {
		os.Exit(1)
	}
}
GO
{ go mod tidy && go build -o finding .; } >&2 || exit 2
./finding
