// Which codec pays for a run: fewer bytes for the drives against more work for the processors. Pure.
//
//   time of a phase = the longer of the drives' and the processors', and a part of the other one, which never overlaps all of it
//
// Runs are written while inputs are read, and read while the output is written: of 4 bytes per byte of input 2 shrink. (Of 3,
// where the input is a stream.)
#pragma once

#include <span>
#include <string>

#include "codec/block_codec.h"

namespace ecosort::run {

// What was seen so far. Seconds per byte.
struct Pace {
  double drive_s = 0;    // of a byte moved, while requests were under way; 0: nothing is known
  double compute_s = 0;  // of a byte of input, by all threads together
  unsigned threads = 1;
  bool reads_input = true;  // from the drives; else it comes as a stream
};

// What a codec made of a block of the run. Seconds of one thread per plain byte.
struct Trial {
  codec::BlockTerms terms;
  double ratio = 1;  // plain bytes per stored byte
  double pack_s = 0;
};

struct CodecChoice {
  codec::BlockTerms terms;  // none where none pays
  std::string why;
};

[[nodiscard]] CodecChoice choose_codec(const Pace& pace, std::span<const Trial> trials);

}  // namespace ecosort::run
