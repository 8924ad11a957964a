#!/usr/bin/env bash
# In short:  order-preserving keys of decimals keep 31 digits: two IPv6 addresses are one key.
# Package:   org.apache.hbase:hbase-common 2.5.10 (Maven Central), OrderedBytes, the keys of HBase rows.
# One would guess: encodeNumeric(BigDecimal), whose encoding has a variable length, gives each number a key of its own, or refuses one with too many digits.
# What happens: the number is rounded to 31 digits before it is encoded, and nothing is raised. 2^128 - 1 and 2^128 - 2 have the same bytes, and are
#   read back as 340282366920938463463374607431800000000.
# Why it matters: a number of 128 bits has up to 39 digits: UUIDs and IPv6 addresses as decimals, hashes, keys of several columns that were packed into
#   one number. Of 1000 neighbouring addresses one key is left, and each row overwrites the one before, in perfect order. 64-bit numbers pass every test.
# Source:    OrderedBytes.java, encodeNumeric(PositionedByteRange, BigDecimal, Order): normalize() with DEFAULT_MATH_CONTEXT, whose precision is MAX_PRECISION = 31.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
for package in org.apache.hbase:hbase-common:2.5.10 org.apache.yetus:audience-annotations:0.13.0 org.apache.commons:commons-lang3:3.14.0; do
  { mvn -q -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dtransitive=false -Dartifact="$package"; } >&2 || exit 2
done
classes=$(find "$dir/m2" -name 'hbase-common*.jar' -o -name 'audience-annotations*.jar' -o -name 'commons-lang3*.jar' | tr '\n' ':')
cat > Keys.java <<'JAVA'
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.TreeSet;
import org.apache.hadoop.hbase.util.Order;
import org.apache.hadoop.hbase.util.OrderedBytes;
import org.apache.hadoop.hbase.util.SimplePositionedMutableByteRange;

public class Keys {
  static byte[] key(BigInteger number) {
    SimplePositionedMutableByteRange to = new SimplePositionedMutableByteRange(100);
    OrderedBytes.encodeNumeric(to, new BigDecimal(number), Order.ASCENDING);
    return Arrays.copyOf(to.getBytes(), to.getPosition());
  }

  public static void main(String[] words) {
    for (int bits : new int[] {64, 96, 128}) {
      TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
      BigInteger top = BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
      for (int i = 0; i < 1000; ++i) keys.add(key(top.subtract(BigInteger.valueOf(i))));
      BigDecimal back = OrderedBytes.decodeNumericAsBigDecimal(new SimplePositionedMutableByteRange(key(top)));
      System.out.println("1000 numbers of " + bits + " bits: " + keys.size() + " keys; " + top + " is read back as " + back.toPlainString());
    }
  }
}
JAVA
java -cp "$classes" Keys.java > seen.txt || { cat seen.txt; exit 1; }
cat seen.txt
grep -q '64 bits: 1000 keys' seen.txt && grep -q '96 bits: 1000 keys' seen.txt && grep -q '128 bits: 1 keys' seen.txt
