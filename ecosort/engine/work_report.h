// Every sort and every merge reports this when it is done, whatever its records are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/resumed.h"
#include "hash/multiset_hash.h"
#include "io/reactor.h"
#include "run/run_packer.h"
#include "sortbenchmark/valsort_crc.h"

namespace ecosort::engine {

// Records, or lines, or rows of a table.
struct WorkReport {
  std::uint64_t records = 0;  // that were read
  std::uint64_t dropped = 0;  // of them, because others are equal
  std::uint64_t beyond = 0;   // of them, dropped because they are not among the first ones that were wanted
  std::uint64_t counted = 0;  // of them, in the counts that were written
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::uint64_t appended = 0;  // of the records, unsorted ones behind the others: those that broken jobs had in no run
  std::uint64_t runs = 0;
  std::uint64_t runs_in_inputs = 0;          // of them: what came in order, which was not stored
  std::uint64_t bytes_in_inputs = 0;         // of these runs
  std::uint64_t merges = 0;                  // before the last one
  hash::MultisetHash hash;                   // of the records read
  sortbenchmark::Checksum checksum;          // of records: valsort's, of those read, where it was asked for
  std::optional<std::uint64_t> equal_pairs;  // of records: neighbours of the output with equal keys; nothing: not counted
  io::Traffic traffic;
  std::uint64_t peak_temp_bytes = 0, peak_memory_bytes = 0;
  std::optional<run::PackingReport> run_packing;  // of temporary runs; nothing: they could not be compressed, or there was none
  std::optional<Resumed> resumed;                 // nothing: the job began in this run
  std::vector<std::string> notices;               // what the user should know although all went well; some are empty
};

}  // namespace ecosort::engine
