#include "engine/fixed/check_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/memory.h"
#include "engine/fixed/check_keys.h"
#include "formats/records/encoder.h"
#include "io/plain_file.h"

namespace ecosort::engine::fixed {
namespace {

constexpr std::size_t least_block_bytes = std::size_t{1} << 20U;

std::string shown(const std::string& name) { return name == "-" ? "standard input" : name; }

// Reads over the bytes in front of the records.
void skip(io::PlainFile& file, const std::string& name, std::uint64_t bytes) {
  std::vector<std::byte> block(std::min<std::uint64_t>(bytes, least_block_bytes));
  for (std::uint64_t left = bytes; left > 0;) {
    const std::size_t wanted = std::min<std::uint64_t>(left, block.size());
    if (file.read({block.data(), wanted}) < wanted)
      throw UsageError(fmt::format("{} is shorter than the {} bytes to skip", shown(name), bytes));
    left -= wanted;
  }
}

// Compares records of which the one before lies in front of the first one, where there is one.
class RecordCheck {
 public:
  RecordCheck(const records::RecordFormat& format, const records::RecordFormat& groups, const CheckTerms& terms, std::string name)
      : name_(std::move(name)), encoder_(format), groups_(groups), size_(format.record_size), terms_(terms) {}

  // False: no more is to be looked at.
  bool take(const std::byte* records, std::size_t number) {
    check_keys(encoder_, records, number, name_, result_.rows);
    if (terms_.is_whole) result_.hash.add_records(records, number, size_);
    for (std::size_t i = 0; i < number; ++i, ++result_.rows) {
      const std::byte* const record = records + i * size_;
      if (result_.rows == 0) continue;
      const int relation = encoder_.compare(record - size_, record);
      const bool is_double = terms_.unique && relation <= 0 && groups_.compare(record - size_, record) == 0;
      if (count(relation, is_double, result_)) continue;
      if (!result_.first) result_.first = Disorder{result_.rows + 1, {}};
      if (!terms_.is_whole) return false;
    }
    return true;
  }
  [[nodiscard]] const OrderCheck& result() const noexcept { return result_; }

 private:
  std::string name_;
  records::Encoder encoder_, groups_;
  std::uint32_t size_;
  const CheckTerms& terms_;
  OrderCheck result_;
};

}  // namespace

OrderCheck check_records(const std::string& name, std::uint64_t skipped, const records::RecordFormat& format,
                         const records::RecordFormat& groups, const CheckTerms& terms) {
  const std::size_t size = format.record_size;
  io::PlainFile file = io::PlainFile::open_for_reading(name == "-" ? "/dev/stdin" : name);
  skip(file, name, skipped);
  std::vector<std::byte> memory(size + round_up(least_block_bytes, size));
  const std::span<std::byte> block = std::span(memory).subspan(size);
  RecordCheck check(format, groups, terms, shown(name));
  for (std::size_t bytes = block.size(); bytes == block.size();) {
    bytes = file.read(block);
    if (bytes % size != 0)
      throw UsageError(fmt::format("{}: the last {} bytes are no whole record of {} bytes", shown(name), bytes % size, size));
    if (bytes == 0 || !check.take(block.data(), bytes / size)) break;
    std::memcpy(memory.data(), block.data() + bytes - size, size);
  }
  return check.result();
}

}  // namespace ecosort::engine::fixed
