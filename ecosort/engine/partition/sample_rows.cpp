#include "engine/partition/sample_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/partition/row_borders.h"
#include "formats/all/each_format.h"

namespace ecosort::engine::partition {
namespace {

std::string read_bytes(const io::File& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::pread(file.fd(), bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError::from_call("read", file.path(), errno, offset + done, size - done);
    if (got == 0) throw IoError(fmt::format("'{}' became shorter while it was read", file.path()));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

// One sample.
class RowSampler {
 public:
  explicit RowSampler(const SampleRowsJob& job) : job_(job), borders_(*job.file, *job.format, job.begin, job.end) {}

  // From the first row that begins at `place` or behind it; nothing at the end.
  [[nodiscard]] std::optional<Splitter> row_at(std::uint64_t place) {
    const std::uint64_t begin = borders_.at_or_behind(place);
    if (begin >= job_.end) return std::nullopt;
    const std::uint64_t size = borders_.at_or_behind(begin + 1) - begin;
    if (size > job_.most_row_bytes)
      throw NotEnoughMemory(
          fmt::format("'{}': the row at byte {} has {}, too many for the memory", job_.file->path(), begin, format_bytes(size)),
          job_.most_row_bytes);
    Splitter row{read_bytes(*job_.file, begin, size), job_.terms.source, begin};
    if (row.row.ends_with(job_.format->terminator())) row.row.pop_back();
    return row;
  }

  // Returns whether it is one that is sorted.
  [[nodiscard]] bool counts(const Splitter& row) const {
    const RowVerdict verdict = judge_row(*job_.format, row.row);
    if (verdict.fault)
      throw InputRefused(fmt::format("'{}': byte {}: {}", job_.file->path(), row.offset + verdict.fault->at, verdict.fault->why));
    return !verdict.is_blank;
  }

 private:
  const SampleRowsJob& job_;
  RowBorders borders_;
};

}  // namespace

RowVerdict judge_row(const formats::RowFormat& format, Text row) {
  return formats::with_format(format, [&](const auto& known) {
    using Known = std::remove_cvref_t<decltype(known)>;
    RowVerdict verdict;
    formats::Inside inside;
    const char* const end = known.find_end(row.data(), row.data() + row.size(), inside);
    if (end != nullptr || inside.quotes || inside.escape) {
      const std::string_view why = inside.quotes   ? "a quote is opened in this row and not closed"
                                   : inside.escape ? "this row ends with an escape"
                                                   : "this is no whole row";
      verdict.fault = formats::RowFault{0, std::string(why)};
      return verdict;
    }
    if constexpr (Known::leaves_out_blank_rows) verdict.is_blank = known.is_blank(row);
    if constexpr (Known::checks_rows) {
      std::vector<formats::KeyCounts> counts(known.levels());
      if (!verdict.is_blank) verdict.fault = known.check_row(row, counts);
    }
    return verdict;
  });
}

Sample sample_rows(const SampleRowsJob& job, Progress& progress, const std::atomic<int>& interrupted) {
  Sample sample;
  RowSampler sampler(job);
  const std::uint64_t size = job.end - job.begin;
  const std::vector<std::uint64_t> places = random_places(size, job.terms.count, job.terms.seed);
  progress.plan_job(1, size);
  progress.begin(Phase::sample, size, size);
  std::uint64_t told = 0;
  for (const std::uint64_t place : places) {
    if (interrupted != 0) throw Interrupted(interrupted);
    std::optional<Splitter> row = sampler.row_at(job.begin + place);
    if (!row) break;
    if (sampler.counts(*row)) sample.rows.push_back(*std::move(row));
    progress.add_bytes(place - std::exchange(told, place));
  }
  if (sample.rows.empty() && size > 0)  // one or a few rows, behind whose beginnings all places lay
    if (std::optional<Splitter> row = RowSampler(job).row_at(job.begin); sampler.counts(*row))
      sample.rows.push_back(*std::move(row));
  progress.begin(Phase::done, 0);
  return sample;
}

}  // namespace ecosort::engine::partition
