#include "job/prepare_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "base/open_files.h"
#include "formats/records/encoder.h"
#include "io/plain_file.h"
#include "io/posix_storage.h"
#include "job/places.h"
#include "job/space.h"

namespace ecosort::job {
namespace {

// Five digits or more, so that names of a partition are in the order of its parts.
std::vector<std::string> paths_of(const PartitionSpec& spec, std::size_t parts) {
  std::vector<std::string> paths;
  const std::size_t digits = std::max<std::size_t>(5, std::to_string(parts - 1).size());
  paths.reserve(parts);
  for (std::size_t part = 0; part < parts; ++part)
    paths.push_back(fmt::format("{}/{}.{:0{}}", spec.directory, spec.prefix, part, digits));
  return paths;
}

// Sorted slices may be several files, PATH and PATH.00001 and so on; those of an earlier partition, too.
bool is_name_of_slice(const std::vector<std::string>& paths, const std::string& path) {
  const auto is_slice = [&](const std::string& one) { return std::ranges::binary_search(paths, one); };
  const std::size_t point = path.rfind('.');
  const bool is_numbered =
      std::all_of(path.begin() + static_cast<std::ptrdiff_t>(point) + 1, path.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_slice(path) || (is_numbered && path.size() - point > 5 && is_slice(path.substr(0, point)));
}

std::vector<std::string> files_with_names_of_slices(const PartitionSpec& spec, const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(spec.directory))
    if (std::string path = fmt::format("{}/{}", spec.directory, entry.path().filename().string()); is_name_of_slice(paths, path))
      found.push_back(std::move(path));
  return found;
}

void check_is_no_slice(const std::string& path, const PartitionSpec& spec, const std::vector<std::string>& paths) {
  if (path.empty()) return;
  const std::filesystem::path file = io::name_behind_links(path);
  if (file.parent_path() == io::name_behind_links(spec.directory) &&
      is_name_of_slice(paths, fmt::format("{}/{}", spec.directory, file.filename().string())))
    throw UsageError(fmt::format("the report '{}' has the name of a slice; name another file", path));
}

void check_reports(const PartitionSpec& spec, const std::vector<std::string>& paths) {
  if (!spec.report.empty()) check_is_kept(spec.splitters, spec.report, "the file of the splitters");
  check_is_no_slice(spec.report, spec, paths);
  for (const std::string& log : spec.logs) check_is_no_slice(log, spec, paths);
}

void check_names(const PartitionSpec& spec, const std::vector<std::string>& paths, const std::string& input) {
  check_writable_directory("output directory", spec.directory);
  if (spec.prefix.empty() || spec.prefix.find('/') != std::string::npos)
    throw UsageError(fmt::format("a slice cannot have a name that begins with '{}'", spec.prefix));
  check_reports(spec, paths);
  const std::vector<std::string> there = files_with_names_of_slices(spec, paths);
  for (const std::string& path : there) {
    check_is_kept(input, path, "the input");
    check_is_kept(spec.splitters, path, "the file of the splitters");
    (void)io::resolve_output(path);  // a device or a pipe is not replaced
  }
  for (const std::string& path : paths) (void)io::resolve_free_output(path);
  if (spec.overwrites) return;
  for (const std::string& path : there)
    if (spec.is_sorted || std::ranges::binary_search(paths, path))
      throw UsageError(fmt::format("'{}' is there already; slices do not replace files unasked", path));
}

void check_part_count(const SplitterFile& splitters, const std::string& path) {
  const std::uint64_t parts = splitters.rows.size() + 1;
  if (parts > engine::partition::most_parts)
    throw UsageError(fmt::format("'{}' makes {} parts; {} are possible", path, parts, engine::partition::most_parts));
  demand_open_files(fmt::format("{} parts", parts), parts, "or choose fewer parts with ecosort sample --merge");
}

}  // namespace

void check_slice_space(const PartitionSpec& spec, std::uint64_t bytes, std::uint64_t files, io::Storage& storage) {
  SpaceNeed need{NotEnoughSpace::For::output, {spec.directory}, bytes + files * page_bytes + files_metadata_bytes(files), 0};
  if (bytes == 0) return;
  need.free_bytes = storage.settled_free_bytes(spec.directory, need.bytes);
  check_space({need});
}

engine::partition::PartitionTerms terms_of(const PartitionSpec& spec, SplitterFile splitters, const std::string& input) {
  check_part_count(splitters, spec.splitters);
  engine::partition::PartitionTerms terms;
  terms.paths = paths_of(spec, splitters.rows.size() + 1);
  terms.splitters = std::move(splitters.rows);
  terms.source = spec.source;
  terms.is_sorted = spec.is_sorted;
  check_names(spec, terms.paths, input);
  return terms;
}

void remove_replaced(const PartitionSpec& spec, const std::vector<std::string>& paths,
                     const std::vector<engine::partition::Slice>& slices, io::PosixStorage& storage) {
  if (!spec.overwrites) return;
  std::set<std::string> present;
  for (const engine::partition::Slice& slice : slices)
    for (const engine::partition::SliceFile& file : slice.files) present.insert(file.path);
  for (const std::string& path : files_with_names_of_slices(spec, paths))
    if (!present.contains(path)) storage.remove(path);
  storage.sync_directory(spec.directory);
}

std::uint64_t end_of_range(const FileRange& range, std::uint64_t bytes, const std::string& name) {
  if (range.to != UINT64_MAX && range.to > bytes)
    throw UsageError(fmt::format("the range ends at byte {}, behind the end of '{}', which has {} bytes", range.to, name, bytes));
  const std::uint64_t to = std::min(range.to, bytes);
  if (range.from > to) throw UsageError(fmt::format("the range begins at byte {}, behind its end, {}", range.from, to));
  return to;
}

void choose_range(engine::fixed::Input& input, const FileRange& range, std::uint64_t record_size) {
  const std::string& name = input.file->path();
  if (input.file->facts().is_stream)
    throw UsageError(fmt::format("'{}' is a pipe or a device; a range of it cannot be read, so store it first", name));
  const std::uint64_t to = end_of_range(range, input.records * record_size, name);
  for (const std::uint64_t border : {range.from, to})
    if (border % record_size != 0)
      throw UsageError(
          fmt::format("no record of {} bytes begins at byte {}; give a multiple of the record size", record_size, border));
  input.skipped = range.from;
  input.records = (to - range.from) / record_size;
}

CompareRows compare_records(const records::RecordFormat& format) {
  return [encoder = std::make_shared<const records::Encoder>(format)](std::string_view a, std::string_view b) {
    return encoder->compare(reinterpret_cast<const std::byte*>(a.data()), reinterpret_cast<const std::byte*>(b.data()));
  };
}

void check_record_rows(const SplitterFile& file, std::uint64_t record_size, const std::string& path) {
  if (file.header) throw UsageError(fmt::format("'{}' is of rows of CSV, which have a header, not of records", path));
  for (std::size_t i = 0; i < file.rows.size(); ++i)
    if (file.rows[i].row.size() != record_size)
      throw UsageError(fmt::format("'{}': row {} has {} bytes, which is not the record size {}", path, i + 1,
                                   file.rows[i].row.size(), record_size));
}

engine::partition::PartitionRecordsJob prepare_partition_of_records(const PartitionSpec& spec, const Request& rows,
                                                                    io::PosixStorage& storage) {
  engine::partition::PartitionRecordsJob job;
  const records::RecordFormat format = records::make_record_format(records_of(rows));
  SplitterFile splitters = read_splitters(spec.splitters);
  check_record_rows(splitters, records::size_of(records_of(rows)), spec.splitters);
  check_in_order(splitters.rows, compare_records(format), spec.splitters);
  job.inputs = open_records(rows, storage);
  choose_range(job.inputs.front(), spec.range, records::size_of(records_of(rows)));
  job.terms = terms_of(spec, std::move(splitters), job.inputs.front().file->path());
  const planner::Machine machine = planner::read_machine();
  const planner::Wanted wanted = wanted_of(rows, job.inputs, machine);
  job.plan = planner::plan_partition({wanted, job.terms.paths.size(), spec.is_sorted});
  check_memory_exists(wanted.memory_bytes, job.plan.plan.peak_memory_bytes, machine);
  const std::uint64_t files = job.terms.paths.size() * (spec.is_sorted ? std::max<std::uint64_t>(job.plan.runs, 1) : 1);
  demand_open_files(fmt::format("{} sorted files of {} parts", files, job.terms.paths.size()), files,
                    engine::partition::fewer_runs_advice);
  check_slice_space(spec, wanted.input_records * records::size_of(records_of(rows)), files, storage);
  return job;
}

}  // namespace ecosort::job
