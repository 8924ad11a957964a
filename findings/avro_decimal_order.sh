#!/usr/bin/env bash
# In short:  encoded decimals are ordered by their bytes: -1.00 behind 1.00, and 1.00 behind 2.55.
# Package:   org.apache.avro:avro 1.12.2 (Maven Central).
# One would guess: keys of the logical type decimal are ordered as numbers, and comparing two encoded keys gives what comparing the two read ones
#   gives.
# What happens: BinaryData.compare, which sorts encoded keys without reading them, takes the bytes of a decimal as unsigned: every negative number
#   comes behind all positive ones, and 1.00 (64) behind 2.55 (00 ff). GenericData.compare of the same keys as bytes takes them as signed: -1.00 is
#   before 1.00 there, and 1.00 still behind 2.55. Only where the conversion is registered and both keys are BigDecimal, the order is that of numbers.
# Why it matters: a shuffle by encoded keys (Avro's own AvroKeyComparator of Hadoop) sorts by the first order, a merge of what was read by the second
#   or the third. Amounts of money without negative ones and of equal length pass every test.
# Source:    Avro's specification, "Sort Order" (bytes and fixed go by unsigned bytes), which logical types don't
#   change; BinaryData.java, GenericData.java, compare.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ mvn -q -B -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact=org.apache.avro:avro:1.12.2; } >&2 || exit 2
cat > Finding.java <<'JAVA'
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import org.apache.avro.*;
import org.apache.avro.generic.*;
import org.apache.avro.io.*;

public class Finding {
  static final Schema TYPE = LogicalTypes.decimal(10, 2).addToSchema(Schema.create(Schema.Type.BYTES));
  static final Conversions.DecimalConversion CONVERSION = new Conversions.DecimalConversion();

  static ByteBuffer bytes(String number) {
    return CONVERSION.toBytes(new BigDecimal(number), TYPE, TYPE.getLogicalType());
  }

  static byte[] encoded(String number) throws Exception {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    Encoder encoder = EncoderFactory.get().binaryEncoder(stream, null);
    new GenericDatumWriter<ByteBuffer>(TYPE).write(bytes(number), encoder);
    encoder.flush();
    return stream.toByteArray();
  }

  public static void main(String[] arguments) throws Exception {
    GenericData numbers = new GenericData();
    numbers.addLogicalTypeConversion(CONVERSION);
    StringBuilder seen = new StringBuilder();
    for (String[] pair : new String[][] {{"-1.00", "1.00"}, {"1.00", "2.55"}, {"-300.00", "3.00"}, {"1.00", "1.20"}}) {
      int[] signs = {
        BinaryData.compare(encoded(pair[0]), 0, encoded(pair[1]), 0, TYPE),
        GenericData.get().compare(bytes(pair[0]), bytes(pair[1]), TYPE),
        numbers.compare(new BigDecimal(pair[0]), new BigDecimal(pair[1]), TYPE)};
      StringBuilder text = new StringBuilder();
      for (int sign : signs) text.append(sign < 0 ? " <" : sign > 0 ? " >" : " =");
      System.out.printf("%8s %-5s encoded, as bytes, as BigDecimal:%s%n", pair[0], pair[1], text);
      seen.append(text);
    }
    System.exit(seen.toString().equals(" > < < > > < > < < < < <") ? 0 : 1);
  }
}
JAVA
classes=$(find "$dir/m2" -name '*.jar' | grep -E '/(avro|jackson-[a-z]*|slf4j-api|commons-compress|commons-io|commons-lang3)/' | tr '\n' ':')
java -cp "$classes" Finding.java 2> java.log
code=$?
[ "$code" -le 1 ] || cat java.log >&2
exit "$code"
