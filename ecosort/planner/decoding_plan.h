// Divides the memory: how much the decoders of compressed inputs may take beyond what the beginnings of the inputs show.
//
// A member that comes later may take more than the first, and of a stream that was not looked at no one knows anything. Little
// memory gives what the usual levels of the usual programs ask for; much gives a sixteenth, so that more memory helps whatever
// comes.
#pragma once

#include <cstdint>

namespace ecosort::planner {

// Returns the memory for an input of which nothing is known.
[[nodiscard]] std::uint64_t unknown_decoder_bytes(std::uint64_t memory_bytes) noexcept;

// Beyond `known_bytes`, which an input's beginning asks for, or which it got as one that is not known.
[[nodiscard]] std::uint64_t later_members_bytes(std::uint64_t memory_bytes, std::uint64_t known_bytes) noexcept;

// Memory that is enough where decoders had `given_bytes` of `memory_bytes` and needed `need_bytes`.
[[nodiscard]] std::uint64_t memory_for_decoders(std::uint64_t memory_bytes, std::uint64_t given_bytes,
                                                std::uint64_t need_bytes) noexcept;

// A command that only looks through a file has that share of the memory for decoding.
inline constexpr std::uint64_t share_of_look = 2;
[[nodiscard]] std::uint64_t memory_for_look(std::uint64_t need_bytes) noexcept;

}  // namespace ecosort::planner
