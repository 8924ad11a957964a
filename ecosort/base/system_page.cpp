#include "base/system_page.h"

#include <unistd.h>

namespace ecosort {

std::size_t system_page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace ecosort
