// Compression of run blocks: against the functions of the libraries themselves, and within its bounds whatever comes.
#include "codec/block_codec.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/random.h"

namespace ecosort::codec {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t largest = std::size_t{2} << 20U;

Bytes text_of(std::size_t size, std::uint64_t seed) {
  static const std::string words[] = {"GET /index.html ", "POST /order ", "200 ", "404 ", "2026-11-24 "};
  Random random(seed);
  std::string text;
  while (text.size() < size) text += words[random.below(5)] + std::to_string(random.below(1000)) + '\n';
  Bytes bytes(size);
  std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

Bytes random_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

class Coder {
 public:
  explicit Coder(const BlockTerms& terms, std::size_t most = largest)
      : memory_(BlockCoder::memory_bytes(terms, most) / sizeof(Line) + 1),
        coder(terms, most, std::as_writable_bytes(std::span(memory_)).first(BlockCoder::memory_bytes(terms, most))) {}

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory_;

 public:
  BlockCoder coder;
};

std::vector<BlockTerms> all_terms() {
  std::vector<BlockTerms> terms{{BlockCodec::lz4, 0}};
  for (int level = 1; level <= 19; ++level) terms.push_back({BlockCodec::zstd, level});
  return terms;
}

TEST(BlockCodec, GivesBackWhatItTookAtEverySizeAndLevel) {
  for (const BlockTerms& terms : all_terms()) {
    const std::size_t most = terms.level > 3 ? std::size_t{64} << 10U : largest;
    const Coder coder(terms, most);
    for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{8176}, std::size_t{65520}, most - 16}) {
      const Bytes plain = text_of(size, size);
      Bytes packed(size + 1000), back(size);
      const auto bytes = coder.coder.encode(terms, plain, packed);
      ASSERT_TRUE(bytes) << codec::text_of(terms) << " " << size;
      EXPECT_TRUE(coder.coder.decode(terms.codec, std::span(packed).first(*bytes), back));
      EXPECT_EQ(back, plain);
    }
  }
}

TEST(BlockCodec, IsWhatTheLibrariesReadAndWrite) {
  const Bytes plain = text_of(100'000, 1);
  Bytes packed(200'000), back(plain.size());
  const Coder coder({BlockCodec::zstd, 1});
  const auto lz4 = coder.coder.encode({BlockCodec::lz4, 0}, plain, packed);
  ASSERT_TRUE(lz4);
  EXPECT_EQ(LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(back.data()),
                                static_cast<int>(*lz4), static_cast<int>(back.size())),
            static_cast<int>(plain.size()));
  EXPECT_EQ(back, plain);
  const auto zstd = coder.coder.encode({BlockCodec::zstd, 1}, plain, packed);
  ASSERT_TRUE(zstd);
  std::fill(back.begin(), back.end(), std::byte{0});
  EXPECT_EQ(ZSTD_decompress(back.data(), back.size(), packed.data(), *zstd), plain.size());
  EXPECT_EQ(back, plain);
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 5);
  EXPECT_TRUE(coder.coder.decode(BlockCodec::zstd, std::span(packed).first(size), back));
}

TEST(BlockCodec, TellsWhatDoesNotFitAndWritesNothingBeyond) {
  const Bytes random = random_bytes(65536, 3), text = text_of(65536, 4);
  for (const BlockTerms& terms : {BlockTerms{BlockCodec::lz4, 0}, {BlockCodec::zstd, 1}}) {
    const Coder coder(terms);
    for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{4000}, std::size_t{60000}}) {
      Bytes out(room + 64, std::byte{0xAA});
      EXPECT_FALSE(coder.coder.encode(terms, random, std::span(out).first(room)));
      EXPECT_TRUE(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(room), out.end(),
                              [](std::byte b) { return b == std::byte{0xAA}; }));
    }
    Bytes packed(65536);
    const auto bytes = coder.coder.encode(terms, text, packed);
    ASSERT_TRUE(bytes);
    for (const std::size_t room : {std::size_t{0}, std::size_t{1}, text.size() - 1, text.size() + 1}) {
      Bytes out(room + 64, std::byte{0xAA});
      EXPECT_FALSE(coder.coder.decode(terms.codec, std::span(packed).first(*bytes), std::span(out).first(room))) << room;
      EXPECT_TRUE(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(room), out.end(),
                              [](std::byte b) { return b == std::byte{0xAA}; }));
    }
    EXPECT_FALSE(coder.coder.decode(BlockCodec::none, std::span(packed).first(*bytes), packed));
    EXPECT_FALSE(coder.coder.decode(static_cast<BlockCodec>(7), std::span(packed).first(*bytes), packed));
  }
}

TEST(BlockCodec, UnderstandsItsWordsAndNoOthers) {
  EXPECT_TRUE(run_compression_of_word("auto").is_auto);
  EXPECT_TRUE(run_compression_of_word("none").is_none());
  EXPECT_EQ(run_compression_of_word("lz4").terms, (BlockTerms{BlockCodec::lz4, 0}));
  EXPECT_EQ(run_compression_of_word("zstd").terms, (BlockTerms{BlockCodec::zstd, 1}));
  EXPECT_EQ(run_compression_of_word("zstd:19").terms, (BlockTerms{BlockCodec::zstd, 19}));
  for (const char* word : {"", "LZ4", "zstd:", "zstd:0", "zstd:20", "zstd:1x", "lz4:1", "gzip"})
    EXPECT_THROW((void)run_compression_of_word(word), UsageError) << word;
  EXPECT_EQ(ratio_of_word("1"), 1000U);
  EXPECT_EQ(ratio_of_word("2.5"), 2500U);
  for (const char* word : {"", "0", "0.9", "-2", "nan", "inf", "1e3", "2x", "1001"})
    EXPECT_THROW((void)ratio_of_word(word), UsageError) << word;
}

}  // namespace
}  // namespace ecosort::codec
