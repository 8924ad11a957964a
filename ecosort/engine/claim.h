// The claim of an output: a small file beside it, OUTPUT.claim.json, that says what it holds and in which order.
//
//   earlier claim goes | the output gets its name | the claim gets its name
//
// Each step is durable before the next one, so that at no moment a claim is beside another file than its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "engine/bench.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine {

inline constexpr std::string_view claim_schema = "ecosort.claim/1", claim_ending = ".claim.json";

// Describes an output that is complete. `hash`: of all rows, those on top, too; `rows`: without these.
struct OutputContents {
  std::uint64_t rows = 0, bytes = 0;
  hash::MultisetHash hash;
};

// Makes the text of a claim; empty: the output has none.
using ClaimText = std::function<std::string(const OutputContents&)>;

// Returns whether a file holds a claim, which a sort may replace or take away. IoError.
[[nodiscard]] bool is_claim(const std::string& path);

// Takes the claim of an output away that is about to be replaced, if there is one.
void take_claim_away(io::Storage& storage, const std::string& output);

// The claim of an output on its way. Coordinator only.
class ClaimFile {
 public:
  ClaimFile(Bench& bench, const std::string& output) : bench_(bench), path_(output + std::string(claim_ending)) {}

  // Writes the text into a file without a name.
  [[nodiscard]] Task<void> write(std::string text);
  // Gives it its name, if it was written. Returns what a user should know, or nothing.
  [[nodiscard]] std::string publish();

 private:
  Bench& bench_;
  const std::string path_;
  io::FilePtr file_;
};

}  // namespace ecosort::engine
