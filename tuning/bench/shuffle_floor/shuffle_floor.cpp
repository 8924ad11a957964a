// ecosort_shuffle_floor WAY INPUT OUTPUT DIRECTORY [PARTS [BLOCK]]: the processor seconds of a minimal program that does to lines
// what a shuffle has to do to them, with one thread, one request at a time, and the kernels of EcoSort. WAY:
//
//   once    each row is found and hashed, copied into the output and hashed there: what a shuffle in the memory has to do
//   twice   each row is found and hashed, copied with a head into a block that is sealed and written; the block is read and
//           checked, the row copied into the output and hashed: what a shuffle beyond the memory has to do
//   parts   so also, with the order of `ecosort shuffle --seed 1`: rows go to blocks of PARTS (256) parts of the key space while
//           they are in the cache, and each part is ordered and gathered by itself. No two rows of different parts are compared
//
// The first two leave the rows in their order. What is printed is JSON. BLOCK: bytes of a run block, 65536.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/prefetch.h"
#include "base/size_text.h"
#include "formats/lines/late_hash.h"
#include "formats/shuffle/random_keys.h"
#include "hash/multiset_hash.h"
#include "run/run_block.h"
#include "sorting/range_sort.h"

namespace {

using namespace ecosort;
using sorting::Entry;

constexpr std::size_t page = 4096, read_bytes = std::size_t{256} << 10U, out_bytes = std::size_t{256} << 10U;
constexpr std::size_t longest_row = std::size_t{64} << 10U, slack = 2 * lines::copy_step;
constexpr std::uint64_t seed = 1;

// A file past the page cache.
class Direct {
 public:
  Direct(const std::string& path, int flags) : path_(path), descriptor_(::open(path.c_str(), flags | O_DIRECT, 0600)) {
    check(descriptor_ >= 0);
  }
  Direct(const Direct&) = delete;
  Direct& operator=(const Direct&) = delete;
  ~Direct() { ::close(descriptor_); }

  [[nodiscard]] std::size_t read(std::byte* to, std::size_t size, std::uint64_t offset) const {
    const ssize_t got = ::pread(descriptor_, to, size, static_cast<off_t>(offset));
    check(got >= 0);
    return static_cast<std::size_t>(got);
  }
  void write(const std::byte* from, std::size_t size, std::uint64_t offset) const {
    check(::pwrite(descriptor_, from, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size));
  }
  void reserve(std::uint64_t size) const { check(::fallocate(descriptor_, 0, 0, static_cast<off_t>(size)) == 0); }
  void complete(std::uint64_t size) const {
    check(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0);
    check(::fsync(descriptor_) == 0);
  }
  [[nodiscard]] std::uint64_t size() const {
    struct stat facts{};
    check(::fstat(descriptor_, &facts) == 0);
    return static_cast<std::uint64_t>(facts.st_size);
  }

 private:
  void check(bool is_right) const {
    if (!is_right) throw UsageError(fmt::format("'{}': {}", path_, std::strerror(errno)));
  }

  std::string path_;
  int descriptor_;
};

void copy_row(char* to, const char* row, std::size_t size) noexcept {
  if (size <= lines::copy_step)
    std::memcpy(to, row, lines::copy_step);
  else
    std::memcpy(to, row, size);
}

// Rows behind each other, in writes of whole blocks.
class Output {
 public:
  Output(const std::string& path, std::uint64_t size, MemoryBudget& memory)
      : file_(path, O_RDWR | O_CREAT | O_TRUNC),
        memory_(memory.allocate(out_bytes + longest_row + slack, "output")),
        hash_(lines::line_kernels()) {
    file_.reserve(size);
  }

  void put(const char* row, std::size_t size) {
    char* const to = reinterpret_cast<char*>(memory_.data()) + filled_;
    copy_row(to, row, size);
    hash_.add({to, size - 1});
    filled_ += size;
    if (filled_ >= out_bytes) write();
  }
  hash::MultisetHash complete() {
    const std::uint64_t size = written_ + filled_;
    hash_.settle();
    file_.write(memory_.data(), round_up(filled_, page), written_);
    file_.complete(size);
    return hash_.sum();
  }

 private:
  void write() {
    hash_.settle();
    file_.write(memory_.data(), out_bytes, written_);
    written_ += out_bytes;
    filled_ -= out_bytes;
    std::memcpy(memory_.data(), memory_.data() + out_bytes, filled_);
  }

