#!/usr/bin/env bash
# In short:  an assignment to an element of a sorted array adds an element, and the old value stays.
# Package:   libtie-array-sorted-perl 1.41-5 (Debian 12), Tie::Array::Sorted, an array of Perl that keeps itself in order.
# One would guess: $readings[0] = 260 replaces the first element, and the new value moves to its place in the order; the page of the module says so.
# What happens: the element is not taken out. Of 230 240 250 the assignment makes 230 240 250 260. Each correction of a value adds one. push, pop and shift
#   are right, and the array is in order at any time. Tie::Array::Sorted::Lazy of the same package does the same. Nothing is raised.
# Why it matters: a value that is corrected counts twice, as it was and as it is: sums, counts and medians are wrong, and the smallest value can't be replaced by
#   a larger one, which is how one keeps the n largest. Tests that only push and read pass.
# Source:    Tie/Array/Sorted.pm, STORE: `splice @{ $self->{array} }, $index, 0` (a splice that takes out none); its page says that such stores "effectively
#   splice out the original value" and that the module "does the right thing".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ apt-get -o APT::Sandbox::User=root download -q libtie-array-sorted-perl=1.41-5 && dpkg-deb -x libtie-array-sorted-perl_*.deb .; } >&2 || exit 2
perl -I usr/share/perl5 - <<'PERL'
use Tie::Array::Sorted;
use Tie::Array::Sorted::Lazy;
my @seen;
for my $class ("Tie::Array::Sorted", "Tie::Array::Sorted::Lazy") {
    tie my @readings, $class, sub { $_[0] <=> $_[1] };
    push @readings, 250, 230, 240;
    my $before = "@readings";
    $readings[0] = 260;
    push @seen, "@readings";
    print "$class: $before; after \$readings[0] = 260: $seen[-1]\n";
    untie @readings;
}
exit("$seen[0]|$seen[1]" ne "230 240 250 260|230 240 250 260");
PERL
