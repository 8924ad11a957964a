#include "cli/say.h"

#include <cerrno>
#include <cstdio>

#include "base/errors.h"

namespace ecosort::cli {

void say(std::string_view text) noexcept { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

void print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw IoError::from_call("write", "(standard output)", errno);
}

}  // namespace ecosort::cli
