#!/usr/bin/env bash
# In short:  1.0-beta equals 1.0.9, and so do all versions where one has a word and the other a number.
# Package:   version-compare 0.2.1 (crates.io), versions in Rust; its README says that versions by semver.org are compared correctly.
# One would guess: of a word and a number at the same place one is less, always the same one, as semver.org has it (the number).
# What happens: the two are passed over as equal, and the next parts decide. 1.0.0-alpha.1 equals 1.0.0-alpha.beta, where semver.org has "less" as an
#   example; 1.0-beta equals 1.0.0 and 1.0.9. A part from 2^31 on (a time in milliseconds, a date with its time) counts as a word: 2.0.1700000000123
#   equals 2.0.5.
# Why it matters: "equal" is not transitive, so a sort depends on the order of its input: beside one beta 1.0.9 stays before 1.0.1. A list from a sort
#   cannot be searched or merged, "is there something newer" says no, and a set of versions loses some. Plain 1.2.3 and words against words pass every
#   test.
# Source:    version-compare-0.2.1/src/version.rs, compare_iter (`_ => {}` below a note that this is to be decided), split_version_str (parse::<i32>).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" && cd "$dir" || exit 2
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nversion-compare = "=0.2.1"\n' > Cargo.toml
cat > src/main.rs <<'RUST'
use version_compare::{compare, Version};

fn main() {
    let pairs = "1.0.0-alpha.1 1.0.0-alpha.beta 1.0-beta 1.0.0 1.0-beta 1.0.9 1.0.0 1.0.9 2.0.1700000000123 2.0.5";
    for pair in pairs.split(' ').collect::<Vec<_>>().chunks(2) {
        println!("{} and {}: {:?}", pair[0], pair[1], compare(pair[0], pair[1]).unwrap());
    }
    for mut list in [["1.0.9", "1.0-beta", "1.0.1"], ["1.0.1", "1.0-beta", "1.0.9"]] {
        list.sort_by(|a, b| Version::from(a).unwrap().partial_cmp(&Version::from(b).unwrap()).unwrap());
        println!("sorted: {}", list.join(" "));
    }
}
RUST
CARGO_TARGET_DIR="$dir/target" cargo build -q >&2 || exit 2
target/debug/finding > seen.txt || exit 1
cat seen.txt
cat > expected.txt <<'TEXT'
1.0.0-alpha.1 and 1.0.0-alpha.beta: Eq
1.0-beta and 1.0.0: Eq
1.0-beta and 1.0.9: Eq
1.0.0 and 1.0.9: Lt
2.0.1700000000123 and 2.0.5: Eq
sorted: 1.0.9 1.0-beta 1.0.1
sorted: 1.0.1 1.0-beta 1.0.9
TEXT
cmp -s seen.txt expected.txt
