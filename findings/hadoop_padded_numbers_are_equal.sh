#!/usr/bin/env bash
# In short:  Hadoop's numeric comparison of keys takes all numbers with a blank in front for equal: a job has one group of them.
# Package:   org.apache.hadoop:hadoop-client-api and hadoop-client-runtime 3.4.1 (Maven Central), KeyFieldBasedComparator.
# One would guess: "-n, (Sort numerically)" of a comparator that "provides a subset of the features provided by the Unix/GNU Sort" passes blanks in front
#   of a number, as sort -n does: "  9" comes before " 10". Or it refuses such a key.
# What happens: a character that is no digit ends a number, also the first one, so that every number with a blank or a plus in front is the number without
#   digits. They are all equal, and less than any other. The comparator makes the groups, too, where nobody names another: the reducer is called once, with the
#   values of all keys, and sees one of the keys.
# Why it matters: right-aligned columns (uniq -c, printf "%8d", fixed-width exports) come with blanks. Their totals by key become one total under one key, the job
#   succeeds, and its counters add up. Streaming has the same comparator (mapreduce.partition.keycomparator.options). Numbers without blanks pass every test.
# Source:    KeyFieldBasedComparator.java, numericalCompare(); its page, which speaks of -n, -r and -k.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
for package in org.apache.hadoop:hadoop-client-api:3.4.1 org.apache.hadoop:hadoop-client-runtime:3.4.1; do
  { mvn -q -B -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact="$package"; } >&2 || exit 2
done
mkdir classes && cat > Finding.java <<'JAVA'
import java.nio.file.*;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.*;
import org.apache.hadoop.mapreduce.*;
import org.apache.hadoop.mapreduce.lib.input.*;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator;

public class Finding {
  public static class Count extends Reducer<Text, Text, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<Text> values, Context context) throws java.io.IOException, InterruptedException {
      int count = 0;
      for (Text value : values) count++;
      context.write(new Text("'" + key + "'"), new IntWritable(count));
    }
  }

  // The lines of a job that counts the rows of each key.
  static List<String> counted(String form) throws Exception {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < 30; i++) rows.add(String.format(form, i * 7 % 10 * 25) + "\tvalue");
    Path in = Files.createTempFile("in", ""), out = Files.createTempDirectory("out").resolve("done");
    Files.write(in, rows);
    Configuration conf = new Configuration();
    conf.set("mapreduce.partition.keycomparator.options", "-k1,1n");
    Job job = Job.getInstance(conf);
    job.setJarByClass(Finding.class);
    job.setInputFormatClass(KeyValueTextInputFormat.class);
    job.setReducerClass(Count.class);
    job.setSortComparatorClass(KeyFieldBasedComparator.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(in.toUri()));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(out.toUri()));
    if (!job.waitForCompletion(false)) System.exit(2);
    return Files.readAllLines(out.resolve("part-r-00000"));
  }

  public static void main(String[] arguments) throws Exception {
    List<String> plain = counted("%d"), padded = counted("%8d"), signed = counted("%+d");
    System.out.println("three rows of each of 10 numbers: " + plain + "\nwith blanks in front: " + padded + "\nwith a plus: " + signed);
    System.exit(plain.size() == 10 && padded.size() == 1 && padded.get(0).endsWith("\t30") && signed.size() == 1 ? 0 : 1);
  }
}
JAVA
jars=$(find "$dir/m2" -name '*.jar' | grep -E 'hadoop-client-(api|runtime)|slf4j-api|commons-logging' | tr '\n' ':')
{ javac -cp "$jars" -d classes Finding.java; } >&2 || exit 2
java -Djava.io.tmpdir="$dir" -cp "classes:$jars" Finding 2> log || { code=$?; tail -3 log >&2; exit "$code"; }
