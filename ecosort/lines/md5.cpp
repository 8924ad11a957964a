#include "lines/md5.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace ecosort::lines {
namespace {

constexpr std::size_t block_bytes = 64;

// floor(2^32 * |sin(i + 1)|)
std::array<std::uint32_t, 64> make_constants() {
  std::array<std::uint32_t, 64> table{};
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<std::uint32_t>(std::floor(4294967296.0 * std::fabs(std::sin(static_cast<double>(i + 1)))));
  return table;
}

struct State {
  std::uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;

  void add(const unsigned char* block) noexcept {
    static const std::array<std::uint32_t, 64> constants = make_constants();
    constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    std::uint32_t words[16];
    std::memcpy(words, block, sizeof words);
    State s = *this;
    for (std::uint32_t i = 0; i < 64; ++i) {
      std::uint32_t mixed = 0, word = 0;
      if (i < 16) {
        mixed = (s.b & s.c) | (~s.b & s.d);
        word = i;
      } else if (i < 32) {
        mixed = (s.d & s.b) | (~s.d & s.c);
        word = (5 * i + 1) % 16;
      } else if (i < 48) {
        mixed = s.b ^ s.c ^ s.d;
        word = (3 * i + 5) % 16;
      } else {
        mixed = s.c ^ (s.b | ~s.d);
        word = 7 * i % 16;
      }
      mixed += s.a + constants[i] + words[word];
      s.a = s.d;
      s.d = s.c;
      s.c = s.b;
      s.b += std::rotl(mixed, shifts[i / 16][i % 4]);
    }
    a += s.a;
    b += s.b;
    c += s.c;
    d += s.d;
  }
};

}  // namespace

Digest md5(const Digest& salt, Text text) noexcept {
  State state;
  unsigned char block[2 * block_bytes] = {};
  std::memcpy(block, salt.data(), salt.size());
  std::size_t filled = salt.size();
  const std::uint64_t bits = 8 * (salt.size() + text.size());
  while (filled + text.size() >= block_bytes) {
    const std::size_t taken = block_bytes - filled;
    std::memcpy(block + filled, text.data(), taken);
    state.add(block);
    text.remove_prefix(taken);
    filled = 0;
  }
  if (!text.empty()) std::memcpy(block + filled, text.data(), text.size());
  filled += text.size();
  std::memset(block + filled, 0, sizeof block - filled);
  block[filled] = 0x80;
  const std::size_t end = filled + 9 <= block_bytes ? block_bytes : 2 * block_bytes;
  std::memcpy(block + end - 8, &bits, sizeof bits);
  state.add(block);
  if (end > block_bytes) state.add(block + block_bytes);
  Digest digest;
  std::memcpy(digest.data(), &state, digest.size());
  return digest;
}

}  // namespace ecosort::lines
