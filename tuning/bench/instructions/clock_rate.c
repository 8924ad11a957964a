/* Prints at how many GHz this machine computes: each addition of a chain takes one cycle. /proc/cpuinfo of a virtual machine names
 * the rate of its counter instead. */
#include <stdio.h>
#include <time.h>

enum { rounds = 50000000, additions = 8 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    unsigned long sum = 1;
    const double begin = seconds();
    for (long round = 0; round < rounds; ++round)
      __asm__ volatile("add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0"
                       : "+r"(sum));
    const double ghz = 1e-9 * rounds * additions / (seconds() - begin);
    best = ghz > best ? ghz : best;
  }
  printf("%.3f\n", best);
  return 0;
}
