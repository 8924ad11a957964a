// Two libraries decode gzip. Whatever bytes and pieces come, they must agree: on the plain bytes, on where a member ends, on
// damage.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "codec/decoder.h"

namespace ecosort::codec {
namespace {

using Bytes = std::string;

struct Library {
  const char* name;
  std::function<std::unique_ptr<Decoder>(Allowance&)> make;
};

std::vector<Library> libraries() {
  std::vector<Library> all{{"zlib", make_zlib_decoder}};
#ifdef ECOSORT_HAVE_ISAL
  all.push_back({"ISA-L", make_isal_decoder});
#endif
  return all;
}

Bytes text_of(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes text;
  while (text.size() < size)
    text += "GET /item/" + std::to_string(random.below(5000)) + (random.below(2) != 0 ? " 200\n" : " 404\n");
  return text.substr(0, size);
}

Bytes noise_of(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes noise(size, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.next());
  return noise;
}

struct Header {
  Bytes name, comment, extra;
  bool has_checksum = false;
};

Bytes gzip(Bytes text, int level = 6, int strategy = Z_DEFAULT_STRATEGY, Header header = {}) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, strategy), Z_OK);
  gz_header more{};
  more.os = 3;
  if (!header.name.empty()) more.name = reinterpret_cast<Bytef*>(header.name.data());
  if (!header.comment.empty()) more.comment = reinterpret_cast<Bytef*>(header.comment.data());
  if (!header.extra.empty()) more.extra = reinterpret_cast<Bytef*>(header.extra.data());
  more.extra_len = static_cast<uInt>(header.extra.size());
  more.hcrc = header.has_checksum ? 1 : 0;
  EXPECT_EQ(deflateSetHeader(&stream, &more), Z_OK);
  Bytes packed(deflateBound(&stream, text.size()) + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

// The plain bytes, or nothing where the decoder refuses: then `why` says what it threw.
struct Outcome {
  std::optional<Bytes> plain;
  bool is_truncated = false;
};

// Pieces of at most `in_most` compressed and `out_most` plain bytes.
Outcome decode(const Library& library, const Bytes& packed, std::size_t in_most, std::size_t out_most) {
  Allowance allowance(decoder_bytes(Codec::gzip, {}));
  Bytes plain, room(out_most, '\0');
  try {
    const std::unique_ptr<Decoder> decoder = library.make(allowance);
    std::size_t at = 0;
    while (!decoder->has_ended()) {
      const std::size_t size = std::min(in_most, packed.size() - at);
      const Decoder::Step step = decoder->decode(std::as_bytes(std::span(packed).subspan(at, size)),
                                                 std::as_writable_bytes(std::span(room)), at + size == packed.size());
      at += step.consumed;
      plain.append(room, 0, step.produced);
    }
    EXPECT_EQ(at, packed.size());
  } catch (const Truncated&) {
    return {std::nullopt, true};
  } catch (const Damaged&) {
    return {};
  }
  return {plain};
}

void expect_plain(const Bytes& packed, const Bytes& plain, std::size_t in_most, std::size_t out_most) {
  for (const Library& library : libraries()) {
    const Outcome outcome = decode(library, packed, in_most, out_most);
    ASSERT_TRUE(outcome.plain) << library.name << ", pieces of " << in_most << " and " << out_most;
    ASSERT_TRUE(*outcome.plain == plain) << library.name << ", pieces of " << in_most << " and " << out_most;
  }
}

TEST(GzipDecoders, GiveThePlainBytesWhateverPiecesTheyWorkIn) {
  const Bytes text = text_of(300'000, 1), noise = noise_of(100'000, 2), equal(200'000, 'a');
  for (const Bytes& plain : {text, noise, equal, Bytes(), Bytes("a"), text + noise + text})
    for (const int level : {0, 1, 6, 9})
      for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE}) {
        const Bytes packed = gzip(plain, level, strategy);
        expect_plain(packed, plain, 1 << 20, 1 << 20);
        expect_plain(packed, plain, 997, 4099);
        expect_plain(packed, plain, 65'536, 258);
      }
}

TEST(GzipDecoders, GiveThePlainBytesOfPiecesOfEverySmallSize) {
  const Bytes plain = text_of(3000, 3) + noise_of(500, 4);
  for (const int level : {0, 6}) {
    const Bytes packed = gzip(plain, level);
    for (std::size_t in_most = 1; in_most <= 40; ++in_most)
      for (const std::size_t out_most : {1, 2, 3, 7, 64, 257, 258, 259, 300, 5000})
        expect_plain(packed, plain, in_most, out_most);
  }
}

TEST(GzipDecoders, ReadEveryHeader) {
  const Bytes plain = text_of(10'000, 5);
  for (const std::size_t size : {std::size_t{1}, std::size_t{300}, std::size_t{329}, std::size_t{5000}, std::size_t{65'535}})
    for (const bool has_checksum : {false, true})
      for (const Header& header : {Header{Bytes(size, 'n'), {}, {}, has_checksum}, Header{{}, Bytes(size, 'c'), {}, has_checksum},
                                   Header{{}, {}, noise_of(size, 6), has_checksum},
                                   Header{Bytes(size, 'n'), Bytes(size, 'c'), noise_of(size, 7), has_checksum}}) {
        const Bytes packed = gzip(plain, 6, Z_DEFAULT_STRATEGY, header);
        for (const std::size_t in_most : {std::size_t{1}, std::size_t{13}, std::size_t{1} << 20U})
          expect_plain(packed, plain, in_most, 4096);
      }
}

TEST(GzipDecoders, ReadMemberAfterMember) {
  Bytes packed, plain;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Bytes text = seed % 5 == 0 ? Bytes() : text_of(seed * 400, seed);
    packed += gzip(text, static_cast<int>(seed % 10)) + Bytes(seed % 3 == 0 ? seed : 0, '\0');
    plain += text;
  }
  for (const std::size_t in_most : {1, 5, 6, 7, 8, 64, 1000, 1 << 20}) expect_plain(packed, plain, in_most, 777);
}

TEST(GzipDecoders, TellThatEveryBeginningIsTruncated) {
  const Bytes packed = gzip(text_of(2000, 8), 6, Z_DEFAULT_STRATEGY, {"name", "comment", "extra", true}) + gzip(noise_of(100, 9));
  const std::size_t first = gzip(text_of(2000, 8), 6, Z_DEFAULT_STRATEGY, {"name", "comment", "extra", true}).size();
  for (std::size_t size = 1; size < packed.size(); ++size) {
    if (size == first) continue;
    for (const Library& library : libraries())
      for (const std::size_t in_most : {std::size_t{1}, packed.size()})
        ASSERT_TRUE(decode(library, packed.substr(0, size), in_most, 500).is_truncated)
            << library.name << ", " << size << " bytes";
  }
}

// Some bits mean nothing: the time of a header, and what fills the last byte before stored bytes.
TEST(GzipDecoders, NeverGiveOtherBytesForAChangedBit) {
  for (const int level : {0, 6}) {
    const Bytes plain = text_of(1500, 10), packed = gzip(plain, level, Z_DEFAULT_STRATEGY, {"name", "", "", level == 6});
    std::size_t found = 0;
    for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
      Bytes changed = packed;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      std::optional<bool> is_refused;
      for (const Library& library : libraries()) {
        const Outcome outcome = decode(library, changed, 1 << 20, 700);
        ASSERT_TRUE(!outcome.plain || *outcome.plain == plain) << library.name << ", bit " << bit;
        ASSERT_EQ(is_refused.value_or(!outcome.plain), !outcome.plain) << library.name << ", bit " << bit;
        is_refused = !outcome.plain;
      }
      found += is_refused.value_or(false) ? 1 : 0;
    }
    EXPECT_GE(found, packed.size() * 8 - 100);
  }
}

TEST(GzipDecoders, RefuseNoiseBehindAHeader) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Bytes packed = Bytes("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + noise_of(seed % 300, seed);
    for (const Library& library : libraries())
      for (const std::size_t in_most : {3, 4096}) ASSERT_FALSE(decode(library, packed, in_most, 4096).plain) << library.name;
  }
}

TEST(GzipDecoders, TakeNoMoreMemoryThanIsSaid) {
  for (const Library& library : libraries()) {
    Allowance none(1000);
    EXPECT_THROW((void)library.make(none), TooLarge) << library.name;
  }
}

}  // namespace
}  // namespace ecosort::codec
