#!/usr/bin/env bash
# In short:  with punctuation ignored, ICU's comparison finds two texts unequal whose sort keys are equal, and which both equal a third.
# Package:   com.ibm.icu:icu4j 77.1 (Maven Central); ICU for C, browsers and databases have the same algorithm.
# One would guess: compare(a, b) says what the comparison of the two sort keys says, as the page of the collator promises, and is an order: if a = b and
#   b = c then a = c.
# What happens: not with alternate=shifted, which Thai has by itself. A mark behind a sign is ignored with the sign, also where a soft hyphen or a joiner
#   lies between. But compare() begins behind what both texts have in common, and does not see the sign there: "-" is less than "-" with a soft hyphen and
#   an accent, both are equal to "", and all three have one sort key. In English without "shifted" the two ways agree for all pairs below.
# Why it matters: an index of sort keys and a merge or a search that compares are not of one order. Whether such rows are duplicates depends on which two
#   of them meet: a sort that drops equal rows keeps one or two of them, by the order of its input.
# Source:    com.ibm.icu.text.CollationKey ("Comparing two CollationKeys returns the relative order of the Strings they represent", as Collator.compare does);
#   RuleBasedCollator.doCompare, which passes over what is equal at the beginning.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ mvn -q -B -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact=com.ibm.icu:icu4j:77.1; } >&2 || exit 2
cat > Finding.java <<'JAVA'
import com.ibm.icu.text.*;
import com.ibm.icu.util.ULocale;
import java.util.*;

public class Finding {
  static List<String> texts(int most) {
    List<String> all = new ArrayList<>(List.of(""));
    for (int i = 0; i < all.size(); i++)
      for (String sign : new String[] {"a", "-", " ", "\u00ad", "\u0301"})
        if (all.get(i).length() < most) all.add(all.get(i) + sign);
    return all;
  }

  // Pairs of which comparison and sort keys say different things.
  static int differences(Collator order, List<String> texts) {
    List<CollationKey> keys = new ArrayList<>();
    for (String text : texts) keys.add(order.getCollationKey(text));
    int found = 0;
    for (int i = 0; i < keys.size(); i++)
      for (int j = 0; j < i; j++)
        if (Integer.signum(order.compare(texts.get(i), texts.get(j))) != Integer.signum(keys.get(i).compareTo(keys.get(j)))) found++;
    return found;
  }

  public static void main(String[] arguments) {
    String sign = "-", marked = "-\u00ad\u0301";
    boolean same = true;
    for (String tag : new String[] {"en", "en-u-ka-shifted", "th"}) {
      Collator order = Collator.getInstance(ULocale.forLanguageTag(tag));
      boolean keysAreEqual = order.getCollationKey(sign).equals(order.getCollationKey(marked));
      int third = order.compare(sign, "") | order.compare(marked, ""), directly = order.compare(sign, marked);
      int wrong = differences(order, texts(4));
      System.out.println(tag + ": sort keys equal: " + keysAreEqual + ", both equal to a third: " + (third == 0) + ", compared: " + directly
          + "; pairs in which keys and comparison differ: " + wrong);
      boolean isPlain = tag.equals("en");
      same &= isPlain ? wrong == 0 : keysAreEqual && third == 0 && directly < 0 && wrong > 0;
    }
    System.exit(same ? 0 : 1);
  }
}
JAVA
java -cp "$(find "$dir/m2" -name 'icu4j-77.1.jar')" Finding.java