  Direct file_;
  Buffer memory_;
  lines::LateHash hash_;
  std::size_t filled_ = 0;
  std::uint64_t written_ = 0;
};

// Rows with their heads in blocks of one file, those of each part by themselves.
class Blocks {
 public:
  Blocks(const std::string& directory, std::size_t parts, std::size_t block_bytes, MemoryBudget& memory)
      : file_(directory, O_RDWR | O_TMPFILE),
        block_bytes_(block_bytes),
        memory_(memory.allocate(parts * block_bytes + slack, "blocks")),
        parts_(parts) {}

  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }
  [[nodiscard]] std::size_t bytes_of(std::size_t part) const noexcept { return parts_[part].blocks.size() * block_bytes_; }
  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }

  void put(std::size_t number, Entry head, const char* row, std::size_t size) {
    Part& part = parts_[number];
    head.index = static_cast<std::uint32_t>(size);
    const std::size_t room = block_bytes_ - run::trailer_bytes;
    if (part.used + sizeof head + std::max(size, lines::copy_step) > room) write(number);
    char* const to = reinterpret_cast<char*>(memory_.data() + number * block_bytes_) + part.used;
    std::memcpy(to, &head, sizeof head);
    copy_row(to + sizeof head, row, size);
    part.used += sizeof head + size;
    for (const std::size_t ahead : {128U, 192U}) __builtin_prefetch(to + sizeof head + size + ahead, 1, 2);
  }
  void write_rest() {
    for (std::size_t number = 0; number < parts_.size(); ++number)
      if (parts_[number].used > 0) write(number);
  }
  // Reads block `i` of a part, and returns how many bytes of rows it has.
  std::size_t read(std::size_t number, std::size_t i, std::byte* to) const {
    const std::uint64_t place = parts_[number].blocks[i];
    if (file_.read(to, block_bytes_, place * block_bytes_) != block_bytes_ || !run::is_intact(to, block_bytes_, place))
      throw VerificationError("a block is damaged");
    return run::contents_of(to, block_bytes_).used_bytes;
  }

 private:
  struct Part {
    std::size_t used = 0;
    std::vector<std::uint64_t> blocks;
  };

  void write(std::size_t number) {
    Part& part = parts_[number];
    std::byte* const block = memory_.data() + number * block_bytes_;
    run::seal_block(block, block_bytes_, next_, {.used_bytes = static_cast<std::uint32_t>(part.used)});
    file_.write(block, block_bytes_, next_ * block_bytes_);
    part.blocks.push_back(next_++);
    part.used = 0;
  }

  Direct file_;
  std::size_t block_bytes_;
  Buffer memory_;
  std::vector<Part> parts_;
  std::uint64_t next_ = 0;
};

// Calls `put(key, row, size)` for all rows of the input, each with its end, and returns their hash.
template <class Put>
hash::MultisetHash read_rows(const std::string& path, bool has_keys, MemoryBudget& memory, const Put& put) {
  const Direct file(path, O_RDONLY);
  const Buffer buffer = memory.allocate(longest_row + read_bytes + slack, "input");
  const shuffle::RandomKeys keys(seed);
  const lines::LineKernels& kernels = lines::line_kernels();
  std::vector<std::uint32_t> ends(lines::split_room);
  std::vector<lines::LinePlace> rows(lines::split_room);
  std::vector<Entry> entries(lines::split_room);
  hash::MultisetHash hash;
  std::byte* const block = buffer.data() + longest_row;
  std::size_t tail = 0;
  for (std::uint64_t offset = 0;; offset += read_bytes) {
    const std::size_t got = file.read(block, read_bytes, offset);
    const char* row = reinterpret_cast<const char*>(block) - tail;
    const char* const end = reinterpret_cast<const char*>(block) + got;
    for (const char* at = reinterpret_cast<const char*>(block); at < end; at += lines::split_bytes) {
      const std::size_t count =
          kernels.split(at, std::min<std::size_t>(lines::split_bytes, static_cast<std::size_t>(end - at)), '\n', ends.data());
      for (std::size_t i = 0; i < count; ++i) {
        rows[i] = {row, static_cast<std::size_t>(at + ends[i] - row)};
        row = at + ends[i] + 1;
      }
      const lines::LineHash sum = kernels.sum(rows.data(), count);
      if (has_keys) keys.enter(entries.data() + entries.size(), 0, count, hash.count, 1);
      hash += {sum.low, sum.high, count};
      for (std::size_t i = 0; i < count; ++i) put(entries[entries.size() - 1 - i], rows[i].begin, rows[i].size + 1);
    }
    tail = static_cast<std::size_t>(end - row);
    if (got < read_bytes) break;
    if (tail > longest_row) throw UsageError("a line is longer than 64 KiB");
    std::memcpy(block - tail, row, tail);
  }
  if (tail > 0) throw UsageError("the last line has no end");
  return hash;
}

