// The bodies of the line kernels, compiled once per instruction set over a type V of its vectors:
//
//   V::matches(at, c)     64 bits: which of the 64 bytes at `at` are c
//   V::copy(to, at, c), V::copy_half(to, at, c)
//                         the same of 64 or 32 bytes, which are copied
//   V::sums(line, words)  both NH sums of the first words (at most 128) of a line
//   V::write_offsets(matches, at, offsets, end)
//                         the places of the bits, of a text where they begin at `at`, 16 at a time; may be absent
//   V::add_four(lines, V::Fours&), V::total_of(fours)
//                         the hashes of four lines of 2 to 128 words added up, where a vector has room for them; may be absent
//
// Everything here and in the files of the bodies has internal linkage, so that no function compiled for a newer processor can
// replace the plain one.
#pragma once

#include "formats/lines/gather_lines_body.h"
#include "formats/lines/hash_lines_body.h"
#include "formats/lines/line_ends_body.h"
#include "formats/lines/line_kernels.h"

namespace {

template <class V>
constexpr ecosort::lines::LineKernels kernels_over() noexcept {
  return {count_in<V>,
          split_lines<V>,
          find_end<V>,
          gather_lines<V, Length::is_long>,
          gather_lines<V, Length::is_middle>,
          gather_lines<V, Length::is_short>,
          gather_with_heads<V, Length::is_long>,
          gather_with_heads<V, Length::is_middle>,
          hash_line<V>,
          sum_of_hashes<V>};
}

}  // namespace
