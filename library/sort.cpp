// The interface of the library: include/ecosort/ecosort.hpp.
#include <memory>
#include <optional>
#include <utility>

#include "base/json.h"
#include "ecosort/ecosort.hpp"
#include "job/check_order.h"
#include "job/plan_json.h"
#include "job/prepare_records.h"
#include "library/jobs.h"
#include "library/prepare.h"
#include "library/run.h"

namespace ecosort {

namespace {

Plan plan_of_lines(const Request& request) {
  io::PosixStorage storage;
  const job::PreparedLines prepared = library::prepare_rows(request, storage);
  Plan plan;
  plan.memory_bytes = prepared.job.plan.memory_bytes + prepared.job.header_bytes;
  const std::uint64_t bytes = job::known_bytes(prepared.job.inputs);
  plan.shape = bytes <= prepared.job.plan.run_buffer_bytes ? "one pass" : "two passes or more";
  plan.temp_bytes = bytes <= prepared.job.plan.run_buffer_bytes ? 0 : bytes;
  return plan;
}

Plan plan_of_records(const Request& request) {
  io::PosixStorage storage;
  const planner::RecordPlan found = job::prepare_records(request, storage).job.plan;
  Plan plan;
  plan.shape = planner::to_string(found.shape);
  plan.records = found.wanted.input_records;
  plan.runs = found.merge.stored_runs;
  plan.merge_passes = found.merge.passes;
  plan.bytes_read = found.bytes_read;
  plan.bytes_written = found.bytes_written;
  plan.temp_bytes = found.temp_bytes;
  plan.memory_bytes = found.peak_memory_bytes;
  plan.json = job::plan_json(found).text();
  return plan;
}

}  // namespace

Observer::~Observer() = default;
void Observer::begin_phase(std::string_view /*name*/, std::uint64_t /*total_bytes*/) {}
void Observer::progress(std::uint64_t /*bytes*/) {}

Plan plan(const Request& request) {
  library::check_complete(request);
  return library::in_words_of_the_library([&] {
    const bool are_records = request.format() == Format::records && !request.shuffle;
    return are_records ? plan_of_records(request) : plan_of_lines(request);
  });
}

OrderReport check(const Request& request) {
  return library::in_words_of_the_library([&] {
    const engine::OrderCheck found = job::check_order(request);
    return OrderReport{found.rows, found.equal, found.unordered, found.first ? found.first->line_number : 0, found.hash.to_hex()};
  });
}

Report sort(const Request& request, Observer* observer, std::stop_token stop) {
  library::check_complete(request);
  const library::Attendance attendance{observer, std::move(stop)};
  return library::in_words_of_the_library([&] {
    if (request.place.kind != PlaceKind::file)
      if (std::optional<Report> report = library::run_job(request, attendance)) return *std::move(report);
    auto storage = std::make_unique<io::PosixStorage>();
    library::Prepared prepared = library::prepare(request, *storage);
    return library::run(std::move(prepared.work), prepared.open_queue(), std::move(storage), attendance);
  });
}

const char* version() noexcept { return ECOSORT_VERSION; }

}  // namespace ecosort
