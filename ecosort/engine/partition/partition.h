// A range of rows is cut into parts at splitters, in one pass: `ecosort partition`. What all formats have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/partition/slice_files.h"
#include "engine/partition/splitter.h"
#include "hash/multiset_hash.h"
#include "io/reactor.h"

namespace ecosort::engine {

// How the range is cut, and where its slices go.
struct PartitionTerms {
  std::vector<Splitter> splitters;  // in order
  std::uint64_t source = 0;         // number of the file that the range is of
  bool is_sorted = false;           // the rows of each slice; otherwise they keep their order
  std::vector<std::string> paths;   // of the slices, one more than there are splitters
};

struct PartitionReport {
  std::uint64_t bytes = 0;
  records::MultisetHash hash;  // and number of the rows
  std::vector<Slice> slices;
  io::Traffic traffic;
  std::uint64_t peak_memory_bytes = 0;
  std::string notice;  // something the user should know although all went well; usually empty
};

// Promise P1: what was read is what the slices hold. VerificationError.
void check_slices(const PartitionReport& report);

}  // namespace ecosort::engine
