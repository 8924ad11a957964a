// The kernels of lines find, copy and hash what a plain loop does, at every instruction set of this machine.
#include "formats/lines/line_kernels.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "base/system_page.h"
#include "formats/lines/number_window.h"
#include "formats/lines/numbers.h"

namespace ecosort::lines {
namespace {

class LineKernelsOf : public testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > detected_cpu_level()) GTEST_SKIP() << "this processor lacks it";
  }
  [[nodiscard]] const LineKernels& kernels() const { return line_kernels_of(GetParam()); }
};

std::string random_text(Random& random, std::size_t size, std::uint64_t average) {
  std::string text(size, '\0');
  for (char& c : text) c = random.below(average) == 0 ? '\n' : static_cast<char>(random.next());
  return text;
}

TEST_P(LineKernelsOf, FindEveryEnd) {
  Random random(1);
  for (const std::uint64_t average : {1U, 2U, 10U, 100U, 5000U}) {
    for (std::size_t size = 0; size < 700; ++size) {
      const std::string text = random_text(random, size, average);
      std::vector<std::uint32_t> expected;
      for (std::size_t i = 0; i < size; ++i)
        if (text[i] == '\n') expected.push_back(static_cast<std::uint32_t>(i));
      std::vector<std::uint32_t> offsets(split_room);
      offsets.resize(kernels().split(text.data(), size, '\n', offsets.data()));
      ASSERT_EQ(offsets, expected);
      ASSERT_EQ(kernels().count(text.data(), size, '\n'), expected.size());
      const char* const found = kernels().find(text.data(), text.data() + size, '\n');
      ASSERT_EQ(found, expected.empty() ? nullptr : text.data() + expected.front());
    }
  }
}

TEST_P(LineKernelsOf, SplitAsManyLinesAsThereCanBe) {
  const std::string text(split_bytes, '\n');
  std::vector<std::uint32_t> offsets(split_room);
  ASSERT_EQ(kernels().split(text.data(), text.size(), '\n', offsets.data()), text.size());
  for (std::size_t i = 0; i < text.size(); ++i) ASSERT_EQ(offsets[i], i);
}

// Lines of every length from every place within a cache line.
TEST_P(LineKernelsOf, FindTheEndOfALineFromAnywhere) {
  for (std::size_t shift = 0; shift < 64; ++shift) {
    const std::string text = std::string(shift + 700, 'x');
    for (std::size_t length = 0; length < 400; ++length) {
      std::string line = text;
      line[shift + length] = '\n';
      const char* const begin = line.data() + shift;
      for (const std::size_t behind : {std::size_t{1}, std::size_t{100}, std::size_t{300}})
        ASSERT_EQ(kernels().find(begin, begin + length + behind, '\n'), begin + length) << shift << ' ' << length;
      ASSERT_EQ(kernels().find(begin, begin + length, '\n'), nullptr) << shift << ' ' << length;
    }
  }
}

TEST_P(LineKernelsOf, GatherALineWithItsEndOrNotAtAll) {
  for (std::size_t shift = 0; shift < 64; shift += 7) {
    sorting::Entry entry{};
    entry.index = static_cast<std::uint32_t>(shift);
    for (std::size_t length = 0; length < 400; ++length) {
      const std::string line = std::string(length, 'x') + '\n';
      const std::string text = std::string(shift, 'w') + line + std::string(line_slack_bytes, 'y');
      for (const std::size_t room : {length + 1, length + 2 * copy_step, std::size_t{0}}) {
        std::string to(room + 1, 'z');
        for (const auto gather : {kernels().gather, kernels().gather_middle, kernels().gather_short}) {
          std::uint32_t size = 0;
          const GatherTask task{
              .text = text.data(), .next = &entry, .end = &entry + 1, .to = to.data(), .room = room, .terminator = '\n'};
          const std::size_t lines = gather(task, &size);
          ASSERT_EQ(size, lines == 0 ? 0 : length + 1);
          ASSERT_TRUE(lines == 1 || room < length + 1 + copy_step) << length << ' ' << room;
          ASSERT_EQ(to.substr(0, size), line.substr(0, size));
          ASSERT_EQ(to.back(), 'z');
        }
      }
    }
  }
}

