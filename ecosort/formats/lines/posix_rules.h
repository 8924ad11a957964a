// POSIXLY_CORRECT and _POSIX2_VERSION change how the words of GNU sort are read. Journals of old jobs hold them.
#pragma once

namespace ecosort::lines {

struct PosixRules {
  bool options_first = false;     // behind the first operand all words are operands
  bool takes_begin_alone = true;  // +N without -M is a key, which POSIX of 2001 to 2008 forbids
  friend bool operator==(const PosixRules&, const PosixRules&) = default;
};

}  // namespace ecosort::lines
