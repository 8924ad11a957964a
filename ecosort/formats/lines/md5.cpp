#include "formats/lines/md5.h"

#include <md5.h>

namespace ecosort::lines {

Digest md5(const Digest& salt, Text text) noexcept {
  MD5_CTX state;
  MD5Init(&state);
  MD5Update(&state, salt.data(), salt.size());
  MD5Update(&state, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  Digest digest;
  MD5Final(digest.data(), &state);
  return digest;
}

}  // namespace ecosort::lines