TEST_P(LineKernelsOf, GatherLinesInTheOrderOfTheirEntriesWhileTheyFit) {
  Random random(3);
  for (const std::size_t count : {std::size_t{1}, gathered_lines - 1, gathered_lines, 3 * gathered_lines}) {
    std::string text;
    std::vector<sorting::Entry> entries(count);
    std::vector<std::string> lines;
    for (sorting::Entry& entry : entries) {
      entry.index = static_cast<std::uint32_t>(text.size());
      lines.push_back(std::string(random.below(300), 'a') + '\n');
      text += lines.back();
    }
    text.append(line_slack_bytes, 'y');
    std::reverse(entries.begin(), entries.end());
    std::reverse(lines.begin(), lines.end());
    for (const std::size_t room : {text.size() + 2 * copy_step, text.size() / 2}) {
      for (const auto gather : {kernels().gather, kernels().gather_middle, kernels().gather_short}) {
        std::string to(room, 'z');
        std::uint32_t sizes[gathered_lines] = {};
        const GatherTask task{.text = text.data(),
                              .next = entries.data(),
                              .end = entries.data() + count,
                              .to = to.data(),
                              .room = room,
                              .terminator = '\n'};
        const std::size_t gathered = gather(task, sizes);
        ASSERT_LE(gathered, std::min(count, gathered_lines));
        if (room > text.size()) {
          ASSERT_EQ(gathered, std::min(count, gathered_lines));
        }
        std::size_t at = 0;
        for (std::size_t i = 0; i < gathered; ++i) {
          ASSERT_EQ(to.substr(at, sizes[i]), lines[i]);
          at += sizes[i];
        }
      }
    }
  }
}

TEST_P(LineKernelsOf, HashAsThePlainOnesDo) {
  Random random(2);
  const std::string text = random_text(random, 5000, 100);
  for (std::size_t size = 0; size < 5000; size += size < 300 ? 1 : 37) {
    const LineHash hash = kernels().hash(text.data(), size), plain = line_kernels_baseline.hash(text.data(), size);
    ASSERT_EQ(hash.low, plain.low) << size;
    ASSERT_EQ(hash.high, plain.high) << size;
  }
}

