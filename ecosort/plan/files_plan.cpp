#include "plan/files_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "base/size_text.h"
#include "plan/arithmetic.h"

namespace ecosort::planner {
namespace {

constexpr unsigned output_blocks = 4;
constexpr std::uint64_t blocks_of_file = 2;
constexpr std::uint64_t most_unit_bytes = 256 * KiB;  // more is not worth it to go past the page cache
constexpr std::uint64_t least_block_bytes = 16 * KiB, most_block_bytes = 2 * MiB;

MergeBuffers output_of(const FilesWanted& wanted) {
  MergeBuffers output;
  const std::uint64_t least = round_up(wanted.record_size, page_bytes) + 2 * page_bytes;
  output.output_block_bytes = std::max(least, round_up(clip(wanted.memory_bytes / 16, 64 * KiB, MiB), page_bytes));
  output.output_blocks = output_blocks;
  return output;
}

// Records that begin and end at whole pages of a file.
std::uint64_t records_of_pages(const FilesWanted& wanted) {
  const std::uint64_t page = std::max<std::uint64_t>(wanted.alignment, page_bytes);
  return page / std::gcd(page, std::uint64_t{wanted.record_size});
}

// Two blocks, and the last record of the one before.
std::uint64_t bytes_of_file(const FilesWanted& wanted, std::uint64_t records) {
  return blocks_of_file * round_up(records * wanted.record_size, page_bytes) + wanted.record_size;
}

}  // namespace

FilesPlan plan_files(const FilesWanted& wanted) {
  FilesPlan plan;
  plan.output = output_of(wanted);
  const std::uint64_t size = wanted.record_size, pages = records_of_pages(wanted);
  plan.is_direct = wanted.alignment > 1 && pages * size <= most_unit_bytes;
  const std::uint64_t unit = plan.is_direct ? pages : 1;
  const std::uint64_t wanted_records = round_up(div_up(wanted.least_block_bytes, size), unit);
  const std::uint64_t least = std::max({unit, round_down(least_block_bytes / size, unit), wanted_records});
  const std::uint64_t for_output = plan.output.memory_bytes(), each = bytes_of_file(wanted, least);
  const std::uint64_t left = wanted.memory_bytes - std::min(wanted.memory_bytes, for_output);
  plan.fan_in = std::min<std::uint64_t>(std::max<std::size_t>(wanted.files, 1), left / each);
  const std::uint64_t need = for_output + std::min<std::uint64_t>(std::max<std::size_t>(wanted.files, 1), 2) * each;
  if (need > wanted.memory_bytes)
    throw NotEnoughMemory(fmt::format("to merge files of records of {} takes {} of memory, there are {}", format_bytes(size),
                                      format_bytes(need), format_bytes(wanted.memory_bytes)),
                          wanted.memory_bytes, need);
  const std::uint64_t room = (left / plan.fan_in - size) / blocks_of_file;
  const std::uint64_t most =
      std::min(round_down(room, page_bytes), std::max(most_block_bytes, round_up(least * size, page_bytes)));
  plan.block_records = std::max(least, round_down(most / size, unit));
  plan.block_bytes = round_up(plan.block_records * size, page_bytes);
  plan.read_depth = static_cast<unsigned>(std::min<std::uint64_t>(blocks_of_file * plan.fan_in, Requests{}.depth));
  plan.write_depth = output_blocks;
  return plan;
}

FileGroup next_group(std::size_t files, std::size_t fan_in, std::size_t next) noexcept {
  const std::size_t first = files - std::min(files, next) < 2 ? 0 : next;
  return {first, std::min({fan_in, files - first, files - fan_in + 1})};
}

FilePasses passes_of(std::vector<std::uint64_t> file_bytes, std::size_t fan_in) {
  FilePasses passes;
  std::vector<bool> is_temporary(file_bytes.size(), false);
  std::uint64_t temp = 0;
  for (std::size_t next = 0; file_bytes.size() > fan_in; ++passes.merges) {
    const auto [first, count] = next_group(file_bytes.size(), fan_in, next);
    std::uint64_t bytes = 0, freed = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      bytes += file_bytes[i];
      if (is_temporary[i]) freed += round_up(file_bytes[i], page_bytes);
    }
    temp += round_up(bytes, page_bytes);
    passes.peak_temp_bytes = std::max(passes.peak_temp_bytes, temp);
    temp -= freed;
    passes.moved_bytes += bytes;
    const auto at = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(first + count);
    file_bytes[first] = bytes;
    is_temporary[first] = true;
    file_bytes.erase(file_bytes.begin() + at + 1, file_bytes.begin() + end);
    is_temporary.erase(is_temporary.begin() + at + 1, is_temporary.begin() + end);
    next = first + 1;
  }
  passes.final_temp_bytes = temp;
  return passes;
}

}  // namespace ecosort::planner
