// qemu-user 7.2 passes on that the kernel states the unit of direct I/O, and leaves the unit out: there would be no direct I/O.
// Preloaded into an emulated program, this does not ask for it, as on a kernel that states nothing.
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DIRECT_IO_UNIT = 0x2000 };  // STATX_DIOALIGN, which older headers lack

int statx(int directory, const char* restrict path, int flags, unsigned mask, struct statx* restrict facts) {
  return (int)syscall(SYS_statx, directory, path, flags, mask & ~(unsigned)DIRECT_IO_UNIT, facts);
}
