#include "engine/rows/long_row.h"

#include <span>
#include <vector>

#include "base/errors.h"
#include "io/plain_file.h"

namespace ecosort::engine::rows {

// A merge takes rows of a quarter of what the plan has, of which coders and a header may leave three quarters.
std::uint64_t memory_for_row(std::uint64_t row_bytes) noexcept {
  constexpr std::uint64_t share = 6, blocks = std::uint64_t{4} << 20U;
  return share * row_bytes + blocks;
}

std::uint64_t memory_for_row(const std::string& name, std::uint64_t offset, const formats::RowFormat& format) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;
  if (format.begins_anew() || format.record_marks() != nullptr) return 0;
  std::vector<char> block(std::size_t{1} << 20U);
  try {
    io::PlainFile file = io::PlainFile::open_for_reading(name);
    formats::Inside inside;
    for (std::uint64_t done = 0; done < most_bytes;) {
      const std::size_t got = file.read_at(offset + done, std::as_writable_bytes(std::span(block)));
      const char* const end = format.find_end(block.data(), block.data() + got, inside);
      if (end != nullptr) return memory_for_row(done + static_cast<std::uint64_t>(end - block.data()) + 1);
      done += got;
      if (got < block.size()) return memory_for_row(done + 1);
    }
  } catch (const Error&) {
    return 0;  // the line is about what was wrong before
  }
  return 0;
}

}  // namespace ecosort::engine::rows
