"""One sort of a table or an array by somebody else's library: `table_sort.py SORTER INPUT OUTPUT MEMORY_BYTES THREADS TEMP`.

Runs in the environment of the sorter's library (tuning/setup/peers.lock; those of EcoSort in .venv). What it prints is a digest
where the sorter is called `..._digest`.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BATCH_ROWS = 1 << 16
_CSV = "all_varchar=true, header=true, delim=',', quote='\"', parallel=true"
# Lines of JSON as they are: no byte of text is a delimiter or a quote.
_LINES = "FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '\x02', ESCAPE '\x02'"


@dataclass(frozen=True)
class Work:
    """A sorter gets this."""

    input: str
    output: str
    memory_bytes: int
    threads: int
    temp: str


def _duckdb(work: Work) -> Any:
    import duckdb

    settings = {"memory_limit": f"{work.memory_bytes}B", "threads": work.threads, "temp_directory": work.temp}
    return duckdb.connect(config={**settings, "preserve_insertion_order": False})


def _duckdb_csv(work: Work, order: str) -> None:
    _duckdb(work).execute(f"COPY (SELECT * FROM read_csv('{work.input}', {_CSV}) ORDER BY {order}) TO '{work.output}' (HEADER)")


def duckdb_csv_number(work: Work) -> None:
    _duckdb_csv(work, "CAST(number AS DOUBLE)")


def duckdb_csv_text(work: Work) -> None:
    _duckdb_csv(work, "text")


def duckdb_csv_date(work: Work) -> None:
    _duckdb_csv(work, "date")


def duckdb_csv_city_date(work: Work) -> None:
    _duckdb_csv(work, "city, date")


def duckdb_csv_city_street(work: Work) -> None:
    _duckdb_csv(work, "city, street")


def _duckdb_jsonl(work: Work, order: str) -> None:
    rows = f"SELECT json FROM read_ndjson_objects('{work.input}') ORDER BY {order}"
    _duckdb(work).execute(f"COPY ({rows}) TO '{work.output}' ({_LINES})")


def duckdb_jsonl_time(work: Work) -> None:
    _duckdb_jsonl(work, "json->>'$.ts'")


def duckdb_jsonl_number(work: Work) -> None:
    _duckdb_jsonl(work, "CAST(json->>'$.of.number' AS DOUBLE)")


def _parquet_in_order(work: Work) -> str:
    return f"SELECT * FROM read_parquet('{work.input}') ORDER BY number"


def duckdb_parquet(work: Work) -> None:
    _duckdb(work).execute(f"COPY ({_parquet_in_order(work)}) TO '{work.output}' (FORMAT parquet)")


def duckdb_stream(work: Work) -> None:
    _drain(_duckdb(work).sql(_parquet_in_order(work)).to_arrow_reader(_BATCH_ROWS), work)


def duckdb_make_parquet(work: Work) -> None:
    rows = f"SELECT CAST(id AS UBIGINT) AS id, CAST(number AS DOUBLE) AS number, text FROM read_csv('{work.input}', {_CSV})"
    _duckdb(work).execute(f"COPY ({rows}) TO '{work.output}' (FORMAT parquet)")


def duckdb_parquet_digest(work: Work) -> None:
    """Hashes the rows that there are, in any order; and checks that they are in order."""
    file = f"read_parquet('{work.input}', file_row_number=true)"
    rows = f"SELECT id, number, text, lag(number) OVER (ORDER BY file_row_number) AS before FROM {file}"
    count, sum_, disorder = (
        _duckdb(work)
        .execute(f"SELECT count(*), sum(hash(id, number, text) // 65536), count(*) FILTER (before > number) FROM ({rows})")
        .fetchone()
    )
    print("not in order" if disorder else f"{count} rows, {sum_}")


def _polars_csv(work: Work, key: Callable[[Any], Any]) -> None:
    import polars

    table = polars.scan_csv(work.input, infer_schema=False)
    table.sort(key(polars), maintain_order=True).sink_csv(work.output)


def polars_csv_number(work: Work) -> None:
    _polars_csv(work, lambda polars: polars.col("number").cast(polars.Float64))


def polars_csv_text(work: Work) -> None:
    _polars_csv(work, lambda polars: polars.col("text"))


def _datafusion_csv(work: Work, key: Callable[[Any], Any]) -> None:
    import datafusion
    import pyarrow

    bounds = datafusion.RuntimeEnvBuilder().with_fair_spill_pool(work.memory_bytes).with_disk_manager_specified(work.temp)
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(work.threads), bounds)
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "number", "text")])
    table = context.read_csv(work.input, schema=schema, file_extension="")
    one_file = f"{work.output}.csv"  # without an ending it makes a directory
    table.sort(key(datafusion)).write_csv(one_file, with_header=True)
    Path(one_file).rename(work.output)


def datafusion_csv_number(work: Work) -> None:
    _datafusion_csv(work, lambda datafusion: datafusion.col("number").cast(float))


def datafusion_csv_text(work: Work) -> None:
    _datafusion_csv(work, lambda datafusion: datafusion.col("text"))


def _chdb_csv(work: Work, key: str) -> None:
    from chdb.session import Session

    columns = "'id String, number String, text String'"
    bounds = f"max_threads = {work.threads}, max_bytes_before_external_sort = {work.memory_bytes // 2}"
    # By itself ClickHouse cuts blanks off both ends of a text, and writes CSV with quotes around every one; these rows need none.
    form, as_it_is = "'CustomSeparatedWithNames'", "input_format_csv_trim_whitespaces = 0"
    raw = f"format_custom_escaping_rule = 'Raw', format_custom_field_delimiter = ',', {as_it_is}"
    rows = f"SELECT * FROM file('{work.input}', 'CSVWithNames', {columns}) ORDER BY {key}"
    with Session(f"{work.temp}/chdb") as session:
        session.query(f"INSERT INTO FUNCTION file('{work.output}', {form}, {columns}) {rows} SETTINGS {bounds}, {raw}")


def chdb_csv_number(work: Work) -> None:
    _chdb_csv(work, "toFloat64(number)")


def chdb_csv_text(work: Work) -> None:
    _chdb_csv(work, "text")


def numpy_array(work: Work) -> None:
    import numpy

    rows = numpy.fromfile(work.input, dtype=[("key", "<u8"), ("number", "<u8")])
    rows.take(numpy.argsort(rows["key"], kind="stable")).tofile(work.output)


def ecosort_array(work: Work) -> None:
    import numpy

    import ecosort

    rows = numpy.memmap(work.input, dtype=[("key", "<u8"), ("number", "<u8")], mode="r")
    ecosort.sort_memmap(rows, work.output, by="key", memory=work.memory_bytes, threads=work.threads, temp=work.temp)


def ecosort_stream(work: Work) -> None:
    import ecosort

    _drain(ecosort.sort_table(work.input, "number", memory=work.memory_bytes, threads=work.threads, temp=work.temp), work)


def _drain(batches: Any, work: Work) -> None:
    """Writes which rows came, in any order: how many, and a sum of what is in them. Ends if they are not in order."""
    import numpy
    from pyarrow import compute

    rows, total, last = 0, 0, -numpy.inf
    for batch in batches:
        if batch.num_rows == 0:
            continue
        ids, numbers = batch["id"].to_numpy(), batch["number"].to_numpy()
        if numbers[0] < last or (numbers[1:] < numbers[:-1]).any():
            sys.exit("not in order")
        lengths = compute.binary_length(batch["text"]).to_numpy().astype(numpy.uint64)
        total += int(((ids | numpy.uint64(1)) * (numbers.view(numpy.uint64) + lengths)).sum(dtype=numpy.uint64))
        rows, last = rows + batch.num_rows, numbers[-1]
    Path(work.output).write_text(f"{rows} rows, {total % 2**64}")


if __name__ == "__main__":
    sorter, input_, output, memory_bytes, threads, temp = sys.argv[1:]
    globals()[sorter](Work(input_, output, int(memory_bytes), int(threads), str(Path(temp))))
