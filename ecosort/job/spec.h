// From what a program wishes for (include/ecosort/ecosort.hpp) to what is checked, opened and planned. Nothing here creates
// anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ecosort/ecosort.hpp"
#include "engine/fixed/sort.h"
#include "io/posix_storage.h"
#include "job/space.h"
#include "plan/machine.h"

namespace ecosort::job {

// What measurements of a machine may turn, and what only the command line asks for, beside the spec.
struct Tuning {
  unsigned merge_threads = 0;     // of the merge, if not the same
  std::uint64_t run_records = 0;  // most records of a stored run; 0: as many as the memory holds
  bool runs_are_a_hint = false;   // where run_records do not fit, the planner chooses, and a notice says so
  planner::Requests requests = {};
  bool checksum = false;            // of valsort, in the report
  std::string expected_hash = {};   // of a merge: that of all records; empty: no one knows
  bool space_is_only_told = false;  // in PreparedRecords::space; whether it suffices is left to check_space()
  bool format_is_assumed = false;   // no one said what the records are: they must look like those of the Sort Benchmark
};

// A sort of records: everything resolved, inputs open.
struct PreparedRecords {
  engine::SortJob job;
  planner::Machine machine;
  std::vector<SpaceNeed> space;
  std::vector<std::string> notices;          // for the user
  std::string tuning_notice;                 // the same, about a tuning that this sort cannot have
  bool output_has_no_temporary_name = true;  // P2: which way the output will be written
};

// UsageError and its kinds for what cannot be.
[[nodiscard]] PreparedRecords prepare_records(const SortSpec& spec, const Tuning& tuning, io::PosixStorage& storage);
// Throws NoRoom where a drive has less free space than is needed. prepare_records() does this unless the space is only told.
void check_space(const SortSpec& spec, const PreparedRecords& prepared);

// For `assumed_records` that are not there: what the machine would have for them is told and not judged.
[[nodiscard]] PreparedRecords prepare_assumed(const SortSpec& spec, const Tuning& tuning, std::uint64_t assumed_records,
                                              io::PosixStorage& storage);

// Steps of it, for jobs of other kinds. `mixes_streams`: there may be several inputs that are pipes, among others.
[[nodiscard]] std::vector<engine::Input> open_records(const SortSpec& spec, const Tuning& tuning, io::PosixStorage& storage,
                                                      bool mixes_streams = false);
[[nodiscard]] planner::Wanted wanted_of(const SortSpec& spec, const Tuning& tuning, const std::vector<engine::Input>& inputs,
                                        const planner::Machine& machine);
// That so much memory is there, before somebody is killed for it in an hour.
void check_memory_exists(std::uint64_t memory_bytes, std::uint64_t need_bytes, const planner::Machine& machine);

}  // namespace ecosort::job
