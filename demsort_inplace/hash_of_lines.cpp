#include "demsort_inplace/hash_of_lines.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "formats/lines/line_run.h"

namespace ecosort::demsort_inplace {

namespace {

constexpr std::uint64_t read_bytes_at_once = MiB;

std::uint64_t longest_of(const JobBench& bench) {
  std::uint64_t longest = 0;
  for (const RunDone& run : bench.done) longest = std::max(longest, run.lines->longest);
  return longest;
}

//   memory | room for the beginning of a line | what was read |
class LineHasher {
 public:
  LineHasher(char* text, std::size_t room, char terminator) : text_(text), room_(room), terminator_(terminator) {}

  void add(std::size_t size) {
    const char* at = text_ - rest_;
    const char* const end = text_ + size;
    for (const char* from = text_; from < end;) {
      const auto* const found = static_cast<const char*>(std::memchr(from, terminator_, static_cast<std::size_t>(end - from)));
      if (found == nullptr) break;
      lines::add_line(hash_, {at, static_cast<std::size_t>(found - at)});
      at = from = found + 1;
    }
    rest_ = static_cast<std::size_t>(end - at);
    if (rest_ > room_) {
      lines::add_line(hash_, {at, rest_});
      rest_ = 0;
    }
    std::memmove(text_ - rest_, end - rest_, rest_);
  }

  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return hash_; }

 private:
  char* const text_;
  const std::size_t room_;
  const char terminator_;
  std::size_t rest_ = 0;  // bytes of the line that is not complete, in front of the text
  hash::MultisetHash hash_;
};

}  // namespace

std::uint64_t hash_of_lines_memory_bytes(std::uint64_t longest) noexcept {
  return round_up(longest, page_bytes) + read_bytes_at_once;
}

Task<hash::MultisetHash> hash_of_lines(JobBench& bench, const io::File& file, std::uint64_t end) {
  if (end == 0) co_return hash::MultisetHash{};
  const std::uint64_t longest = longest_of(bench), unit = bench.header.layout.unit;
  const std::vector<std::byte> last = co_await read_bytes(bench, file, end - 1, end);
  const std::uint64_t room = round_up(longest, page_bytes);
  const Buffer memory = bench.memory.allocate(room + std::max(read_bytes_at_once, unit), "lines to be read back", Pages::small);
  std::byte* const text = memory.data() + room;
  LineHasher hasher(reinterpret_cast<char*>(text), room, static_cast<char>(last.front()));
  for (std::uint64_t at = 0, size = 0; at < end; at += size) {
    if (const int signal_number = bench.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
    size = std::min<std::uint64_t>(std::max(read_bytes_at_once, unit), end - at);
    (void)co_await bench.reactor.read(file, at, text, round_up(size, unit), size);
    bench.progress.add_bytes(size);
    hasher.add(size);
  }
  co_return hasher.hash();
}

}  // namespace ecosort::demsort_inplace
