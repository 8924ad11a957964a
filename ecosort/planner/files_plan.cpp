#include "planner/files_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "planner/arithmetic.h"
#include "planner/fit_formation.h"

namespace ecosort::planner {
namespace {

constexpr unsigned output_blocks = 4;
constexpr std::uint64_t blocks_of_file = 2;
constexpr std::uint64_t most_unit_bytes = 256 * KiB;  // more is not worth it to go past the page cache
constexpr std::uint64_t least_block_bytes = 16 * KiB, most_block_bytes = 2 * MiB;

// Says what of the memory coders take, and the run blocks that they want whole.
struct Coding {
  std::uint64_t taken_bytes = 0, run_block_bytes = 0;
};

MergeBuffers output_of(const FilesWanted& wanted, const Coding& coding) {
  MergeBuffers output;
  const std::uint64_t least = std::max(round_up(wanted.record_size, page_bytes) + 2 * page_bytes, coding.run_block_bytes);
  output.output_block_bytes = std::max(least, round_up(clip(wanted.memory_bytes / 16, 64 * KiB, 4 * MiB), page_bytes));
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

// Nothing: two files cannot be merged.
std::optional<FilesPlan> divide(const FilesWanted& wanted, const Coding& coding) {
  FilesPlan plan;
  plan.output = output_of(wanted, coding);
  const std::uint64_t size = wanted.record_size, pages = records_of_pages(wanted);
  plan.is_direct = wanted.alignment > 1 && pages * size <= most_unit_bytes;
  const std::uint64_t unit = plan.is_direct ? pages : 1;
  const std::uint64_t wanted_bytes = std::max(wanted.least_block_bytes, coding.run_block_bytes);
  const std::uint64_t wanted_records = round_up(div_up(wanted_bytes, size), unit);
  const std::uint64_t least = std::max({unit, round_down(least_block_bytes / size, unit), wanted_records});
  const std::uint64_t each = bytes_of_file(wanted, least);
  const std::uint64_t others = plan.output.memory_bytes() + wanted.taken_bytes + coding.taken_bytes;
  const std::uint64_t left = wanted.memory_bytes - std::min(wanted.memory_bytes, others);
  const std::uint64_t files = std::max<std::size_t>(wanted.file_bytes.size(), 1);
  plan.fan_in = std::min(files, left / each);
  plan.most_between = wanted.most_between;
  if (others + std::min<std::uint64_t>(files, 2) * each > wanted.memory_bytes) return std::nullopt;
  const std::uint64_t room = (left / plan.fan_in - size) / blocks_of_file;
  const std::uint64_t most =
      std::min(round_down(room, page_bytes), std::max(most_block_bytes, round_up(least * size, page_bytes)));
  plan.block_records = std::max(least, round_down(most / size, unit));
  plan.block_bytes = round_up(plan.block_records * size, page_bytes);
  plan.read_depth = static_cast<unsigned>(std::min<std::uint64_t>(blocks_of_file * plan.fan_in, Requests{}.depth));
  plan.write_depth = output_blocks;
  return plan;
}

// Counts all that is written between passes, each of which may end within a block, and what it is merged into.
std::optional<PackingPlan> packing_of(const FilesWanted& wanted, const RunBlock& run_block) {
  const std::uint64_t bytes = std::accumulate(wanted.file_bytes.begin(), wanted.file_bytes.end(), std::uint64_t{0});
  auto packing = plan_packing({.memory_bytes = wanted.memory_bytes,
                               .threads = wanted.threads,
                               .block_bytes = run_block.bytes,
                               .of_records = true,
                               .blocks = 2 * (div_up(bytes / wanted.record_size, run_block.records) + wanted.file_bytes.size())},
                              wanted.compression);
  if (!packing) return std::nullopt;
  packing->assumed_ratio = wanted.assumed_ratio;
  packing->power = wanted.power;
  return packing;
}

// Larger blocks let fewer files be merged at a time: what `auto` may lose where nothing shrinks.
bool costs_little(const FilesWanted& wanted, const FilesPlan& packed, const FilesPlan& plain) {
  constexpr std::uint64_t most_percent = 125;
  return passes_of(wanted.file_bytes, {packed.fan_in, packed.most_between}).moved_bytes / most_percent <=
         passes_of(wanted.file_bytes, {plain.fan_in, plain.most_between}).moved_bytes / 100;
}

// With coders, where what `plain` writes between passes is to be compressed. Nothing: there is no memory for that.
std::optional<FilesPlan> with_coders(const FilesWanted& wanted, const FilesPlan& plain) {
  const RunBlock run_block = choose_run_block(wanted.record_size, wanted.memory_bytes, BlockUse::packed);
  const auto packing = packing_of(wanted, run_block);
  if (!packing) return std::nullopt;
  if (packing->coders == 0) return plain;
  auto plan = divide(wanted, {packing->bytes(), run_block.bytes});
  if (wanted.compression.is_auto && (!plan || !costs_little(wanted, *plan, plain))) return plain;
  if (!plan) return std::nullopt;
  plan->run_block = run_block;
  plan->packing = *packing;
  return plan;
}

std::optional<FilesPlan> try_plan(const FilesWanted& wanted) {
  const auto plain = divide(wanted, {});
  if (!plain || wanted.compression.is_none() || plain->fan_in >= wanted.file_bytes.size()) return plain;
  return with_coders(wanted, *plain);
}

std::uint64_t enough_memory_bytes(FilesWanted wanted) {
  std::uint64_t low = wanted.memory_bytes, high = std::max(low, page_bytes);
  const auto works = [&](std::uint64_t memory) {
    wanted.memory_bytes = memory;
    return try_plan(wanted).has_value();
  };
  while (!works(high)) {
    low = high;
    high *= 2;
  }
  return least_that_works(low, high, page_bytes, works);
}

}  // namespace

std::uint64_t FilesPlan::temp_bytes_of(std::uint64_t bytes, std::uint32_t record_size) const noexcept {
  if (!packs()) return round_up(bytes, page_bytes);
  return packing.space_of(div_up(bytes / record_size, run_block.records) * run_block.bytes);
}

FilesPlan plan_files(const FilesWanted& wanted) {
  if (auto plan = try_plan(wanted)) return *plan;
  const std::uint64_t enough = enough_memory_bytes(wanted);
  const bool packs = !wanted.compression.is_none() && !wanted.compression.is_auto && divide(wanted, {}).has_value();
  const std::string coding =
      packs ? fmt::format(", and to compress with {} what is merged again,", codec::text_of(wanted.compression.terms)) : "";
  throw NotEnoughMemory(
      fmt::format("to merge files of records of {}{} takes {} of memory, there are {}", format_bytes(wanted.record_size), coding,
                  format_bytes(enough), format_bytes(wanted.memory_bytes)),
      wanted.memory_bytes, enough);
}

FileGroup next_group(std::size_t files, const MergeWidth& width, std::size_t next) noexcept {
  const auto [fan_in, most_between] = width;
  const std::size_t first = files - std::min(files, next) < 2 || next >= most_between ? 0 : next;
  return {first, std::min({fan_in, files - first, files - fan_in + 1})};
}

FilePasses passes_of(const std::vector<std::uint64_t>& file_bytes, const MergeWidth& width,
                     const std::function<std::uint64_t(std::uint64_t)>& temp_bytes_of) {
  struct SortedFile {
    std::uint64_t bytes = 0;
    bool is_temporary = false;
  };
  const auto taken = [&](std::uint64_t bytes) { return temp_bytes_of ? temp_bytes_of(bytes) : round_up(bytes, page_bytes); };
  FilePasses passes;
  std::vector<SortedFile> files, merged;  // behind each other: those that were merged, and those from `at` on
  for (const std::uint64_t bytes : file_bytes) files.push_back({bytes, false});
  std::size_t at = 0;
  std::uint64_t temp = 0;
  for (std::size_t left = files.size(); left > width.fan_in; ++passes.merges) {
    const FileGroup group = next_group(left, width, merged.size());
    if (group.first == 0 && !merged.empty()) {
      merged.insert(merged.end(), files.begin() + static_cast<std::ptrdiff_t>(at), files.end());
      files = std::exchange(merged, {});
      at = 0;
    }
    SortedFile sum{0, true};
    std::uint64_t freed = 0;
    for (const std::size_t end = at + group.count; at < end; ++at) {
      sum.bytes += files[at].bytes;
      if (files[at].is_temporary) freed += taken(files[at].bytes);
    }
    merged.push_back(sum);
    temp += taken(sum.bytes);
    passes.peak_temp_bytes = std::max(passes.peak_temp_bytes, temp);
    temp -= freed;
    passes.moved_bytes += sum.bytes;
    passes.largest_bytes = std::max(passes.largest_bytes, sum.bytes);
    left -= group.count - 1;
  }
  passes.final_temp_bytes = temp;
  return passes;
}

}  // namespace ecosort::planner
