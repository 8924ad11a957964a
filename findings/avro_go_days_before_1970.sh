#!/usr/bin/env bash
# In short:  July 20, 1969 is read back as July 21, while the same hour of a day after 1970 keeps its day.
# Package:   github.com/linkedin/goavro/v2 2.15.0 and github.com/hamba/avro/v2 2.31.0 (Go modules), Avro for Go.
# One would guess: a time that is written to a field of the logical type date is the day on which it is, in UTC, before 1970 as well as after it.
# What happens: both divide the seconds since 1970 by 86400, and Go's division cuts towards 0. At midnight the result is exact; at any other time of a
#   day before 1970 it is one day too late. The whole of 1969-12-31 but its first moment is 1970-01-01, so two days become one. No error is returned.
# Why it matters: dates of birth, contracts and weather go back behind 1970. A date that was read as midnight in a zone east of Greenwich is the
#   evening before in UTC: it comes out as the day that was meant up to 1969, and as the day before from 1970 on. Groups by day and joins with what Java or
#   Python wrote are one day off for these rows, the order is almost right, and tests with dates of today pass.
# Source:    goavro/logical_type.go, dateFromNative; hamba/avro/codec_native.go, dateCodec.Encode; Avro's specification, "Date" (days from 1970-01-01).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
export GOPATH=$dir/go GOFLAGS=-modcacherw GOTOOLCHAIN=local
mkdir "$dir/finding" && cd "$dir/finding" || exit 2
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/hamba/avro/v2"
	"github.com/linkedin/goavro/v2"
)

const schema = `{"type": "int", "logicalType": "date"}`

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	first, err := goavro.NewCodec(schema)
	must(err)
	second := avro.MustParse(schema)
	seen := ""
	for _, text := range []string{"1969-07-20T20:17:40Z", "1969-07-20T00:00:00Z", "1969-12-31T00:00:01Z", "1970-01-01T12:00:00Z", "2024-07-20T20:17:40Z"} {
		moment, err := time.Parse(time.RFC3339, text)
		must(err)
		bytes, err := first.BinaryFromNative(nil, moment)
		must(err)
		native, _, err := first.NativeFromBinary(bytes)
		must(err)
		data, err := avro.Marshal(second, moment)
		must(err)
		var read time.Time
		must(avro.Unmarshal(second, data, &read))
		days := native.(time.Time).Format(time.DateOnly) + " " + read.Format(time.DateOnly)
		fmt.Println(text, "is read back by goavro and hamba/avro as", days)
		seen += days + "\n"
	}
	expected := "1969-07-21 1969-07-21\n1969-07-20 1969-07-20\n1970-01-01 1970-01-01\n1970-01-01 1970-01-01\n2024-07-20 2024-07-20\n"
	if seen != expected {
		os.Exit(1)
	}
}
GO
{ go mod init finding && go get github.com/linkedin/goavro/v2@v2.15.0 github.com/hamba/avro/v2@v2.31.0 && go build -o finding .; } >&2 || exit 2
./finding
