// Addresses: their family, their bytes, the length of their prefix, their zone.
#include <arpa/inet.h>

#include <charconv>
#include <cstring>

#include "formats/keys/code.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

constexpr std::size_t most_address_text = INET6_ADDRSTRLEN;

// Returns the bytes of an address of the family, 0 for a text that is none. inet_pton() refuses leading zeros, which some read as
// octal.
std::size_t address_bytes(int family, Text text, char* to) noexcept {
  char ended[most_address_text + 1] = {};
  if (text.size() > most_address_text || text.find('\0') != Text::npos) return 0;
  std::memcpy(ended, text.data(), text.size());
  return ::inet_pton(family, ended, to) != 1 ? 0 : family == AF_INET ? 4 : 16;
}

// Takes "/LENGTH" off the text; false for one that is no length.
bool take_prefix_length(Text& text, unsigned most, unsigned& length) noexcept {
  length = most;
  const std::size_t slash = text.find('/');
  if (slash == Text::npos) return true;
  const Text digits = text.substr(slash + 1);
  text = text.substr(0, slash);
  if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits.front() == '0')) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  return error == std::errc() && end == digits.data() + digits.size() && length <= most;
}

// Takes "%ZONE" off the text; false for an empty one.
bool take_zone(Text& text, Text& zone) noexcept {
  const std::size_t percent = text.find('%');
  if (percent == Text::npos) return true;
  zone = text.substr(percent + 1);
  text = text.substr(0, percent);
  return !zone.empty();
}

}  // namespace

bool code_ip(Text value, Code& code) {
  Text text = lines::without_blanks(value), zone;
  const bool is_v6 = text.find(':') != Text::npos;
  char bytes[16];
  unsigned length = 0;
  if (!take_prefix_length(text, is_v6 ? 128 : 32, length) || (is_v6 && !take_zone(text, zone))) return false;
  const std::size_t count = address_bytes(is_v6 ? AF_INET6 : AF_INET, text, bytes);
  if (count == 0) return false;
  code.add(is_v6 ? 6U : 4U);
  code.add({bytes, count});
  code.add(length);
  code.add(zone);
  return true;
}

}  // namespace ecosort::keys
