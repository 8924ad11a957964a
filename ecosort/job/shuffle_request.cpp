#include "job/shuffle_request.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "formats/records/key_spec.h"
#include "formats/shuffle/shuffle_format.h"
#include "job/line_groups.h"

namespace ecosort::job {

namespace {

bool has_keys(const Request& request) {
  return std::visit([](const auto& rows) { return !rows.keys.empty(); }, request.rows);
}

void check_rows(const Request& request) {
  if (const Records* const records = std::get_if<Records>(&request.rows)) {
    if (records->record_size == 0 || records->record_size > records::max_record_size)
      throw UsageError(fmt::format("a shuffle needs the size of the records, 1 to {} bytes", records::max_record_size));
    if (records->skip_bytes > 0) throw UsageError("a shuffle skips no bytes in front of records; leave that out");
  }
}

}  // namespace

void check_shuffle(const Request& request) {
  if (!request.shuffle) return;
  if (has_keys(request)) throw UsageError("a shuffle has no keys; leave them out");
  if (request.unique) throw UsageError("a shuffle keeps all rows; do not ask for unique ones");
  if (request.input_order != InputOrder::any)
    throw UsageError("a shuffle merges no sorted files; leave the order of the inputs out");
  if (request.place.kind != PlaceKind::file)
    throw UsageError("a shuffle goes to an output and cannot be resumed; leave the kind of the place out");
  if (request.limit && request.shuffle->skip > 0) throw UsageError("a shuffle has a limit or skips rows; leave one of them out");
  check_rows(request);
}

void choose_seed(Request& request) {
  if (!request.shuffle || request.shuffle->seed) return;
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    throw IoError(fmt::format("cannot get random bytes: {}", std::strerror(errno)), errno);
  request.shuffle->seed = seed >> 1U;  // JSON readers that know signed numbers alone can read it
}

std::string_view shuffle_generator() noexcept { return shuffle::generator_name; }

Request without_shuffle(const Request& request) {
  Request rows = request;
  rows.shuffle.reset();
  if (auto* const csv = std::get_if<Csv>(&rows.rows)) csv->keys = {csv->header ? "#1" : "1"};
  if (auto* const json = std::get_if<JsonLines>(&rows.rows)) {
    json->keys = {"-"};
    json->allow_missing = true;
  }
  return rows;
}

std::unique_ptr<formats::RowFormat> shuffle_format_of(const Request& request, std::unique_ptr<formats::RowFormat> rows) {
  const std::uint64_t seed = request.shuffle->seed.value();
  if (const Records* const records = std::get_if<Records>(&request.rows))
    return shuffle::shuffled_records(records->record_size, seed);
  if (const auto groups = line_groups_of(request)) return shuffle::shuffled_line_groups(*groups, seed);
  return shuffle::shuffled(std::move(rows), seed);
}

}  // namespace ecosort::job
