// A sort works with these in this process, whatever it sorts: the coordinator's reactor, the compute threads, the memory, and who
// sees how far it is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/memory.h"
#include "base/open_files.h"
#include "engine/compute.h"
#include "engine/phase_log.h"
#include "engine/progress.h"
#include "io/queue.h"
#include "io/reactor.h"
#include "io/storage.h"

namespace ecosort::engine {

// Says where a sort works, and who looks on. All of it outlives the sort.
struct Environment {
  io::Storage& storage;
  io::Queue& queue;
  Progress& progress;
  PhaseLog& log;
  const std::atomic<int>& interrupted;  // a signal number; 0: continue
};

// Says what of the plan every sort needs.
struct BenchSize {
  std::uint64_t memory_bytes = 0;
  unsigned threads = 0, read_depth = 0, write_depth = 0;
};

// Coordinator only. Members are declared in the order in which they may be used; what computes or waits dies before what it uses.
struct Bench {
  Bench(const Environment& environment, const BenchSize& size)
      : storage(environment.storage),
        progress(environment.progress),
        log(environment.log),
        interrupted(environment.interrupted),
        memory(size.memory_bytes),
        reactor(environment.queue, most_reads(size), size.write_depth),
        compute(reactor, size.threads) {
    reactor.wait_with(storage);
  }
  // Each may be of another input, which stays open meanwhile.
  [[nodiscard]] static unsigned most_reads(const BenchSize& size) noexcept {
    return static_cast<unsigned>(std::min<std::uint64_t>(size.read_depth, open_files_share()));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Phases follow each other. `bytes` and `share` as Progress::begin() has them.
  void begin(const char* name, Phase phase, std::uint64_t bytes, std::uint64_t share = 0) {
    log.begin(name, reactor.traffic());
    progress.begin(phase, bytes, share);
  }
  void end() { log.end(reactor.traffic()); }

  io::Storage& storage;
  Progress& progress;
  PhaseLog& log;
  const std::atomic<int>& interrupted;
  MemoryBudget memory;
  io::Reactor reactor;
  Compute compute;
};

// Returns what `work(*owner)` returns. Where the queue breaks, the system may still use the buffers that the owner has: it then
// lives as long as the process.
template <class Owner, class Work>
auto keep_where_queue_breaks(std::unique_ptr<Owner> owner, const Work& work) {
  try {
    return work(*owner);
  } catch (const io::QueueBroken&) {
    (void)owner.release();
    throw;
  }
}

}  // namespace ecosort::engine
