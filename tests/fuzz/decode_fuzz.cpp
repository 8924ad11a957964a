// A compressed file has any bytes: its decoder ends, stays within its memory, and says the same however the bytes come in and
// however little room there is for what comes out. And what an encoder makes of any bytes gives them back.
//
// Input: a byte for the codec, one each for the pieces of the compressed and of the plain bytes; the file follows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/contents.h"
#include "codec/decoder.h"
#include "codec/encoder.h"
#include "codec/facts.h"
#include "fuzz_support.h"

namespace ecosort::codec {
namespace {

using fuzz::require;

constexpr std::uint64_t memory_bytes = std::uint64_t{32} << 20U;
constexpr std::size_t most_plain_bytes = std::size_t{4} << 20U;  // bombs continue for long

struct Decoded {
  std::string plain;
  bool is_damaged = false, is_truncated = false, is_unreadable = false, is_too_large = false, is_cut = false;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode(Codec codec, std::string_view file, std::size_t in_bytes, std::size_t out_bytes) {
  Decoded decoded;
  Allowance allowance(memory_bytes);
  std::vector<std::byte> room(out_bytes);
  try {
    const auto decoder = Decoder::make(codec, allowance);
    std::size_t at = 0, end = 0;
    while (!decoder->has_ended()) {
      if (at == end) end = std::min(file.size(), end + in_bytes);
      const auto* const data = reinterpret_cast<const std::byte*>(file.data());
      const auto step = decoder->decode({data + at, end - at}, room, end == file.size());
      require(step.consumed <= end - at && step.produced <= room.size(), "a step stays within what it was given");
      require(step.consumed + step.produced > 0 || at == end || decoder->has_ended(), "a step continues");
      decoded.plain.append(reinterpret_cast<const char*>(room.data()), step.produced);
      at += step.consumed;
      decoded.is_cut = decoded.plain.size() > most_plain_bytes;
      if (decoded.is_cut) break;
    }
  } catch (const Truncated& error) {
    require(error.offset == file.size(), "a truncated file is read to its end");
    decoded.is_truncated = true;
  } catch (const Damaged& error) {
    require(error.offset <= file.size(), "the damage lies in the file");
    decoded.is_damaged = true;
  } catch (const Unreadable&) {
    decoded.is_unreadable = true;
  } catch (const TooLarge&) {
    decoded.is_too_large = true;
  }
  require(allowance.peak_bytes() <= memory_bytes, "decoding stays within its memory");
  return decoded;
}

void check_pieces(Codec codec, std::string_view file, std::size_t in_bytes, std::size_t out_bytes) {
  const Decoded whole = decode(codec, file, std::max<std::size_t>(file.size(), 1), std::size_t{64} << 10U);
  const Decoded pieces = decode(codec, file, in_bytes, out_bytes);
  if (whole.is_cut || pieces.is_cut) return;
  const bool is_sound = !whole.is_damaged && !whole.is_truncated && !whole.is_unreadable && !whole.is_too_large;
  if (is_sound) require(whole == pieces, "pieces give the same as the whole");
  require(is_sound == (!pieces.is_damaged && !pieces.is_truncated && !pieces.is_unreadable && !pieces.is_too_large),
          "pieces are as sound as the whole");
}

void check_way_back(Codec codec, std::string_view plain, std::size_t in_bytes, std::size_t out_bytes) {
  const OutputCodec output{codec, levels_of(codec).least};
  const std::size_t most = std::max<std::size_t>(plain.size(), 1);
  const auto encoder = MemberEncoder::make(output, most);
  std::vector<std::byte> member(encoded_bound(codec, most));
  std::string file;
  for (int i = 0; i < 2; ++i) {
    const std::size_t size = encoder->encode({reinterpret_cast<const std::byte*>(plain.data()), plain.size()}, member);
    require(size <= member.size(), "a member is not larger than was predicted");
    file.append(reinterpret_cast<const char*>(member.data()), size);
  }
  file.append(ending_member(codec));
  const Contents* const contents = contents_of(file);
  require(contents != nullptr && contents->codec == reader_of(codec), "what was written is recognised");
  require(decoder_bytes(codec, file) <= memory_bytes, "small members take little memory");
  const Decoded back = decode(codec, file, in_bytes, out_bytes);
  require(!back.is_damaged && !back.is_truncated && !back.is_too_large, "what was written is sound");
  require(back.plain == std::string(plain) + std::string(plain), "what was written gives back what it was made of");
}

}  // namespace
}  // namespace ecosort::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ecosort::codec;
  if (size < 3) return 0;
  const Codec codec = all_codecs[data[0] % all_codecs.size()];
  const std::string_view file(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t in_bytes = 1 + data[1], out_bytes = 1 + data[2] * std::size_t{16};
  (void)decoder_bytes(codec, file.substr(0, beginning_bytes));
  check_pieces(codec, file, in_bytes, out_bytes);
  check_way_back(codec, file, in_bytes, out_bytes);
  return 0;
}
