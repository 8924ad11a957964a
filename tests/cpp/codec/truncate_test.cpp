// Rows without what they share with the row before: they come back, no byte of them is stored twice, and nothing hostile gets
// beyond its bounds.
#include "codec/truncate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace ecosort::codec {
namespace {

constexpr std::size_t guard_bytes = 64;

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

struct Truncated {
  std::string bytes;
  bool is_last_whole = true;
};

// Nothing behind the slack is read: the text is in memory of just that size.
std::optional<Truncated> truncated(const std::string& rows, std::size_t carried, char terminator, std::size_t room) {
  std::vector<std::byte> in(rows.size() + truncation_slack_bytes, std::byte{'\n'});
  std::ranges::copy(bytes_of(rows), in.begin());
  std::vector<std::byte> to(room);
  const auto made = truncate({std::span(in).first(rows.size()), carried, terminator}, to);
  if (!made) return std::nullopt;
  return Truncated{std::string(reinterpret_cast<const char*>(to.data()), made->bytes), made->is_last_whole};
}

std::optional<std::string> restored(const Truncated& from, std::size_t carried, char terminator, std::size_t size) {
  std::vector<std::byte> to(size + guard_bytes, std::byte{0xAA});
  const std::vector<std::byte> in(bytes_of(from.bytes).begin(), bytes_of(from.bytes).end());
  const bool is_whole = restore(in, from.is_last_whole, terminator, carried, std::span(to).first(size));
  EXPECT_TRUE(
      std::all_of(to.begin() + static_cast<std::ptrdiff_t>(size), to.end(), [](std::byte b) { return b == std::byte{0xAA}; }));
  if (!is_whole) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(to.data()), size);
}

void expect_back(const std::string& rows, std::size_t carried, char terminator) {
  const auto made = truncated(rows, carried, terminator, 2 * rows.size() + 64);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->is_last_whole, rows.size() == carried || rows.back() == terminator);
  EXPECT_EQ(restored(*made, carried, terminator, rows.size()), rows);
}

// Rows with what they share of these lengths, in order.
std::string rows_that_share(const std::vector<std::size_t>& lengths, char terminator) {
  std::string text, row;
  for (const std::size_t shared : lengths) {
    row.resize(std::min(shared, row.size()));
    row.append(shared > row.size() ? shared - row.size() : 0, 'p');
    row += std::to_string(text.size());
    text += row + terminator;
  }
  return text;
}

TEST(Truncate, RowsComeBackWhateverTheyShare) {
  for (const char terminator : {'\n', '\0'}) {
    for (std::size_t shared = 0; shared < 300; ++shared)
      expect_back(rows_that_share({shared, shared, shared + 1, 0, shared}, terminator), 0, terminator);
    for (const std::size_t shared : {4094, 65'535, 65'536, 1'000'000})
      expect_back(rows_that_share({shared, shared, shared - 1, shared}, terminator), 0, terminator);
  }
}

TEST(Truncate, RowsThatAreEmptyOrEqualOrHoldNulComeBack) {
  expect_back("\n\n\n", 0, '\n');
  expect_back("\na\na\na\nab\nab\n", 0, '\n');
  expect_back(std::string("a\0\na\0b\na\0b\n\0\n", 13), 0, '\n');
  expect_back(std::string("a\nb\0a\nb\0a\nb\0", 12), 0, '\0');
  expect_back("", 0, '\n');
}

TEST(Truncate, ARowMayBeginBeforeAndGoOnBehind) {
  const std::string rows = "end of one\nabc\nabcd\nabce";
  for (std::size_t size = 11; size <= rows.size(); ++size) expect_back(rows.substr(0, size), 11, '\n');
  for (std::size_t carried = 0; carried <= 11; ++carried) expect_back(rows, carried, '\n');
  expect_back("no end", 6, '\n');
}

TEST(Truncate, WhatIsSharedIsNotStored) {
  const std::string path = "/usr/share/doc/packages/";
  const auto made = truncated(path + "a\n" + path + "b\n" + path + "b\n", 0, '\n', 100);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->bytes, std::string("\0\x19", 2) + path + "a" + "\x18\x01" + "b" + std::string("\x19\0", 2));
}

TEST(Truncate, RandomRowsComeBackOrDoNotFit) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string rows;
    const std::uint64_t letters = 1 + random.below(3), most = 1 + random.below(40);
    while (rows.size() < 600) rows.append(random.below(most), static_cast<char>('a' + random.below(letters))) += '\n';
    rows.resize(1 + random.below(600));
    const std::size_t carried = random.below(2) * random.below(rows.size() + 1);
    expect_back(rows, carried, '\n');
    (void)truncated(rows, carried, '\n', random.below(rows.size() + 1));
  }
}

// Hostile bytes make no more than there is room for; and rows cannot share what no row before them has.
TEST(Truncate, HostileBytesStayWithinTheRoom) {
  const Truncated bomb{
      std::string("\0\xff\xfa\0\0\0", 6) + std::string(250, 'x') + std::string(2000, '\xfa').replace(1, 1, 1, '\0'), true};
  for (const std::size_t size : {0, 1, 250, 251, 252, 5'000, 100'000}) EXPECT_FALSE(restored(bomb, 0, '\n', size)) << size;
  EXPECT_FALSE(restored({std::string("\1\0", 2), true}, 0, '\n', 2));
  EXPECT_FALSE(restored({std::string("\0\1a\2\0", 5), true}, 0, '\n', 5));
  EXPECT_FALSE(restored({std::string("\0\2a", 3), true}, 0, '\n', 3));
  EXPECT_FALSE(restored({std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10), true}, 0, '\n', 10));
  EXPECT_FALSE(restored({"abc", true}, 4, '\n', 4));
  const auto good = truncated(rows_that_share({3, 300, 299, 5, 2}, '\n'), 0, '\n', 2000);
  const std::size_t size = rows_that_share({3, 300, 299, 5, 2}, '\n').size();
  Random random(4);
  for (int round = 0; round < 20'000; ++round) {
    Truncated changed = *good;
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes)
      changed.bytes[random.below(changed.bytes.size())] = static_cast<char>(random.next());
    changed.bytes.resize(random.below(2) == 0 ? changed.bytes.size() : random.below(changed.bytes.size() + 1));
    changed.is_last_whole = random.below(2) == 0;
    (void)restored(changed, random.below(3), '\n', size);
  }
}

}  // namespace
}  // namespace ecosort::codec
