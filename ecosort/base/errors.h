// The errors of EcoSort are those of its interface: one class per exit code, so that only `main` turns them into codes.
//
// Between stages errors travel as exceptions with their whole context in one line (what was tried, on which path, at which
// offset, how many bytes, the system's reason). Expected outcomes are values, not exceptions. Libraries neither print nor exit.
#pragma once

#include "ecosort/errors.hpp"

namespace ecosort {

inline void refuse_if(bool is_given, const char* line) {
  if (is_given) throw UsageError(line);
}

}  // namespace ecosort
