// The backend "stxxl" is a module of its own that is loaded when it is asked for: STXXL, and the OpenMP runtime that comes with
// it, would make every start of the program longer by a third of a millisecond.
#pragma once

#include <memory>

#include "io/queue.h"

namespace ecosort::io {

// Looks for the module beside the program, then above it and in ../lib/ecosort, and loads it only from where no one but this user
// and root can have put it (base/trusted_place.h). It stays loaded. UsageError, with the reason, where it cannot be had.
[[nodiscard]] std::unique_ptr<Queue> load_stxxl_queue(unsigned depth);

}  // namespace ecosort::io
