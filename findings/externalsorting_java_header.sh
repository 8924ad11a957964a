#!/usr/bin/env bash
# In short:  an external sort (Java) drops the header that it is given to keep out of the order.
# Package:   com.google.code.externalsortinginjava:externalsortinginjava 0.6.2 (Maven Central), the external sort most used in Java.
# One would guess: the option "--header 1" keeps the first line where it is, in front of the sorted ones.
# What happens: the line is read over and written nowhere. The sorted file is one line shorter than its input and begins with data; so does
#   the result of sortInBatch() with numHeader and mergeSortedFiles(). No message, exit code 0.
# Why it matters: the next program takes the first row of data for the names of the columns, so a second row is lost there, another one after each sort.
# Source: ExternalSort.java, sortInBatch: the header's lines are read in a loop before the first batch; the help says "ignore the first few lines".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
package=com.google.code.externalsortinginjava:externalsortinginjava:0.6.2
{ mvn -q -Dmaven.repo.local="$dir/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact="$package"; } >&2 || exit 2
classes=$(find "$dir/m2" -name '*.jar' -path '*externalsort*' | tr '\n' ':')$(find "$dir/m2" -name 'commons-csv*.jar' | tr '\n' ':')
printf 'name,price\nlamp,40\nchair,30\ntable,120\n' > in.csv
java -cp "$classes" com.google.code.externalsorting.ExternalSort --header 1 in.csv out.csv || exit 2
echo "in:  $(tr '\n' '|' < in.csv)"
echo "out: $(tr '\n' '|' < out.csv)"
[ "$(cat out.csv)" = "$(printf 'chair,30\nlamp,40\ntable,120')" ]