// Pages behind which none may be read.
class GuardedText {
 public:
  GuardedText() : bytes_(::mmap(nullptr, 2 * room_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (bytes_ == MAP_FAILED || ::mprotect(text() + room_, room_, PROT_NONE) != 0) throw std::runtime_error("mmap");
  }
  GuardedText(const GuardedText&) = delete;
  GuardedText& operator=(const GuardedText&) = delete;
  ~GuardedText() { ::munmap(bytes_, 2 * room_); }

  // `line`, whose last byte is the last one there is.
  [[nodiscard]] const char* at_the_end(std::string_view line) const {
    return static_cast<char*>(std::memcpy(text() + room_ - line.size(), line.data(), line.size()));
  }

 private:
  [[nodiscard]] char* text() const { return static_cast<char*>(bytes_); }

  const std::size_t room_ = system_page_bytes();
  void* bytes_;
};

TEST_P(LineKernelsOf, HashNothingBehindALine) {
  Random random(8);
  const std::string text = random_text(random, 2000, 100);
  const GuardedText guarded;
  for (std::size_t size = 0; size < 2000; ++size) {
    const std::string_view line(text.data(), size);
    const char* const last = guarded.at_the_end(line);
    const LineHash hash = kernels().hash(last, size), plain = line_kernels_baseline.hash(line.data(), size);
    ASSERT_EQ(hash.low, plain.low) << size;
    const LinePlace lines[] = {{last, size}, {last, size}, {last, size}, {last, size}};
    ASSERT_EQ(kernels().sum(lines, 4).high, 4 * plain.high) << size;
  }
}

// Tries any number of lines, of every length beside every other kind of length.
TEST_P(LineKernelsOf, SumTheHashesOfLines) {
  Random random(5);
  const std::string text = random_text(random, 5000, 100);
  const std::size_t longest[] = {7, 15, 16, 140, 1031, 1032, 4000};
  for (int round = 0; round < 7000; ++round) {
    std::vector<LinePlace> lines(random.below(36));
    LineHash expected;
    for (LinePlace& line : lines) {
      const std::size_t most = longest[random.below(std::size(longest))];
      line.size = random.below(4) == 0 ? most : random.below(most + 1);
      line.begin = text.data() + random.below(text.size() - line.size);
      const LineHash hash = line_kernels_baseline.hash(line.begin, line.size);
      expected.low += hash.low;
      expected.high += hash.high;
    }
    const LineHash sum = kernels().sum(lines.data(), lines.size());
    ASSERT_EQ(sum.low, expected.low);
    ASSERT_EQ(sum.high, expected.high);
  }
}

TEST_P(LineKernelsOf, HashDifferentLinesDifferently) {
  std::vector<std::uint64_t> low, high;
  const auto add = [&](const std::string& line) {
    const LineHash hash = kernels().hash(line.data(), line.size());
    low.push_back(hash.low);
    high.push_back(hash.high);
  };
  for (std::size_t size = 0; size < 300; ++size) {
    add(std::string(size, '\0'));
    for (std::size_t i = 0; i < size; ++i) {
      std::string line(size, '\0');
      line[i] = 1;
      add(line);
      line[i] = static_cast<char>(0x80);
      add(line);
    }
  }
  const std::string far(3000, 'a');
  add(far);
  for (std::size_t i = 0; i < far.size(); ++i) {
    std::string line = far;
    line[i] = 'b';
    add(line);
  }
  for (std::vector<std::uint64_t>* hashes : {&low, &high}) {
    std::sort(hashes->begin(), hashes->end());
    EXPECT_EQ(std::adjacent_find(hashes->begin(), hashes->end()), hashes->end());
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, LineKernelsOf, testing::ValuesIn(all_cpu_levels),
                         [](const auto& level) { return std::string(to_string(level.param)); });

records::KeyWindow encoded(Text text) {
  unsigned char bytes[16] = {};
  const std::size_t count = encode(read_decimal(text), 0, bytes, 12);
  std::uint64_t prefix = 0;
  std::uint32_t extension = 0;
  for (std::size_t i = 0; i < 8; ++i) prefix = prefix << 8U | (i < count ? bytes[i] : 0);
  for (std::size_t i = 8; i < 11; ++i) extension = extension << 8U | (i < count ? bytes[i] : 0);
  return {prefix, extension << 8U | static_cast<std::uint32_t>(count)};
}

std::string random_number(Random& random) {
  static const std::string alphabet("0123456789001299.,- x\xff\0", 23);
  static const std::string beginnings[] = {"", "", "-", " -", "0", "-00", "  ", "-.", "1000000", "000", ".000"};
  static const std::string endings[] = {"", ".", ",abc,def ghi jkl", ".5", "000,", ".00", "e5", "\x80"};
  std::string text = beginnings[random.below(std::size(beginnings))];
  const bool any = random.below(3) == 0;
  for (std::uint64_t i = random.below(18); i > 0; --i) text += alphabet[random.below(any ? alphabet.size() : 17)];
  return text + endings[random.below(std::size(endings))];
}

// The bytes that the number takes of the text, as the words of number_window.h say.
std::size_t length_of(const std::string& text, bool has_point) {
  std::size_t end = text.find_first_not_of(" \t\n");
  if (end == std::string::npos) end = text.size();
  if (end < text.size() && text[end] == '-') ++end;
  const auto pass_digits = [&] {
    while (end < text.size() && is_digit(text[end])) ++end;
  };
  pass_digits();
  if (!has_point) return end;
  ++end;
  pass_digits();
  return end;
}

TEST(NumberWindow, IsThatOfTheEncodedNumberAtEveryLevel) {
  for (const CpuLevel level : all_cpu_levels) {
    if (level > detected_cpu_level()) continue;
    const NumberReader read = number_reader_of(level);
    Random random(3);
    int usual = 0;
    for (int i = 0; i < 200'000; ++i) {
      const std::string text = random_number(random);
      const std::vector<char> exact(text.begin(), text.end());  // no byte behind it that may be read
      const NumberWindow number = read(exact.data(), exact.size());
      if (!number.is_there()) continue;
      ++usual;
      const records::KeyWindow expected = encoded(text);
      ASSERT_EQ(number.prefix, expected.prefix) << text;
      ASSERT_EQ(number.extension, expected.extension) << text;
      ASSERT_EQ(number.length, length_of(text, number.has_point)) << text;
      ASSERT_EQ(number.has_digits, text.substr(0, number.length).find_first_of("0123456789") != std::string::npos) << text;
    }
    EXPECT_GT(usual, 100'000);
  }
}

// Every level reads the same numbers as plain.
TEST(NumberWindow, EveryLevelReadsTheSame) {
  Random random(4);
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = random_number(random);
    const NumberWindow first = number_reader_of(CpuLevel::baseline)(text.data(), text.size());
    for (const CpuLevel level : all_cpu_levels) {
      if (level > detected_cpu_level()) continue;
      const NumberWindow number = number_reader_of(level)(text.data(), text.size());
      ASSERT_EQ(number.is_there(), first.is_there()) << text;
      if (!first.is_there()) continue;
      EXPECT_EQ(number.prefix, first.prefix) << text;
      EXPECT_EQ(std::tie(number.length, number.has_point, number.has_digits),
                std::tie(first.length, first.has_point, first.has_digits))
          << text;
    }
  }
}

}  // namespace
}  // namespace ecosort::lines
