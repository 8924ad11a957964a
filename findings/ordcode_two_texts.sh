#!/usr/bin/env bash
# In short:  order-preserving keys of two texts have ("ab", "c") before ("a", "d").
# Package:   ordcode 0.2.2 (crates.io), keys for ordered stores; its page says that it "preserves lexicographic ordering of values".
# One would guess: the bytes of ("a", "d") are less than those of ("ab", "c"), as the tuples are in Rust.
# What happens: the texts are written one behind the other and their lengths at the end. What decides is the text without its borders: "ad" is behind
#   "abc". A text by itself is followed by its length, so "a" comes behind "a" with a NUL at its end. Numbers by themselves are in order.
# Why it matters: a key of several columns is what such an encoding is for. With a first column of equal lengths, or one with distinct beginnings, all
#   tests pass. A scan of customer "a" meets rows of "ab" between its own and ends early, and a merge with a list that is sorted by the columns is out of
#   order.
# Source:    ordcode's page (lengths go to the end, "friendly to lexicographic ordering"); ordcode-0.2.2/src/ord_ser.rs, serialize_bytes.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" && cd "$dir" || exit 2
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nordcode = "=0.2.2"\n' > Cargo.toml
cat > src/main.rs <<'RUST'
use ordcode::{ser_to_vec_ordered, Order::Ascending};

fn main() {
    let mut pairs = [("a", "b"), ("a", "d"), ("ab", "c"), ("ab", "e")];
    pairs.sort_by_key(|pair| ser_to_vec_ordered(pair, Ascending).unwrap());
    println!("{pairs:?}");
    let mut meters = [("meter1", 0x3000_0000u32), ("meter1", 0x3900_0000), ("meter12", 1)];
    meters.sort_by_key(|pair| ser_to_vec_ordered(pair, Ascending).unwrap());
    println!("{meters:?}");
    let mut words = ["a", "a\0", "a\n", "ab"];
    words.sort_by_key(|word| ser_to_vec_ordered(word, Ascending).unwrap());
    println!("{words:?}");
    let mut numbers = [300i64, -1, 0, 2, -300];
    numbers.sort_by_key(|number| ser_to_vec_ordered(number, Ascending).unwrap());
    println!("{numbers:?}");
}
RUST
CARGO_TARGET_DIR="$dir/target" cargo build -q >&2 || exit 2
target/debug/finding > seen.txt || exit 1
cat seen.txt
cat > expected.txt <<'TEXT'
[("a", "b"), ("ab", "c"), ("ab", "e"), ("a", "d")]
[("meter1", 805306368), ("meter12", 1), ("meter1", 956301312)]
["a\0", "a", "a\n", "ab"]
[-300, -1, 0, 2, 300]
TEXT
cmp -s seen.txt expected.txt
