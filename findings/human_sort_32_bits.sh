#!/usr/bin/env bash
# In short:  natural sort (Rust) reads 4294967297 as 1.
# Package:   human-sort 0.2.2 (crates.io).
# One would guess: digits in a text are compared by their value, as long as they may be, or an error is reported.
# What happens: a run of digits is added up in 32 bits. Built for release, the sum wraps: 4294967297 counts as 1. (A debug build stops with an overflow error.)
# Why it matters: names with a time in milliseconds or a 64-bit number in them have no natural order at all, and tests with small
#   numbers, or with a debug build and small numbers, never show it.
# Source: human-sort-0.2.2/src/lib.rs, take_numeric returns u32.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" && cd "$dir" || exit 2
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nhuman-sort = "=0.2.2"\n' > Cargo.toml
cat > src/main.rs <<'RUST'
fn main() {
    let mut names = ["log-2", "log-10", "log-4294967297", "log-1764338400000", "log-1764338500000"];
    human_sort::sort(&mut names);
    println!("{}", names.join(" "));
}
RUST
CARGO_TARGET_DIR="$dir/target" cargo build -q --release >&2 || exit 2
seen=$(target/release/finding) || exit 1
echo "expected: log-2 log-10 log-4294967297 log-1764338400000 log-1764338500000"
echo "seen:     $seen"
[[ $seen == log-4294967297\ log-2\ * ]]
