// The unit in which the system maps memory.
#pragma once

#include <cstddef>

namespace ecosort {

// 4, 16 (a Raspberry Pi 5) or 64 KiB: asked for when the program runs, since one program serves all. What is counted and what is
// transferred are multiples of page_bytes (base/memory.h), which divides it. Thread-safe.
[[nodiscard]] std::size_t system_page_bytes() noexcept;

}  // namespace ecosort
