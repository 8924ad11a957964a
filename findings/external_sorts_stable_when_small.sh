#!/usr/bin/env bash
# In short:  rows with equal keys keep their order until the input needs a second piece, and then come in none.
# Package:   external-merge-sort 0.1.6 (npm) and com.github.davidmoten:big-sorter 0.1.24 (Maven Central), external sorts for Node.js and Java.
# One would guess: a merge sort is stable, as Array.sort of JavaScript and List.sort of Java are, which sort the pieces here; or the README says that it is not.
# What happens: both merge the pieces by a heap that knows nothing of their order. With all rows in one piece the sort is stable. With two pieces and
#   more, rows of one key come in the order in which the heap happens to have the pieces: rows 0 2 4 6 and so on come as 0 12 18 2 14 20 and the like.
#   The keys are in order, and no row is lost.
# Why it matters: sorting by time first and then by meter is how one sorts by two keys, and it works on every test that fits one piece (1000000 rows and
#   100000 rows are the defaults). On the real file the times within a meter are shuffled; "the last row of each key wins" takes another row, by the size
#   of the pieces. Add the position of the row to the key.
# Source:    external-merge-sort/sorting.js, merge (the heap compares values only); big-sorter's README, "Algorithm" (PriorityQueue).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts external-merge-sort@0.1.6; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
{ mvn -q -B -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact=com.github.davidmoten:big-sorter:0.1.24; } >&2 || exit 2
cat > finding.mjs <<'NODE'
import { sort, compareOn } from 'external-merge-sort';

const rows = Array.from({ length: 24 }, (_, at) => ({ key: at % 2, at }));
const store = { write: async (piece) => piece, dispose: async () => {} };
for (const maxSize of [100, 6]) {
  const sorted = [];
  for await (const row of sort(rows, { maxSize, store, comparer: compareOn((row) => row.key) })) sorted.push(row);
  const stable = sorted.every((row, i) => i === 0 || sorted[i - 1].key < row.key || (sorted[i - 1].key === row.key && sorted[i - 1].at < row.at));
  console.log(`external-merge-sort, pieces of ${maxSize}: ${stable ? 'stable' : 'not stable'}: ${sorted.slice(0, 12).map((row) => row.at).join(' ')}`);
}
NODE
cat > Finding.java <<'JAVA'
import com.github.davidmoten.bigsorter.Sorter;
import java.io.File;
import java.nio.file.*;
import java.util.*;

public class Finding {
  public static void main(String[] arguments) throws Exception {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < 24; i++) rows.add(i % 2 + " " + i);
    Files.write(Path.of("rows.txt"), rows);
    Comparator<String> byKey = Comparator.comparing(row -> row.charAt(0));
    List<String> expected = new ArrayList<>(rows);
    expected.sort(byKey);
    for (int pieces : new int[] {100, 6}) {
      Sorter.serializerLinesUtf8().comparator(byKey).input(new File("rows.txt")).output(new File("sorted.txt")).maxItemsPerFile(pieces).sort();
      List<String> sorted = Files.readAllLines(Path.of("sorted.txt"));
      StringJoiner first = new StringJoiner(" ");
      for (String row : sorted.subList(0, 12)) first.add(row.substring(2));
      System.out.println("big-sorter, pieces of " + pieces + ": " + (sorted.equals(expected) ? "stable" : "not stable") + ": " + first);
    }
  }
}
JAVA
seen=$(node finding.mjs && java -cp "$(find "$dir/m2" -name '*.jar' | grep -E '/(big-sorter|guava-mini|commons-csv)/' | tr '\n' ':')" Finding.java) || exit 1
echo "$seen"
[ "$(echo "$seen" | cut -d: -f2 | tr -d '\n')" = " stable not stable stable not stable" ]
