#!/usr/bin/env bash
# In short:  two programs that merge logs by time leave out the zone.
# Packages:  mergelog 4.5.1-10 and logtools 0.13e+nmu2 (Debian 12).
# One would guess: programs that merge web logs by their time compare moments: [01/Jan/2024:02:00:06 +0200] lies before [01/Jan/2024:00:00:09 +0000].
# What happens: mergelog and clfmerge both compare the digits of day and time and leave the zone behind them out. Lines of a server at +0200 come two hours
#   too late, those of one at -0800 eight hours too early. Nothing is said.
# Why it matters: with logs of two zones the result is no order of time. With ONE server it fails as well, once a year: when summer time ends, an hour of
#   digits repeats, and clfmerge, whose purpose is to repair the order of its input, shuffles the lines of two real hours.
# Source: the common log format has the zone in every line (httpd, mod_log_config, %t); the pages mergelog(1) and clfmerge(1) name no limit of this kind.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
for package in mergelog=4.5.1-10 logtools=0.13e+nmu2; do
  { apt-get -o APT::Sandbox::User=root download -q "$package" && dpkg-deb -x "${package%%=*}"_*.deb .; } >&2 || exit 2
done
line() { echo "192.0.2.$1 - - [$2] \"GET /$3 HTTP/1.1\" 200 1"; }
{ line 1 "01/Jan/2024:00:00:03 +0000" first && line 1 "01/Jan/2024:00:00:09 +0000" third; } > utc.log
line 2 "01/Jan/2024:02:00:06 +0200" second > east.log
# The hour from 02:00 to 03:00 comes twice on 27 October 2024 in Berlin.
{ line 3 "27/Oct/2024:02:10:00 +0200" first && line 3 "27/Oct/2024:02:50:00 +0200" second && line 3 "27/Oct/2024:02:20:00 +0100" third; } > berlin.log
words() { sed 's|.*GET /\([a-z]*\).*|\1|' | tr '\n' ' '; }
two_mergelog=$(usr/bin/mergelog utc.log east.log | words)
two_clfmerge=$(usr/bin/clfmerge utc.log east.log 2>/dev/null | words)
one_clfmerge=$(usr/bin/clfmerge berlin.log 2>/dev/null | words)
echo "two servers, mergelog:          $two_mergelog"
echo "two servers, clfmerge:          $two_clfmerge"
echo "one server in autumn, clfmerge: $one_clfmerge"
[ "$two_mergelog|$two_clfmerge|$one_clfmerge" = "first third second |first third second |first third second " ]
