#include "job/prepare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "job/kept_run_set.h"
#include "job/places.h"
#include "job/plan_rows.h"
#include "job/prepare_rows.h"
#include "job/row_formats.h"
#include "run/order_bytes.h"

namespace ecosort::job {
namespace {

engine::fixed::MergeFilesJob prepare_records(Request request, KeptRunSet set, std::vector<engine::fixed::Input> rest,
                                             io::PosixStorage& storage) {
  const records::RecordFormat format = run::record_format_of(set.runs.front().description());
  request.rows = Records{.record_size = format.record_size, .keys = format.keys};
  std::vector<engine::fixed::Input> inputs;
  inputs.reserve(set.runs.size());
  for (KeptRun& run : set.runs) inputs.push_back(std::move(run.input));
  return prepare_merge(request, std::move(inputs), std::move(rest), storage);
}

std::unique_ptr<formats::RowFormat> row_format(const KeptRunSet& set) {
  const KeptRun& any = set.runs.front();
  const std::uint64_t header_lines = set.headers.empty() ? 0 : set.headers.front().description().hash.count;
  std::unique_ptr<formats::RowFormat> format = run::row_format_of(any.description(), header_lines);
  format->begin_input();
  if (any.description().first_row) (void)format->take_first_row(any.name, *any.description().first_row);
  if (format->keys_need_first_row() && format->wants_first_row())
    throw UsageError(fmt::format("the run '{}' does not say where its columns are", any.name));
  format->go_on_in_input();
  return format;
}

// The output must not be a run: it replaces what is there.
void check_output_is_no_run(const Request& request, const KeptRunSet& set, io::PosixStorage& storage) {
  std::vector<engine::fixed::Input> inputs;
  for (const std::vector<KeptRun>* runs : {&set.runs, &set.headers})
    for (const KeptRun& run : *runs) {
      engine::fixed::Input input;
      input.file = storage.open_input(run.name, io::Caching::buffered);
      inputs.push_back(std::move(input));
    }
  check_output(request.place.output, inputs, storage);
}

Request merge_of(const Request& request, const KeptRunSet& set) {
  Request merge = request;
  merge.rows = Lines{};  // what it says of rows does not count
  merge.input_order = InputOrder::believed;
  merge.unique = set.runs.front().description().is_unique;
  merge.inputs.clear();
  for (const KeptRun& run : set.runs) merge.inputs.push_back(run.name);
  return merge;
}

PreparedLines prepare_rows(const Request& request, const KeptRunSet& set, std::vector<engine::rows::RowsRest> rest,
                           io::PosixStorage& storage) {
  check_output_is_no_run(request, set, storage);
  const Request merge = merge_of(request, set);
  engine::rows::RunContents kept;
  if (!set.headers.empty()) {
    kept.top = read_header(set.headers.front(), row_memory_of(merge.means) / header_share);
    kept.hash = set.headers.front().description().hash;
  }
  std::vector<run::Description> descriptions;
  descriptions.reserve(set.runs.size());
  for (const KeptRun& run : set.runs) {
    descriptions.push_back(run.description());
    kept.hash += run.description().hash;
  }
  return prepare_kept_rows(merge, row_format(set), std::move(descriptions), std::move(kept), std::move(rest), storage);
}

}  // namespace

PreparedRuns prepare_runs(const Request& request, std::vector<RestOfJob> rests, io::PosixStorage& storage) {
  UnfinishedJobs unfinished;
  std::vector<engine::fixed::Input> records;
  std::vector<engine::rows::RowsRest> rows;
  for (RestOfJob& rest : rests) {
    unfinished.push_back(rest.job);
    std::ranges::move(rest.records, std::back_inserter(records));
    if (rest.rows) rows.push_back(std::move(*rest.rows));
  }
  KeptRunSet set = open_kept_runs(request.inputs, unfinished, storage);
  if (set.runs.empty())
    throw UsageError(
        fmt::format("'{}' holds only what stays on top: name the other runs of its job, too", request.inputs.front()));
  PreparedRuns prepared;
  if (set.runs.front().description().has_rows())
    prepared.rows = prepare_rows(request, set, std::move(rows), storage);
  else
    prepared.records = prepare_records(request, std::move(set), std::move(records), storage);
  return prepared;
}

}  // namespace ecosort::job
