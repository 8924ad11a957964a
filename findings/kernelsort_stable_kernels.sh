#!/usr/bin/env bash
# In short:  a sort of kernel versions puts 2.6.32.61 behind 2.6.33 and 2.6.39.
# Package:   liblinux-kernelsort-perl 0.01-4 (Debian 12), Linux::KernelSort, "sorting and comparing Linux kernel versions".
# One would guess: versions are compared part by part as numbers. The page says that only 2.6.x is evaluated properly, and the module takes 2.6.x.y for valid.
# What happens: the points are taken out, and what is left is one number: 2.6.32.61 is 263261 and 2.6.39 is 2639. So each release of a stable series is newer
#   than all series. Among versions of three parts from 2.6.10 on, and their -rc, the order is right. compare() agrees with sort(); nothing is printed.
#   Beyond 2.6 it goes on so: 6.1.0 is before 5.10.0.
# Why it matters: the last of the list is taken for the newest kernel, and measurements that are listed by kernel come in a wrong order. The module's own
#   examples, which have three parts, pass.
# Source:    Linux/KernelSort.pm, rank: `$version =~ s/\.//g`, behind version_check, which allows a fourth part.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q liblinux-kernelsort-perl=0.01-4 && dpkg-deb -x liblinux-kernelsort-perl_*.deb .; } >&2 || exit 2
perl -I usr/share/perl5 -MLinux::KernelSort - <<'PERL'
my $kernels = Linux::KernelSort->new;
my @lists = ("2.6.32 2.6.33-rc1 2.6.33 2.6.39", "2.6.32 2.6.32.61 2.6.33 2.6.39", "2.6.16 2.6.16.62 2.6.17", "5.9.16 5.10.0 6.1.0");
my @seen = map { join " ", $kernels->sort(split) } @lists;
print "by age: $lists[$_]; sorted: $seen[$_]\n" for 0 .. $#lists;
my $order = $kernels->compare("2.6.32.61", "2.6.33");
print "2.6.32.61 with 2.6.33: $order; valid: ", ($kernels->version_check("2.6.32.61") ? "no" : "yes"), "\n";
my @right = ($lists[0], "2.6.32 2.6.33 2.6.39 2.6.32.61", "2.6.16 2.6.17 2.6.16.62", "6.1.0 5.10.0 5.9.16");
exit(join("|", @seen) ne join("|", @right) || $order != 1);
PERL
