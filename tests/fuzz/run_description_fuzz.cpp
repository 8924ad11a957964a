// The description of a run holds any bytes, also behind a checksum that is right: it is refused, or its numbers fit each other
// and name keys that can be. And what is described comes back.
//
// Input: a byte that says whether magic, version, size and checksum are put right; the description follows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/memory.h"
#include "fuzz_support.h"
#include "hash/block_checksum.h"
#include "run/block_places.h"
#include "run/description.h"
#include "run/order_bytes.h"

namespace {

using namespace ecosort;
using ecosort::fuzz::require;

constexpr std::uint64_t magic = 0x314e55524f434521, version = 1;
constexpr std::size_t begin_bytes = 24, checksum_bytes = 8;

void put(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void put_right(std::vector<std::byte>& bytes) {
  if (bytes.size() < begin_bytes + checksum_bytes) return;
  put(bytes, 0, magic);
  put(bytes, 8, version);
  put(bytes, 16, bytes.size());
  const std::size_t checked = bytes.size() - checksum_bytes;
  put(bytes, checked, ecosort::hash::block_checksum(bytes.data(), checked, magic));
}

// A table of these bytes, and one as it should be.
void look_at_places(ecosort::run::Description description, const std::vector<std::byte>& bytes) {
  constexpr std::uint64_t most_blocks = 100'000;
  const std::uint64_t blocks = description.blocks(), pages = description.stored_bytes / page_bytes;
  if (blocks > most_blocks) return;
  std::vector<std::byte> table(ecosort::run::places_bytes(blocks));
  for (std::size_t at = 0; at < table.size(); at += bytes.size())
    std::memcpy(table.data() + at, bytes.data(), std::min(bytes.size(), table.size() - at));
  const std::size_t checked = table.size() - checksum_bytes;
  const std::uint64_t seed = ecosort::run::run_seed(description.job, description.run);
  put(table, checked, ecosort::hash::block_checksum(table.data(), checked, seed + blocks));
  try {
    ecosort::run::take_places(description, "run", table);
  } catch (const DamagedRun&) {
    std::vector<std::uint32_t> ends;
    for (std::uint64_t block = 1; block <= blocks; ++block) ends.push_back(static_cast<std::uint32_t>(pages * block / blocks));
    ecosort::run::take_places(description, "run", ecosort::run::encode_places(ends, seed));
  }
  std::uint64_t end = description.head_bytes;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    require(description.place_of(block, 1) == end, "blocks follow each other");
    require(description.bytes_of(block, 1) >= page_bytes && description.bytes_of(block, 1) <= description.block_bytes,
            "each is as large as one can be");
    end += description.bytes_of(block, 1);
  }
  require(end == description.places_at() && end < description.file_bytes(), "and the table is behind them");
}

void look_at_keys(const ecosort::run::Description& description) {
  try {
    if (!description.has_rows()) {
      (void)ecosort::run::record_format_of(description);
      return;
    }
    const std::unique_ptr<ecosort::formats::RowFormat> format = ecosort::run::row_format_of(description);
    require(format->order_bytes() == description.order, "an order comes back");
    format->begin_input();
    if (description.first_row) (void)format->take_first_row("a run", *description.first_row);
    if (format->format() != ecosort::Format::lines) return;  // only rows that were looked at are compared
    const Text a = "1 b,c\t2", b = "";
    (void)format->compare(a, b);
    for (unsigned level = 0; level < format->levels(); ++level) (void)format->window(a, level, 0);
  } catch (const Error&) {  // keys that there are not
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* const from = reinterpret_cast<const std::byte*>(data + 1);
  std::vector<std::byte> bytes(from, from + (size - 1));
  if ((data[0] & 1U) != 0) put_right(bytes);
  ecosort::run::Description description;
  try {
    description = ecosort::run::decode_description(bytes, "run");
  } catch (const Error&) {
    return 0;
  }
  require(description.blocks() > 0, "a run has a block");
  const std::uint64_t blocks = description.blocks();
  if (description.is_packed())
    look_at_places(description, bytes);
  else
    require(description.place_of(blocks - 1, 1) + description.block_bytes <= description.file_bytes(),
            "its blocks lie in its file");
  require(description.used_bytes(blocks - 1) > 0, "its last block holds something");
  const std::vector<std::byte> again = ecosort::run::encode(description);
  require(again.size() == description.head_bytes, "a description fills its room");
  require(ecosort::run::encode(ecosort::run::decode_description(again, "run")) == again, "a description comes back");
  look_at_keys(description);
  return 0;
}
