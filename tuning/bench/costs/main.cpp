// ecosort_costs RUNS [KIND]: the CPU time of each thing that a sort computes, in seconds per 10^9 bytes of input. KIND is
// `records` of 100 bytes, if it is not given; `text`, lines of about 100 bytes; or `number`, rows of CSV of 52 bytes by a number.
//
// The same calls on the same amounts as in the sort, each apart and on one thread. `verification` is what the sort does only to
// verify itself: records are hashed out of memory as they arrive, the output is hashed and compared while the merge has it in the
// cache, run blocks are sealed after they were gathered, and verified after a read, out of memory. `kernels` is the rest: keys
// are extracted of records that were just hashed, indexes sorted, records gathered, RUNS runs merged. Rows are hashed, and their
// blocks sealed, by the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/errors.h"
#include "base/json.h"
#include "costs/cost.h"

namespace {

using namespace ecosort;

unsigned runs_of(std::string_view text) {
  unsigned runs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), runs);
  if (error != std::errc() || end != text.data() + text.size() || runs < 1 || runs > 4096)
    throw UsageError("give the number of runs to merge: ecosort_costs 47");
  return runs;
}

struct Kind {
  std::string_view name;
  ecosort::bench::Costs (*verification)();
  ecosort::bench::Costs (*kernels)(unsigned runs);
};

constexpr Kind kinds[] = {{"records", ecosort::bench::verification_costs, ecosort::bench::kernel_costs},
                          {"text", ecosort::bench::row_verification_costs, ecosort::bench::text_kernel_costs},
                          {"number", ecosort::bench::row_verification_costs, ecosort::bench::number_kernel_costs}};

const Kind& kind_of(std::string_view name) {
  const auto* const found = std::ranges::find(kinds, name, &Kind::name);
  if (found == std::end(kinds)) throw UsageError("give records, text or number: ecosort_costs 47 text");
  return *found;
}

Json to_json(const ecosort::bench::Costs& costs) {
  Json json;
  for (const auto& [name, seconds_per_gigabyte] : costs) json[name] = seconds_per_gigabyte;
  return json;
}

}  // namespace

int main(int argc, char** argv) try {
  const unsigned runs = runs_of(argc > 1 ? argv[1] : "");
  const Kind& kind = kind_of(argc > 2 ? argv[2] : "records");
  if (argc > 3) throw UsageError(fmt::format("'{}': no more is taken than the number of runs and a kind", argv[3]));
  const Json json{{"verification", to_json(kind.verification())}, {"kernels", to_json(kind.kernels(runs))}};
  fmt::print("{}\n", json.text());
  return 0;
} catch (const ecosort::Error& error) {
  fmt::print(stderr, "ecosort_costs: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  fmt::print(stderr, "ecosort_costs: {}\n", error.what());
  return static_cast<int>(ecosort::ExitCode::internal);
}
