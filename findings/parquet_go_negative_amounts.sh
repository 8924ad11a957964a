#!/usr/bin/env bash
# In short:  amounts below 0 are behind the positive ones in a sorted Parquet file, and two of three readers find none of them.
# Package:   github.com/parquet-go/parquet-go 0.32.0 (Go modules) writes the file; pyarrow 26.0.1, polars 2.1.0 and duckdb 2.0.1 (PyPI) read it.
# One would guess: a sorting writer puts decimals in the order of their values, as the format demands of this type, and a reader's filter returns the
#   rows that match.
# What happens: decimals of more than 18 digits are bytes, and parquet-go compares them as unsigned bytes: 0.00 1.00 2.55 7.00 -5.00 -0.01, with the
#   mark "sorted, ascending". The statistics of the column say that its minimum is 0.00 and its maximum -0.01. By these, pyarrow returns no row for
#   "amount < 0" and none for "amount = 7.00", and polars none even for "amount >= 0". DuckDB, and all of them without a filter, show every row.
# Why it matters: one amount below 0 (a refund, power that is fed in) hides rows of its row group, also positive ones, from a query that has a
#   filter; a merge of such files is out of order. Amounts of one sign pass every test, and so do decimals of up to 18 digits as integers.
# Source:    Apache Parquet, LogicalTypes.md, "DECIMAL" (sort order: signed); type_fixed_len_byte_array.go, Compare; parquet-go, number 592 of its tracker.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir "$dir/write" && cd "$dir/write" || exit 2
cat > main.go <<'GO'
package main

import (
	"math/big"
	"os"

	"github.com/parquet-go/parquet-go"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// cents returns the 16 bytes of a decimal in two's complement.
func cents(number int64) []byte {
	unscaled := big.NewInt(number)
	if number < 0 {
		unscaled.Add(unscaled, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return unscaled.FillBytes(make([]byte, 16))
}

func main() {
	schema := parquet.NewSchema("bookings", parquet.Group{"amount": parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16))})
	file, err := os.Create(os.Args[1])
	must(err)
	order := parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("amount")))
	writer := parquet.NewSortingWriter[any](file, 100, schema, order)
	for _, number := range []int64{-500, 100, 255, -1, 0, 700} {
		_, err := writer.WriteRows([]parquet.Row{{parquet.FixedLenByteArrayValue(cents(number))}})
		must(err)
	}
	must(writer.Close())
	must(file.Close())
}
GO
export GOPATH="$dir/go" GOCACHE="$dir/cache" GOFLAGS=-modcacherw GOTOOLCHAIN=local
{ go mod init finding && go get github.com/parquet-go/parquet-go@v0.32.0 && go build -o ../writer . && python3 -m venv "$dir/venv" \
  && "$dir/venv/bin/pip" install -q --only-binary :all: pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1; } >&2 || exit 2
cd "$dir" && ./writer bookings.parquet && venv/bin/python - <<'PYTHON'
import sys
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

name = "bookings.parquet"
rows = [str(row) for row in pq.read_table(name)["amount"].to_pylist()]
column = pq.ParquetFile(name).metadata.row_group(0)
print("in the file:", rows, column.sorting_columns, "statistics:", column.column(0).statistics.min, column.column(0).statistics.max)
seen = [rows]
zero, seven = Decimal("0.00"), Decimal("7.00")
for words, filtered in (("< 0", lambda x, number: x < number(zero)), ("= 7.00", lambda x, number: x == number(seven)), (">= 0", lambda x, number: x >= number(zero))):
    arrow = ds.dataset(name).to_table(filter=filtered(ds.field("amount"), lambda value: pa.scalar(value, pa.decimal128(38, 2))))["amount"].to_pylist()
    lazy = pl.scan_parquet(name).filter(filtered(pl.col("amount"), pl.lit)).collect()["amount"].to_list()
    sql = [row[0] for row in duckdb.sql(f"select amount from '{name}' where amount {words}").fetchall()]
    print(f"amount {words}: rows of pyarrow {len(arrow)}, polars {len(lazy)}, DuckDB {len(sql)}")
    seen.append([len(arrow), len(lazy), len(sql)])
sys.exit(seen != [["0.00", "1.00", "2.55", "7.00", "-5.00", "-0.01"], [0, 0, 2], [0, 0, 1], [4, 0, 4]])
PYTHON
