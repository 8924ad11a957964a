#!/usr/bin/env bash
# In short:  a lookup in Java does not find the keys 5, 7 and 9 of a table, because there are keys from 2^63 on behind them.
# Package:   flatbuffers-compiler 2.0.8 (Debian 12) and com.google.flatbuffers:flatbuffers-java 2.0.8 (Maven Central), FlatBuffers.
# One would guess: a vector of tables with a key of the type ulong is sorted and searched in one order, whatever language does either: the order is the
#   reason for the attribute "key", and both sides are made from one schema by one program.
# What happens: flatc, like C++, sorts ulong as unsigned. Java has no unsigned long, and the code that is made for it compares them as signed. The
#   search by halves takes the wrong half wherever it compares a number below 2^63 with one from there on, and rowsByKey() returns null. Of 8 sorted keys,
#   three of them small, it finds four large ones, and neither 5, 7 and 9 nor 2^63. Walking over the vector shows all eight. Nothing is raised.
# Why it matters: hashes, random identifiers and packed positions use all 64 bits. Which keys are found depends on the others in the vector, so large
#   keys that are added hide small ones; "not there" leads to a second row or a wrong default. Keys that count up from 1 pass every test.
# Source:    FlatBuffers, "Writing a schema", attribute "key"; Row.java, __lookup_by_key and keysCompare, as flatc writes them.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q flatbuffers-compiler=2.0.8+dfsg1-2 && dpkg-deb -x flatbuffers-compiler_*.deb . \
  && mvn -q -B -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact=com.google.flatbuffers:flatbuffers-java:2.0.8; } >&2 || exit 2
cat > store.fbs <<'FBS'
namespace finding;
table Row { id: ulong (key); name: string; }
table Store { rows: [Row]; }
root_type Store;
FBS
keys="5 7 9 9223372036854775808 9223372036854775809 12345678901234567890 13000000000000000000 18446744073709551615"
printf '{rows: [%s]}' "$(for key in $keys; do printf '{id: %s, name: "%s"}, ' "$key" "$key"; done | sed 's/, $//')" > rows.json
{ usr/bin/flatc -b store.fbs rows.json && usr/bin/flatc --java store.fbs; } > flatc.log 2>&1 || { cat flatc.log >&2; exit 1; }
cat > Finding.java <<'JAVA'
import finding.Store;
import java.nio.ByteBuffer;
import java.nio.file.*;

public class Finding {
  static final String EXPECTED = "9223372036854775809 12345678901234567890 13000000000000000000 18446744073709551615 ";

  public static void main(String[] keys) throws Exception {
    Store store = Store.getRootAsStore(ByteBuffer.wrap(Files.readAllBytes(Path.of("rows.bin"))));
    StringBuilder stored = new StringBuilder(), found = new StringBuilder();
    for (int i = 0; i < store.rowsLength(); i++) stored.append(store.rows(i).name()).append(' ');
    for (String key : keys) {
      if (store.rowsByKey(Long.parseUnsignedLong(key)) != null) found.append(key).append(' ');
    }
    System.out.println("stored, in this order: " + stored + "\nfound by the key: " + found);
    System.exit(stored.toString().trim().equals(String.join(" ", keys)) && found.toString().equals(EXPECTED) ? 0 : 1);
  }
}
JAVA
jar=$(find "$dir/m2" -name 'flatbuffers-java-2.0.8.jar')
javac -cp "$jar:." -d classes Finding.java finding/*.java 2> javac.log || { cat javac.log >&2; exit 1; }
# shellcheck disable=SC2086 # one argument for each key
java -cp "$jar:classes" Finding $keys
