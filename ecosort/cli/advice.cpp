#include "cli/advice.h"

#include <fmt/format.h>

namespace ecosort::cli {

std::string advice_on(const Error& error, const AdviceWords& words) {
  if (const auto* memory = dynamic_cast<const NotEnoughMemory*>(&error))
    return memory->need_bytes == 0 ? fmt::format("; give more with {}", words.memory)
                                   : fmt::format("; try {} {}KiB", words.memory, (memory->need_bytes + 1023) >> 10U);
  if (const auto* space = dynamic_cast<const NotEnoughSpace*>(&error)) {
    using For = NotEnoughSpace::For;
    if (space->purpose == For::output) return "; name another drive with -o";
    return fmt::format("; name another drive with {}{}", words.temp, space->purpose == For::runs ? "" : " or -o");
  }
  return "";
}

}  // namespace ecosort::cli
