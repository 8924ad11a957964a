#include "planner/decoding_plan.h"

#include <algorithm>

namespace ecosort::planner {
namespace {

constexpr std::uint64_t usual_decoder_bytes = std::uint64_t{12} << 20U;
constexpr std::uint64_t share_of_unknown = 4, share_of_later = 6, share_of_much = 16;
constexpr std::uint64_t share_of_top = 15;  // what stays on top may get a 16th of all before decoders get theirs

// A decoder that got what it was refused may ask for a little more.
std::uint64_t with_margin(std::uint64_t need_bytes) noexcept { return need_bytes + need_bytes / share_of_much; }

}  // namespace

std::uint64_t unknown_decoder_bytes(std::uint64_t memory_bytes) noexcept {
  return std::min(memory_bytes / share_of_unknown, usual_decoder_bytes);
}

std::uint64_t later_members_bytes(std::uint64_t memory_bytes, std::uint64_t known_bytes) noexcept {
  if (memory_bytes / share_of_much > usual_decoder_bytes) return memory_bytes / share_of_much;
  const std::uint64_t usual = std::min(memory_bytes / share_of_later, usual_decoder_bytes);
  return usual - std::min(usual, known_bytes);
}

std::uint64_t memory_for_decoders(std::uint64_t memory_bytes, std::uint64_t given_bytes, std::uint64_t need_bytes) noexcept {
  const std::uint64_t need = with_margin(need_bytes);
  const std::uint64_t most_of_little = share_of_much * usual_decoder_bytes;
  const std::uint64_t enough =
      need <= usual_decoder_bytes ? memory_bytes + share_of_later * need
                                  : std::max(memory_bytes, most_of_little) + share_of_much * (need - std::min(need, given_bytes));
  return enough + enough / share_of_top;
}

std::uint64_t memory_for_look(std::uint64_t need_bytes) noexcept { return share_of_look * with_margin(need_bytes); }

}  // namespace ecosort::planner
