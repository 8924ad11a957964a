// A sort of records: from a request to what is checked, opened and planned. Nothing here creates anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ecosort/request.hpp"
#include "engine/fixed/sort.h"
#include "io/posix_storage.h"
#include "job/space.h"
#include "planner/machine.h"

namespace ecosort::job {

// Says how far the request is meant.
struct Leeway {
  bool runs_are_a_hint = false;     // where means.run_records do not fit, the planner chooses, and a notice says so
  bool space_is_only_told = false;  // in PreparedRecords::space; whether it suffices is left to check_space()
};

// The records of a request that has records.
[[nodiscard]] const Records& records_of(const Request& request);

// A sort of records: everything resolved, inputs open.
struct PreparedRecords {
  engine::fixed::SortJob job;
  planner::Machine machine;
  std::vector<SpaceNeed> space;
  std::vector<std::string> notices;          // for the user
  std::string tuning_notice;                 // the same, about a tuning that this sort cannot have
  std::string way;                           // why large records are gathered or not, for `plan`; empty: no question
  bool output_has_no_temporary_name = true;  // P2: which way the output will be written
};

// UsageError and its kinds for what cannot be.
[[nodiscard]] PreparedRecords prepare_records(const Request& request, io::PosixStorage& storage, Leeway leeway = {});
// Throws NoRoom where a drive has less free space than is needed. prepare_records() does this unless the space is only reported.
void check_space(const Request& request, const PreparedRecords& prepared);

// For `assumed_records` that are not there: what the machine would have for them is reported and not judged.
[[nodiscard]] PreparedRecords prepare_assumed(const Request& request, std::uint64_t assumed_records, io::PosixStorage& storage,
                                              Leeway leeway = {});

// Steps of it, for jobs of other kinds. `mixes_streams`: there may be several inputs that are pipes, among others.
[[nodiscard]] std::vector<engine::fixed::Input> open_records(const Request& request, io::PosixStorage& storage,
                                                             bool mixes_streams = false);
// Returns how many records the file has behind the bytes to skip. UsageError where one is not whole.
[[nodiscard]] std::uint64_t whole_records(const io::File& file, std::uint64_t record_size, std::uint64_t skipped = 0);
[[nodiscard]] planner::Wanted wanted_of(const Request& request, const std::vector<engine::fixed::Input>& inputs,
                                        const planner::Machine& machine);
// Returns the bytes that the inputs have in front of their records, which the output gets; UsageError where they are not alike,
// or say how many records follow, and the output has more or fewer.
[[nodiscard]] std::vector<std::byte> common_head(const Request& request, const std::vector<engine::fixed::Input>& inputs);
// The output is longer by such a head.
void add_head(std::vector<SpaceNeed>& needs, std::uint64_t bytes);
// Checks that so much memory is there, before somebody is killed for it in an hour.
void check_memory_exists(std::uint64_t memory_bytes, std::uint64_t need_bytes, const planner::Machine& machine);

}  // namespace ecosort::job
