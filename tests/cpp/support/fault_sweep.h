// Makes everything fail in a job that was run once without a fault, one thing after the other: every (role, operation) that was
// seen.
//
// In a soak each n-th of them with each effect, once and for good. Else the first and the last with each effect, and some between
// with one effect after the other.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "doubles/fault_plan.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::demsort_inplace {

// A disk that fails as the plan says, and a machine on it. Without faults it counts what there is to fail.
template <class Machine>
struct Failing {
  Failing(io::NamedStorage& store, io::Queue& below, std::vector<io::Fault> faults)
      : plan(std::move(faults)), storage(store, plan), queue(below, plan), machine(storage, queue) {}
  io::FaultPlan plan;
  io::FaultyStorage storage;
  io::FaultyQueue queue;
  Machine machine;
};

// The name of the result has one of these in the end.
enum class Left : std::uint8_t { sorted, untouched, something_else };

// Tries the first of each kind with every effect, some others and the last with one each; in a soak all with every one.
[[nodiscard]] std::vector<io::Fault> faults_to_try(const io::FaultPlan& counted);

// A failed call of these that is passed over, or tried once more, would make what is not durable pass for durable.
[[nodiscard]] inline bool is_sync(const io::Fault& fault) {
  return fault.point == io::FaultPoint::sync || fault.point == io::FaultPoint::sync_directory;
}
[[nodiscard]] std::vector<io::Fault> syncs_to_fail(const io::FaultPlan& counted);  // each of them, once

[[nodiscard]] std::string to_text(const io::Fault& fault);

// The pairs of role and operation among the faults, counted.
[[nodiscard]] std::size_t distinct_points(const std::vector<io::Fault>& faults);

}  // namespace ecosort::demsort_inplace
