#include "job/prepare_rows_range.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/size_text.h"
#include "engine/partition/row_borders.h"
#include "formats/keys/key_words.h"
#include "job/places.h"

namespace ecosort::job {
namespace {

constexpr std::uint64_t most_header_bytes = std::uint64_t{16} << 20U;
constexpr std::uint64_t row_share = 16;  // of the memory, that a row of a sample may have

// Keeps what a file begins with that is none of its rows.
struct Top {
  std::string bytes;
  std::optional<std::string> header;
  std::string first_row;  // the header, or a row like all others
};

// `size` bytes of a file from `offset` on, unless it is shorter. Through the page cache, whatever the file is opened for.
std::string bytes_at(const std::string& path, std::uint64_t offset, std::size_t size) {
  io::PosixStorage storage;
  const io::FilePtr file = storage.open_input(path, io::Caching::buffered);
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file->fd(), bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError::from_call("read", path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

// Gives the format the first row of the file, if it wants it. What stays on top is in the result.
Top take_top(formats::RowFormat& format, const std::string& path) {
  format.begin_input();
  for (std::size_t size = std::size_t{64} << 10U;; size *= 2) {
    const std::string bytes = bytes_at(path, 0, size);
    const std::size_t mark = format.mark_bytes(bytes);
    if (!format.wants_first_row()) return {bytes.substr(0, mark), std::nullopt, ""};
    formats::Inside inside;
    const char* const end = format.find_end(bytes.data() + mark, bytes.data() + bytes.size(), inside);
    if (end == nullptr && bytes.size() == size && size < most_header_bytes) continue;
    if (bytes.size() == mark) {
      format.miss_first_row(formats::shown_name(path));
      return {bytes, std::nullopt, ""};
    }
    if (end == nullptr && bytes.size() == size)
      throw UsageError(
          fmt::format("{}: the first row has more than {}", formats::shown_name(path), format_bytes(most_header_bytes)));
    const std::size_t row_end = end == nullptr ? bytes.size() : static_cast<std::size_t>(end - bytes.data());
    const std::string row = bytes.substr(mark, row_end - mark);
    if (format.precedes_first_row(row))
      throw UsageError(
          fmt::format("{}: its first line, '{}', names the delimiter, which is for files that are read as a whole; "
                      "take it off, and name the delimiter",
                      formats::shown_name(path), keys::shown(row)));
    if (format.take_first_row(formats::shown_name(path), row) == formats::FirstRow::is_sorted)
      return {bytes.substr(0, mark), std::nullopt, row};
    return {bytes.substr(0, row_end) + format.terminator(), row, row};
  }
}

void check_plain_file(engine::rows::LineInput& input, char terminator) {
  if (input.file->facts().is_stream)
    throw UsageError(fmt::format("{} is a pipe or a device; a range of it cannot be read, so store it first",
                                 formats::shown_name(input.name)));
  input.decompresses = true;
  input.look_at_beginning(terminator);
  input.decompresses = false;
  if (input.codec)
    throw UsageError(
        fmt::format("{} is compressed; a range of it cannot be read, so decompress it first", formats::shown_name(input.name)));
}

struct Borders {
  std::uint64_t begin = 0, end = 0;
};

Borders borders_of(const io::File& file, const formats::RowFormat& format, std::uint64_t first, const FileRange& range) {
  const std::uint64_t bytes = file.facts().size_bytes;
  const std::uint64_t to = end_of_range(range, bytes, file.path());
  engine::partition::RowBorders borders(file, format, std::min(first, bytes), bytes);
  const std::uint64_t begin = borders.at_or_behind(range.from);
  return {begin, borders.at_or_behind(to)};
}

// The last byte of the row in front of the one that begins at `begin`: what its end is like, if the file lacks the last one.
char end_before(const std::string& path, std::uint64_t begin) {
  constexpr std::uint64_t back = 2;  // behind that byte comes the end
  if (begin < back) return 0;
  const std::string byte = bytes_at(path, begin - back, 1);
  return byte.empty() ? '\0' : byte.front();
}

// Checks a file of samples or splitters, which is made of rows of files like this one.
void check_rows(formats::RowFormat& format, const SplitterFile& file, const std::string& path) {
  if (file.header) {
    format.begin_input();
    const bool is_header = format.wants_first_row() &&
                           format.take_first_row(formats::shown_name(path), *file.header) != formats::FirstRow::is_sorted;
    if (!is_header) throw UsageError(fmt::format("'{}' is of rows of CSV, which have a header; these have none", path));
  }
  for (std::size_t i = 0; i < file.rows.size(); ++i)
    if (const auto verdict = engine::partition::judge_row(format, file.rows[i].row); verdict.fault || verdict.is_blank)
      throw UsageError(fmt::format("'{}': row {}: {}", path, i + 1, verdict.fault ? verdict.fault->why : "it is blank"));
}

}  // namespace

CompareRows compare_rows(const formats::RowFormat& format) {
  return [&format](std::string_view a, std::string_view b) { return format.compare(a, b); };
}

engine::partition::PartitionRowsJob prepare_partition_of_rows(const PartitionSpec& spec, RowTerms rows,
                                                              io::PosixStorage& storage) {
  engine::partition::PartitionRowsJob job;
  job.format = std::move(rows.format);
  engine::rows::LineInput& input = job.inputs.emplace_back();
  input.name = rows.input;
  try {
    input.open(storage);
  } catch (const IoError& error) {
    throw UsageError(error.what());  // nothing was begun
  }
  check_plain_file(input, job.format->terminator());
  SplitterFile splitters = read_splitters(spec.splitters);
  const Top top = take_top(*job.format, rows.input);
  job.top = top.bytes;
  job.first_row = top.first_row;
  check_rows(*job.format, splitters, spec.splitters);
  check_in_order(splitters.rows, compare_rows(*job.format), spec.splitters);
  job.terms = terms_of(spec, std::move(splitters), rows.input);
  const Borders range = borders_of(*input.file, *job.format, top.bytes.size(), spec.range);
  job.begin = range.begin;
  job.before_end = end_before(rows.input, range.begin);
  input.end = range.end;
  const std::uint64_t bytes = range.end - range.begin, parts = job.terms.paths.size();
  job.plan = planner::plan_partition_rows({rows.memory_bytes, rows.threads, parts, bytes, job.top.size(), spec.is_sorted});
  // The number of runs of sorted rows depends on their lengths.
  const std::uint64_t runs = spec.is_sorted ? 2 * bytes / job.plan.lines.run_buffer_bytes + 1 : 1;
  check_slice_space(spec, bytes + 1 + runs * parts * job.top.size(), runs * parts, storage);
  return job;
}

PreparedRowSample prepare_sample_of_rows(const SampleSpec& spec, RowTerms rows, io::PosixStorage& storage) {
  PreparedRowSample prepared;
  prepared.format = std::move(rows.format);
  check_is_kept(rows.input, spec.output, "the input");
  engine::rows::LineInput input;
  input.name = rows.input;
  try {
    input.file = storage.open_input(rows.input, io::Caching::buffered);
  } catch (const IoError& error) {
    throw UsageError(error.what());
  }
  check_plain_file(input, prepared.format->terminator());
  const Top top = take_top(*prepared.format, rows.input);
  prepared.header = top.header;
  const Borders range = borders_of(*input.file, *prepared.format, top.bytes.size(), spec.range);
  prepared.file = std::move(input.file);
  prepared.job = {prepared.format.get(), prepared.file.get(), range.begin, range.end, rows.memory_bytes / row_share, spec.terms};
  return prepared;
}

SplitterFile merge_samples_of_rows(formats::RowFormat& format, const std::vector<std::string>& paths) {
  SplitterFile all;
  for (const std::string& path : paths) {
    SplitterFile sample = read_sample(path);
    format.begin_input();
    if (!sample.header && !sample.rows.empty() && format.wants_first_row())  // which shows how many columns there are
      (void)format.take_first_row(formats::shown_name(path), sample.rows.front().row);
    check_rows(format, sample, path);
    if (!all.header) all.header = sample.header;
    std::ranges::move(sample.rows, std::back_inserter(all.rows));
  }
  sort_splitters(all.rows, compare_rows(format));
  return all;
}

}  // namespace ecosort::job
