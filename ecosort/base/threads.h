// Limits what the threads of the program take beside their work, and asks whether there may be as many as wanted.
#pragma once

#include <cstddef>

namespace ecosort {

// All threads but the first have it. The deepest calls are recursive sorts of depth log n.
#ifdef __SANITIZE_THREAD__
inline constexpr std::size_t thread_stack_bytes = std::size_t{8} << 20U;  // ThreadSanitizer takes its part of each
#else
inline constexpr std::size_t thread_stack_bytes = std::size_t{512} * 1024;
#endif

// Small stacks and one heap for all threads that come after: with the C library's own choice (the stack of `ulimit -s` and
// 64 MiB of addresses for the heap of each thread) many threads exceed a limit of the address space, and 1024 of them 40 MiB of
// memory. To be called once, by main, before any thread exists.
void keep_threads_small();

// Starts that many threads at once and ends them again (30 us each): UsageError that says what allows more, or which option
// asks for fewer, if the system refuses. What starts threads in the middle of the work can only give it up then.
void check_threads_can_start(unsigned threads, const char* option);

}  // namespace ecosort
