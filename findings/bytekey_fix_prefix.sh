#!/usr/bin/env bash
# In short:  order-preserving keys in which "foo" comes behind "fooz".
# Package:   bytekey-fix 0.5.1 (crates.io), which encodes Rust values as bytes in the same order.
# One would guess: the bytes of "foo" are less than those of "fooz", as the example in its README asserts.
# What happens: a text is ended by the byte FF, so it comes behind every text that it begins: "" is the last of all, "a" comes behind "ab". The
#   README's own example panics at its second assertion. Numbers are in order.
# Why it matters: tests with words of equal length, or with words none of which begins another, pass. In a store of paths, host names or file names
#   each folder comes behind what is in it, a scan from "foo" misses "fooz", and a range that was sorted by the texts cannot be merged with one that
#   was read from the store.
# Source:    bytekey-fix-0.5.1/src/ser.rs, serialize_str; README.md, the example with MyKey.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" && cd "$dir" || exit 2
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nbytekey-fix = "=0.5.1"\n' > Cargo.toml
cat > src/main.rs <<'RUST'
fn main() {
    let mut words = ["foo", "fooz", "", "b", "bar", "c"];
    words.sort_by_key(|word| bytekey_fix::serialize(word).unwrap());
    println!("{words:?}");
    let mut numbers = [300i64, -1, 0, 2, -300];
    numbers.sort_by_key(|number| bytekey_fix::serialize(number).unwrap());
    println!("{numbers:?}");
}
RUST
CARGO_TARGET_DIR="$dir/target" cargo build -q --release >&2 || exit 2
seen=$(target/release/finding) || exit 1
echo "$seen"
[ "$seen" = "$(printf '%s\n' '["bar", "b", "c", "fooz", "foo", ""]' '[-300, -1, 0, 2, 300]')" ]
