// MD5 (RFC 1321, computed by libmd). Only because the order of `sort -R --random-source` is defined by it; not for secrets.
#pragma once

#include <array>
#include <cstdint>

#include "formats/lines/text.h"

namespace ecosort::lines {

using Digest = std::array<unsigned char, 16>;

// Hashes `salt` followed by `text`.
[[nodiscard]] Digest md5(const Digest& salt, Text text) noexcept;

}  // namespace ecosort::lines
