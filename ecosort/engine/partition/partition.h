// A range of rows is cut into parts at splitters, in one pass: `ecosort partition`. What all formats have in common.
//
//   create the files | read runs, bring their index into the order of the parts, gather | verify | sync | publish
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "engine/bench.h"
#include "engine/partition/slice_files.h"
#include "engine/partition/splitter.h"
#include "hash/multiset_hash.h"
#include "io/reactor.h"

namespace ecosort::engine::partition {

// Says how the range is cut, and where its slices go.
struct PartitionTerms {
  std::vector<Splitter> splitters;  // in order
  std::uint64_t source = 0;         // number of the file that the range is of
  bool is_sorted = false;           // the rows of each file; otherwise they keep their order
  std::vector<std::string> paths;  // of the slices, one more than there are splitters; of their first files where they are sorted
};

// Advises where these are more than may be open.
inline constexpr const char* fewer_runs_advice = "more memory or a shorter range makes fewer runs";

struct PartitionReport {
  std::uint64_t bytes = 0;
  std::uint64_t top_bytes = 0;  // that each slice begins with in front of its rows
  hash::MultisetHash hash;      // and number of the rows
  std::vector<Slice> slices;
  io::Traffic traffic;
  std::uint64_t peak_memory_bytes = 0;
  std::string notice;  // something the user should know although all went well; usually empty
};

// Cuts one kind of rows. Coordinator only.
class Cutter {
 public:
  Cutter() = default;
  Cutter(const Cutter&) = delete;
  Cutter& operator=(const Cutter&) = delete;
  virtual ~Cutter() = default;

  // Returns the bytes of the rows that are read.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  // Begins to read and to fill the files, as tasks of `work`.
  virtual void begin(TaskGroup& work) = 0;
  // All was read: IoError where the input is not what it was, and a notice for the user, or nothing.
  [[nodiscard]] virtual std::string check_input() = 0;
  // Reports what was read, and of every slice its hash and its first and last row. Slices are there, one for each part.
  virtual void sum_up(PartitionReport& report) = 0;
};

// Coordinator only. What it is given outlives it.
class PartitionDriver {
 public:
  PartitionDriver(Bench& bench, SliceFiles& files, Cutter& cutter)
      : bench_(bench), files_(files), cutter_(cutter), work_(bench.reactor.scope()), main_(bench.reactor.scope()) {}

  // Until all slices have their names.
  [[nodiscard]] PartitionReport run();

 private:
  Task<void> partition();
  void verify() const;

  Bench& bench_;
  SliceFiles& files_;
  Cutter& cutter_;
  PartitionReport report_;
  TaskGroup work_, main_;
};

// Partitions with a cutter for `job`, which has `terms`.
template <class TheCutter, class Job>
PartitionReport partition_with(Job& job, const Environment& environment) {
  struct Everything {
    Everything(Job& what, const Environment& where)
        : bench(where, TheCutter::size_of(what)),
          files(bench, what.terms.paths, TheCutter::blocks_of(what)),
          cutter(what, bench, files),
          driver(bench, files, cutter) {}
    Bench bench;
    SliceFiles files;
    TheCutter cutter;
    PartitionDriver driver;
  };
  return keep_where_queue_breaks(std::make_unique<Everything>(job, environment),
                                 [](Everything& all) { return all.driver.run(); });
}

}  // namespace ecosort::engine::partition
