#!/usr/bin/env bash
# In short:  the order of German in Java has "co op", "co-op" and "coop" together, and that of ICU for Java has "coat" between them.
# Package:   java.text.Collator of OpenJDK 17 (Debian 12), and com.ibm.icu:icu4j 77.1 (Maven Central), classes of the same name and use.
# One would guess: the two order words of one language alike but for details of their versions; ICU is where Java's came from.
# What happens: Java's own ignores spaces and hyphens as long as anything else differs. ICU, which databases and browsers use, compares
#   them as characters before all letters. Most of 9 words here are at other places. German, English and French are alike in this.
# Why it matters: a list that a database ordered and one that a Java program ordered cannot be merged: a merge by either collator is out of order.
#   Lists of single words pass every test; names with blanks ("De Boer", "Deboer"), product names and streets differ.
# Source:    the page of java.text.Collator, which does not speak of spaces; Unicode Technical Standard #35, part 5 (the root order of CLDR).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ mvn -q -B -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact=com.ibm.icu:icu4j:77.1; } >&2 || exit 2
cat > Finding.java <<'JAVA'
import java.util.*;

public class Finding {
  static boolean isInOrder(List<String> words, Comparator<Object> order) {
    for (int i = 1; i < words.size(); i++) if (order.compare(words.get(i - 1), words.get(i)) > 0) return false;
    return true;
  }

  public static void main(String[] arguments) {
    boolean same = true;
    String[] words = {"coat", "coop", "co op", "co-op", "De Boer", "Deboer", "De Vries", "Debora", "Ähre"};
    for (Locale locale : new Locale[] {Locale.GERMAN, Locale.ENGLISH, Locale.FRENCH}) {
      Comparator<Object> jdk = java.text.Collator.getInstance(locale), icu = com.ibm.icu.text.Collator.getInstance(locale);
      List<String> byJava = new ArrayList<>(List.of(words)), byIcu = new ArrayList<>(List.of(words));
      byJava.sort(jdk);
      byIcu.sort(icu);
      int moved = 0;
      for (int i = 0; i < words.length; i++) if (!byJava.get(i).equals(byIcu.get(i))) moved++;
      System.out.println(locale + ", Java: " + byJava + "\n" + locale + ", ICU:  " + byIcu + "\n  " + moved + " of " + words.length
          + " at other places; ICU's order is in order by Java's: " + isInOrder(byIcu, jdk));
      same &= byJava.indexOf("coop") - byJava.indexOf("coat") == 1 && byIcu.indexOf("coat") - byIcu.indexOf("co op") == 2
          && !isInOrder(byIcu, jdk) && !isInOrder(byJava, icu) && moved > 4;
    }
    System.exit(same ? 0 : 1);
  }
}
JAVA
java -cp "$(find "$dir/m2" -name 'icu4j-77.1.jar')" Finding.java
