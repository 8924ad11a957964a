// A small generator whose sequence is part of the contract: what a seed produced yesterday it produces on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ecosort {

// Fills it with random bytes of the system. IoError.
void draw_random_bytes(std::span<std::byte> bytes);

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }  // bound > 0, far below 2^64
  bool coin() noexcept { return (next() >> 63) != 0; }

 private:
  std::uint64_t state_;
};

}  // namespace ecosort
