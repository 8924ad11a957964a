#include "codec/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "codec/contents.h"
#include "codec/facts.h"

namespace ecosort::codec {
namespace {

constexpr std::size_t slice_bytes = std::size_t{64} << 10U;  // taken at a time, so that damage is found near its place
constexpr std::uint64_t xz_padding_bytes = 4;

}  // namespace

std::uint64_t decoder_bytes(Codec codec, std::string_view first) noexcept { return facts_of(codec).decoder_bytes(first); }

std::unique_ptr<Decoder> Decoder::make(Codec codec, Allowance& allowance) { return facts_of(codec).make_decoder(allowance); }

void Decoder::damaged(const std::string& why) const { throw Damaged(position_, why); }

Decoder::Step Decoder::decode(std::span<const std::byte> in, std::span<std::byte> out, bool is_last) {
  Step done;
  while (!has_ended_) {
    const bool goes_on = is_in_member_ ? work_on_member(in, out, is_last, done) : find_member(in, is_last, done);
    if (!goes_on) break;
  }
  return done;
}

// Passes a byte between members if it means nothing, and returns whether it does.
bool Decoder::pass_zero(std::byte next) {
  if (members_ == 0 || head_size_ > 0 || next != std::byte{0} || facts_of(codec_).has_skippable_frames) return false;
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

bool Decoder::begins_member(std::string_view head) const noexcept {
  if (head.starts_with(magic_of(codec_)) || (facts_of(codec_).has_skippable_frames && is_skippable_frame(head))) return true;
  return codec_ == Codec::xz && members_ == 0 && may_be_lzma(head);
}

void Decoder::become_lz4() {
  instead_ = make(Codec::lz4, allowance_);
  codec_ = Codec::lz4;
}

bool Decoder::end_or_begin(bool is_last) {
  const std::string_view head(reinterpret_cast<const char*>(head_), head_size_);
  const std::uint64_t head_at = position_ - head_size_;
  if (codec_ == Codec::xz && zeros_ % xz_padding_bytes != 0)
    throw Damaged(head_at, "the padding behind the xz data has the wrong size");
  if (head.empty() && members_ > 0) {
    has_ended_ = is_last;
    return false;
  }
  const std::string_view magic = magic_of(codec_);
  if (head_size_ < head_bytes && head.substr(0, magic.size()) == magic.substr(0, head_size_))
    throw Truncated(position_, fmt::format("it ends where {} data begins", name_of(codec_)));
  if (codec_ == Codec::zstd && !has_data_ && head.starts_with(magic_of(Codec::lz4))) become_lz4();
  if (!begins_member(head)) {
    if (members_ == 0) throw Damaged(0, fmt::format("it does not begin as {} data does", name_of(codec_)));
    throw Damaged(head_at,
                  fmt::format("what follows there is no {} data (head -c {} gives all before it)", name_of(codec_), head_at));
  }
  has_data_ |= !is_skippable_frame(head);
  (instead_ ? *instead_ : *this).begin_member(head);
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
  if (instead_) instead_->position_ = position_;
  const MemberStep step = (instead_ ? *instead_ : *this).step(next, out.subspan(done.produced));
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
