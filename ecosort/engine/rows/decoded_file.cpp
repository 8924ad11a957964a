#include "engine/rows/decoded_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "codec/contents.h"
#include "engine/rows/damaged_input.h"
#include "planner/decoding_plan.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{64} << 10U;

}  // namespace

DecodedFile::DecodedFile(const std::string& name, bool decompresses, std::uint64_t memory_bytes)
    : name_(name),
      file_(io::PlainFile::open_for_reading(name == "-" ? "/dev/stdin" : name)),
      allowance_(memory_bytes / planner::share_of_look),
      has_begun_(!decompresses) {}

void DecodedFile::read_chunk() {
  size_ = file_.read(chunk_);
  at_ = 0;
  is_last_ = size_ < chunk_.size();
}

void DecodedFile::begin() {
  has_begun_ = true;
  chunk_.resize(chunk_bytes);
  read_chunk();
  const std::string_view first(reinterpret_cast<const char*>(chunk_.data()), size_);
  const codec::Contents* const contents = codec::contents_of(first, name_);
  if (contents != nullptr && !contents->codec) refuse_contents(name_, first);
  const auto codec = contents != nullptr ? contents->codec : codec::codec_of_input_name(name_);
  if (codec) decoder_ = codec::Decoder::make(*codec, allowance_);
}

std::size_t DecodedFile::decode(std::span<std::byte> data) {
  std::size_t got = 0;
  while (got < data.size() && !decoder_->has_ended()) {
    if (at_ == size_ && !is_last_) read_chunk();
    const auto step = decoder_->decode(std::span<const std::byte>(chunk_).first(size_).subspan(at_), data.subspan(got), is_last_);
    at_ += step.consumed;
    got += step.produced;
  }
  if (!std::exchange(has_decoded_, true)) refuse_contents(name_, {reinterpret_cast<const char*>(data.data()), got});
  return got;
}

std::size_t DecodedFile::read(std::span<std::byte> data) {
  try {
    if (!has_begun_) begin();
    if (decoder_) return decode(data);
  } catch (const codec::Damaged& error) {
    refuse(name_, error);
  } catch (const codec::Unreadable& error) {
    refuse(name_, error);
  } catch (const codec::TooLarge& error) {
    refuse(name_, error, allowance_.limit_bytes(), planner::memory_for_look(error.need_bytes));
  }
  const std::size_t kept = std::min(data.size(), size_ - at_);
  if (kept > 0) std::memcpy(data.data(), chunk_.data() + at_, kept);
  at_ += kept;
  return kept + (kept < data.size() && !is_last_ ? file_.read(data.subspan(kept)) : 0);
}

void DecodedFile::check_rest() {
  if (!decoder_) return;
  std::vector<std::byte> plain(chunk_bytes);
  std::size_t got = plain.size();
  for (std::uint64_t checked = 0; got == plain.size() && checked < checked_behind_refused; checked += got) got = read(plain);
}

}  // namespace ecosort::engine::rows
