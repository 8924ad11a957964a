#include "codec/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/errors.h"

namespace ecosort::codec {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t slice_bytes = std::size_t{64} << 10U;  // taken at a time, so that damage is found near its place
constexpr std::uint64_t xz_padding_bytes = 4;

struct Rules {
  std::string_view magic;
  bool passes_zeros;
};

Rules rules_of(Codec codec) {
  switch (codec) {
    case Codec::gzip:
      return {"\x1f\x8b"sv, true};
    case Codec::zstd:
      return {"\x28\xb5\x2f\xfd"sv, false};
    case Codec::lz4:
      return {"\x04\x22\x4d\x18"sv, false};
    case Codec::xz:
      return {
          "\xfd"
          "7zXZ\0"sv,
          true};
    case Codec::bzip2:
      return {"BZh"sv, true};
  }
  throw InternalError("a codec that no one knows");
}

// Of zstd and lz4: frames that hold nothing for a decoder (0x184D2A50 to 5F, little-endian).
bool is_skippable(Codec codec, std::string_view head) {
  return (codec == Codec::zstd || codec == Codec::lz4) && head.size() >= 4 &&
         (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18"sv;
}

#ifdef ECOSORT_ISAL
constexpr std::uint64_t gzip_bytes = 86 << 10U;  // twice the window of 32 KiB, and tables
constexpr auto make_gzip_decoder = make_isal_decoder;
#else
constexpr std::uint64_t gzip_bytes = 48 << 10U;  // 32 KiB of window
constexpr auto make_gzip_decoder = make_zlib_decoder;
#endif

std::string why_it_is_none(Codec codec, std::string_view head) {
  if (codec == Codec::lz4 && head.starts_with("\x02\x21\x4c\x18"sv))
    return "it is of the old format of lz4 -l; decompress it first: lz4 -dc";
  return fmt::format("it does not begin as {} data does", name_of(codec));
}

}  // namespace

std::uint64_t decoder_bytes(Codec codec, std::string_view first) noexcept {
  switch (codec) {
    case Codec::gzip:
      return gzip_bytes;
    case Codec::zstd:
      return zstd_decoder_bytes(first);
    case Codec::lz4:
      return lz4_decoder_bytes(first);
    case Codec::xz:
      return xz_decoder_bytes(first);
    case Codec::bzip2:
      return bzip2_decoder_bytes(first);
  }
  return 0;
}

std::unique_ptr<Decoder> Decoder::make(Codec codec, Allowance& allowance) {
  switch (codec) {
    case Codec::gzip:
      return make_gzip_decoder(allowance);
    case Codec::zstd:
      return make_zstd_decoder(allowance);
    case Codec::lz4:
      return make_lz4_decoder(allowance);
    case Codec::xz:
      return make_xz_decoder(allowance);
    case Codec::bzip2:
      return make_bzip2_decoder(allowance);
  }
  throw InternalError("a codec that no one knows");
}

void Decoder::damaged(const std::string& why) const { throw Damaged(position_, why); }

Decoder::Step Decoder::decode(std::span<const std::byte> in, std::span<std::byte> out, bool is_last) {
  Step done;
  while (!has_ended_) {
    const bool goes_on = is_in_member_ ? work_on_member(in, out, is_last, done) : find_member(in, is_last, done);
    if (!goes_on) break;
  }
  return done;
}

// Whether a byte between members means nothing.
bool Decoder::pass_zero(std::byte next) {
  if (members_ == 0 || head_size_ > 0 || next != std::byte{0} || !rules_of(codec_).passes_zeros) return false;
  ++zeros_;
  return true;
}

// Collects the head of the next member. False: there is nothing to continue with.
bool Decoder::find_member(std::span<const std::byte> in, bool is_last, Step& done) {
  while (head_size_ < head_bytes && done.consumed < in.size()) {
    const std::byte next = in[done.consumed++];
    ++position_;
    if (!pass_zero(next)) head_[head_size_++] = next;
  }
  if (head_size_ < head_bytes && !is_last) return false;
  return end_or_begin(is_last);
}

bool Decoder::end_or_begin(bool is_last) {
  const Rules rules = rules_of(codec_);
  const std::string_view head(reinterpret_cast<const char*>(head_), head_size_);
  const std::uint64_t head_at = position_ - head_size_;
  if (codec_ == Codec::xz && zeros_ % xz_padding_bytes != 0)
    throw Damaged(head_at, "the padding behind the xz data has the wrong size");
  if (head.empty() && members_ > 0) {
    has_ended_ = is_last;
    return false;
  }
  if (head_size_ < head_bytes && head.substr(0, rules.magic.size()) == rules.magic.substr(0, head_size_))
    throw Truncated(position_, fmt::format("it ends where {} data begins", name_of(codec_)));
  if (!head.starts_with(rules.magic) && !is_skippable(codec_, head)) {
    if (members_ == 0) throw Damaged(0, why_it_is_none(codec_, head));
    throw Damaged(head_at,
                  fmt::format("what follows there is no {} data (head -c {} gives all before it)", name_of(codec_), head_at));
  }
  begin_member(head);
  is_in_member_ = true;
  head_taken_ = 0;
  return true;
}

bool Decoder::work_on_member(std::span<const std::byte> in, std::span<std::byte> out, bool is_last, Step& done) {
  const bool is_head = head_taken_ < head_size_;
  const std::span<const std::byte> rest = in.subspan(done.consumed);
  const std::span<const std::byte> next = is_head
                                              ? std::span<const std::byte>(head_).subspan(head_taken_, head_size_ - head_taken_)
                                              : rest.first(std::min(rest.size(), slice_bytes));
  const MemberStep step = this->step(next, out.subspan(done.produced));
  done.produced += step.produced;
  if (is_head) {
    head_taken_ += step.consumed;
  } else {
    done.consumed += step.consumed;
    position_ += step.consumed;
  }
  if (step.ends) {
    if (head_taken_ < head_size_) damaged("a member ends in its head");
    ++members_;
    zeros_ = 0;
    head_size_ = head_taken_ = 0;
    is_in_member_ = false;
    return true;
  }
  if (step.consumed > 0 || step.produced > 0) return true;
  if (done.produced == out.size()) return false;
  if (!next.empty()) damaged("its decoder cannot continue");
  if (is_last) throw Truncated(position_, fmt::format("it ends in the middle of {} data", name_of(codec_)));
  return false;
}

}  // namespace ecosort::codec
