// A value of which the compiler knows nothing: it cannot replace what is computed by a branch around it, or fold it into a
// constant.
#pragma once

namespace ecosort {

// Always a part of its caller, which may be compiled for another processor than the rest of the program.
template <class Word>
[[gnu::always_inline]] inline Word opaque(Word value) noexcept {
  __asm__("" : "+r"(value));
  return value;
}

}  // namespace ecosort
