#include "demsort_inplace/appended_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace ecosort::demsort_inplace {

AppendedLines::AppendedLines(const engine::rows::RowTools& tools, const io::File& file, DurableUnit unit)
    : LineSink(tools), file_(file), unit_(std::move(unit.bytes)) {
  bytes_ = unit.begin;
}

void AppendedLines::complete(std::byte* block, run::BlockContents contents, std::uint64_t /*before*/) {
  std::memset(block + contents.used_bytes, 0, round_up(contents.used_bytes, file_.write_unit()) - contents.used_bytes);
}

void AppendedLines::put(std::byte* block, std::size_t bytes) {
  const std::size_t from = unit_.size(), to = round_up(bytes, file_.write_unit());
  if (from > 0 && std::memcmp(block, unit_.data(), std::min(from, bytes)) != 0)
    throw IoError(fmt::format("'{}' is not what was written to it: the lines at byte {} are others", file_.path(), bytes_));
  unit_.clear();
  if (from < to)
    writes_.spawn(write_from(block, from, to, bytes_ + from));
  else
    give_back(block);
  bytes_ += bytes;
}

Task<void> AppendedLines::write_from(std::byte* block, std::size_t from, std::size_t to, std::uint64_t offset) {
  co_await reactor_.write(file_, offset, block + from, to - from);
  progress_.add_bytes(to - from);
  pool_.give(block);
}

}  // namespace ecosort::demsort_inplace
