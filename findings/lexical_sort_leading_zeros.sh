#!/usr/bin/env bash
# In short:  a natural order puts file007 behind file99, and 10.0.0.010 behind 10.0.0.99.
# Package:   lexical-sort 0.3.1 (crates.io).
# One would guess: a natural order compares digits by their value: its README has "50 is less than 100". 007 is 7, or a tie with 7 that the text decides.
# What happens: of two runs of digits the longer one is the greater, and only runs of one length are compared by value. Each leading zero counts as a
#   digit, so 007 comes behind 99, and 0042 behind all numbers of three digits. All four natural comparisons do so. Zeros in both texts, as in 2024-01 and
#   2024-02, do no harm. Another crate for the same, alphanumeric-sort 1.5.8, has them by their value.
# Why it matters: padded numbers and others meet where a counter outgrew its padding (file099, file0100), in addresses and parts from two systems,
#   and in times (9:05, 10:5). The list looks sorted at its ends, a search by value misses what is padded, and a merge with a list of another
#   program is out of order. Lists that are padded throughout, or not at all, pass every test.
# Source:    lexical-sort-0.3.1/src/cmp.rs, the macro cmp_ascii_digits: (Some(_), None) is Greater before any value is compared.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" && cd "$dir" || exit 2
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nlexical-sort = "=0.3.1"\nalphanumeric-sort = "=1.5.8"\n' > Cargo.toml
cat > src/main.rs <<'RUST'
use lexical_sort::{natural_cmp, natural_lexical_cmp, natural_lexical_only_alnum_cmp, natural_only_alnum_cmp};

fn main() {
    let names = ["file1", "file9", "file10", "file007", "file99", "file100", "file0042"];
    for compare in [natural_cmp, natural_lexical_cmp, natural_only_alnum_cmp, natural_lexical_only_alnum_cmp] {
        let mut sorted = names;
        sorted.sort_by(|a, b| compare(a, b));
        println!("lexical-sort: {}", sorted.join(" "));
    }
    let mut sorted = names;
    alphanumeric_sort::sort_str_slice(&mut sorted);
    println!("alphanumeric-sort: {}", sorted.join(" "));
    let mut hosts = ["10.0.0.99", "10.0.0.010", "10.0.0.9"];
    hosts.sort_by(|a, b| natural_cmp(a, b));
    println!("lexical-sort: {}", hosts.join(" "));
}
RUST
CARGO_TARGET_DIR="$dir/target" cargo build -q --release >&2 || exit 2
seen=$(target/release/finding) || exit 1
echo "$seen"
[ "$(echo "$seen" | sort -u | sed 's/.*: //')" = "$(printf '%s\n' 'file1 file007 file9 file10 file0042 file99 file100' '10.0.0.9 10.0.0.99 10.0.0.010' \
  'file1 file9 file10 file99 file007 file100 file0042')" ]
