#!/usr/bin/env bash
# In short:  readings of every minute come back with 10.848 seconds between them.
# Package:   tsz 0.1.4 (crates.io), the compression of time series of Facebook's Gorilla in Rust.
# One would guess: times are u64 and the first time is kept with 64 bits, so milliseconds and nanoseconds since 1970 come back as they were, or an error
#   says that they can't.
# What happens: the step from the start of the stream to the first reading is cut to 14 bits, that is to 16.383 seconds if times are in milliseconds.
#   All later steps are stored as changes of that one, so each of them is wrong by the same amount: 60000 ms become 10848 ms, and after an hour
#   the series is 49 minutes behind. In seconds it happens where the first reading is 16384 seconds or more (4 h 33 min) behind the start, and the times
#   may run backward. Steps change by 32 bits at most, so a pause of 5 seconds in nanoseconds spoils all steps behind it. Nothing is raised.
# Why it matters: the series is in order, evenly spaced and complete. Energy, which is power times the step, is 18 % of what it was; a merge with another
#   series puts every reading at a wrong place. One reading every 10 seconds in milliseconds, and the README's example in seconds, pass.
# Source:    tsz-0.1.4/src/encode/std_encoder.rs, write_first (14 bits; "just over 4 hours" in a comment) and write_next_timestamp (as i32).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" && cd "$dir" || exit 2
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ntsz = "=0.1.4"\n' > Cargo.toml
cat > src/main.rs <<'RUST'
use tsz::stream::{BufferedReader, BufferedWriter};
use tsz::{DataPoint, Decode, Encode, StdDecoder, StdEncoder};

fn read_back(start: u64, times: &[u64]) -> Vec<u64> {
    let mut encoder = StdEncoder::new(start, BufferedWriter::new());
    for time in times {
        encoder.encode(DataPoint::new(*time, 230.5));
    }
    let mut decoder = StdDecoder::new(BufferedReader::new(encoder.close()));
    let mut read = vec![];
    while let Ok(point) = decoder.next() {
        read.push(point.get_time());
    }
    read
}

fn main() {
    let start = 1_700_000_000;
    let cases = [
        ("every 60 s, in s", 1, vec![60, 120, 180, 240]),
        ("every 10 s, in ms", 1000, vec![10_000, 20_000, 30_000, 40_000]),
        ("every 60 s, in ms", 1000, vec![60_000, 120_000, 180_000, 240_000]),
        ("from 5 h on, in s", 1, vec![18_000, 18_060, 18_120, 18_180]),
        ("pause of 5 s, in ns", 1_000_000_000, vec![1_000, 2_000, 5_000_002_000, 10_000_002_000]),
    ];
    for (name, unit, times) in cases {
        let written: Vec<u64> = times.iter().map(|time| start * unit + time).collect();
        let read: Vec<i64> = read_back(start * unit, &written).iter().map(|time| (time - start * unit) as i64).collect();
        println!("{name}: written {times:?}, read {read:?}");
    }
}
RUST
CARGO_TARGET_DIR="$dir/target" cargo build -q --release >&2 || exit 2
seen=$(target/release/finding) || exit 1
echo "$seen"
[ "$(echo "$seen" | sed 's/.*read //')" = "$(printf '%s\n' '[60, 120, 180, 240]' '[10000, 20000, 30000, 40000]' '[10848, 21696, 32544, 43392]' \
  '[1616, -14708, -31032, -47356]' '[1000, 2000, 705034704, 1410067408]')" ]