// Calls `use(head, row)` for the rows of a block.
template <class Use>
void walk(const std::byte* block, std::size_t used, const Use& use) {
  for (std::size_t at = 0; at < used;) {
    Entry head;
    std::memcpy(&head, block + at, sizeof head);
    at += sizeof head;
    use(head, at);
    at += head.index;
  }
}

void write_as_they_are(const Blocks& blocks, Output& output, MemoryBudget& memory) {
  const Buffer buffer = memory.allocate(blocks.block_bytes() + slack, "block");
  for (std::size_t i = 0; i * blocks.block_bytes() < blocks.bytes_of(0); ++i) {
    const std::size_t used = blocks.read(0, i, buffer.data());
    walk(buffer.data(), used,
         [&](Entry head, std::size_t at) { output.put(reinterpret_cast<const char*>(buffer.data()) + at, head.index); });
  }
}

void write_in_order(const Blocks& blocks, Output& output, MemoryBudget& memory) {
  constexpr std::size_t ahead = 16;  // rows
  std::size_t most = 0;
  for (std::size_t part = 0; part < blocks.parts(); ++part) most = std::max(most, blocks.bytes_of(part));
  const Buffer buffer = memory.allocate(most + slack, "part");
  std::vector<Entry> entries, other;
  sorting::BucketWorkspace workspace;
  const char* const text = reinterpret_cast<const char*>(buffer.data());
  for (std::size_t part = 0; part < blocks.parts(); ++part) {
    entries.clear();
    for (std::size_t at = 0, i = 0; at < blocks.bytes_of(part); at += blocks.block_bytes(), ++i) {
      const std::size_t used = blocks.read(part, i, buffer.data() + at);
      walk(buffer.data() + at, used, [&](Entry head, std::size_t row) {
        entries.push_back({head.prefix, head.extension, static_cast<std::uint32_t>(at + row)});
      });
    }
    other.resize(entries.size());
    sorting::sort_range(entries.data(), other.data(), entries.size(), sorting::Target::same_array, workspace, 1);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const char* const next = text + entries[std::min(i + ahead, entries.size() - 1)].index;
      for (const int line : {-16, 64, 127}) prefetch(next + line);
      Entry head;
      std::memcpy(&head, text + entries[i].index - sizeof head, sizeof head);
      output.put(text + entries[i].index, head.index);
    }
  }
}

Json shuffle_lines(std::string_view way, const std::string& input, const std::string& output_path, const std::string& directory,
                   std::size_t parts, std::size_t block_bytes) {
  MemoryBudget memory(~std::uint64_t{0});
  Output output(output_path, round_up(Direct(input, O_RDONLY).size(), page), memory);
  hash::MultisetHash in;
  if (way == "once") {
    in = read_rows(input, false, memory, [&](Entry, const char* row, std::size_t size) { output.put(row, size); });
  } else {
    const bool has_parts = way == "parts";
    const int shift = 64 - std::countr_zero(parts);
    Blocks blocks(directory, has_parts ? parts : 1, block_bytes, memory);
    in = read_rows(input, has_parts, memory, [&](Entry head, const char* row, std::size_t size) {
      blocks.put(has_parts ? head.prefix >> shift : 0, head, row, size);
    });
    blocks.write_rest();
    has_parts ? write_in_order(blocks, output, memory) : write_as_they_are(blocks, output, memory);
  }
  const hash::MultisetHash out = output.complete();
  if (in != out) throw VerificationError("the rows that were written are not those that were read");
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](timeval time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
  return {{"rows", in.count},
          {"user_s", seconds(used.ru_utime)},
          {"system_s", seconds(used.ru_stime)},
          {"cpu_s", seconds(used.ru_utime) + seconds(used.ru_stime)},
          {"memory_bytes", memory.peak_bytes()}};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto is_way = [&](const char* way) { return words[0] == way; };
  if (words.size() < 4 || words.size() > 6 || !(is_way("once") || is_way("twice") || is_way("parts")))
    throw UsageError("give once, twice or parts, an input, an output and a directory");
  const std::size_t parts = words.size() > 4 ? std::stoul(words[4]) : 256,
                    block = words.size() > 5 ? std::stoul(words[5]) : 65536;
  if (!std::has_single_bit(parts) || parts < 2 || block % page != 0)
    throw UsageError("PARTS is a power of two, BLOCK whole pages");
  fmt::print("{}\n", shuffle_lines(words[0], words[1], words[2], words[3], parts, block).text());
  return 0;
} catch (const ecosort::Error& error) {
  fmt::print(stderr, "ecosort_shuffle_floor: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  fmt::print(stderr, "ecosort_shuffle_floor: {}\n", error.what());
  return static_cast<int>(ecosort::ExitCode::internal);
}
