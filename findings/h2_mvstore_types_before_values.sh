#!/usr/bin/env bash
# In short:  an ordered store has the keys 2, 10, -3000000000, 3000000000 and 1.5 in this order.
# Package:   com.h2database:h2-mvstore 2.3.232, the store of the database H2 on its own, and com.fasterxml.jackson.core:jackson-databind 2.18.2 (Maven Central).
# One would guess: keys that are numbers are ordered by their values, whatever class of Java each is in, or a key of another class is refused.
# What happens: the type of the keys, where none is given, orders by class first: Short, Integer, Long, BigInteger, Float, Double, BigDecimal, and by value
#   within a class. Jackson, like other readers of JSON, gives an Integer for a number that fits 32 bits, a Long for a larger one and a Double for
#   one with a point. So the class of a key is up to its size: a range from -4000000000L to 100L has one of four keys, and get(2L) finds no 2.
# Why it matters: identifiers, times and byte offsets pass 2^31 at some time, differences lie on both sides of it, and readings are 2 or 1.5. Small
#   whole numbers pass every test, and so do positive ones that outgrow 32 bits. A merge with a list that is sorted by value is out of order.
# Source:    org.h2.mvstore.type.ObjectDataType, which compares the ids of the types first; MVStore.openMap(name), which takes it where no type is given.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
for package in com.h2database:h2-mvstore:2.3.232 com.fasterxml.jackson.core:jackson-databind:2.18.2; do
  { mvn -q -B -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact="$package"; } >&2 || exit 2
done
cat > Finding.java <<'JAVA'
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.*;
import org.h2.mvstore.*;

public class Finding {
  static String join(Iterator<?> keys) {
    StringJoiner text = new StringJoiner(" ");
    while (keys.hasNext()) text.add(String.valueOf(keys.next()));
    return text.toString();
  }

  public static void main(String[] arguments) throws Exception {
    List<?> numbers = new ObjectMapper().readValue("[10, 2, 3000000000, 1.5, -3000000000]", List.class);
    MVMap<Object, String> map = MVStore.open(null).openMap("rows");
    for (Object number : numbers) map.put(number, number.getClass().getSimpleName());
    String range = join(map.cursor(-4000000000L, 100L, false));
    String seen = join(map.keyIterator(null)) + "; from -4000000000L to 100L: " + range + "; get(2): " + map.get(2) + ", get(2L): " + map.get(2L);
    System.out.println("as read: " + numbers + "\nin the store: " + seen);
    System.exit(seen.equals("2 10 -3000000000 3000000000 1.5; from -4000000000L to 100L: -3000000000; get(2): Integer, get(2L): null") ? 0 : 1);
  }
}
JAVA
java -cp "$(find "$dir/m2" -name '*.jar' | grep -E '/(h2-mvstore|jackson-[a-z]*)/' | tr '\n' ':')" Finding.java
