// ecosort_costs RUNS: the CPU time of each thing that a sort computes, in seconds per 10^9 bytes of records.
//
// The same calls on the same amounts as in the sort, each apart and on one thread. `verification` is what the sort does only to
// verify itself: records are hashed out of memory as they arrive, the output is hashed and compared while the merge has it in the
// cache, run blocks are sealed after they were gathered, and verified after a read, out of memory. `kernels` is the rest: keys
// are extracted of records that were just hashed, indexes sorted, records gathered, RUNS runs merged.
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/json_text.h"
#include "costs/cost.h"

namespace {

using namespace ecosort;

unsigned runs_of(int argc, char** argv) {
  unsigned runs = 0;
  if (argc != 2 || std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), runs).ec != std::errc() || runs < 1 || runs > 4096)
    throw UsageError("give the number of runs to merge: ecosort_costs 47");
  return runs;
}

nlohmann::ordered_json to_json(const bench::Costs& costs) {
  nlohmann::ordered_json json;
  for (const auto& [name, seconds_per_gigabyte] : costs) json[name] = seconds_per_gigabyte;
  return json;
}

}  // namespace

int main(int argc, char** argv) try {
  const unsigned runs = runs_of(argc, argv);
  const nlohmann::ordered_json json{{"verification", to_json(bench::verification_costs())},
                                    {"kernels", to_json(bench::kernel_costs(runs))}};
  fmt::print("{}\n", ecosort::json_text(json));
  return 0;
} catch (const ecosort::Error& error) {
  fmt::print(stderr, "ecosort_costs: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  fmt::print(stderr, "ecosort_costs: {}\n", error.what());
  return static_cast<int>(ecosort::ExitCode::internal);
}
