// A system whose pages are larger than this one's, for a program that it is preloaded into: LARGE_PAGES=16384.
// Mappings begin at multiples of a page and take whole pages; what does not begin at one is refused, as Linux does, and told on
// standard error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t page(void) { return strtoull(getenv("LARGE_PAGES"), NULL, 10); }
static size_t whole(size_t size) { return (size + page() - 1) / page() * page(); }

static int is_refused(const char* call, const void* address) {
  if ((uintptr_t)address % page() == 0) return 0;
  fprintf(stderr, "large pages: %s at %p\n", call, address);
  errno = EINVAL;
  return 1;
}

static void* system_map(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return (void*)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (is_refused("mmap", at) || is_refused("mmap of a file", (void*)(uintptr_t)offset)) return MAP_FAILED;
  if (at != NULL || (flags & MAP_ANONYMOUS) == 0) return system_map(at, size, protection, flags, fd, offset);
  char* const around = system_map(NULL, whole(size) + page(), protection, flags, fd, offset);
  if (around == MAP_FAILED) return MAP_FAILED;
  const size_t lead = (page() - (uintptr_t)around % page()) % page();
  if (lead > 0) syscall(SYS_munmap, around, lead);
  if (page() - lead > 0) syscall(SYS_munmap, around + lead + whole(size), page() - lead);
  return around + lead;
}

int munmap(void* at, size_t size) { return is_refused("munmap", at) ? -1 : (int)syscall(SYS_munmap, at, whole(size)); }

int madvise(void* at, size_t size, int advice) {
  return is_refused("madvise", at) ? -1 : (int)syscall(SYS_madvise, at, whole(size), advice);
}

void* mremap(void* at, size_t size, size_t wanted, int flags, ...) {
  va_list words;
  va_start(words, flags);
  void* const target = (flags & MREMAP_FIXED) != 0 ? va_arg(words, void*) : NULL;
  va_end(words);
  if (is_refused("mremap", at) || is_refused("mremap to", target)) return MAP_FAILED;
  return (void*)syscall(SYS_mremap, at, whole(size), whole(wanted), flags, target);
}

long sysconf(int name) {
  if (name == _SC_PAGESIZE) return (long)page();
  long (*const real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  // Pages are counted in units of their size.
  if (name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES) return real(name) * 4096 / (long)page();
  return real(name);
}
