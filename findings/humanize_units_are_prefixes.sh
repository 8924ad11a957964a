#!/usr/bin/env bash
# In short:  5 m³ are read as 0.005 of a unit "³", and 20 Pa as 20000000000000000 of a unit "a".
# Package:   github.com/dustin/go-humanize 1.1.0 (Go modules), numbers and sizes as people write them.
# One would guess: ParseSI() reads what SI() of the same package wrote. A unit whose first letter is also that of a prefix stays a unit, as m and m³ are in SI.
# What happens: the first letter behind the number counts as a prefix whenever it is one. 5 m³ is 5 thousandths, 20 Pa 20 peta, 5 min 5 thousandths of "in",
#   3 mol 3 thousandths of "ol", 12 m has no unit left. W, Wh, V, A, Hz and s are read as they should be, kPa and km, too. No error is returned.
# Why it matters: meters of gas and water count m³, pressure is in Pa, durations come in min. A value that has to be scaled (2 kPa) is right, and one that
#   doesn't (20 Pa) is wrong by 10^15, in the same column; sorted, the smallest pressures come last. Tests with watts pass.
# Source:    go-humanize/si.go: ParseSI ("parses an SI string back into the number and unit"), and the pattern that is made of the prefixes.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
export GOPATH=$dir/go GOFLAGS=-modcacherw GOTOOLCHAIN=local
mkdir "$dir/finding" && cd "$dir/finding" || exit 2
printf 'module finding\n\ngo 1.26\n\nrequire github.com/dustin/go-humanize v1.1.0\n' > go.mod
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/dustin/go-humanize"
)

func main() {
	readings := []struct {
		value float64
		unit  string
		seen  string
	}{
		{5, "m³", "0.005 ³"}, {20, "Pa", "2e+16 a"}, {5, "min", "0.005 in"}, {3, "mol", "0.003 ol"}, {12, "m", "0.012 "},
		{2000, "Pa", "2000 Pa"}, {1500, "m", "1500 m"}, {5, "W", "5 W"}, {3000, "Wh", "3000 Wh"}, {0.5, "V", "0.5 V"}, {50, "Hz", "50 Hz"},
	}
	changed := false
	for _, reading := range readings {
		text := humanize.SI(reading.value, reading.unit)
		value, unit, err := humanize.ParseSI(text)
		seen := fmt.Sprintf("%.12g %s", value, unit)
		fmt.Printf("%g %s is written as %q and read as %q, error: %v\n", reading.value, reading.unit, text, seen, err)
		changed = changed || err != nil || seen != reading.seen
	}
	if changed {
		os.Exit(1)
	}
}
GO
{ go mod tidy && go build -o finding .; } >&2 || exit 2
./finding
