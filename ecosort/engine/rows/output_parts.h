// Parts of the output that are written at the same time, each by a sink of its own.
//
//   output | part 0 .........:............. part 1 ..:. part 2 ... |
//   pages  |      |      |   B  |      |      |      B      |      |       B: bytes of two parts, or of more if they are short
//
// Past the page cache a file is written in whole pages. What a part has in a page that it does not have alone is kept back,
// and these pages are written when all parts are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/merge_cursors.h"
#include "io/reactor.h"

namespace ecosort::engine::rows {

// Coordinator only.
class BorderPages {
 public:
  // `borders`: where the parts but the first begin, in ascending order; the output ends at `end`.
  BorderPages(MemoryBudget& memory, const io::File& file, const std::vector<std::uint64_t>& borders, std::uint64_t end);

  // Returns what it is given on the way; the unit is the file's unit of writes.
  [[nodiscard]] static std::uint64_t bytes_for(const io::File& file, unsigned parts) noexcept;
  [[nodiscard]] std::size_t unit() const noexcept { return unit_; }

  // Bytes of the output that lie within one of these pages, each once.
  void keep(std::uint64_t offset, const std::byte* data, std::size_t size);
  // Writes when all parts are complete.
  [[nodiscard]] Task<void> write(io::Reactor& reactor);

 private:
  struct Page {
    std::uint64_t offset = 0;
    std::byte* data = nullptr;
    std::size_t missing = 0;  // bytes of the output
  };

  const io::File& file_;
  std::size_t unit_;
  Buffer memory_;
  std::vector<Page> pages_;
};

// Takes one part. The first block begins with a place of lead() bytes, which are those of the parts before it in its first page.
class PartSink : public LineSink {
 public:
  // `total`: bytes of all parts, whose space is allocated ahead; 0: it is there.
  PartSink(const RowTools& tools, const io::File& file, BorderPages& pages, const ByteRange& part, bool is_last,
           std::uint64_t total = 0);

  [[nodiscard]] std::size_t lead() const noexcept { return lead_; }
  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_; }
  void complete(std::byte* block, run::BlockContents contents, std::uint64_t before) override;
  void put(std::byte* block, std::size_t bytes) override;
  // InternalError unless what was put is what the part should have.
  void check_complete() const;

 private:
  const io::File& file_;
  BorderPages& pages_;
  ByteRange part_;
  bool is_last_;
  std::size_t lead_;
  std::uint64_t at_;  // of the next block in the file
  std::optional<SpaceAhead> ahead_;
};

}  // namespace ecosort::engine::rows
